// The page of GET /, to try the model in a browser. It calls only this server's /health and /predict.
#pragma once

#include <string_view>

namespace slide::serve {

std::string_view page_html();  // page.html, embedded by the build

}  // namespace slide::serve
