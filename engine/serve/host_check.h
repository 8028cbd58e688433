// Check of the Host header of requests. A page of another site can point its own name at the address of this
// server (DNS rebinding); a browser then lets the page read the answers, but sends that name as Host. So
// names are checked, and addresses need no check: no page can own one. Immutable, safe from any thread.
// Internal to the server.
#pragma once

#include <boost/beast/http/message.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/serve/http_reply.h"

namespace slide::serve {

class HostCheck {
 public:
  // Allows any IP address, localhost, `bound` (the value of --host) and `allowed`; "*" among them allows all
  // names and origins. Throws InputError where one of `allowed` is no host name without a port.
  HostCheck(const std::string& bound, const std::vector<std::string>& allowed);

  // Refusal of a request: 400 where HTTP/1.1 lacks Host, has several or a malformed one; 421 where the host
  // is not allowed; 403 where Origin is neither the host that the request names nor one of `allowed`.
  std::optional<Reply> refusal(const boost::beast::http::request_header<>& request) const;

 private:
  bool has(const std::vector<std::string>& names, std::string_view name) const;
  std::optional<Reply> origin_refusal(std::string_view origin, std::string_view own) const;

  std::vector<std::string> names_;    // as Host, in lower case
  std::vector<std::string> origins_;  // hosts of origins
  bool any_ = false;
};

}  // namespace slide::serve
