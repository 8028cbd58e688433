// The report as one page of HTML that needs nothing else: its style, its script, the plotting library and the
// data are in it. Pure functions, safe from any thread.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace slide::report {

// What a page is about, and of whom its data are: report_data() in comparison.h, search_data() in search.h.
enum class PageKind { kRuns, kSearch };

// Nothing in `data` can end the script that holds it; bytes that are no UTF-8
// are replaced.
std::string make_page(PageKind kind, const nlohmann::ordered_json& data);

// Whether this is the beginning of a page that make_page() wrote.
bool is_page(std::string_view beginning);

}  // namespace slide::report
