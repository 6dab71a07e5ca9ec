// Figures of --report for what a matrix or graph looks like: degrees or row lengths, and the sparsity pattern.
#pragma once

#include "cli/plots.hpp"
#include "cli/report.hpp"

#include <vector>

namespace spargo::apps {

// [[value, how many], ...], ascending, under `key`. Does nothing without --report.
void add_counts(report& out, const char* key, const std::vector<std::int64_t>& values);

void add_density(report& out, const char* key, const density_map& map);

// O(entries). Does nothing without --report, or where a GPU has the entries.
template <index_type I, index_type O>
void add_spy(report& out, const csr_pattern_view<I, O, host>& matrix, const char* key = "spy") {
  constexpr int cells = 64;
  const bool on_host = matrix.offsets.size() > matrix.rows;
  if (out.writes_page() && on_host && matrix.rows > 0 && matrix.cols > 0)
    add_density(out, key, count_density(matrix, cells));
}

}  // namespace spargo::apps
