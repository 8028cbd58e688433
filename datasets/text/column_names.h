// Usual names of the columns of tables of texts with labels. Pure functions, safe from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace slide {

enum class ColumnUse : std::uint8_t { kId, kLabels, kText };

// Usual role of a column by its name: the whole name, in any case. Accepts plurals in -s; takes *_id for ids.
std::optional<ColumnUse> usual_use(std::string_view name);

// Whether a name, in lower case, has the name of labels or texts as a part, as "reviewtext" has.
bool has_part_of_table(std::string_view lower);

}  // namespace slide
