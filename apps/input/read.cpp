#include "input/read.hpp"

#include "cli/progress.hpp"
#include "cli/timing.hpp"
#include "input/columns.hpp"
#include "input/extent.hpp"

#include <spargo/io/dimacs.hpp>
#include <spargo/io/edge_list.hpp>
#include <spargo/io/edge_table.hpp>
#include <spargo/io/generate.hpp>
#include <spargo/io/graph_document.hpp>
#include <spargo/io/metis.hpp>

namespace spargo::apps {

namespace {

// Calls f(type_tag<I>) with the narrowest index type that holds 0..extent.
template <class F>
decltype(auto) with_index(std::int64_t extent, F&& f) {
  if (extent <= std::numeric_limits<std::int32_t>::max()) return f(type_tag<std::int32_t>{});
  return f(type_tag<std::int64_t>{});
}

template <entry_type V, index_type I>
coo_matrix<V, I, host> with_values(const context<host>& ctx, coo_matrix<double, I, host> read) {
  if constexpr (std::same_as<V, double>) {
    return read;
  } else {
    array<V, host> values = convert_values<V, double>(ctx, read.values().view(), read.nnz());
    return {read.rows(), read.cols(), std::move(read.row_indices()), std::move(read.col_indices()), std::move(values)};
  }
}

template <entry_type V, index_type I>
void read_edge_list_graph(const context<host>& ctx, const input_description& input, const read_options& options,
                          coo_input<V, I>& result) {
  const auto take = [&](auto list) {
    input_facts& facts = result.facts;
    facts.weighted = list.weighted;
    facts.first_vertex = list.first_vertex;
    facts.stored = facts.expanded = list.edges.nnz();
    if constexpr (!is_pattern<V>) facts.rounded_integers = list.rounded_integers;
    facts.warnings = warnings_of(find_padded_id(*input.file, input.columns));
    facts.names = names_of(list);
    return std::move(list.edges);
  };
  if constexpr (is_pattern<V>) {
    result.entries = take(read_edge_pattern<I>(ctx, *input.file, input.reading(options)));
  } else {
    result.entries = with_values<V, I>(ctx, take(read_edge_list<I>(ctx, *input.file, input.reading(options))));
  }
}

template <entry_type V, index_type I>
void read_document(const context<host>& ctx, const input_description& input, const read_options& options,
                   coo_input<V, I>& result) {
  edge_list<I> list = read_graph_document<I>(ctx, *input.file, options);
  if ((list.header.direction != edge_direction::undirected) != input.directed) {
    throw error(error_code::unsupported, source_position{input.file->name(), 0, 0},
                "the graph's direction comes too late to tell what the file is (expected it in the first 64 KiB)");
  }
  input_facts& facts = result.facts;
  facts.weighted = list.weighted;
  facts.first_vertex = list.first_vertex;
  facts.stored = facts.expanded = list.edges.nnz();
  facts.rounded_integers = list.rounded_integers;
  facts.names = names_of(list);
  result.entries = with_values<V, I>(ctx, std::move(list.edges));
}

template <entry_type V, index_type I>
void read_metis_graph(const context<host>& ctx, const input_description& input, const read_options& options,
                      coo_input<V, I>& result) {
  metis_graph<I> graph = read_metis<I>(ctx, *input.file, options);
  input_facts& facts = result.facts;
  facts.weighted = graph.weighted;
  facts.first_vertex = graph.first_vertex;
  facts.stored = facts.expanded = 2 * graph.triangle.nnz();
  facts.rounded_integers = graph.rounded_integers;
  if (graph.has_vertex_data) facts.warnings.push_back("skipped: vertex weights and sizes");
  result.triangle = symmetry_kind::symmetric;
  result.entries = with_values<V, I>(ctx, std::move(graph.triangle));
}

template <entry_type V, index_type I>
void read_dimacs_graph(const context<host>& ctx, const input_description& input, const read_options& options,
                       coo_input<V, I>& result) {
  dimacs_graph<I> graph = read_dimacs<I>(ctx, *input.file, options);
  const bool arcs = graph.problem == dimacs_problem::shortest_path;
  if (arcs != input.directed) {
    throw error(error_code::unsupported, source_position{input.file->name(), 0, 0},
                "the problem line comes too late to tell what the file is (expected it in the first 64 KiB)");
  }
  input_facts& facts = result.facts;
  facts.weighted = arcs;
  facts.first_vertex = graph.first_vertex;
  facts.rounded_integers = graph.rounded_integers;
  if (graph.counted_twice) facts.warnings.push_back("the problem line counts every edge twice");
  facts.stored = facts.expanded = graph.entries.nnz();
  if (!arcs) {
    result.triangle = symmetry_kind::symmetric;
    for (std::int64_t k = 0; k < facts.stored; ++k) {
      facts.expanded += graph.entries.row_indices()[k] != graph.entries.col_indices()[k] ? 1 : 0;
    }
  }
  result.entries = with_values<V, I>(ctx, std::move(graph.entries));
}

// Reads anything but a snapshot. `I`: by `with_index`; for a graph as text it must hold the number of vertices.
template <entry_type V, index_type I>
coo_input<V, I> read_coo(const context<host>& ctx, const input_description& input, const read_options& options) {
  coo_input<V, I> result;
  input_facts& facts = result.facts;
  if (input.kind == input_kind::edge_list) {
    read_edge_list_graph<V, I>(ctx, input, options, result);
    return result;
  }
  if (input.kind == input_kind::document) {
    read_document<V, I>(ctx, input, options, result);
    return result;
  }
  if (is_graph_text(input.kind)) {
    input.kind == input_kind::metis ? read_metis_graph<V, I>(ctx, input, options, result)
                                    : read_dimacs_graph<V, I>(ctx, input, options, result);
    const std::int64_t vertices = facts.names.vertices = result.entries.rows();
    expect_reasonable_extent(input.path, vertices, vertices, result.entries.nnz());
    return result;
  }
  if (input.kind == input_kind::generator) {
    const busy generating("generating " + input.path);
    if (input.field == matrix_market_field::pattern && !is_pattern<V>) {  // like a pattern that is read
      auto edges = generate<pattern, I>(ctx, input.path);
      array<V, host> ones = convert_values<V, pattern>(ctx, {}, edges.nnz());
      result.entries = {edges.rows(), edges.cols(), std::move(edges.row_indices()), std::move(edges.col_indices()),
                        std::move(ones)};
    } else {
      result.entries = generate<V, I>(ctx, input.path);
    }
    facts.stored = facts.expanded = result.entries.nnz();
    facts.names.naming = vertex_naming::from_zero;
  } else {
    matrix_market_summary summary;
    result.entries = read_matrix_market_stored<V, I>(ctx, *input.file, options, &summary);
    result.triangle = summary.header.symmetry;
    facts.stored = summary.stored;
    facts.expanded = summary.expanded;
    facts.rounded_integers = summary.rounded_integers;
  }
  facts.names.vertices = result.entries.rows();
  if (result.entries.nnz() > 0) facts.first_vertex = result.entries.row_indices()[0];
  return result;
}

// Reads anything but a snapshot with the narrowest index type.
template <entry_type V>
any_coo<V> read_any(const context<host>& ctx, const input_description& input, const read_options& options) {
  if (!is_graph_text(input.kind)) {
    return with_index(std::max(input.rows, input.cols), [&]<class I>(type_tag<I>) -> any_coo<V> {
      coo_input<V, I> read = read_coo<V, I>(ctx, input, options);
      expect_reasonable_extent(input.path, input.rows, input.cols, read.entries.nnz());
      return read;
    });
  }
  try {  // the number of vertices is known only after reading
    return read_coo<V, std::int32_t>(ctx, input, options);
  } catch (const error& e) {
    if (e.code() != error_code::unsupported || !input.can_be_read_again()) throw;
  }
  return read_coo<V, std::int64_t>(ctx, input, options);
}

// Converts a variant to one with more alternatives.
template <class To, class From>
To widen(From from) {
  return std::visit([](auto& held) -> To { return std::move(held); }, from);
}

// Drops the ones that a graph as text without weights was read with.
any_entries read_weighted(const context<host>& ctx, const input_description& input, const read_options& options) {
  any_coo<double> weighted = read_any<double>(ctx, input, options);
  return std::visit(
      [&]<class I>(coo_input<double, I>& read) -> any_entries {
        if (read.facts.weighted) return std::move(read);
        coo_input<pattern, I> bare;
        coo_matrix<double, I, host>& entries = read.entries;
        bare.entries = {
            entries.rows(), entries.cols(), std::move(entries.row_indices()), std::move(entries.col_indices()), {}};
        bare.triangle = read.triangle;
        bare.facts = std::move(read.facts);
        return bare;
      },
      weighted);
}

// Calls f(type_tag<V>) with the type of a snapshot's values.
template <class F>
decltype(auto) with_values_of(const snapshot_header& header, F&& f) {
  switch (header.values) {
    case value_kind::pattern:
      return f(type_tag<pattern>{});
    case value_kind::fp32:
      return f(type_tag<float>{});
    case value_kind::fp64:
      return f(type_tag<double>{});
    case value_kind::complex_fp32:
      return f(type_tag<std::complex<float>>{});
    case value_kind::complex_fp64:
      break;
  }
  return f(type_tag<std::complex<double>>{});
}

// The matrix of a mapped snapshot, borrowed, or with its values converted to V.
template <entry_type V, index_type I, index_type O>
csr_input<V, I, O> borrow_csr(const context<host>& ctx, const snapshot& mapped) {
  csr_input<V, I, O> result;
  const snapshot_header& header = mapped.header();
  const auto borrow = [&]<class Stored>(type_tag<Stored>) {
    const csr_view<const Stored, I, O, host> stored = mapped.template matrix<Stored, I, O>();
    if constexpr (std::same_as<Stored, V>) {
      result.matrix = stored;
    } else {
      result.converted = convert_values<V, Stored>(ctx, stored.values, stored.nnz());
      result.matrix = {{stored.rows, stored.cols, stored.offsets, stored.indices}, result.converted.view()};
    }
  };
  with_values_of(header, borrow);
  input_facts& facts = result.facts;
  facts.stored = facts.expanded = header.nnz;
  facts.names.vertices = header.rows;
  if (header.has_ids) {
    facts.names.naming = vertex_naming::listed;
    facts.names.ids.assign(mapped.ids().begin(), mapped.ids().end());
  } else if (header.has_names) {
    facts.names.naming = vertex_naming::names;
    facts.names.table = mapped.names();
  }
  facts.first_vertex = header.first_vertex;
  for (std::int64_t row = 0; row < header.rows && facts.first_vertex < 0; ++row) {
    if (result.matrix.offsets[row + 1] > 0) facts.first_vertex = row;
  }
  return result;
}

template <class F>
decltype(auto) with_stored_indices(const snapshot_header& header, F&& f) {
  if (header.index_bytes == 8) return f(type_tag<std::int64_t>{}, type_tag<std::int64_t>{});
  if (header.offset_bytes == 8) return f(type_tag<std::int32_t>{}, type_tag<std::int64_t>{});
  return f(type_tag<std::int32_t>{}, type_tag<std::int32_t>{});
}

template <entry_type V>
any_csr<V> borrow_any(const context<host>& ctx, const snapshot& mapped) {
  return with_stored_indices(mapped.header(), [&]<class I, class O>(type_tag<I>, type_tag<O>) -> any_csr<V> {
    return borrow_csr<V, I, O>(ctx, mapped);
  });
}

// Reads the entries on the device, with the facts of the input.
template <entry_type V, index_type I>
coo_matrix<V, I, device> read_coo_on_device(const context<host>& ctx, const parse_choice& parsing,
                                            const input_description& input, const read_options& options,
                                            input_facts& facts) {
  device_read_options how{options, parsing.algorithm};
  device_read_summary summary;
  auto entries = read_matrix_market<V, I>(*parsing.gpu, ctx, input.path, how, &summary);
  facts.stored = summary.stored;
  facts.expanded = entries.nnz();
  facts.rounded_integers = summary.rounded_integers;
  facts.parsed_on_device = summary.parsed == device_read_algorithm::on_device;
  facts.names.vertices = static_cast<std::int64_t>(entries.rows());
  I first = -1;
  if (entries.nnz() > 0) {
    copy<I>(*parsing.gpu, entries.row_indices().view().subspan(0, 1), span<I, host>(&first, 1));
    parsing.gpu->synchronize();
  }
  facts.first_vertex = static_cast<std::int64_t>(first);
  return entries;
}

template <entry_type V, index_type I>
any_csr<V> read_on_device(const context<host>& ctx, const parse_choice& parsing, const input_description& input,
                          const read_options& options) {
  const stopwatch loading;
  input_facts facts;
  coo_matrix<V, I, device> entries = read_coo_on_device<V, I>(ctx, parsing, input, options, facts);
  expect_reasonable_extent(input.path, input.rows, input.cols, entries.nnz());
  const double load_ms = loading.milliseconds();
  return with_offset<I>(entries.nnz(), [&]<class O>(type_tag<O>) -> any_csr<V> {
    const stopwatch converting;
    csr_input<V, I, O> result;
    result.on_device = to_csr<O>(*parsing.gpu, entries.view());
    entries = {};
    result.owned = to_host(*parsing.gpu, result.on_device.view());
    result.matrix = result.owned.view();
    result.facts = std::move(facts);
    result.load_ms = load_ms;
    result.convert_ms = converting.milliseconds();
    return result;
  });
}

template <entry_type V, index_type I>
any_csr<V> sort_entries(const context<host>& ctx, coo_input<V, I>& read) {
  return with_offset<I>(read.facts.expanded, [&]<class O>(type_tag<O>) -> any_csr<V> {
    const stopwatch converting;
    csr_input<V, I, O> result;
    {
      const busy building("building CSR");
      result.owned = to_csr<O>(ctx, std::as_const(read.entries).view(), {.symmetry = read.triangle});
      read.entries = {};
    }
    result.matrix = result.owned.view();
    result.facts = std::move(read.facts);
    result.convert_ms = converting.milliseconds();
    return result;
  });
}

// Reads any input, without a cache.
template <entry_type V>
any_csr<V> read_afresh(const context<host>& ctx, const input_description& input, const read_options& options,
                       const parse_choice& parsing) {
  if (parsing.gpu.has_value()) {
    return with_index(std::max(input.rows, input.cols),
                      [&]<class I>(type_tag<I>) { return read_on_device<V, I>(ctx, parsing, input, options); });
  }
  const stopwatch loading;
  any_csr<V> result;
  double load_ms = 0;
  if (input.kind == input_kind::snapshot) {
    result = borrow_any<V>(ctx, *input.mapped);
    load_ms = loading.milliseconds();
  } else {
    any_coo<V> listed = read_any<V>(ctx, input, options);
    load_ms = loading.milliseconds();
    result = std::visit([&](auto& read) { return sort_entries(ctx, read); }, listed);
  }
  std::visit([&](auto& read) { read.load_ms = load_ms; }, result);
  return result;
}

// The matrix returned by `input_cache::open`, with the facts stored in the cache.
template <entry_type V>
any_csr<V> take_cached(const context<host>& ctx, snapshot opened, input_facts facts) {
  any_csr<V> result = borrow_any<V>(ctx, opened);
  std::visit(
      [&](auto& read) {
        if (facts.names.naming == vertex_naming::listed) facts.names.ids = std::move(read.facts.names.ids);
        facts.names.table = std::move(read.facts.names.table);
        read.facts = std::move(facts);
        read.cached.emplace(std::move(opened));
      },
      result);
  return result;
}

template <entry_type V>
void write_cache(const context<host>& ctx, const input_description& input, input_cache& cache,
                 const any_csr<V>& result) {
  std::visit(
      [&]<class I, class O>(const csr_input<V, I, O>& read) {
        cache.write(input, read.facts, [&](const std::string& path, const snapshot_options& options) {
          write_snapshot<V, I, O>(ctx, path, read.matrix, options);
        });
      },
      result);
}

// A graph as text. A cache with weights exists if the text has some; one without records whether it had.
cached_matrix read_graph(const context<host>& ctx, const input_description& input, const read_options& options,
                         cache_mode mode) {
  input_cache weighted(mode, input, value_kind::fp64);
  input_cache unweighted(mode, input, value_kind::pattern);
  input_facts facts;
  if (std::optional<snapshot> opened = weighted.open(ctx, facts)) {
    auto read = take_cached<double>(ctx, std::move(*opened), std::move(facts));
    return {widen<any_matrix>(std::move(read)), std::move(weighted)};
  }
  if (std::optional<snapshot> opened = unweighted.open(ctx, facts); opened.has_value() && !facts.weighted) {
    auto read = take_cached<pattern>(ctx, std::move(*opened), std::move(facts));
    return {widen<any_matrix>(std::move(read)), std::move(unweighted)};
  }
  any_entries listed = read_weighted(ctx, input, options);
  return std::visit(
      [&]<class V, class I>(coo_input<V, I>& read) -> cached_matrix {
        any_csr<V> result = sort_entries(ctx, read);
        input_cache& cache = is_pattern<V> ? unweighted : weighted;
        write_cache<V>(ctx, input, cache, result);
        return {widen<any_matrix>(std::move(result)), std::move(cache)};
      },
      listed);
}

// Calls f(type_tag<V>) with the type that holds the input's values exactly.
template <class F>
decltype(auto) with_stored_values(const input_description& input, F&& f) {
  if (input.field == matrix_market_field::pattern) return f(type_tag<pattern>{});
  const bool complex = input.field == matrix_market_field::complex;
  if (input.single_precision) {
    return complex ? f(type_tag<std::complex<float>>{}) : f(type_tag<float>{});
  }
  return complex ? f(type_tag<std::complex<double>>{}) : f(type_tag<double>{});
}

}  // namespace

any_entries read_entries(const context<host>& ctx, const input_description& input, const read_options& options) {
  if (is_graph_text(input.kind)) return read_weighted(ctx, input, options);
  if (input.field == matrix_market_field::pattern) return widen<any_entries>(read_any<pattern>(ctx, input, options));
  if (input.field == matrix_market_field::complex) {
    return widen<any_entries>(read_any<std::complex<double>>(ctx, input, options));
  }
  return widen<any_entries>(read_any<double>(ctx, input, options));
}

any_coo<pattern> read_pattern(const context<host>& ctx, const input_description& input, const read_options& options) {
  return read_any<pattern>(ctx, input, options);
}

any_matrix to_canonical(const context<host>& ctx, any_entries listed) {
  return std::visit([&](auto& read) { return widen<any_matrix>(sort_entries(ctx, read)); }, listed);
}

any_matrix borrow_stored(const context<host>& ctx, const input_description& input) {
  return with_values_of(input.mapped->header(),
                        [&]<class V>(type_tag<V>) { return widen<any_matrix>(borrow_any<V>(ctx, *input.mapped)); });
}

template <entry_type V>
any_csr<V> read_csr(const context<host>& ctx, const input_description& input, const read_options& options,
                    input_cache& cache, const parse_choice& parsing) {
  const stopwatch loading;
  input_facts facts;
  if (std::optional<snapshot> opened = cache.open(ctx, facts)) {
    any_csr<V> result = take_cached<V>(ctx, std::move(*opened), std::move(facts));
    std::visit([&](auto& read) { read.load_ms = loading.milliseconds(); }, result);
    return result;
  }
  any_csr<V> result = read_afresh<V>(ctx, input, options, parsing);
  write_cache<V>(ctx, input, cache, result);
  return result;
}

cached_matrix read_matrix(const context<host>& ctx, const input_description& input, const read_options& options,
                          cache_mode mode) {
  if (is_graph_text(input.kind)) return read_graph(ctx, input, options, mode);
  return with_stored_values(input, [&]<class V>(type_tag<V>) -> cached_matrix {
    input_cache cache(mode, input, kind_of_values<V>());
    any_csr<V> read = read_csr<V>(ctx, input, options, cache);
    return {widen<any_matrix>(std::move(read)), std::move(cache)};
  });
}

template any_csr<pattern> read_csr(const context<host>&, const input_description&, const read_options&, input_cache&,
                                   const parse_choice&);
template any_csr<float> read_csr(const context<host>&, const input_description&, const read_options&, input_cache&,
                                 const parse_choice&);
template any_csr<double> read_csr(const context<host>&, const input_description&, const read_options&, input_cache&,
                                  const parse_choice&);
template any_csr<std::complex<double>> read_csr(const context<host>&, const input_description&, const read_options&,
                                                input_cache&, const parse_choice&);

}  // namespace spargo::apps
