// Edge lists, written: lines by line_writer.hpp.
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "io/edge_list/heading.hpp"
#include "io/text/line_writer.hpp"

#include <spargo/io/edge_list.hpp>

#include <fmt/format.h>

#include <new>

namespace spargo {

namespace {

using detail::put_number;

// Every vertex is one, and has an id.
template <index_type I>
void check_vertices(span<const I, host> vertices, I count, span<const std::int64_t, host> ids) {
  for (const I vertex : vertices) {
    if (vertex < 0 || vertex >= count) {
      throw error(error_code::invalid_data,
                  fmt::format("write_edge_list: vertex {} (expected 0 or more, less than {})", vertex, count));
    }
    if (!ids.empty() && ids[vertex] < 0) {
      throw error(error_code::invalid_data,
                  fmt::format("write_edge_list: vertex {} has id {} (expected 0 or more)", vertex, ids[vertex]));
    }
  }
}

template <class V, index_type I>
void write_edges(output_file& out, const coo_view<const V, I, host>& edges, span<const std::int64_t, host> ids,
                 edge_list_style style) {
  const char separator = detail::separator_of(style);
  const auto name_of = [&](I vertex) { return ids.empty() ? std::int64_t{vertex} : ids[vertex]; };
  out.write(detail::edge_list_heading(style, !is_pattern<V>));
  detail::write_lines(context<host>(), out, edges.nnz(), [&](char* to, std::int64_t k) {
    to = put_number(to, name_of(edges.row_indices[k]));
    *to++ = separator;
    to = put_number(to, name_of(edges.col_indices[k]));
    if constexpr (!is_pattern<V>) {
      *to++ = separator;
      to = put_number(to, edges.values[k]);
    }
    return to;
  });
}

}  // namespace

template <entry_type V, index_type I>
void write_edge_list(const std::string& path, const coo_view<const V, I, host>& edges,
                     span<const std::int64_t, host> ids, edge_list_style style) {
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
      check_vertices<I>(edges.row_indices, edges.rows, ids);
      check_vertices<I>(edges.col_indices, edges.rows, ids);
      output_file out(path);
      write_edges(out, edges, ids, style);
      out.commit();
    } catch (const std::bad_alloc&) {
      detail::throw_out_of_memory(path, "host memory ran out while the file was written");
    }
  }
}

#define INSTANTIATE(V, I)                                                                    \
  template void write_edge_list<V, I>(const std::string&, const coo_view<const V, I, host>&, \
                                      span<const std::int64_t, host>, edge_list_style);
SPARGO_FOR_EACH_ENTRY_INDEX(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo
