// TOML text, its tables in file order, and its values as values of fields. Functions are safe from any thread
// for different fields. Internal to the configuration library.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/config/field.h"
#include "engine/config/toml_library.h"

namespace slide::config {

// Throws InputError "WHERE: MESSAGE".
[[noreturn]] void fail_at(const std::string& where, const std::string& message);

// Throws InputError "ORIGIN:LINE:COLUMN: ..." for syntax errors.
toml::table parse_toml(std::string_view text, const std::string& origin);

// Parses the value of an override: TOML, or else a string. The result has one entry, "v". Throws InputError
// at `where` for invalid UTF-8.
toml::table parse_toml_value(const std::string& where, std::string_view text);

// The entries of a table in file order (the TOML library sorts them by name). They point into the table.
using TomlEntries = std::vector<std::pair<std::string, const toml::node*>>;
TomlEntries in_file_order(const toml::table& table);

// Sets the field with full key `name`. Throws InputError at `where` for another type and for values out of
// range; the field then keeps its value.
void set_field(const Field& field, const toml::node& node, const std::string& where, const std::string& name);

}  // namespace slide::config
