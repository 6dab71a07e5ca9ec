#include "cli/page.hpp"

#include "cli/charts.hpp"
#include "cli/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace spargo::apps {

namespace {

constexpr std::size_t most_rows = 100;

// Fixed text: nothing in it comes from a user.
constexpr const char* style = R"css(
:root{color-scheme:light dark;--page:#fff;--ink:#1c2028;--muted:#5b6470;--rule:#e0e4ea;--card:#f5f7f9;--bar:#2563a8;
--good:#1a7f37;--bad:#b3261e;--d1:#c6dcf2;--d2:#8fbbe6;--d3:#4f8fd0;--d4:#2563a8;--d5:#0d2f57}
@media(prefers-color-scheme:dark){:root{--page:#13161b;--ink:#e7eaef;--muted:#9da7b5;--rule:#2c323c;--card:#1b2027;
--bar:#6bb0f5;--good:#5cc873;--bad:#ff8a80;--d1:#17375a;--d2:#23568c;--d3:#3d82c7;--d4:#6bb0f5;--d5:#d3e8ff}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1.25rem;max-width:68rem;background:var(--page);color:var(--ink);
font:1rem/1.5 system-ui,"Segoe UI","DejaVu Sans",sans-serif;overflow-wrap:anywhere}
h1{font-size:1.5rem;line-height:1.25;margin:.25rem 0 .5rem}
h2{font-size:1.1rem;margin:1.75rem 0 .5rem}
.verdict{margin:0 0 1rem;font-weight:600;color:var(--muted)}.good{color:var(--good)}.wrong{color:var(--bad)}
.warning{margin:.5rem 0;padding:.5rem .75rem;border-left:4px solid var(--bad);background:var(--card)}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(8rem,1fr));gap:.6rem;margin:0;padding:0;
list-style:none}
.cards li{background:var(--card);border-radius:.5rem;padding:.6rem .8rem;color:var(--muted);font-size:.85rem}
.cards b{display:block;color:var(--ink);font-size:1.2rem}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,24rem),1fr));gap:1rem;margin-top:1.25rem}
.figures section{background:var(--card);border-radius:.5rem;padding:.75rem 1rem;min-width:0;overflow-x:auto}
.figures .wide{grid-column:1/-1}
.figures h2{margin:0 0 .5rem;font-size:1rem}
.note,footer{color:var(--muted);font-size:.85rem;margin:.4rem 0 0}
svg{display:block;width:100%;max-width:34rem;height:auto;font-size:13px}
svg text{fill:var(--muted)}
.bar,.dot{fill:var(--bar)}.dot{fill-opacity:.7}.hit{fill:transparent}g:hover .bar,.bar:hover,.dot:hover{fill:var(--ink)}
.line{fill:none;stroke:var(--bar);stroke-width:2}.grid{stroke:var(--rule)}.axis{stroke:var(--muted)}
.frame{fill:none;stroke:var(--muted)}
.spy path{shape-rendering:crispEdges}
.d1{fill:var(--d1)}.d2{fill:var(--d2)}.d3{fill:var(--d3)}.d4{fill:var(--d4)}.d5{fill:var(--d5)}
.share{height:.75rem;min-width:4rem}
table{border-collapse:collapse;width:100%;font-size:.92rem}
th{text-align:left;color:var(--muted);font-weight:600;vertical-align:bottom}
th,td{padding:.2rem .75rem .2rem 0;border-bottom:1px solid var(--rule);overflow-wrap:normal}
td:last-child,th:last-child{padding-right:0}
td.name{overflow-wrap:anywhere}.text{overflow-wrap:break-word}.long{min-width:16rem}
.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.barred{width:45%}
.facts{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem;margin:0}
.facts dt{color:var(--muted)}.facts dd{margin:0;white-space:pre-wrap;min-width:0}
@media(max-width:34rem){.facts{grid-template-columns:1fr}.facts dd{margin-bottom:.4rem}.barred{width:30%}
svg{font-size:17px}}
.figures section:only-child svg:not(.share){max-width:40rem}
pre{background:var(--card);border-radius:.5rem;padding:.75rem 1rem;white-space:pre-wrap;margin:0;font-size:.92rem}
details{margin-top:1.75rem}summary{cursor:pointer;font-weight:600;margin-bottom:.5rem}
)css";

// Text of unknown direction must not reorder its surroundings.
std::string isolated(const std::string& text) {
  return text.empty() ? std::string() : "<bdi>" + html_escaped(text) + "</bdi>";
}

std::string cards_of(const std::vector<page_fact>& facts) {
  std::string html = "<ul class=\"cards\">";
  for (const page_fact& fact : facts) {
    html += "<li>" + html_escaped(fact.name) + " <b>" + isolated(fact.text) + "</b></li>";
  }
  return html + "</ul>\n";
}

// A grid of two columns, without groups.
std::string list_of_facts(const std::vector<page_fact>& facts) {
  std::string html = "<dl class=\"facts\">\n";
  for (const page_fact& fact : facts) {
    html += "<dt>" + html_escaped(fact.name) + "</dt><dd>" + isolated(fact.text) + "</dd>\n";
  }
  return html + "</dl>\n";
}

// A number, perhaps with a unit.
bool is_number(const std::string& text) {
  const std::string number = text.substr(0, text.find(' '));
  return !number.empty() && number.find_first_not_of("0123456789.,+-e") == std::string::npos &&
         text.find_first_of("0123456789") != std::string::npos && text.size() < number.size() + 7;
}

std::string cell_of(const std::string& text) {
  return is_number(text)
             ? "<td class=\"number\">" + text + "</td>"
             : (text.size() > 40 ? "<td class=\"text long\">" : "<td class=\"text\">") + isolated(text) + "</td>";
}

std::string section_of(const char* kind, const std::string& title, const std::string& content) {
  return fmt::format("<section{}><h2>{}</h2>\n{}</section>\n", kind, html_escaped(title), content);
}

}  // namespace

std::string html_escaped(std::string_view text) {
  std::string html;
  for (const char c : printable_utf8(text)) {
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
      case '"':
        html += "&quot;";
        break;
      case '\'':
        html += "&#39;";
        break;
      default:
        if ((static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7f) {
          html += "\xef\xbf\xbd";
        } else {
          html += c;
        }
    }
  }
  return html;
}

std::string figure_of(const std::string& title, const std::string& svg, const std::string& note) {
  if (svg.empty()) return {};
  return section_of("", title, svg + (note.empty() ? "" : "<p class=\"note\">" + html_escaped(note) + "</p>"));
}

std::string table_of(const std::string& title, const std::vector<std::string>& columns,
                     const std::vector<std::vector<std::string>>& rows) {
  if (rows.empty()) return {};
  std::string html = "<table><thead><tr>";
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const bool number = k < rows.front().size() && is_number(rows.front()[k]);
    html += fmt::format("<th scope=\"col\"{}>{}</th>", number ? " class=\"number\"" : "", html_escaped(columns[k]));
  }
  html += "</tr></thead><tbody>\n";
  for (std::size_t k = 0; k < std::min(rows.size(), most_rows); ++k) {
    html += "<tr>";
    for (const std::string& cell : rows[k]) html += cell_of(cell);
    html += "</tr>\n";
  }
  html += "</tbody></table>";
  if (rows.size() > most_rows) {
    html += fmt::format("<p class=\"note\">The first {} of {}; --json has all.</p>", most_rows,
                        with_commas(static_cast<std::int64_t>(rows.size())));
  }
  return section_of(columns.size() > 4 ? " class=\"wide\"" : "", title, html);
}

std::string ranking_of(const std::string& title, const std::string& name, const std::string& value,
                       const std::vector<ranked>& rows) {
  if (rows.empty()) return {};
  double longest = 0;
  for (const ranked& row : rows) longest = std::max(longest, row.length);
  std::string html = fmt::format(
      "<table><thead><tr><th scope=\"col\" class=\"name\">{}</th><th scope=\"col\" class=\"number\">{}</th><th "
      "scope=\"col\" class=\"barred\"></th></tr></thead><tbody>\n",
      html_escaped(name), html_escaped(value));
  for (const ranked& row : rows) {
    const std::string bar = longest > 0 ? share_bar(row.length / longest, row.name + ": " + row.text) : std::string();
    std::string label = isolated(row.name);  // a long one is rather broken after "_" than within a word
    for (std::size_t k = 0; (k = label.find('_', k)) != std::string::npos;) label.insert(k += 1, "<wbr>");
    html += fmt::format("<tr><td class=\"name\">{}</td><td class=\"number\">{}</td><td>{}</td></tr>\n", label,
                        html_escaped(row.text), bar);
  }
  return section_of("", title, html + "</tbody></table>");
}

std::string html_of(const page& page) {
  std::string html = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  html += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  html += "<title>" + html_escaped(page.title) + "</title>\n<style>" + style + "</style>\n</head>\n<body>\n<main>\n";
  html += "<h1>" + isolated(page.title) + "</h1>\n";
  if (!page.verdict.empty()) {
    const char* const kind = page.valid == page_verdict::good    ? "verdict good"
                             : page.valid == page_verdict::wrong ? "verdict wrong"
                                                                 : "verdict";
    html += fmt::format("<p class=\"{}\">{}</p>\n", kind, isolated(page.verdict));
  }
  for (const std::string& warning : page.warnings) html += "<p class=\"warning\">" + isolated(warning) + "</p>\n";
  if (!page.headline.empty()) html += cards_of(page.headline);
  html += "<div class=\"figures\">\n";
  for (const std::string& figure : page.figures) html += figure;
  html += "</div>\n";
  if (!page.facts.empty()) html += "<h2>Report</h2>\n" + list_of_facts(page.facts);
  html += "<h2>To repeat it</h2>\n<pre><code>" + html_escaped(page.command) + "</code></pre>\n";
  if (!page.all.empty()) html += "<details><summary>All values</summary>\n" + list_of_facts(page.all) + "</details>\n";
  return html + "</main>\n<footer>" + html_escaped(page.origin) + "</footer>\n</body>\n</html>\n";
}

}  // namespace spargo::apps
