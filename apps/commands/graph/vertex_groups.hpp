// Components and communities: every vertex has a label, which is a vertex of its group.
#pragma once

#include "placement/graph_command.hpp"

#include <spargo/graph/components.hpp>

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace spargo::apps {

// The keys "largest" and "sizes" ([[size, how many groups], ...], up to 20 sizes, largest first) and rows of the same
// names. `sizes` descend.
void report_sizes(report& out, const std::vector<std::int64_t>& sizes);

// The same of labels, unless they are wrong.
template <class I>
void report_groups(report& out, const checked& found, span<const I, host> labels) {
  report_sizes(out, is_wrong(found.fault) ? std::vector<std::int64_t>() : component_sizes<I>(labels));
}

// The order of --sort.
inline constexpr std::string_view largest_group_first = "largest group first";

// A line for each vertex, with its label.
template <class I>
void write_groups(report& out, const table_flags& flags, const vertex_names& names, std::string_view columns,
                  span<const I, host> labels) {
  std::vector<I, counted_allocator<I>> sizes(flags.is_sorted() ? static_cast<std::size_t>(labels.size()) : 0);
  if (flags.is_sorted()) {
    for (const I label : labels) ++sizes[static_cast<std::size_t>(label)];
  }
  const auto size_of = [&](std::int64_t v) { return sizes[static_cast<std::size_t>(labels[v])]; };
  const auto first = [&](std::int64_t a, std::int64_t b) {
    return std::pair(size_of(b), labels[a]) < std::pair(size_of(a), labels[b]);
  };
  write_vertices(out, flags, names, columns, first,
                 [&](std::int64_t v, table_writer& row) { row.label(names, labels[v]); });
}

}  // namespace spargo::apps
