// METIS graphs, read line by line; afterwards both directions of every edge are compared.
#include <spargo/io/metis.hpp>

#include "core/counted.hpp"
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "io/text/text_lines.hpp"
#include "io/text/vertex_limit.hpp"

#include <spargo/formats/convert.hpp>

#include <limits>
#include <new>

namespace spargo {

namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

struct metis_header {
  std::int64_t vertices = 0;
  std::int64_t edges = 0;
  bool sizes = false;
  bool edge_weights = false;
  std::int64_t vertex_weights = 0;
};

metis_header read_header(detail::text_source& source, detail::text_lines& lines) {
  metis_header header;
  std::string_view first;
  do {
    if (!lines.next()) source.fail_at_end("the file ends before its first line (expected vertices edges [fmt [ncon]])");
    first = lines.token();
  } while (first.empty() || first[0] == '%');
  lines.rewind();
  header.vertices = lines.integer("the number of vertices", 0, most);
  header.edges = lines.integer("the number of edges", 0, most);
  const std::string_view format = lines.token();
  if (format.empty()) return header;
  if (format.size() > 3 || format.find_first_not_of("01") != std::string_view::npos) {
    lines.fail(
        fmt::format("{} is no format of METIS (expected up to three digits of 0 and 1)", detail::quoted(format)));
  }
  const auto digit = [&](std::size_t from_last) {
    return format.size() > from_last && format[format.size() - 1 - from_last] == '1';
  };
  header.edge_weights = digit(0);
  header.sizes = digit(2);
  header.vertex_weights = digit(1) ? 1 : 0;
  if (lines.token().empty()) return header;
  lines.put_back();
  const std::int64_t constraints = lines.integer("the number of vertex weights", 0, most);
  if (header.vertex_weights == 0 && constraints > 0) {
    lines.fail(fmt::format("{} vertex weights, but the format has none (expected 010 or 011)", constraints));
  }
  header.vertex_weights = header.vertex_weights == 0 ? 0 : constraints;
  lines.finish();
  return header;
}

template <class I>
class metis_reader {
 public:
  metis_reader(const context<host>& ctx, const input_file& file, const read_options& options)
      : ctx_(ctx),
        source_(ctx, file, options, {.max_line_bytes = std::int64_t{64} << 20}),
        lines_(source_, "%"),
        rows_(ctx),
        cols_(ctx),
        values_(ctx),
        columns_(ctx),
        text_lines_(ctx) {}

  metis_graph<I> run() {
    header_ = read_header(source_, lines_);
    detail::expect_vertices<I>(source_.path(), header_.vertices);
    while (lines_.next()) read_line();
    if (text_lines_.size() < header_.vertices) {
      source_.fail_at_end(fmt::format("the file ends after {} (expected {}, as the first line says)",
                                      detail::counted(text_lines_.size(), "vertex", "vertices"), header_.vertices));
    }
    const coo_matrix<double, I, host> both = release();
    check_both_sides(both);
    if (both.nnz() / 2 != header_.edges) {
      source_.fail_at_end(fmt::format("the file has {} (expected {}, as the first line says{})",
                                      detail::counted(both.nnz() / 2, "edge"), header_.edges,
                                      both.nnz() == header_.edges ? ", which seems to count every edge twice" : ""));
    }
    metis_graph<I> graph;
    graph.weighted = header_.edge_weights;
    graph.rounded_integers = lines_.rounded() / 2;
    graph.has_vertex_data = header_.sizes || header_.vertex_weights > 0;
    if (both.nnz() > 0) graph.first_vertex = static_cast<std::int64_t>(both.row_indices()[0]);
    graph.triangle = lower_half(both);
    return graph;
  }

 private:
  void read_line() {
    const std::string_view first = lines_.token();
    if (!first.empty() && first[0] == '%') return;
    if (text_lines_.size() == header_.vertices) {
      if (first.empty()) return;
      lines_.fail(
          fmt::format("a line after the last vertex (expected {} of them, as the first line says)", header_.vertices));
    }
    const auto vertex = static_cast<I>(text_lines_.size());
    text_lines_.push_back(lines_.line());
    lines_.rewind();
    if (header_.sizes) (void)lines_.integer("the size of the vertex", 0, most);
    for (std::int64_t k = 0; k < header_.vertex_weights; ++k) (void)lines_.integer("a weight of the vertex", 0, most);
    while (!lines_.token().empty()) {
      lines_.put_back();
      const auto neighbour = static_cast<I>(lines_.integer("a neighbour", 1, header_.vertices) - 1);
      if (neighbour == vertex)
        lines_.fail(fmt::format("vertex {} is its own neighbour (expected no self-loops)", vertex + 1));
      columns_.push_back(static_cast<std::uint32_t>(lines_.column()));
      rows_.push_back(vertex);
      cols_.push_back(neighbour);
      values_.push_back(header_.edge_weights ? weight_of_edge(vertex, neighbour) : 1.0);
    }
  }

  double weight_of_edge(I vertex, I neighbour) {
    const double weight = lines_.real("the weight of the edge");
    if (weight >= 0) return weight;
    lines_.fail(
        fmt::format("the edge from {} to {} has weight {} (expected 0 or more)", vertex + 1, neighbour + 1, weight));
  }

  coo_matrix<double, I, host> release() {
    const auto size = static_cast<I>(header_.vertices);
    return {size, size, rows_.release(), cols_.release(), values_.release()};
  }

  [[noreturn]] void fail_at(std::int64_t entry, I vertex, const std::string& message) const {
    throw error(error_code::parse, {source_.path(), text_lines_[static_cast<std::int64_t>(vertex)], columns_[entry]},
                message);
  }

  // Index of the vertex's last or first entry, in file order, to `neighbour`.
  [[nodiscard]] std::int64_t entry_of(const coo_matrix<double, I, host>& both, I vertex, I neighbour, bool last) const {
    std::int64_t found = -1;
    for (std::int64_t k = 0; k < both.nnz(); ++k) {
      if (both.row_indices()[k] != vertex || both.col_indices()[k] != neighbour) continue;
      found = k;
      if (!last) break;
    }
    return found;
  }

  // The matrix equals its transpose if every edge is listed by both ends.
  void check_both_sides(const coo_matrix<double, I, host>& both) const {
    const auto matrix = to_csr<std::int64_t>(ctx_, both.view(), {.on_duplicates = duplicates::keep});
    const auto mirrored = transpose(ctx_, matrix.view());
    const auto& offsets = matrix.offsets();
    for (I v = 0; v < both.rows(); ++v) check_vertex(both, matrix, mirrored, v, offsets[v], offsets[v + 1]);
  }

  template <class Matrix>
  void check_vertex(const coo_matrix<double, I, host>& both, const Matrix& matrix, const Matrix& mirrored, I vertex,
                    std::int64_t first, std::int64_t last) const {
    std::int64_t other = mirrored.offsets()[vertex];
    const std::int64_t others = mirrored.offsets()[vertex + 1];
    for (std::int64_t k = first; k < last; ++k) {
      const I neighbour = matrix.indices()[k];
      if (k > first && matrix.indices()[k - 1] == neighbour) {
        fail_at(entry_of(both, vertex, neighbour, true), vertex,
                fmt::format("vertex {} is a neighbour of {} twice (expected once)", neighbour + 1, vertex + 1));
      }
      while (other < others && mirrored.indices()[other] < neighbour) ++other;
      if (other == others || mirrored.indices()[other] != neighbour) {
        fail_at(entry_of(both, vertex, neighbour, false), vertex,
                fmt::format("the edge to vertex {} is not on the line of that vertex (expected it on both)",
                            neighbour + 1));
      }
      if (matrix.values()[k] != mirrored.values()[other]) {
        fail_at(entry_of(both, vertex, neighbour, false), vertex,
                fmt::format("the edge to vertex {} weighs {} here and {} on the line of that vertex (expected one "
                            "weight)",
                            neighbour + 1, matrix.values()[k], mirrored.values()[other]));
      }
    }
  }

  coo_matrix<double, I, host> lower_half(const coo_matrix<double, I, host>& both) const {
    coo_matrix<double, I, host> half(ctx_, both.rows(), both.cols(), both.nnz() / 2);
    std::int64_t to = 0;
    for (std::int64_t k = 0; k < both.nnz(); ++k) {
      if (both.col_indices()[k] > both.row_indices()[k]) continue;
      half.row_indices()[to] = both.row_indices()[k];
      half.col_indices()[to] = both.col_indices()[k];
      half.values()[to++] = both.values()[k];
    }
    return half;
  }

  const context<host>& ctx_;
  detail::text_source source_;
  detail::text_lines lines_;
  metis_header header_;
  detail::growing_array<I> rows_;
  detail::growing_array<I> cols_;
  detail::growing_array<double> values_;
  detail::growing_array<std::uint32_t> columns_;    // of each entry, in its line
  detail::growing_array<std::int64_t> text_lines_;  // of each vertex
};

}  // namespace

template <index_type I>
metis_graph<I> read_metis(const context<host>& ctx, const input_file& file, const read_options& options) {
  try {
    return metis_reader<I>(ctx, file, options).run();
  } catch (const std::bad_alloc&) {
    detail::throw_out_of_memory(file.name(), "host memory ran out while the file was read");
  }
}

#define INSTANTIATE(I) \
  template metis_graph<I> read_metis<I>(const context<host>&, const input_file&, const read_options&);
SPARGO_FOR_EACH_INDEX(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo
