// Edge lists, written line by line: the text is a function of the edges and ids alone.
//
// Numbers are the shortest that read back to the same bits (std::to_chars: Adams, "Ryu", PLDI 2018).
#include "core/instantiate.hpp"
#include "io/output.hpp"

#include <spargo/io/edge_list.hpp>

#include <fmt/format.h>

#include <charconv>
#include <new>

namespace spargo {

namespace {

struct tuning {
  static constexpr std::size_t flush_bytes = std::size_t{1} << 18;
};

template <class T>
void put(std::string& text, T value) {
  char digits[32];
  text.append(digits, std::to_chars(digits, digits + sizeof(digits), value).ptr);
}

// What the file calls a vertex.
template <index_type I>
std::int64_t name_of(I vertex, I vertices, span<const std::int64_t, host> ids) {
  if (vertex < 0 || vertex >= vertices) {
    throw error(error_code::invalid_data,
                fmt::format("write_edge_list: vertex {} (expected 0 or more, less than {})", vertex, vertices));
  }
  if (ids.empty()) return vertex;
  if (ids[vertex] < 0) {
    throw error(error_code::invalid_data,
                fmt::format("write_edge_list: vertex {} has id {} (expected 0 or more)", vertex, ids[vertex]));
  }
  return ids[vertex];
}

template <class V, index_type I>
void write_lines(detail::output_file& out, const coo_view<const V, I, host>& edges,
                 span<const std::int64_t, host> ids) {
  std::string text = is_pattern<V> ? "# source\ttarget\n" : "# source\ttarget\tweight\n";
  for (std::int64_t k = 0; k < edges.nnz(); ++k) {
    put(text, name_of(edges.row_indices[k], edges.rows, ids));
    text += '\t';
    put(text, name_of(edges.col_indices[k], edges.rows, ids));
    if constexpr (!is_pattern<V>) {
      text += '\t';
      put(text, edges.values[k]);
    }
    text += '\n';
    if (text.size() >= tuning::flush_bytes) {
      out.write(text);
      text.clear();
    }
  }
  out.write(text);
}

}  // namespace

template <entry_type V, index_type I>
void write_edge_list(const std::string& path, const coo_view<const V, I, host>& edges,
                     span<const std::int64_t, host> ids) {
  const std::int64_t count = edges.nnz();
  SPARGO_EXPECTS(edges.rows == edges.cols && edges.col_indices.size() == count &&
                     edges.values.size() == (is_pattern<V> ? 0 : count) && (ids.empty() || ids.size() == edges.rows),
                 fmt::format("write_edge_list: {} x {} with {} and {} indices, {} values and {} ids (expected a square "
                             "matrix, equal numbers, and an id for each vertex or none)",
                             edges.rows, edges.cols, count, edges.col_indices.size(), edges.values.size(), ids.size()));
  if constexpr (complex_type<V>) {
    throw error(error_code::unsupported, "write_edge_list: complex weights (expected real ones, or none)");
  } else {
    try {
      detail::output_file out(path);
      write_lines(out, edges, ids);
      out.commit();
    } catch (const std::bad_alloc&) {
      throw error(error_code::out_of_memory, {path}, "host memory ran out while the file was written");
    }
  }
}

#define INSTANTIATE(V, I)                                                                    \
  template void write_edge_list<V, I>(const std::string&, const coo_view<const V, I, host>&, \
                                      span<const std::int64_t, host>);
SPARGO_FOR_EACH_ENTRY_INDEX(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo
