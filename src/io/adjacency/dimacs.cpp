// DIMACS graphs, read line by line.
#include <spargo/io/dimacs.hpp>

#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "io/text/text_lines.hpp"
#include "io/text/vertex_limit.hpp"

#include <limits>
#include <new>
#include <utility>

namespace spargo {

namespace {

template <class I>
class dimacs_reader {
 public:
  dimacs_reader(const context<host>& ctx, const input_file& file, const read_options& options)
      : source_(ctx, file, options), lines_(source_, "c"), rows_(ctx), cols_(ctx), values_(ctx) {}

  dimacs_graph<I> run() {
    while (lines_.next()) read_line();
    if (vertices_ < 0) source_.fail_at_end("the file ends before the problem line (expected p sp, p edge or p col)");
    const bool twice = problem_ == dimacs_problem::edge && rows_.size() > 0 && declared_ == 2 * rows_.size();
    if (rows_.size() < declared_ && !twice) {
      std::string_view counted = name();
      if (rows_.size() == 1) counted.remove_suffix(1);  // edge, arc
      source_.fail_at_end(fmt::format("the file ends after {} {} (expected {}, as the problem line says)", rows_.size(),
                                      counted, declared_));
    }
    dimacs_graph<I> graph;
    graph.problem = problem_;
    graph.first_vertex = first_vertex_;
    graph.rounded_integers = lines_.rounded();
    graph.counted_twice = twice;
    const auto size = static_cast<I>(vertices_);
    graph.entries = {size, size, rows_.release(), cols_.release(), values_.release()};
    return graph;
  }

 private:
  [[nodiscard]] const char* name() const { return problem_ == dimacs_problem::edge ? "edges" : "arcs"; }

  void read_line() {
    const std::string_view kind = lines_.token();
    if (kind.empty() || kind[0] == 'c') return;
    if (kind == "p") return read_problem();
    if (vertices_ < 0) {
      lines_.fail(fmt::format("unexpected {} (expected a comment or the problem line)", detail::quoted(kind)));
    }
    const bool arcs = problem_ == dimacs_problem::shortest_path;
    if (kind == (arcs ? "a" : "e")) return read_edge();
    if (!arcs && (kind == "n" || kind == "d" || kind == "v" || kind == "x")) return;
    lines_.fail(fmt::format("unexpected {} (expected {} or c)", detail::quoted(kind), arcs ? "a" : "e"));
  }

  void read_problem() {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    if (vertices_ >= 0) lines_.fail("a second problem line (expected one)");
    const std::string_view kind = lines_.token();
    if (kind != "sp" && kind != "edge" && kind != "edges" && kind != "col") {
      lines_.fail(fmt::format("a DIMACS problem of kind {} (expected sp, edge or col)", detail::quoted(kind)));
    }
    problem_ = kind == "sp" ? dimacs_problem::shortest_path : dimacs_problem::edge;
    vertices_ = lines_.integer("the number of vertices", 0, most);
    declared_ =
        lines_.integer(problem_ == dimacs_problem::edge ? "the number of edges" : "the number of arcs", 0, most);
    lines_.finish();
    detail::expect_vertices<I>(source_.path(), vertices_);
  }

  void read_edge() {
    if (rows_.size() == declared_) {
      lines_.fail(fmt::format("more {} than the problem line says (expected {})", name(), declared_));
    }
    std::int64_t row = lines_.integer("a vertex", 1, vertices_) - 1;
    std::int64_t col = lines_.integer("a vertex", 1, vertices_) - 1;
    const double weight = problem_ == dimacs_problem::shortest_path ? lines_.real("the weight of the arc") : 1.0;
    lines_.finish();
    if (first_vertex_ < 0) first_vertex_ = row;
    if (problem_ == dimacs_problem::edge && row < col) std::swap(row, col);
    rows_.push_back(static_cast<I>(row));
    cols_.push_back(static_cast<I>(col));
    values_.push_back(weight);
  }

  detail::text_source source_;
  detail::text_lines lines_;
  detail::growing_array<I> rows_;
  detail::growing_array<I> cols_;
  detail::growing_array<double> values_;
  dimacs_problem problem_ = dimacs_problem::shortest_path;
  std::int64_t vertices_ = -1;
  std::int64_t declared_ = 0;
  std::int64_t first_vertex_ = -1;
};

}  // namespace

template <index_type I>
dimacs_graph<I> read_dimacs(const context<host>& ctx, const input_file& file, const read_options& options) {
  try {
    return dimacs_reader<I>(ctx, file, options).run();
  } catch (const std::bad_alloc&) {
    detail::throw_out_of_memory(file.name(), "host memory ran out while the file was read");
  }
}

#define INSTANTIATE(I) \
  template dimacs_graph<I> read_dimacs<I>(const context<host>&, const input_file&, const read_options&);
SPARGO_FOR_EACH_INDEX(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo
