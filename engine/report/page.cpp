#include "engine/report/page.h"

#include "engine/base/error.h"
#include "engine/report/embedded.h"

namespace slide::report {

namespace {

constexpr std::string_view kGenerator = "<meta name=\"generator\" content=\"slide report\">";

std::string html_of(std::string_view text) {
  std::string html;
  for (const char c : text) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      default:
        html += c;
    }
  }
  return html;
}

// JSON for a script element: escapes '<', so that no tag can begin.
std::string script_of(const nlohmann::ordered_json& data) {
  std::string script;
  for (const char c : data.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) {
    if (c == '<') {
      script += "\\u003c";
    } else {
      script += c;
    }
  }
  return script;
}

// Replaces the marker <!--slide:name--> of the page by `content`, once.
void fill(std::string& page, std::string_view name, std::string_view content) {
  const std::string mark = fmt::format("<!--slide:{}-->", name);
  const std::size_t at = page.find(mark);
  if (at == std::string::npos) fail_run("the page of the report has no place for its {}", name);
  page.replace(at, mark.size(), content);
}

}  // namespace

std::string make_page(PageKind kind, const nlohmann::ordered_json& data) {
  const bool runs = kind == PageKind::kRuns;
  std::string page(embedded::page_html());
  fill(page, "generator", kGenerator);
  fill(page, "title", runs ? "Report of training runs" : "Report of a search");
  fill(page, "content", runs ? embedded::runs_html() : embedded::search_html());
  fill(page, "style", embedded::page_css());
  fill(page, "licence", html_of(embedded::licence()));
  fill(page, "script", runs ? embedded::runs_js() : embedded::search_js());
  fill(page, "library", embedded::chart_js());
  fill(page, "data", script_of(data));
  return page;
}

bool is_page(std::string_view beginning) {
  return beginning.find(kGenerator) != std::string_view::npos;
}

}  // namespace slide::report
