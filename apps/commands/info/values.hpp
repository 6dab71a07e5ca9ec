// The values of a matrix, or the weights of a graph, in `info`.
#pragma once

#include "cli/report.hpp"
#include "input/read.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace spargo::apps {

// Counts and magnitudes of a matrix's values.
struct value_summary {
  bool any = true;         // a pattern has none
  std::int64_t bytes = 0;  // of one
  std::int64_t zeros = 0;
  std::int64_t not_finite = 0;                                             // NaN or infinite
  double smallest = std::numeric_limits<double>::infinity(), largest = 0;  // magnitudes of those not zero

  template <class V>
  void count(const V& v, std::int64_t times) {
    const double magnitude = static_cast<double>(std::abs(v));
    if (!std::isfinite(magnitude)) {
      not_finite += times;
    } else if (magnitude == 0) {
      zeros += times;
    } else {
      smallest = std::min(smallest, magnitude);
      largest = std::max(largest, magnitude);
    }
  }
};

template <class V>
[[nodiscard]] value_summary summarize_values(span<const V, host> values) {
  value_summary facts;
  facts.any = !is_pattern<V>;
  if constexpr (!is_pattern<V>) {
    facts.bytes = sizeof(V);
    for (const V& v : values) facts.count(v, 1);
  }
  return facts;
}

// Of the file's entries, before duplicates are summed. Mirrored entries count, too.
[[nodiscard]] value_summary summarize_entries(const any_entries& listed);

// `values`: of the matrix, whose duplicates are summed; `listed`: of the file's entries, if they were read one by one.
// `unused`: why weights of the file are not used.
void report_values(report& out, const value_summary& values, const std::optional<value_summary>& listed,
                   const std::string& unused, bool graph);

}  // namespace spargo::apps
