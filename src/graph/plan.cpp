#include "graph/plan.hpp"

#include <spargo/core/error.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace spargo::detail {

namespace {

void expect_edges(std::string_view operation, std::string_view name, const edges_shape& s) {
  SPARGO_EXPECTS(s.rows >= 0 && s.rows == s.cols,
                 fmt::format("{}: {}-edges are {} x {} (expected a square)", operation, name, s.rows, s.cols));
  SPARGO_EXPECTS(s.offsets == s.rows + 1 || (s.rows == 0 && s.offsets == 0),
                 fmt::format("{}: {} offsets of {}-edges for {} vertices (expected one more than vertices)", operation,
                             s.offsets, name, s.rows));
  SPARGO_EXPECTS(
      s.weights < 0 || s.weights == s.entries,
      fmt::format("{}: {} weights of {} {}-edges (expected one of each)", operation, s.weights, s.entries, name));
}

}  // namespace

void expect_shapes(std::string_view operation, const edges_shape& out, const edges_shape* in) {
  expect_edges(operation, "out", out);
  if (in == nullptr) return;
  expect_edges(operation, "in", *in);
  SPARGO_EXPECTS(in->rows == out.rows && in->entries == out.entries,
                 fmt::format("{}: {} in-edges of {} vertices beside {} out-edges of {}", operation, in->entries,
                             in->rows, out.entries, out.rows));
}

void expect_source(std::string_view operation, std::int64_t source, std::int64_t vertices) {
  SPARGO_EXPECTS(
      source >= 0 && source < vertices,
      vertices == 0 ? fmt::format("{}: source {} in a graph without vertices", operation, source)
                    : fmt::format("{}: source {} is not a vertex (expected 0 to {})", operation, source, vertices - 1));
}

void expect_target(std::string_view operation, std::int64_t target, std::int64_t vertices) {
  SPARGO_EXPECTS(
      target >= -1 && target < vertices,
      fmt::format("{}: target {} is not a vertex (expected 0 to {}, or -1 for none)", operation, target, vertices - 1));
}

void expect_one_per_vertex(std::string_view operation, std::string_view name, std::int64_t values,
                           std::int64_t vertices) {
  SPARGO_EXPECTS(values == 0 || values == vertices,
                 fmt::format("{}: {} {} for {} vertices", operation, values, name, vertices));
}

double expected_seconds(const graph_shape& shape, double entry_ns) {
  return static_cast<double>(shape.vertices + shape.entries) * entry_ns * 1e-9 / std::clamp(shape.threads, 1, 64);
}

void refuse_without_in_edges(std::string_view operation) {
  throw error(error_code::unsupported,
              fmt::format("{}: a directed graph without in-edges (add_in_edges builds them)", operation));
}

}  // namespace spargo::detail
