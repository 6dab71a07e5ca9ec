// Rows of a rank's vertices on its device.
#pragma once

#include <spargo/distributed/graph.hpp>

#include <string_view>

namespace spargo::detail::distributed {

template <class I>
struct device_rows {
  array<std::int64_t, device> offsets;
  array<I, device> indices;  // `entries` or more
  std::int64_t entries = 0;

  [[nodiscard]] csr_pattern_view<I, std::int64_t, device> view(std::int64_t vertices) const {
    if (offsets.empty()) return {};
    return {static_cast<I>(offsets.size() - 1), static_cast<I>(vertices), offsets.view(),
            indices.view().subspan(0, entries)};
  }
};

template <class I>
struct graph_on_device {
  partition parts;
  device_rows<I> out;
  device_rows<I> in;  // of a directed graph, if asked for
  std::int64_t loops = 0;
};

// The graph of generate(spec). Collective; throws agreed_error.
template <class I>
[[nodiscard]] graph_on_device<I> make_graph_on_device(const communicator& comm, const context<device>& ctx,
                                                      std::string_view spec, const graph_options& options,
                                                      std::int64_t scratch_bytes);

// check_bfs for each rank's own vertices.
template <class I>
[[nodiscard]] std::string check_bfs_on_device(const communicator& comm, const context<device>& ctx,
                                              const distributed_graph<I, device>& g, std::int64_t source,
                                              span<const std::int32_t, device> levels, span<const I, device> parents);

// For this rank's vertices.
[[nodiscard]] std::int64_t count_traversed_on_device(const context<device>& ctx,
                                                     span<const std::int64_t, device> offsets,
                                                     span<const std::int32_t, device> levels);

}  // namespace spargo::detail::distributed
