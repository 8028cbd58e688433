#include "engine/serve/host_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/field.hpp>

#include "engine/base/error.h"
#include "engine/base/foreign_text.h"
#include "engine/base/number_text.h"

namespace slide::serve {

namespace http = boost::beast::http;

namespace {

struct Authority {
  std::string host;  // lower case; an IPv6 address without brackets
  bool address = false;
};

// Characters of a registered name, RFC 3986, without percent signs.
bool is_name_char(char c) {
  const auto lower = static_cast<char>(c | 0x20);
  return is_digit(c) || (lower >= 'a' && lower <= 'z') ||
         std::string_view("-._~!$&'()*+,;=").find(c) != std::string_view::npos;
}

bool is_address(const std::string& host) {
  boost::system::error_code error;
  boost::asio::ip::make_address(host, error);
  return !error;
}

// host[:port], RFC 3986 without user names; nullopt where it is malformed.
std::optional<Authority> authority_of(std::string_view text) {
  const bool v6 = text.starts_with('[');  // [address]
  const std::size_t end = v6 ? text.find(']') : std::min(text.find(':'), text.size());
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view host = v6 ? text.substr(1, end - 1) : text.substr(0, end);
  Authority found;
  for (const char c : host) found.host += c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
  const std::string_view port = text.substr(v6 ? end + 1 : end);
  if (!port.empty() && (port[0] != ':' || !std::ranges::all_of(port.substr(1), is_digit)))
    return std::nullopt;
  found.address = is_address(found.host);
  if (v6 ? !found.address : !std::ranges::all_of(found.host, is_name_char)) return std::nullopt;
  if (!found.address && found.host.ends_with('.')) found.host.pop_back();  // the root of the domain names
  return found;
}

std::string_view value_of(const http::request_header<>& request, http::field name) {
  const auto value = request[name];
  return {value.data(), value.size()};
}

}  // namespace

HostCheck::HostCheck(const std::string& bound, const std::vector<std::string>& allowed) {
  for (const std::string& name : allowed) {
    if (name == "*") {
      any_ = true;
      continue;
    }
    const std::optional<Authority> host = authority_of(name);
    const bool has_port = name.starts_with('[') ? !name.ends_with(']') : name.find(':') != std::string::npos;
    if (!host || host->host.empty() || has_port) {
      fail_input("--allow-host {}: this is no host name; give a name without a port, as models.example",
                 name);
    }
    origins_.push_back(host->host);
  }
  names_ = origins_;
  names_.emplace_back("localhost");
  if (const std::optional<Authority> host = authority_of(bound)) names_.push_back(host->host);
}

bool HostCheck::has(const std::vector<std::string>& names, std::string_view name) const {
  return any_ || std::ranges::find(names, name) != names.end();
}

// Checks the Host fields, then whether the host is a name of this server, then each Origin.
std::optional<Reply> HostCheck::refusal(const http::request_header<>& request) const {
  const std::size_t hosts = request.count(http::field::host);
  if (hosts > 1 || (hosts == 0 && request.version() >= 11))
    return failure(http::status::bad_request, "an HTTP/1.1 request has one Host; send it");
  const std::optional<Authority> named = authority_of(value_of(request, http::field::host));
  const Target target = target_of(request);
  const std::string_view own =
      target.authority ? *target.authority : value_of(request, http::field::host);  // RFC 9112, 3.2.2
  const std::optional<Authority> host = authority_of(own);
  if (!named || !host) {
    return failure(http::status::bad_request,
                   fmt::format("Host '{}' is no host name; send name or name:port", shown_part(own)));
  }
  if ((hosts > 0 || target.authority) && !host->address && !has(names_, host->host)) {
    return failure(http::status::misdirected_request,
                   fmt::format("the server is not known as '{}'; start it with --allow-host {}",
                               shown_part(host->host), shown_part(host->host)));
  }
  const auto [first, last] = request.equal_range(http::field::origin);
  for (auto field = first; field != last; ++field) {
    const std::string_view origin(field->value().data(), field->value().size());
    if (std::optional<Reply> refused = origin_refusal(origin, own)) return refused;
  }
  return std::nullopt;
}

// An origin is scheme://host[:port], or "null".
std::optional<Reply> HostCheck::origin_refusal(std::string_view origin, std::string_view own) const {
  const std::size_t scheme = origin.find("://");
  const std::string_view from = scheme == std::string_view::npos ? "" : origin.substr(scheme + 3);
  const std::optional<Authority> host = authority_of(from);
  const auto text = [](std::string_view part) { return boost::beast::string_view(part.data(), part.size()); };
  const bool is_own = boost::beast::iequals(text(from), text(own));
  const bool is_allowed = host && !from.empty() && (is_own || has(origins_, host->host));
  if (any_ || is_allowed) return std::nullopt;
  return failure(http::status::forbidden,
                 fmt::format("pages of '{}' may not ask this server; start it with --allow-host and the "
                             "host of that origin",
                             shown_part(origin)));
}

}  // namespace slide::serve
