// Files that the build embeds into the program (engine/base/embed.cmake).
#pragma once

#include <string_view>

namespace slide::report::embedded {

std::string_view page_html();
std::string_view page_css();
std::string_view runs_html();
std::string_view runs_js();
std::string_view search_html();
std::string_view search_js();
std::string_view evaluation_html();
std::string_view evaluation_js();
std::string_view chart_js();  // Chart.js, one script
std::string_view licence();   // licence of Chart.js

}  // namespace slide::report::embedded
