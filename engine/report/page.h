// The report as one self-contained HTML page, with style, scripts, plotting library and data inside. Pure
// functions, safe from any thread.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace slide::report {

// Kind of page, with the source of its data: report_data() in comparison.h, search_data() in search.h,
// evaluation_data() in evaluation.h.
enum class PageKind { kRuns, kSearch, kEvaluation };

// Returns the HTML of the page. Escapes `data`, which cannot end its script element; replaces invalid UTF-8.
std::string make_page(PageKind kind, const nlohmann::ordered_json& data);

// Whether `beginning` is the start of a page written by make_page().
bool is_page(std::string_view beginning);

}  // namespace slide::report
