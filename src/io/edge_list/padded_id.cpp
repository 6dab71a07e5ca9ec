// The first id with leading zeros, for warnings.
//
// Idea: the host's readers look at the first digits of each id (line.hpp) and leave the result in the file object.
// Where others have read the list, its text is searched for a zero between a separator and a digit, 64 bytes at a time;
// the few lines with one are read field by field. Cost of the search: one pass over the text, at 7 GB/s per core in
// cache; lines whose other columns have such zeros (times, dates) cost some 50 ns each.
#include "core/parallel.hpp"
#include "io/edge_list/read.hpp"
#include "io/opened_input.hpp"

#include <spargo/io/edge_table.hpp>

#include "io/edge_list/header.hpp"
#include "io/text/input_format.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace spargo {

namespace {

using namespace detail;
using namespace detail::edge_text;

bool is_padded(std::string_view id) {
  return id.size() > 1 && id[0] == '0' && std::all_of(id.begin(), id.end(), is_digit);
}

// In a line that is neither blank nor a comment; empty: none.
std::string_view padded_in(const char* p, const edge_list_header& header) {
  if (is_plain(header)) {
    const std::string_view source = field_at(skip_blanks(p));
    const std::string_view target = field_at(skip_separator(source.data() + source.size()));
    return is_padded(source) ? source : is_padded(target) ? target : std::string_view();
  }
  for (int column = 0; column <= std::max(header.source, header.target); ++column) {
    const std::string_view field = take_field(p, header.separator);
    if ((column == header.source || column == header.target) && is_padded(field)) return field;
    if (!next_field(p, header.separator)) break;
  }
  return {};
}

// Whether a zero before a digit follows the byte at `p`, a separator, quote or line end: up to ',' or a semicolon.
bool is_before_zero(const char* p) {
  const auto before = static_cast<std::uint8_t>(p[0]);
  return ((before <= ',') | (before == ';')) & (p[1] == '0') & (static_cast<std::uint8_t>(p[2] - '0') < 10);
}

// The first such place; `end` if there is none.
const char* find_zero(const char* p, const char* end) {
  constexpr std::ptrdiff_t lanes = 64;
  for (; end - p >= lanes + 2; p += lanes) {
    std::array<std::uint8_t, lanes> found;
    for (std::size_t i = 0; i < lanes; ++i) found[i] = is_before_zero(p + i) ? 1 : 0;
    std::uint8_t any = 0;
    for (const std::uint8_t each : found) any |= each;
    if (any != 0) break;
  }
  for (; end - p > 2; ++p) {
    if (is_before_zero(p)) return p;
  }
  return end;
}

// In whole lines; empty: none.
std::string_view first_padded(std::string_view lines, const edge_list_header& header) {
  const char* const end = lines.data() + lines.size();
  for (const char* line = lines.data();;) {
    const char* const first = skip_blanks(line);
    if (!ends_line(first) && !is_comment(first)) {
      try {
        if (const std::string_view id = padded_in(line, header); !id.empty()) return id;
      } catch (const bad_line&) {  // the reader says what is wrong
      }
    }
    const char* const zero = find_zero(std::find(first, end, '\n'), end);
    if (zero == end) return {};
    line = zero + 1;
    while (line[-1] != '\n') --line;
  }
}

// The lines that begin in this part, after the header line.
file_range range_of_part(const input_file& file, const edge_list_header& header, int part, int parts) {
  const opened_file& opened = *file.opened().file;
  const std::int64_t first = find_edges(file, header);
  const spargo::detail::parts shares{opened.size - first, parts};
  const auto begin = [&](int p) {
    return p == 0 ? first : find_line(opened, file.name(), first + shares.first(p), opened.size);
  };
  return {begin(part), begin(part + 1)};
}

}  // namespace

padded_id scan_padded_id(const context<host>& ctx, const input_file& file, const edge_list_header& header, int part,
                         int parts) {
  constexpr std::int64_t share_bytes = std::int64_t{128} << 10;  // in cache
  const bool plain = file.opened().is_plain();
  if (header.ids != id_kind::integers || !file.can_be_read_again() || (!plain && part > 0)) return {};
  input_tuning tuning;
  if (plain) tuning.range = range_of_part(file, header, part, parts);
  text_source source(ctx, file, {}, tuning);
  source.set_comment_marks(comment_marks);
  header_lines named(header);
  const context<host> searching = source.parsing_context();
  for (std::string_view block = source.next(); !block.empty(); block = source.next()) {
    if (!plain) block = named.skip(source, block);
    if (block.empty()) continue;
    const auto texts = split_at_lines(block, div_up(std::ssize(block), share_bytes));
    std::vector<std::string_view> ids(texts.size());
    parallel_parts(searching.threads(), std::ssize(texts), [&](std::int64_t i) {
      const auto k = static_cast<std::size_t>(i);
      ids[k] = first_padded(texts[k], header);
    });
    const auto id = std::find_if(ids.begin(), ids.end(), [](std::string_view each) { return !each.empty(); });
    if (id != ids.end()) return {std::string(*id), source.position_of(id->data()).line};
  }
  return {};
}

padded_id find_padded_id(const input_file& file, const edge_list_header& header) {
  if (header.ids != id_kind::integers) return {};
  if (file.opened().padded.has_value()) return *file.opened().padded;
  std::string text(file.head());
  if (std::ssize(text) < head_bytes) text += '\n';
  text.resize(text.rfind('\n') + 1);
  int left = header.lines();
  std::int64_t line = 0;
  const char* const end = text.data() + text.size();
  try {
    for (const char* p = text.data(); p != end; p = std::find(p, end, '\n') + 1) {
      ++line;
      const char* const first = skip_blanks(p);
      if (ends_line(first) || is_comment(first) || std::exchange(left, std::max(left - 1, 0)) > 0) continue;
      if (const std::string_view id = padded_in(p, header); !id.empty()) return {std::string(id), line};
    }
  } catch (const bad_line&) {  // the reader says what is wrong
  }
  return {};
}

}  // namespace spargo
