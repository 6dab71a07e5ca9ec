// The edges in a part of an edge list: what one thread parses, line by line.
//
// Most lines go through common_line.hpp; others, and the last ones of a part, byte by byte, and whatever is wrong is
// thrown as a `bad_line`. A part ends in '\n', the sentinel of every loop. What becomes of ids is a sink's business:
// `put(k, source, target)` for edge k of the part, which ends with the edge where it says no, and `finish()`.
#pragma once

#include "io/edge_list/attributes.hpp"
#include "io/edge_list/fields.hpp"
#include "io/text/common_line.hpp"
#include "io/text/entry_store.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <optional>

namespace spargo::detail::edge_text {

inline constexpr std::int64_t least_bytes = 4;  // the shortest line with an edge: "1 2\n"

// Whether a text is a Matrix Market file, whose first lines would pass for comments here.
inline bool has_banner(std::string_view text) {
  constexpr std::string_view banner = "%%matrixmarket";
  const auto same = [](char b, char a) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; };
  return text.size() >= banner.size() && std::equal(banner.begin(), banner.end(), text.begin(), same);
}

// --- The hot half ----------------------------------------------------------------------------------------------------

struct edge_fields {
  std::int64_t source = 0;
  std::int64_t target = 0;
  double weight = 0;
  bool weighted = false;
};

// Past at most one comma or semicolon and few blanks on either side of it; null where there is no separator.
[[nodiscard]] inline const char* common_separator(const char* p) noexcept {
  if (!is_separator(*p)) return nullptr;
  p = common_line::skip_few_blanks(p);
  if (p != nullptr && (*p == ',' || *p == ';')) p = common_line::skip_few_blanks(p + 1);
  return p;
}

// The next line, or null where this one is unusual. `end` is that of the part.
[[nodiscard]] inline const char* read_common_edge(const char* p, const char* end, edge_fields& edge) noexcept {
  p = common_line::read_index(p, edge.source);
  if (p == nullptr || (p = common_separator(p)) == nullptr) return nullptr;
  if ((p = common_line::read_index(p, edge.target)) == nullptr) return nullptr;
  edge.weighted = false;
  if (*p == '\n') return p + 1;
  if (ends_line(p)) return p + 2;
  if ((p = common_separator(p)) == nullptr || ends_line(p)) return nullptr;
  edge.weighted = true;
  if ((p = common_line::read_real(p, edge.weight)) == nullptr) return nullptr;
  if (*p == '\n') return p + 1;
  if (!is_separator(*p) && !ends_line(p)) return nullptr;
  return static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p))) + 1;
}

// Lines [text) and the edges in them, up to the first bad line.
template <class I>
struct edge_part {
  std::string_view text;
  std::int64_t lines = 0;
  entry_sink<double, I> to;
  bool direct = false;     // `to` is in the result, from edge `first` on; else in `own`
  std::int64_t first = 0;  // the number of its first edge if every line of the block so far has one
  std::int64_t place = 0;  // the number of its first edge
  entry_store<double, I> own;
  std::int64_t count = 0;
  bool weighted = false;               // of the first edge, and so of all
  const char* first_column = nullptr;  // the first edge's third column, or where it would be; null without an edge
  bool stopped = false;                // the sink said no
  std::int64_t largest = -1;           // id
  bool marked = false;                 // its ids are in the bitmap
  std::optional<bad_line> bad;
  std::exception_ptr exception;
};

inline bad_line uneven(const char* where, bool has_weight) {
  return {where, has_weight ? "a weight (expected none, as on the first edge)"
                            : "an edge without a weight (expected one, as on the first edge)"};
}

// Notes what a part's first edge fixes, and refuses what differs from it. `column` is where a third column is or
// would be.
template <class I>
void check_weight(edge_part<I>& part, bool weighted, const char* column) {
  if (part.first_column == nullptr) {
    part.weighted = weighted;
    part.first_column = column;
  } else if (weighted != part.weighted) {
    throw uneven(column, weighted);
  }
}

// Any line: false if there is no edge on it. A third column is the weight, or attributes that may hold one.
template <class I>
[[nodiscard]] bool read_any_edge(const char* p, edge_part<I>& part, edge_fields& edge) {
  p = skip_blanks(p);
  if (ends_line(p) || is_comment(p)) return false;
  p = skip_separator(read_id(p, "source", edge.source));
  p = skip_separator(read_id(p, "target", edge.target));
  if (*p == '{') {
    edge.weighted = read_attributes(p, edge.weight);
    check_weight(part, edge.weighted, p);
    return true;
  }
  edge.weighted = !ends_line(p);
  check_weight(part, edge.weighted, p);
  if (edge.weighted) edge.weight = read_weight(p);
  return true;
}

template <class I, class Sink>
void parse_edges(edge_part<I>& part, Sink& sink, std::int64_t max_line_bytes) {
  const char* const end = part.text.data() + part.text.size();
  const bool common = max_line_bytes >= common_line::line_reach;
  edge_fields edge;
  for (const char* line = part.text.data(); line != end;) {
    const char* next = nullptr;
    if (common && end - line > common_line::line_reach) next = read_common_edge(line, end, edge);
    const bool good = next != nullptr && part.first_column != nullptr && edge.weighted == part.weighted &&
                      next - line <= max_line_bytes;
    if (!good) {
      const bool has_edge = read_any_edge(line, part, edge);
      next = static_cast<const char*>(std::memchr(line, '\n', static_cast<std::size_t>(end - line))) + 1;
      if (next - 1 - line > max_line_bytes && !is_comment(skip_blanks(line))) {
        throw bad_line{line, {}};  // `text_source::fail` knows what to say
      }
      line = next;
      if (!has_edge) continue;
    }
    line = next;
    if (edge.weighted && part.to.values != nullptr) part.to.values[part.count] = edge.weight;
    if (!sink.put(part.count, edge.source, edge.target)) {
      part.stopped = true;
      return;
    }
    ++part.count;
  }
  sink.finish();
}

}  // namespace spargo::detail::edge_text
