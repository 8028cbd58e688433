#include "engine/config/config.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "engine/base/error.h"
#include "engine/config/parse.h"

namespace slide {
namespace {

std::string read_file(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    fail_input("configuration '{}' is a directory; name a TOML file in it", path);
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    fail_input("cannot read configuration '{}': {}; check the path, or start from configs/default.toml", path,
               std::generic_category().message(errno));
  }
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

Config parse_config(const std::string& text, const std::string& origin,
                    const std::vector<std::string>& overrides) {
  config::Parser parser(origin);
  parser.read(text);
  for (const std::string& override_text : overrides) parser.apply_override(override_text);
  return parser.finish();
}

Config load_config(const std::string& path, const std::vector<std::string>& overrides) {
  return parse_config(read_file(path), path, overrides);
}

}  // namespace slide
