#include "input/graph_input.hpp"

#include "cli/progress.hpp"

#include <fmt/format.h>

namespace spargo::apps {

namespace {

any_coo<pattern> list_entries(const context<host>& ctx, any_csr<pattern> matrix) {
  return std::visit(
      [&]<class I, class O>(csr_input<pattern, I, O>& read) -> any_coo<pattern> {
        return coo_input<pattern, I>{to_coo(ctx, read.matrix), symmetry_kind::general, std::move(read.facts)};
      },
      matrix);
}

}  // namespace

bool is_graph(const input_description& input) {
  const bool generated = input.kind == input_kind::generator && input.field == matrix_market_field::pattern;
  const bool has_ids = input.mapped.has_value() && input.mapped->header().has_ids;
  return generated || has_ids || is_graph_text(input.kind);
}

void expect_square(const input_description& input) { expect_square(input.rows, input.cols, input.path); }

void expect_square(std::int64_t rows, std::int64_t cols, const std::string& name) {
  if (rows == cols) return;
  throw error(error_code::invalid_data, source_position{name, 0, 0},
              fmt::format("the matrix is {} x {} (expected a square one, whose rows are vertices)", rows, cols));
}

any_coo<pattern> read_graph_entries(const context<host>& ctx, const input_description& input,
                                    const read_options& options, input_cache& cache) {
  expect_square(input);
  if (input.kind != input_kind::snapshot && !cache.is_on()) return read_pattern(ctx, input, options);
  return list_entries(ctx, read_csr<pattern>(ctx, input, options, cache));
}

any_graph make_graph(const context<host>& ctx, any_coo<pattern> read, const graph_options& options) {
  const bool directed = options.direction == direction_kind::directed;
  return std::visit(
      [&]<class I>(coo_input<pattern, I>& input) {
        coo_matrix<pattern, I, host>& entries = input.entries;
        if (directed && input.triangle != symmetry_kind::general) {
          entries = expand_symmetry<pattern, I>(ctx, std::as_const(entries).view(), input.triangle);
        }
        const std::int64_t most = directed ? entries.nnz() : 2 * entries.nnz();
        return with_offset<I>(most, [&]<class O>(type_tag<O>) -> any_graph {
          const busy at_work("building the graph");
          return build_graph<O, I>(ctx, std::as_const(entries).view(), options);
        });
      },
      read);
}

}  // namespace spargo::apps
