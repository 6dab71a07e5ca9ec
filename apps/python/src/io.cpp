// Files: Matrix Market, edge lists and other graphs, snapshots, generated data.
#include "arrays.hpp"

#include <nanobind/stl/optional.h>

#include <complex>

namespace spargo::python {
namespace {

nb::tuple tuple_of(const matrix_market_header& h) {
  return nb::make_tuple(h.rows, h.cols, h.entries, to_string(h.layout),
                        h.is_unsigned ? "unsigned-integer" : to_string(h.field), to_string(h.symmetry));
}

// f.template operator()<V>() for NumPy's name of a type.
template <class F>
decltype(auto) with_dtype(std::string_view dtype, F&& f) {
  if (dtype == "float32") return f.template operator()<float>();
  if (dtype == "float64") return f.template operator()<double>();
  if (dtype == "complex64") return f.template operator()<std::complex<float>>();
  if (dtype == "complex128") return f.template operator()<std::complex<double>>();
  throw error(error_code::unsupported,
              "spargo: the library has float32, float64, complex64 and complex128, and this is " + std::string(dtype));
}

// f.template operator()<I>() for the narrowest type that holds the indices.
template <class F>
decltype(auto) with_index(std::int64_t rows, std::int64_t cols, F&& f) {
  if (std::max(rows, cols) <= std::numeric_limits<std::int32_t>::max()) return f.template operator()<std::int32_t>();
  return f.template operator()<std::int64_t>();
}
// The same if the number is known only after reading.
template <class F>
nb::object with_index_by_trial(const input_file& file, F&& f) {
  try {
    return f.template operator()<std::int32_t>();
  } catch (const error& e) {
    if (e.code() != error_code::unsupported || !file.can_be_read_again()) throw;
  }
  return f.template operator()<std::int64_t>();
}

template <class V, class I>
nb::tuple coo_arrays(coo_matrix<V, I, host> matrix) {
  const std::int64_t rows = matrix.rows();
  const std::int64_t cols = matrix.cols();
  return nb::make_tuple(rows, cols, moved(std::move(matrix.row_indices())), moved(std::move(matrix.col_indices())),
                        moved(std::move(matrix.values())));
}

// The type for a file's field. Integers are read as float64; the Python code converts them to int64 if all are exact.
std::string_view dtype_of(std::string_view asked, const matrix_market_header& header) {
  if (!asked.empty()) return asked;
  return header.field == matrix_market_field::complex ? "complex128" : "float64";
}

// (header, (rows, cols, row_indices, col_indices, values), how many integers were rounded)
nb::tuple read_coo(const std::string& path, std::string_view dtype, int threads) {
  const input_file file = unlocked([&] { return input_file(path); });
  const auto header = unlocked([&] { return read_matrix_market_header(file); });
  return with_dtype(dtype_of(dtype, header), [&]<class V>() {
    return with_index(header.rows, header.cols, [&]<class I>() {
      matrix_market_summary summary;
      auto matrix = unlocked([&] { return read_matrix_market<V, I>(threads_context(threads), file, {}, &summary); });
      return nb::make_tuple(tuple_of(header), coo_arrays(std::move(matrix)), summary.rounded_integers);
    });
  });
}

// (rows, cols, offsets, indices, values), canonical.
nb::tuple read_csr(const std::string& path, std::string_view dtype, int threads) {
  const input_file file = unlocked([&] { return input_file(path); });
  const auto header = unlocked([&] { return read_matrix_market_header(file); });
  const auto ctx = threads_context(threads);
  return with_dtype(dtype_of(dtype, header), [&]<class V>() {
    return with_index(header.rows, header.cols, [&]<class I>() {
      matrix_market_summary summary;
      const auto stored = unlocked([&] { return read_matrix_market_stored<V, I>(ctx, file, {}, &summary); });
      const to_csr_options options{.symmetry = summary.header.symmetry};
      const auto arrays = [&](auto matrix) {
        return nb::make_tuple(header.rows, header.cols, moved(std::move(matrix.offsets())),
                              moved(std::move(matrix.indices())), moved(std::move(matrix.values())));
      };
      if (2 * stored.nnz() <= std::numeric_limits<I>::max()) {
        return arrays(unlocked([&] { return to_csr<I>(ctx, stored, options); }));
      }
      return arrays(unlocked([&] { return to_csr<std::int64_t>(ctx, stored, options); }));
    });
  });
}

template <class W, class I>
void bind_coo_writer(nb::module_& m) {
  m.def(
      "mm_write",
      [](const std::string& path, std::int64_t rows, std::int64_t cols, const vector_of<const I>& row_indices,
         const vector_of<const I>& col_indices, const vector_of<const W>& values, std::string_view symmetry,
         const std::string& comment) {
        const coo_pattern_view<I, host> places{narrowed<I>(rows), narrowed<I>(cols), view(row_indices),
                                               view(col_indices)};
        const matrix_market_write_options options{.symmetry = choose<symmetry_kind>("symmetry", symmetry),
                                                  .comment = comment};
        unlocked([&] {
          if constexpr (matrix_market_integer<W>) {
            write_matrix_market<W>(path, places, view(values), options);
          } else {
            write_matrix_market(path, coo_view<const W, I, host>{places, view(values)}, options);
          }
        });
      },
      "path"_a, "rows"_a, "cols"_a, "row_indices"_a.noconvert(), "col_indices"_a.noconvert(), "values"_a.noconvert(),
      "symmetry"_a, "comment"_a);
}

template <class I>
void bind_pattern_writer(nb::module_& m) {
  m.def(
      "mm_write_pattern",
      [](const std::string& path, std::int64_t rows, std::int64_t cols, const vector_of<const I>& row_indices,
         const vector_of<const I>& col_indices, std::string_view symmetry, const std::string& comment) {
        const coo_view<const pattern, I, host> matrix{
            {narrowed<I>(rows), narrowed<I>(cols), view(row_indices), view(col_indices)}, {}};
        const matrix_market_write_options options{.symmetry = choose<symmetry_kind>("symmetry", symmetry),
                                                  .comment = comment};
        unlocked([&] { write_matrix_market(path, matrix, options); });
      },
      "path"_a, "rows"_a, "cols"_a, "row_indices"_a.noconvert(), "col_indices"_a.noconvert(), "symmetry"_a,
      "comment"_a);
}

template <class W>
void bind_array_writer(nb::module_& m) {
  m.def(
      "mm_write_array",
      [](const std::string& path, const matrix_of_rows<const W>& a, std::string_view symmetry,
         const std::string& comment) {
        const auto rows = static_cast<std::int64_t>(a.shape(0));
        const auto cols = static_cast<std::int64_t>(a.shape(1));
        const dense_view<const W, host> matrix{rows, cols, cols, {a.data(), rows * cols}};
        const matrix_market_write_options options{.symmetry = choose<symmetry_kind>("symmetry", symmetry),
                                                  .comment = comment};
        unlocked([&] { write_matrix_market(path, matrix, options); });
      },
      "path"_a, "a"_a.noconvert(), "symmetry"_a, "comment"_a);
}

// --- Graphs ----------------------------------------------------------------------------------------------------------

// A graph in file order: (vertices, sources, targets, weights or None, ids or None, directed, number of integer
// weights that float64 rounds, `doubts_of` an edge list or None).
template <class I>
nb::object edges_of(coo_matrix<double, I, host> edges, bool weighted, nb::object ids, bool directed,
                    std::int64_t rounded, nb::object doubts = nb::none()) {
  const std::int64_t vertices = std::max(edges.rows(), edges.cols());
  return nb::make_tuple(vertices, moved(std::move(edges.row_indices())), moved(std::move(edges.col_indices())),
                        weighted ? moved(std::move(edges.values())) : nb::none(), std::move(ids), directed, rounded,
                        std::move(doubts));
}

nb::object ids_of(const std::vector<std::int64_t>& ids) {
  return where<host>(1).out(span<const std::int64_t, host>(ids));
}

// (the ends of a first edge that may be names of columns, the unused columns of numbers after source and target, source
// and target if they may number different things): each column as (name, number from 1). Last the number of vertices
// of the matrix that the lines may be, else 0, and the first id with leading zeros and its line.
nb::object doubts_of(const input_file& file, const edge_list_header& header) {
  nb::list possible;
  for (const std::string& name : header.possible_names) possible.append(text_of(name));
  nb::list columns;
  nb::list kinds;
  const auto add = [&](nb::list& to, int column) {
    const auto named = static_cast<std::size_t>(column - (header.row_names ? 1 : 0));
    to.append(nb::make_tuple(text_of(header.names.at(named)), column + 1));
  };
  if (!header.unused_numbers.empty()) {
    add(columns, header.source);
    add(columns, header.target);
    for (const int column : header.unused_numbers) add(columns, column);
  }
  if (header.may_be_two_kinds) {
    add(kinds, header.source);
    add(kinds, header.target);
  }
  const padded_id padded = find_padded_id(file, header);
  return nb::make_tuple(possible, columns, kinds, header.possible_matrix,
                        nb::make_tuple(text_of(padded.text), padded.line));
}

nb::object read_edges(const std::string& path, const std::string& columns, std::string_view ids, int threads) {
  const edge_list_options options{{}, columns, choose<id_kind>("ids", ids)};
  const input_file file = unlocked([&] { return input_file(path); });
  const auto ctx = threads_context(threads);
  return with_index_by_trial(file, [&]<class I>() {
    auto list = unlocked([&] { return read_edge_list<I>(ctx, file, options); });
    const bool directed = list.header.direction != edge_direction::undirected;
    nb::object labels = list.header.ids == id_kind::names ? names_of(list.names) : ids_of(list.ids);
    return edges_of(std::move(list.edges), list.weighted, std::move(labels), directed, list.rounded_integers,
                    doubts_of(file, list.header));
  });
}

nb::object read_graph(const std::string& path, const std::string& columns, std::string_view ids, int threads) {
  const input_file file = unlocked([&] { return input_file(path); });
  const auto ctx = threads_context(threads);
  if ((!columns.empty() || ids != "auto") && file.format() != input_format::edge_list) {
    const std::string given = columns.empty() ? "ids" : "columns";
    throw error(error_code::invalid_argument,
                given + ": " + file.name() + " is no edge list (expected no " + given + ")");
  }
  switch (const auto format = file.format()) {
    case input_format::edge_list:
      return read_edges(path, columns, ids, threads);
    case input_format::matrix_market: {
      const auto header = unlocked([&] { return read_matrix_market_header(file); });
      return with_index(header.rows, header.cols, [&]<class I>() {
        matrix_market_summary summary;
        auto entries = unlocked([&] { return read_matrix_market_stored<double, I>(ctx, file, {}, &summary); });
        return edges_of(std::move(entries), header.field != matrix_market_field::pattern, nb::none(),
                        header.symmetry == symmetry_kind::general, summary.rounded_integers);
      });
    }
    case input_format::gml:
    case input_format::graphml:
      return with_index_by_trial(file, [&]<class I>() {
        auto read = unlocked([&] { return read_graph_document<I>(ctx, file); });
        const bool directed = read.header.direction != edge_direction::undirected;
        nb::object labels = read.header.ids == id_kind::names ? names_of(read.names) : ids_of(read.ids);
        return edges_of(std::move(read.edges), read.weighted, std::move(labels), directed, read.rounded_integers);
      });
    case input_format::metis:
      return with_index_by_trial(file, [&]<class I>() {
        auto read = unlocked([&] { return read_metis<I>(ctx, file); });
        return edges_of(std::move(read.triangle), read.weighted, nb::none(), false, read.rounded_integers);
      });
    case input_format::dimacs_arcs:
    case input_format::dimacs_edges:
      return with_index_by_trial(file, [&]<class I>() {
        const bool arcs = format == input_format::dimacs_arcs;
        auto read = unlocked([&] { return read_dimacs<I>(ctx, file); });
        return edges_of(std::move(read.entries), arcs, nb::none(), arcs, read.rounded_integers);
      });
    case input_format::snapshot:
      break;
  }
  return nb::none();  // load() reads it
}

// --- Snapshots -------------------------------------------------------------------------------------------------------

// f.template operator()<I, O>() for the widths in bytes.
template <class F>
decltype(auto) with_widths(int index_bytes, int offset_bytes, F&& f) {
  if (index_bytes == 8) return f.template operator()<std::int64_t, std::int64_t>();
  if (offset_bytes == 8) return f.template operator()<std::int32_t, std::int64_t>();
  return f.template operator()<std::int32_t, std::int32_t>();
}

// (rows, cols, offsets, indices, values or None, ids or None, directed, whether the values are counts, notes), borrowed
// from the mapped file.
nb::tuple load(const std::string& path, int threads) {
  auto owned =
      std::make_unique<snapshot>(unlocked([&] { return snapshot(threads_context(threads), input_file(path)); }));
  const snapshot& file = *owned;
  const nb::capsule owner(owned.get(), [](void* held) noexcept { delete static_cast<snapshot*>(held); });
  (void)owned.release();
  const auto& header = file.header();
  const auto ids = header.has_ids     ? borrowed(file.ids(), owner)
                   : header.has_names ? names_of(file.names())
                                      : nb::object(nb::none());
  return with_widths(header.index_bytes, header.offset_bytes, [&]<class I, class O>() {
    const auto arrays = [&]<class V>() {
      const auto matrix = file.matrix<V, I, O>();
      nb::object values = nb::none();
      if constexpr (!is_pattern<V>) values = borrowed(matrix.values, owner);
      return nb::make_tuple(header.rows, header.cols, borrowed(matrix.offsets, owner), borrowed(matrix.indices, owner),
                            values, ids, header.directed, header.origin == value_origin::counts,
                            nb::bytes(file.notes().data(), file.notes().size()));
    };
    switch (header.values) {
      case value_kind::fp32:
        return arrays.template operator()<float>();
      case value_kind::fp64:
        return arrays.template operator()<double>();
      case value_kind::complex_fp32:
        return arrays.template operator()<std::complex<float>>();
      case value_kind::complex_fp64:
        return arrays.template operator()<std::complex<double>>();
      case value_kind::pattern:
        break;
    }
    return arrays.template operator()<pattern>();
  });
}

// The parts of a snapshot besides the matrix, borrowed by the options.
struct snapshot_extras {
  bool directed;
  bool integers;
  std::optional<vector_of<const std::int64_t>> ids;
  vertex_name_table names;
  std::string notes;

  snapshot_extras(bool is_directed, bool has_integers, std::optional<vector_of<const std::int64_t>> vertex_ids,
                  const nb::object& vertex_names, std::string text)
      : directed(is_directed), integers(has_integers), ids(std::move(vertex_ids)), notes(std::move(text)) {
    if (vertex_names.is_none()) return;
    std::vector<std::string_view> views;
    for (const nb::handle name : vertex_names) {
      const auto bytes = nb::borrow<nb::bytes>(name);
      views.emplace_back(bytes.c_str(), bytes.size());
    }
    names = vertex_name_table(context<host>({.threads = 1}), views);
  }

  [[nodiscard]] snapshot_options options() const {
    snapshot_options chosen{.directed = directed, .notes = notes, .names = names};
    if (ids.has_value()) chosen.ids = view(*ids);
    if (integers) chosen.origin = value_origin::integers;
    return chosen;
  }
};

template <class V, class I, class O>
void save(const std::string& path, std::int64_t rows, std::int64_t cols, const vector_of<const O>& offsets,
          const vector_of<const I>& indices, span<const V, host> values, const snapshot_extras& extras, int threads) {
  const csr_view<const V, I, O, host> matrix{{narrowed<I>(rows), narrowed<I>(cols), view(offsets), view(indices)},
                                             values};
  unlocked([&] { write_snapshot(threads_context(threads), path, matrix, extras.options()); });
}

template <class I, class O>
void bind_save(nb::module_& m) {
  for_each_type<float, double, std::complex<float>, std::complex<double>>([&]<class V>() {
    m.def(
        "save",
        [](const std::string& path, std::int64_t rows, std::int64_t cols, const vector_of<const O>& offsets,
           const vector_of<const I>& indices, const vector_of<const V>& values, const snapshot_extras& extras,
           int threads) { save<V>(path, rows, cols, offsets, indices, view(values), extras, threads); },
        "path"_a, "rows"_a, "cols"_a, "offsets"_a.noconvert(), "indices"_a.noconvert(), "values"_a.noconvert(),
        "extras"_a, "threads"_a);
  });
  m.def(
      "save",
      [](const std::string& path, std::int64_t rows, std::int64_t cols, const vector_of<const O>& offsets,
         const vector_of<const I>& indices, const nb::object&, const snapshot_extras& extras,
         int threads) { save<pattern>(path, rows, cols, offsets, indices, {}, extras, threads); },
      "path"_a, "rows"_a, "cols"_a, "offsets"_a.noconvert(), "indices"_a.noconvert(), "values"_a.none(), "extras"_a,
      "threads"_a);
}

nb::tuple generated(std::string_view spec, std::string_view dtype, int threads) {
  const auto info = describe_generator(spec);
  return with_dtype(dtype, [&]<class V>() {
    return with_index(info.rows, info.cols, [&]<class I>() {
      return coo_arrays(unlocked([&] { return generate<V, I>(threads_context(threads), spec); }));
    });
  });
}

}  // namespace

nb::object text_of(std::string_view bytes) {
  PyObject* const text = PyUnicode_DecodeUTF8(bytes.data(), std::ssize(bytes), "surrogateescape");
  if (text == nullptr) throw raised{};
  return nb::steal(text);
}

nb::object names_of(const vertex_name_table& names) {
  nb::list strings;
  for (std::int64_t v = 0; v < names.size(); ++v) strings.append(text_of(names.name(v)));
  return nb::module_::import_("numpy").attr("array")(strings, "dtype"_a = "object");
}

void bind_io(nb::module_& m) {
  m.def("mm_info",
        [](const std::string& path) { return tuple_of(unlocked([&] { return read_matrix_market_header(path); })); });
  m.def("mm_read", &read_coo, "path"_a, "dtype"_a, "threads"_a);
  m.def("mm_read_csr", &read_csr, "path"_a, "dtype"_a, "threads"_a);
  for_each_type<std::int64_t, std::uint64_t, float, double, std::complex<float>, std::complex<double>>([&]<class W>() {
    for_each_type<std::int32_t, std::int64_t>([&]<class I>() { bind_coo_writer<W, I>(m); });
    bind_array_writer<W>(m);
  });
  for_each_type<std::int32_t, std::int64_t>([&]<class I>() { bind_pattern_writer<I>(m); });
  m.def("read_edges", &read_edges, "path"_a, "columns"_a, "ids"_a, "threads"_a);
  m.def("read_graph", &read_graph, "path"_a, "columns"_a, "ids"_a, "threads"_a);
  m.def(
      "write_file",
      [](const std::string& path, const nb::bytes& bytes) {
        unlocked([&] {
          output_file out(path);
          out.write({bytes.c_str(), bytes.size()});
          out.commit();
        });
      },
      "path"_a, "bytes"_a);
  m.def("is_snapshot", &is_snapshot, "path"_a);
  m.def("is_generator_spec", &is_generator_spec, "name"_a);
  m.def(
      "is_symmetric_generator", [](std::string_view spec) { return describe_generator(spec).symmetric; }, "spec"_a);
  m.def("load", &load, "path"_a, "threads"_a);
  nb::class_<snapshot_extras>(m, "SnapshotExtras")
      .def(nb::init<bool, bool, std::optional<vector_of<const std::int64_t>>, const nb::object&, std::string>(),
           "directed"_a = true, "integers"_a = false, "ids"_a.noconvert().none() = nb::none(),
           "names"_a.none() = nb::none(), "notes"_a = "");
  for_each_index([&]<class I, class O>() { bind_save<I, O>(m); });
  m.def("generate", &generated, "spec"_a, "dtype"_a, "threads"_a);
}

}  // namespace spargo::python
