#include "engine/serve/request_json.h"

#include <fmt/ranges.h>

#include "engine/base/error.h"
#include "engine/base/foreign_text.h"
#include "engine/config/names.h"

namespace slide::serve {

RequestJson parse_request(std::string_view body) {
  if (const auto fault = foreign_json_fault(body))
    fail_input("the body is no JSON (byte {}: {}); send an object as {{\"text\": \"...\"}}", fault->byte,
               fault->what);
  try {
    return RequestJson::parse(body);
  } catch (const RequestJson::parse_error& error) {
    fail_input("the body is no JSON (byte {}); send an object as {{\"text\": \"...\"}}", error.byte);
  } catch (const RequestJson::exception&) {  // a number out of range
    fail_input("the body holds a number out of range; send numbers that fit a double");
  }
}

std::size_t count_of(const RequestJson& value, const char* key, std::size_t limit) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() < 1 || value.get<std::uint64_t>() > limit)
    fail_input("{} must be a whole number from 1 to {}", key, limit);
  return value.get<std::size_t>();
}

void refuse_unknown_key(std::string_view key, std::string_view near, std::span<const std::string> known) {
  const std::string meant = config::suggestion(near);
  fail_input("unknown key '{}'{} known are {}", shown_part(key), meant.empty() ? ";" : meant,
             fmt::join(known, ", "));
}

}  // namespace slide::serve
