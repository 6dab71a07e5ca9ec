// Writing entries: from memory, or line by line if they do not fit.
//
// Text becomes text as it is listed: in its order, with its duplicates, a triangle a triangle where OUT can be one. A
// snapshot and METIS hold each place once: duplicates are summed on the way there, and a snapshot's notes tell the
// lightest weight of each.
#include "cli/progress.hpp"
#include "commands/convert/conversion.hpp"
#include "commands/convert/mirrored.hpp"
#include "input/columns.hpp"
#include "input/graph_input.hpp"
#include "input/input_check.hpp"
#include "input/lightest.hpp"
#include "input/memory_limit.hpp"
#include "input/read.hpp"

#include <spargo/io/edge_list.hpp>
#include <spargo/io/edge_table.hpp>
#include <spargo/io/matrix_market.hpp>
#include <spargo/io/metis.hpp>
#include <spargo/io/output.hpp>
#include <spargo/io/snapshot.hpp>
#include <spargo/io/stream.hpp>

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

namespace spargo::apps {

namespace {

// Entries that go to a file of text, in this order.
template <entry_type V, index_type I>
struct listed {
  coo_view<const V, I, host> entries;
  symmetry_kind triangle = symmetry_kind::general;
  bool integers = false;
  bool as_read = false;  // the lines of the file
};

template <entry_type V, index_type I>
written write_edges(const conversion& c, const listed<V, I>& list, const input_facts& facts) {
  if constexpr (complex_type<V>) {
    c.refuse("complex values do not fit an edge list (expected real values or none)");
  } else {
    const coo_view<const V, I, host>& entries = list.entries;
    if (entries.rows != entries.cols) {
      c.refuse(fmt::format("a {} x {} matrix is no graph (expected a square one for an edge list)", entries.rows,
                           entries.cols));
    }
    if (list.triangle != symmetry_kind::general) {
      const coo_matrix<V, I, host> all = with_mirrored<V, I>(c.ctx, entries, list.triangle);
      return write_edges<V, I>(c, {all.view()}, facts);
    }
    warn_of_isolated(c, find_isolated<I>(entries).count);
    warn_of_direction(c);
    const auto write = [&]<class W>(const coo_view<const W, I, host>& edges) {
      if (facts.names.are_integers()) {
        write_edge_list<W, I>(c.flags.to, edges, facts.names.all(), c.to.style);
      } else {
        write_edge_list<W, I>(c.flags.to, edges, facts.names.table, c.to.style);
      }
    };
    bool values = !is_pattern<V>;
    if (c.to.weights == edge_weights::ones_if_none && is_pattern<V>) {
      const array<double, host> ones = convert_values<double, V>(c.ctx, entries.values, entries.nnz());
      write(coo_view<const double, I, host>{{entries}, ones.view()});
      values = true;
    } else if (c.to.weights == edge_weights::left_out) {
      if (values) warn_of_weights(c);
      write(coo_view<const pattern, I, host>{{entries}, {}});
      values = false;
    } else {
      write(entries);
    }
    if (entries.nnz() > 0) warn_of_first_vertex(c, facts, entries.row_indices[0]);
    return {entries.rows, entries.cols, entries.nnz(), values};
  }
}

template <entry_type V, index_type I>
written write_listed(const conversion& c, const listed<V, I>& list, const input_facts& facts) {
  const busy writing("writing " + c.flags.to);
  if (c.to.kind == target_kind::edge_list) return write_edges<V, I>(c, list, facts);
  const coo_view<const V, I, host>& entries = list.entries;
  if (c.to.kind == target_kind::document) {
    graph_attributes attributes;
    if (list.as_read) attributes.edges = read_edge_columns(c, entries.nnz());
    return write_document<V, I>(c, entries, list.triangle, facts, std::move(attributes));
  }
  const bool graph = entries.rows == entries.cols;
  if (graph) warn_of_ids(c, facts.names);
  matrix_market_write_options options;
  options.symmetry = list.triangle;
  if (real_type<V> && list.integers) options.numbers = matrix_market_numbers::integers;
  write_matrix_market<V, I>(c.flags.to, entries, options);
  if (graph && entries.nnz() > 0) warn_of_first_vertex(c, facts, entries.row_indices[0]);
  return {entries.rows, entries.cols, entries.nnz(), !is_pattern<V>, false, list.triangle != symmetry_kind::general};
}

// The kind of which the entries, all of a matrix, may be written as a triangle.
template <entry_type V, index_type I, index_type O>
symmetry_kind find_symmetry(const conversion& c, const csr_view<const V, I, O, host>& matrix) {
  if (c.input.directed || matrix.rows != matrix.cols ||
      (c.to.kind != target_kind::matrix_market && c.to.kind != target_kind::document)) {
    return symmetry_kind::general;
  }
  symmetry_kind kind = c.input.symmetry;
  const bool possible = kind == symmetry_kind::hermitian ? complex_type<V> : !is_pattern<V>;
  if (kind == symmetry_kind::general || !possible) kind = symmetry_kind::symmetric;
  if (is_mirrored<V, I, O>(c.ctx, matrix, kind)) return kind;
  c.warn(
      "an undirected graph whose values differ by direction is written as a general matrix, which graph commands take "
      "as directed without --undirected");
  return symmetry_kind::general;
}

// A snapshot or an undirected graph from a generator: all of a matrix, in canonical form.
template <entry_type V, index_type I, index_type O>
written list_and_write(const conversion& c, const csr_view<const V, I, O, host>& matrix, const input_facts& facts) {
  if constexpr (std::same_as<V, float> || std::same_as<V, std::complex<float>>) {  // a reader of text takes float64
    using wide = std::conditional_t<complex_type<V>, std::complex<double>, double>;
    const array<wide, host> values = convert_values<wide, V>(c.ctx, matrix.values, matrix.nnz());
    return list_and_write<wide, I, O>(c, {{matrix.rows, matrix.cols, matrix.offsets, matrix.indices}, values.view()},
                                      facts);
  } else {
    listed<V, I> list;
    list.triangle = find_symmetry<V, I, O>(c, matrix);
    coo_matrix<V, I, host> entries = to_coo_from<V, I, O>(c.ctx, matrix, facts.first_vertex);
    if (list.triangle != symmetry_kind::general) {
      entries = choose_entries<V, I>(c.ctx, std::as_const(entries).view(), [](I row, I col) { return row >= col; });
    }
    list.entries = std::as_const(entries).view();
    if constexpr (std::same_as<V, double>) {
      if (c.input.mapped.has_value() && c.input.mapped->header().origin == value_origin::counts) {
        if (!are_counts(list.entries.values)) c.refuse("the snapshot's counts are none (expected 0 to 2^32)");
        const coo_matrix<pattern, I, host> repeated = repeat_entries<I>(c.ctx, list.entries);
        return write_listed<pattern, I>(c, {repeated.view(), list.triangle}, facts);
      }
      list.integers = c.input.field == matrix_market_field::integer && are_integers(list.entries.values);
    }
    return write_listed<V, I>(c, list, facts);
  }
}

template <entry_type V, index_type I, index_type O>
written write_spg(const conversion& c, const csr_view<const V, I, O, host>& matrix, const input_facts& facts,
                  const snapshot_extras& extras) {
  snapshot_options options;
  options.notes = extras.notes;
  options.symmetry = c.input.symmetry;
  options.directed = c.input.directed;
  options.origin = real_type<V> ? extras.origin : value_origin::numbers;
  // Rows from 1 need no ids: that is how a snapshot without them is read.
  const bool named =
      facts.names.are_integers() && facts.names.naming != vertex_naming::rows_from_one && matrix.rows == matrix.cols;
  options.names = facts.names.table;
  const std::vector<std::int64_t> ids = named ? facts.names.all() : std::vector<std::int64_t>{};
  options.ids = ids;
  options.first_vertex = facts.first_vertex;
  write_snapshot<V, I, O>(c.ctx, c.flags.to, matrix, options);
  return {matrix.rows, matrix.cols, matrix.nnz(), !is_pattern<V>};
}

// Whether METIS could take the values off the diagonal as weights.
template <entry_type V, index_type I, index_type O>
bool are_metis_weights(const conversion& c, const csr_view<const V, I, O, host>& matrix) {
  if constexpr (real_type<V>) {
    for (const V& v : matrix.values) {
      if (!(v >= V(1) && v < V(9223372036854775808.0) && v == std::trunc(v))) return false;
    }
    return is_mirrored<V, I, O>(c.ctx, matrix, symmetry_kind::symmetric);
  } else {
    return false;
  }
}

template <entry_type V, index_type I, index_type O>
written write_graph(const conversion& c, const csr_view<const V, I, O, host>& all, const input_facts& facts) {
  if (all.rows != all.cols) {
    c.refuse(fmt::format("a {} x {} matrix is no graph (expected a square one for METIS)", all.rows, all.cols));
  }
  const auto every = to_coo<V, I, O, host>(c.ctx, all);
  const auto entries = choose_entries<V, I>(c.ctx, every.view(), [](I row, I col) { return row != col; });
  const csr_matrix<V, I, O, host> owned = to_csr<O>(c.ctx, entries.view());
  const csr_view<const V, I, O, host> matrix = owned.view();
  if (!is_mirrored<V, I, O>(c.ctx, matrix, symmetry_kind::symmetric, compared::pattern_only)) {
    c.refuse("a METIS graph is undirected (expected --undirected, or with each entry the one at the mirrored place)");
  }
  if (c.input.directed)
    c.warn("a METIS graph is undirected, and graph commands take it so (expected --directed there)");
  if (matrix.nnz() < all.nnz()) {
    c.warn(fmt::format("{} omitted: METIS does not allow loops", counted(all.nnz() - matrix.nnz(), "self-loop")));
  }
  const bool counts = c.input.field == matrix_market_field::pattern;
  // With --undirected help says what becomes of them.
  const std::int64_t merged = c.flags.undirected ? 0 : facts.expanded - all.nnz();
  if (merged > 0) c.warn(fmt::format("{} omitted", counted(merged, "duplicate entry", "duplicate entries")));
  const bool weighted = !counts && are_metis_weights<V, I, O>(c, matrix);
  if (merged > 0 && weighted) warn_of_lightest(c);
  if (!is_pattern<V> && !counts && !weighted) {
    c.warn("the values are omitted: weights in METIS are integers above 0, equal in both directions");
  }
  warn_of_ids(c, facts.names);
  std::int64_t first = 0;
  while (first < matrix.rows && matrix.offsets[first + 1] == 0) ++first;
  if (first < matrix.rows) warn_of_first_vertex(c, facts, first);
  if constexpr (real_type<V>) {
    if (weighted) {
      write_metis<V, I, O>(c.ctx, c.flags.to, matrix);
      return {matrix.rows, matrix.cols, matrix.nnz(), true};
    }
  }
  write_metis<pattern, I, O>(c.ctx, c.flags.to, {{matrix.rows, matrix.cols, matrix.offsets, matrix.indices}, {}});
  return {matrix.rows, matrix.cols, matrix.nnz(), false};
}

}  // namespace

template <entry_type V, index_type I, index_type O>
written write_canonical(const conversion& c, const csr_view<const V, I, O, host>& matrix, const input_facts& facts,
                        const snapshot_extras& extras) {
  const busy writing("writing " + c.flags.to);
  warn_of_rounding(c.out, c.source(), facts.rounded_integers);
  if (c.to.kind == target_kind::snapshot) return write_spg<V, I, O>(c, matrix, facts, extras);
  return c.to.kind == target_kind::metis ? write_graph<V, I, O>(c, matrix, facts)
                                         : list_and_write<V, I, O>(c, matrix, facts);
}

template written write_canonical(const conversion&, const csr_view<const double, std::int32_t, std::int32_t, host>&,
                                 const input_facts&, const snapshot_extras&);
template written write_canonical(const conversion&, const csr_view<const double, std::int32_t, std::int64_t, host>&,
                                 const input_facts&, const snapshot_extras&);
template written write_canonical(const conversion&, const csr_view<const double, std::int64_t, std::int64_t, host>&,
                                 const input_facts&, const snapshot_extras&);
template written write_canonical(const conversion&, const csr_view<const pattern, std::int32_t, std::int32_t, host>&,
                                 const input_facts&, const snapshot_extras&);
template written write_canonical(const conversion&, const csr_view<const pattern, std::int32_t, std::int64_t, host>&,
                                 const input_facts&, const snapshot_extras&);
template written write_canonical(const conversion&, const csr_view<const pattern, std::int64_t, std::int64_t, host>&,
                                 const input_facts&, const snapshot_extras&);
template written write_canonical(const conversion&, const csr_view<const float, std::int32_t, std::int32_t, host>&,
                                 const input_facts&, const snapshot_extras&);
template written write_canonical(const conversion&, const csr_view<const float, std::int32_t, std::int64_t, host>&,
                                 const input_facts&, const snapshot_extras&);
template written write_canonical(const conversion&, const csr_view<const float, std::int64_t, std::int64_t, host>&,
                                 const input_facts&, const snapshot_extras&);
template written write_canonical(const conversion&,
                                 const csr_view<const std::complex<float>, std::int32_t, std::int32_t, host>&,
                                 const input_facts&, const snapshot_extras&);
template written write_canonical(const conversion&,
                                 const csr_view<const std::complex<float>, std::int32_t, std::int64_t, host>&,
                                 const input_facts&, const snapshot_extras&);
template written write_canonical(const conversion&,
                                 const csr_view<const std::complex<float>, std::int64_t, std::int64_t, host>&,
                                 const input_facts&, const snapshot_extras&);
template written write_canonical(const conversion&,
                                 const csr_view<const std::complex<double>, std::int32_t, std::int32_t, host>&,
                                 const input_facts&, const snapshot_extras&);
template written write_canonical(const conversion&,
                                 const csr_view<const std::complex<double>, std::int32_t, std::int64_t, host>&,
                                 const input_facts&, const snapshot_extras&);
template written write_canonical(const conversion&,
                                 const csr_view<const std::complex<double>, std::int64_t, std::int64_t, host>&,
                                 const input_facts&, const snapshot_extras&);

namespace {

value_origin origin_of(const input_description& input) {
  return input.field == matrix_market_field::integer ? value_origin::integers : value_origin::numbers;
}

// With --undirected.
template <entry_type V, index_type I>
written write_undirected(const conversion& c, const coo_view<const V, I, host>& entries, const input_facts& facts) {
  if constexpr (complex_type<V>) {
    c.refuse("complex values are no weights (expected real values or none with --undirected)");
  } else {
    expect_square(entries.rows, entries.cols, c.source());
    c.input.directed = false;
    c.input.symmetry = symmetry_kind::symmetric;
    return with_offset<I>(2 * entries.nnz(), [&]<class O>(type_tag<O>) {
      return with_reverses<O, V, I>(c.ctx, entries, [&](const csr_view<const V, I, O, host>& all) {
        return write_canonical<V, I, O>(c, all, facts, {origin_of(c.input)});
      });
    });
  }
}

written write_snapshot_undirected(const conversion& c, const any_matrix& matrix) {
  return std::visit(
      [&]<class V, class I, class O>(const csr_input<V, I, O>& read) {
        const coo_matrix<V, I, host> entries = to_coo(c.ctx, read.matrix);
        if constexpr (!real_type<V>) {
          return write_undirected<V, I>(c, entries.view(), read.facts);
        } else if (c.input.field == matrix_market_field::pattern) {  // the values are counts
          return write_undirected<pattern, I>(c, {{entries.view()}, {}}, read.facts);
        } else {
          array<double, host> weights = convert_values<double, V>(c.ctx, entries.values().view(), entries.nnz());
          take_lightest(c.input.mapped->notes(), weights.view());
          return write_undirected<double, I>(c, {{entries.view()}, std::as_const(weights).view()}, read.facts);
        }
      },
      matrix);
}

written convert_snapshot(const conversion& c) {
  const any_matrix matrix = borrow_stored(c.ctx, c.input);
  if (c.adds_reverses()) return write_snapshot_undirected(c, matrix);
  const snapshot& mapped = *c.input.mapped;
  const std::string_view notes = has_lightest(mapped.notes()) ? mapped.notes() : std::string_view{};
  const written result = std::visit(
      [&]<class V, class I, class O>(const csr_input<V, I, O>& read) {
        csr_view<const V, I, O, host> all = read.matrix;
        array<V, host> lightest;
        if constexpr (std::same_as<V, double>) {
          if (c.to.kind == target_kind::metis && !notes.empty()) {
            lightest = clone(c.ctx, all.values);
            take_lightest(notes, lightest.view());
            all.values = std::as_const(lightest).view();
          }
        }
        return write_canonical<V, I, O>(c, all, read.facts, {mapped.header().origin, notes});
      },
      matrix);
  if (c.to.kind != target_kind::snapshot) warn_of_sums(c);
  return result;
}

// A pattern whose places are listed more than once is kept by how often they are.
template <index_type I, index_type O>
written write_counts(const conversion& c, const coo_input<pattern, I>& read) {
  const auto entries = read.entries.view();
  const array<double, host> ones = convert_values<double, pattern>(c.ctx, {}, entries.nnz());
  const coo_view<const double, I, host> counted{{entries}, ones.view()};
  const csr_matrix<double, I, O, host> matrix = to_csr<O>(c.ctx, counted, {.symmetry = read.triangle});
  return write_canonical<double, I, O>(c, matrix.view(), read.facts, {value_origin::counts});
}

// f(view) of all entries.
template <index_type I, class F>
auto with_expanded(const conversion& c, const coo_input<double, I>& read, F&& f) {
  if (read.triangle == symmetry_kind::general) return f(read.entries.view());
  const coo_matrix<double, I, host> all = expand_symmetry<double, I>(c.ctx, read.entries.view(), read.triangle);
  return f(all.view());
}

// Of duplicates a snapshot has the sum and notes the lightest, a METIS file has the lightest; a pattern's are counted.
template <index_type I, index_type O>
std::string keep_lightest(const conversion& c, const coo_input<double, I>& read,
                          csr_matrix<double, I, O, host>& matrix) {
  return with_expanded(c, read, [&](const coo_view<const double, I, host>& entries) -> std::string {
    if (c.to.kind == target_kind::snapshot) return note_lightest<I, O>(c.ctx, entries, std::as_const(matrix).view());
    if (matrix.rows() == matrix.cols()) matrix.values() = lightest_weights<I, O>(c.ctx, entries);
    return {};
  });
}

// Whether more is to be known of duplicates than their sum.
bool keeps_duplicates(const conversion& c) {
  return c.to.kind == target_kind::snapshot || c.to.kind == target_kind::metis;
}

template <entry_type V, index_type I>
written sort_and_write(const conversion& c, coo_input<V, I>& read) {
  return with_offset<I>(read.facts.expanded, [&]<class O>(type_tag<O>) {
    csr_matrix<V, I, O, host> matrix = [&] {
      const busy building("building CSR");
      return to_csr<O>(c.ctx, std::as_const(read.entries).view(), {.symmetry = read.triangle});
    }();
    std::string notes;
    if (read.facts.expanded > matrix.nnz() && keeps_duplicates(c)) {
      if constexpr (is_pattern<V>) {
        if (c.to.kind == target_kind::snapshot) return write_counts<I, O>(c, read);
      }
      if constexpr (std::same_as<V, double>) notes = keep_lightest<I, O>(c, read, matrix);
    }
    read.entries = {};
    return write_canonical<V, I, O>(c, std::as_const(matrix).view(), read.facts, {origin_of(c.input), notes});
  });
}

written sort_and_write(const conversion& c, any_entries listed) {
  return std::visit([&]<class V, class I>(coo_input<V, I>& read) { return sort_and_write<V, I>(c, read); }, listed);
}

written convert_cached(const conversion& c, const read_options& options) {
  std::optional<cached_matrix> matrix = read_matrix(c.ctx, c.input, options, c.flags.cache);
  report_cache(c.out, matrix->cache);
  std::visit([&](const auto& read) { report_contents(c.out, c.input, read.facts); }, matrix->read);
  const auto go_on = [&]<class V, class I, class O>(const csr_input<V, I, O>& read) -> std::optional<written> {
    if (read.facts.expanded > read.matrix.nnz() && keeps_duplicates(c)) return std::nullopt;
    return write_canonical<V, I, O>(c, read.matrix, read.facts, {origin_of(c.input)});
  };
  if (const std::optional<written> result = std::visit(go_on, matrix->read)) return *result;
  matrix.reset();
  return sort_and_write(c, read_entries(c.ctx, c.input, options));  // what is listed more than once is in the text only
}

// Edges that are merged have no line of their own.
void warn_of_lost_attributes(const conversion& c) {
  if (c.input.kind == input_kind::document) {
    c.warn("attributes of vertices and edges are not kept with --undirected (--join " + c.input.path +
           " keeps those of vertices)");
    return;
  }
  const edge_list_header& header = c.input.columns;
  const std::size_t used = 2U + (header.weight < 0 ? 0U : 1U) + (header.type < 0 ? 0U : 1U);
  if (c.input.kind == input_kind::edge_list && header.names.size() > used) {
    c.warn("other columns of the edge list are not kept with --undirected");
  }
}

written convert_in_memory(const conversion& c) {
  progress_bar bar("reading " + c.input.path, c.flags.common.quiet);
  if (c.input.kind == input_kind::snapshot) return convert_snapshot(c);
  const bool to_document = c.to.kind == target_kind::document;
  const bool to_text = to_document || c.to.kind == target_kind::matrix_market || c.to.kind == target_kind::edge_list;
  if (to_document && c.input.kind == input_kind::document && !c.adds_reverses()) return convert_document(c);
  if (to_document && c.adds_reverses()) warn_of_lost_attributes(c);
  if (!to_document && c.input.kind == input_kind::document) {
    c.warn("attributes of vertices and edges, except weights, are not kept (.gml and .graphml keep them)");
  }
  if (!to_text && !c.adds_reverses() && c.flags.cache == cache_mode::on) {
    if (c.input.can_be_read_again()) return convert_cached(c, bar.options());
    report_cache(c.out, input_cache(c.flags.cache, c.input, value_kind::fp64));  // says why it is off
  }
  any_entries listed = read_entries(c.ctx, c.input, bar.options());
  const auto go_on = [&]<class V, class I>(coo_input<V, I>& read) {
    report_contents(c.out, c.input, read.facts);
    if (c.adds_reverses()) return write_undirected<V, I>(c, std::as_const(read.entries).view(), read.facts);
    const bool expanded =
        !c.input.directed && read.triangle == symmetry_kind::general && !(to_document && lists_edges(c.input.kind));
    if (!to_text || expanded) return sort_and_write<V, I>(c, read);
    warn_of_rounding(c.out, c.source(), read.facts.rounded_integers);
    return write_listed<V, I>(
        c, {std::as_const(read.entries).view(), read.triangle, c.input.field == matrix_market_field::integer, true},
        read.facts);
  };
  return std::visit(go_on, listed);
}

// Rewrites the text in bounded memory where that gives what memory for the whole would have given; none where not.
std::optional<written> convert_streamed(const conversion& c) {
  const input_description& input = c.input;
  const bool edges = c.to.kind == target_kind::edge_list;
  const bool listed = input.kind == input_kind::edge_list && edges;
  const bool matrix = input.kind == input_kind::matrix_market && input.format == "Matrix Market coordinate" &&
                      (edges || c.to.kind == target_kind::matrix_market) &&
                      (!edges || (input.rows == input.cols && input.field != matrix_market_field::complex));
  if ((!listed && !matrix) || !input.can_be_read_again()) return std::nullopt;
  if (c.adds_reverses()) return std::nullopt;
  progress_bar bar("rewriting " + input.path, c.flags.common.quiet);
  stream_options options;
  options.to = edges ? text_format::edge_list : text_format::matrix_market;
  options.weights = c.to.weights;
  options.style = c.to.style;
  options.reading = input.reading(bar.options());
  stream_result result;
  if (listed) {
    result = stream_edge_list(c.ctx, *input.file, c.flags.to, options);
    for (const std::string& warning : warnings_of(find_padded_id(*input.file, input.columns))) {
      c.out.warn(input.path + ": " + warning);
    }
  } else {
    const std::optional<stream_result> rewritten = stream_matrix_market(c.ctx, *input.file, c.flags.to, options);
    if (!rewritten.has_value()) return std::nullopt;
    result = *rewritten;
  }
  warn_of_rounding(c.out, c.source(), result.rounded_integers);
  warn_of_isolated(c, result.isolated);
  if (edges) warn_of_direction(c);
  const bool left_out = edges && c.to.weights == edge_weights::left_out;
  if (left_out && result.weighted) warn_of_weights(c);
  const bool ones = edges && c.to.weights == edge_weights::ones_if_none;
  return written{result.rows, result.cols, result.entries, ones || (result.weighted && !left_out), true};
}

}  // namespace

bool is_replaceable(const std::string& path) {
  std::error_code failure;
  return !output_descriptor(path).has_value() &&
         (!std::filesystem::exists(path, failure) || std::filesystem::is_regular_file(path, failure));
}

written convert(const conversion& c) {
  std::error_code failure;
  const auto bytes = std::filesystem::file_size(c.flags.from, failure);
  const bool too_large = !failure && bytes / 2 > static_cast<std::uintmax_t>(host_memory().limit());
  if (too_large && is_replaceable(c.flags.to)) {  // no array is much smaller
    if (const auto result = convert_streamed(c)) return *result;
  }
  try {
    return convert_in_memory(c);
  } catch (const error& e) {
    if (e.code() != error_code::out_of_memory) throw;
    if (const auto result = convert_streamed(c)) return *result;
    throw;
  }
}

}  // namespace spargo::apps
