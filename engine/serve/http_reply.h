// What a request asks for, as far as its header tells, and what is answered. Pure functions, safe from any
// thread. Internal to the server.
#pragma once

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/status.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "engine/serve/server_metrics.h"

namespace slide::serve {

struct Reply {
  boost::beast::http::status status = boost::beast::http::status::ok;
  std::string body;
  const char* type = "application/json";
  const char* allow = nullptr;  // methods, with method_not_allowed
  std::size_t rows = 0;         // samples predicted
  std::string model{};          // fingerprint of the one that was asked, or empty
};

// {"error": message}
Reply failure(boost::beast::http::status status, std::string_view message);

// The page of GET /.
Reply page_reply();

struct Route {
  ServerMetrics::Endpoint endpoint = ServerMetrics::Endpoint::kOther;
  std::optional<Reply> refusal;
};

// What is answered, and the connection closed, where the header leaves open or contradicts how long the body
// is: whoever passed the request on may have seen its end elsewhere, and what follows would be taken for a
// request.
std::optional<Reply> framing_refusal(const boost::beast::http::request_header<>& request);

Route route_of(const boost::beast::http::request_header<>& request);

// The time as the header Date has it.
std::string date_text();

}  // namespace slide::serve
