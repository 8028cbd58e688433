// Routing of requests by their header, and replies. Pure functions, safe from any thread. Internal to the
// server.
#pragma once

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/status.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "engine/serve/byte_budget.h"
#include "engine/serve/reply_text.h"
#include "engine/serve/server_metrics.h"

namespace slide::serve {

struct Reply {
  boost::beast::http::status status = boost::beast::http::status::ok;
  ReplyText body;
  const char* type = "application/json";
  const char* allow = nullptr;  // allowed methods, with method_not_allowed
  std::size_t rows = 0;         // samples predicted
  std::string model{};          // fingerprint of the answering model, or empty
  HeldBytes held{};             // the body's
};

// {"error": message}
Reply failure(boost::beast::http::status status, std::string_view message);

// The page of GET /.
Reply page_reply();

// The parts of a request's target, RFC 9112, 3.2: "/path?query", or "http://host:port/path?query".
struct Target {
  std::optional<std::string_view> authority;  // host:port of the second form
  std::string_view path;                      // without the query
};

// The parts point into `request`.
Target target_of(const boost::beast::http::request_header<>& request);

struct Route {
  ServerMetrics::Endpoint endpoint = ServerMetrics::Endpoint::kOther;
  std::optional<Reply> refusal;
};

// Refusal of ambiguous message framing (contradictory or unclear body length), after which the connection
// closes: a proxy may have seen another end of the request, and the rest would be parsed as the next request
// (request smuggling).
std::optional<Reply> framing_refusal(const boost::beast::http::request_header<>& request);

Route route_of(const boost::beast::http::request_header<>& request);

// The current time in the format of the Date header.
std::string date_text();

}  // namespace slide::serve
