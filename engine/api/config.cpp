#include <slide/config.h>
#include <slide/slide.h>

#include "engine/api/arguments.h"
#include "engine/api/internals.h"
#include "engine/config/names.h"
#include "engine/run/run_data.h"

namespace slide::api {

Config::Config(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

Config::Config(const Overrides& overrides) : Config(from_toml("", overrides)) {}

Config Config::load(const std::string& path, const Overrides& overrides) {
  return guarded([&] {
    return Internals::make<Config>({resolve_config(read_config_text(checked_path(path)), overrides)});
  });
}

Config Config::from_toml(const std::string& text, const Overrides& overrides) {
  return guarded([&] { return Internals::make<Config>({parse_config(text, "configuration", overrides)}); });
}

void Config::set(const Overrides& overrides) {
  *this = from_toml(to_toml(), overrides);
}

std::string Config::to_toml() const {
  return guarded([&] { return slide::to_toml(impl_->config); });
}

std::string near_name(const std::string& name, const std::vector<std::string>& names) {
  return guarded([&] { return config::near_name(name, names); });
}

const char* version() {
  return SLIDE_VERSION;
}

}  // namespace slide::api
