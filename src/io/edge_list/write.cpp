// Writes edge lists through line_writer.hpp.
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "io/edge_list/heading.hpp"
#include "io/text/line_writer.hpp"
#include "io/text/name_text.hpp"

#include <spargo/io/edge_list.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <new>

namespace spargo {

namespace {

using detail::put_number;

template <index_type I>
void check_vertices(span<const I, host> vertices, I count) {
  for (const I vertex : vertices) {
    if (vertex < 0 || vertex >= count) {
      throw error(error_code::invalid_data,
                  fmt::format("write_edge_list: vertex {} (expected 0 or more, less than {})", vertex, count));
    }
  }
}

// Vertices as integers.
struct integer_labels {
  static constexpr std::int64_t longest = 19;
  span<const std::int64_t, host> ids;  // empty: vertex numbers are written

  template <index_type I>
  void check(span<const I, host> vertices) const {
    if (ids.empty()) return;
    for (const I vertex : vertices) {
      if (ids[vertex] >= 0) continue;
      throw error(error_code::invalid_data,
                  fmt::format("write_edge_list: vertex {} has id {} (expected 0 or more)", vertex, ids[vertex]));
    }
  }
  [[nodiscard]] char* put(char* to, std::int64_t vertex) const noexcept {
    return put_number(to, ids.empty() ? vertex : ids[vertex]);
  }
};

struct name_labels {
  explicit name_labels(const vertex_name_table& table) : names(table) {
    const span<const std::int64_t, host> offsets = names.offsets();
    std::int64_t most = 0;
    for (std::int64_t v = 0; v < names.size(); ++v) most = std::max(most, offsets[v + 1] - offsets[v]);
    longest = 2 * most + 2;  // if all characters are quotes
  }
  std::int64_t longest = 0;
  const vertex_name_table& names;

  template <index_type I>
  void check(span<const I, host>) const {}
  [[nodiscard]] char* put(char* to, std::int64_t vertex) const noexcept {
    return detail::put_name(to, names.name(vertex));
  }
};

template <class V, index_type I, class Labels>
void write_edges(output_file& out, const coo_view<const V, I, host>& edges, const Labels& labels,
                 edge_list_style style) {
  constexpr std::int64_t longest_weight = 24;
  const char separator = detail::separator_of(style);
  out.write(detail::edge_list_heading(style, !is_pattern<V>));
  const auto put_line = [&](char* to, std::int64_t k) {
    to = labels.put(to, edges.row_indices[k]);
    *to++ = separator;
    to = labels.put(to, edges.col_indices[k]);
    if constexpr (!is_pattern<V>) {
      *to++ = separator;
      to = put_number(to, edges.values[k]);
    }
    return to;
  };
  detail::write_lines(context<host>(), out, edges.nnz(), put_line, 2 * labels.longest + longest_weight + 2);
}

// `count`: number of given labels.
template <class V, index_type I, class Labels>
void write_labelled(const std::string& path, const coo_view<const V, I, host>& edges, std::int64_t count,
                    const Labels& labels, edge_list_style style) {
  const std::int64_t entries = edges.nnz();
  SPARGO_EXPECTS(edges.rows == edges.cols && edges.col_indices.size() == entries &&
                     edges.values.size() == (is_pattern<V> ? 0 : entries) && (count == 0 || count == edges.rows),
                 fmt::format("write_edge_list: {} x {} with {} and {} indices, {} values and {} ids (expected a square "
                             "matrix, equal numbers, and an id for each vertex or none)",
                             edges.rows, edges.cols, entries, edges.col_indices.size(), edges.values.size(), count));
  if constexpr (complex_type<V>) {
    throw error(error_code::unsupported, "write_edge_list: complex weights (expected real ones, or none)");
  } else {
    try {
      check_vertices<I>(edges.row_indices, edges.rows);
      check_vertices<I>(edges.col_indices, edges.rows);
      labels.check(edges.row_indices);
      labels.check(edges.col_indices);
      output_file out(path);
      write_edges(out, edges, labels, style);
      out.commit();
    } catch (const std::bad_alloc&) {
      detail::throw_out_of_memory(path, "host memory ran out while the file was written");
    }
  }
}

}  // namespace

template <entry_type V, index_type I>
void write_edge_list(const std::string& path, const coo_view<const V, I, host>& edges,
                     span<const std::int64_t, host> ids, edge_list_style style) {
  write_labelled<V, I>(path, edges, ids.size(), integer_labels{ids}, style);
}

template <entry_type V, index_type I, std::same_as<vertex_name_table> Names>
void write_edge_list(const std::string& path, const coo_view<const V, I, host>& edges, const Names& names,
                     edge_list_style style) {
  if (names.empty()) return write_edge_list<V, I>(path, edges, span<const std::int64_t, host>{}, style);
  write_labelled<V, I>(path, edges, names.size(), name_labels(names), style);
}

#define INSTANTIATE(V, I)                                                                                       \
  template void write_edge_list<V, I>(const std::string&, const coo_view<const V, I, host>&,                    \
                                      span<const std::int64_t, host>, edge_list_style);                         \
  template void write_edge_list<V, I, vertex_name_table>(const std::string&, const coo_view<const V, I, host>&, \
                                                         const vertex_name_table&, edge_list_style);
SPARGO_FOR_EACH_ENTRY_INDEX(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo
