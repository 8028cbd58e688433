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

struct PageParts {
  std::string_view title, content, script;
};

PageParts parts_of(PageKind kind) {
  if (kind == PageKind::kSearch)
    return {"Report of a search", embedded::search_html(), embedded::search_js()};
  if (kind == PageKind::kEvaluation)
    return {"Report of an evaluation", embedded::evaluation_html(), embedded::evaluation_js()};
  return {"Report of training runs", embedded::runs_html(), embedded::runs_js()};
}

}  // namespace

std::string make_page(PageKind kind, const nlohmann::ordered_json& data) {
  const PageParts parts = parts_of(kind);
  std::string page(embedded::page_html());
  fill(page, "generator", kGenerator);
  fill(page, "title", parts.title);
  fill(page, "content", parts.content);
  fill(page, "style", embedded::page_css());
  fill(page, "licence", html_of(embedded::licence()));
  fill(page, "script", parts.script);
  fill(page, "library", embedded::chart_js());
  fill(page, "data", script_of(data));
  return page;
}

bool is_page(std::string_view beginning) {
  return beginning.find(kGenerator) != std::string_view::npos;
}

}  // namespace slide::report
