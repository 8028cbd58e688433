// What GET / answers: a page to try the model in a browser. It asks the server alone, by /health and
// /predict.
#pragma once

#include <string_view>

namespace slide::serve {

std::string_view page_html();  // page.html, which the build puts into the program

}  // namespace slide::serve
