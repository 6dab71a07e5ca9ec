// An HTML page in one file: no network, no scripts, light and dark, readable on phones. `spargo COMMAND --report` and
// `spargo bench --report` fill it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spargo::apps {

// Safe as text and in attribute values. Bytes that are not UTF-8 become \xNN, control characters U+FFFD.
[[nodiscard]] std::string html_escaped(std::string_view text);

enum class page_verdict { none, good, wrong };

struct page_fact {
  std::string name;
  std::string text;
};

// Texts are plain, figures are HTML of the functions below.
struct page {
  std::string title;    // "bfs graph.el"
  std::string verdict;  // how the result was checked
  page_verdict valid = page_verdict::none;
  std::vector<page_fact> headline;  // the figures to see first
  std::string command;              // to repeat it, quoted for a shell
  std::vector<std::string> warnings;
  std::vector<std::string> figures;
  std::vector<page_fact> facts;
  std::vector<page_fact> all;  // every key, folded
  std::string origin;          // program, version, date
};

[[nodiscard]] std::string html_of(const page& page);

// A chart with its title; empty for no chart.
[[nodiscard]] std::string figure_of(const std::string& title, const std::string& svg, const std::string& note = {});

// Cells are plain text; numbers are aligned to the right. Rows beyond the first hundred are omitted and counted.
[[nodiscard]] std::string table_of(const std::string& title, const std::vector<std::string>& columns,
                                   const std::vector<std::vector<std::string>>& rows);

// Names with values, in order, each with a bar.
struct ranked {
  std::string name;
  std::string text;  // of the value
  double length = 0;
};
[[nodiscard]] std::string ranking_of(const std::string& title, const std::string& name, const std::string& value,
                                     const std::vector<ranked>& rows);

}  // namespace spargo::apps
