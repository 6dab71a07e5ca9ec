// The first id with leading zeros among the first lines, for warnings.
#include <spargo/io/edge_table.hpp>

#include "io/edge_list/header.hpp"
#include "io/text/input_format.hpp"

#include <algorithm>
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

}  // namespace

padded_id find_padded_id(const input_file& file, const edge_list_header& header) {
  if (header.ids != id_kind::integers) return {};
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
