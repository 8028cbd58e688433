#include "engine/serve/http_reply.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/field.hpp>
#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/verb.hpp>
#include <ctime>
#include <iterator>

#include "engine/serve/page.h"
#include "engine/serve/predict_api.h"

namespace slide::serve {

namespace http = boost::beast::http;
using Endpoint = ServerMetrics::Endpoint;

namespace {

bool is_json(std::string_view type) {
  type = type.substr(0, type.find(';'));
  while (type.ends_with(' ') || type.ends_with('\t')) type.remove_suffix(1);
  // The last one is the default of curl -d.
  for (const char* good : {"", "application/json", "application/x-www-form-urlencoded"}) {
    if (boost::beast::iequals(boost::beast::string_view(type.data(), type.size()), good)) return true;
  }
  return false;
}

std::string_view text_of(boost::beast::string_view text) {
  return {text.data(), text.size()};
}

}  // namespace

Reply failure(http::status status, std::string_view message) {
  return {status, error_json(message) + "\n"};
}

Reply page_reply() {
  return {http::status::ok, std::string(page_html()), "text/html; charset=utf-8"};
}

std::optional<Reply> framing_refusal(const http::request_header<>& request) {
  const auto [first, last] = request.equal_range(http::field::transfer_encoding);
  if (first == last) return std::nullopt;
  if (request.count(http::field::content_length) > 0)
    return failure(http::status::bad_request, "send Content-Length or Transfer-Encoding, not both");
  if (request.version() < 11)
    return failure(http::status::bad_request, "HTTP/1.0 knows no Transfer-Encoding; send Content-Length");
  if (std::next(first) != last || !boost::beast::iequals(first->value(), "chunked"))
    return failure(http::status::not_implemented, "the only Transfer-Encoding taken is chunked");
  return std::nullopt;
}

// The path without its query; a target in absolute form (RFC 9112, 3.2.2) also names the authority.
Target target_of(const http::request_header<>& request) {
  const std::string_view text = text_of(request.target());
  Target target{std::nullopt, text.substr(0, text.find('?'))};
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!boost::beast::iequals(request.target().substr(0, scheme.size()),
                               boost::beast::string_view(scheme.data(), scheme.size())))
      continue;
    const std::string_view rest = target.path.substr(scheme.size());
    const std::size_t path = std::min(rest.find('/'), rest.size());
    target = {rest.substr(0, path), path < rest.size() ? rest.substr(path) : "/"};
    break;
  }
  return target;
}

// The endpoint of a request by its path, and a refusal where method or content type do not fit it (404, 405,
// 415).
Route route_of(const http::request_header<>& request) {
  const std::string_view path = target_of(request).path;
  Route route;
  if (path == "/predict" || path == "/similar") {
    route.endpoint = path == "/predict" ? Endpoint::kPredict : Endpoint::kSimilar;
    if (request.method() != http::verb::post) {
      route.refusal = failure(http::status::method_not_allowed, fmt::format("{} takes POST", path));
      route.refusal->allow = "POST";
    } else if (!is_json(text_of(request[http::field::content_type]))) {
      route.refusal =
          failure(http::status::unsupported_media_type, "send JSON, Content-Type: application/json");
    } else if (request.count(http::field::content_encoding) > 0) {
      route.refusal = failure(http::status::unsupported_media_type, "send the body without Content-Encoding");
    }
    return route;
  }
  if (path == "/") route.endpoint = Endpoint::kPage;
  if (path == "/health") route.endpoint = Endpoint::kHealth;
  if (path == "/ready") route.endpoint = Endpoint::kReady;
  if (path == "/metrics") route.endpoint = Endpoint::kMetrics;
  if (route.endpoint == Endpoint::kOther) {
    route.refusal = failure(http::status::not_found,
                            "there are POST /predict and /similar, and GET /, /health, /ready and /metrics");
  } else if (request.method() != http::verb::get && request.method() != http::verb::head) {
    route.refusal = failure(http::status::method_not_allowed, fmt::format("{} takes GET", path));
    route.refusal->allow = "GET, HEAD";
  }
  return route;
}

std::string date_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  return fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} GMT", kDays[parts.tm_wday], parts.tm_mday,
                     kMonths[parts.tm_mon], 1900 + parts.tm_year, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

}  // namespace slide::serve
