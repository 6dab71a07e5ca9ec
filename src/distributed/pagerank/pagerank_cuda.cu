// PageRank's steps on devices: those of one device (graph/pagerank) on the graph of the rank's vertices followed by its
// ghosts (in-neighbours owned by other ranks), whose shares are exchanged before each step.
#include "core/device/launch.cuh"
#include "core/instantiate.hpp"
#include "distributed/pagerank/executor.hpp"
#include "graph/pagerank/device.cuh"

#include <spargo/distributed/exchange.hpp>
#include <spargo/primitives/scan.hpp>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace spargo::detail::distributed {

namespace {

// offsets[c + 1] - offsets[c] = number of `columns` equal to c.
void count_columns(const context<device>& ctx, const array<std::int32_t, device>& columns,
                   array<std::int64_t, device>& offsets) {
  fill_zero(ctx, offsets.view());
  for_each(ctx, columns.size(), [column = columns.data(), count = offsets.data()] __device__(std::int64_t e) {
    atomicAdd(reinterpret_cast<count64*>(count + column[e]), count64{1});
  });
  exclusive_scan<std::int64_t, device>(ctx, std::as_const(offsets).view(), offsets.view());
}

class device_pagerank final : public pagerank_executor<device> {
 public:
  // The parts of the graph that do not depend on the index type.
  struct rows_of_graph {
    span<const std::int64_t, host> in_offsets;
    span<const std::int64_t, host> out_offsets;
    const partition& parts;
    direction_kind direction;
  };

  device_pagerank(const communicator& comm, const context<device>& ctx, const rows_of_graph& g,
                  const local_columns& columns, const pagerank_options& options, const exchange_options& links)
      : rows_(g.parts.count(comm.rank())) {
    comm.agree_on([&] {
      local_ = {ctx, g.in_offsets, columns};
      std::vector<double> degrees(static_cast<std::size_t>(rows_));
      for (std::int64_t v = 0; v < rows_; ++v) {
        degrees[static_cast<std::size_t>(v)] = static_cast<double>(g.out_offsets[v + 1] - g.out_offsets[v]);
      }
      dangling_ = static_cast<double>(std::count(degrees.begin(), degrees.end(), 0.0));
      const auto device_degrees = to_device(ctx, degrees);
      steps_ = pagerank::make_part_steps<double, std::int32_t, std::int64_t>(ctx, local_.view(g.direction),
                                                                             device_degrees.view(), options);
      if (steps_->has_copy()) local_ = {};
      ranks_ = {ctx, rows_};
    });
    std::vector<std::int64_t> ghosts;
    comm.agree_on([&] {
      ghosts.assign(columns.ghosts.begin(), columns.ghosts.end());
      if (!steps_->places().empty()) sort_by_places(ctx, g.parts, ghosts);
    });
    halo_.emplace(comm, ctx, g.parts, ghosts, sizeof(double), links);
    comm.agree_on([&] {
      if (!steps_->places().empty()) halo_->own_are_at(steps_->places());
    });
  }

  // Shares are sent as soon as they are computed, while the hosts reduce the step's sums.
  step_sums start(double rank) override {
    steps_->start(rank);
    halo_->start(steps_->shares());
    return {0, dangling_ * rank};
  }
  step_sums step(double constant) override {
    if (ghost_places_.empty()) {
      halo_->finish(steps_->ghosts());
    } else {
      steps_->place_ghosts(halo_->finish_in_place<double>(), ghost_places_.view());
    }
    steps_->step({.constant = constant, .per_preference = 0});
    halo_->start(steps_->shares());
    const pagerank::step_outcome mine = steps_->outcome();
    return {mine.change, mine.dangling};
  }
  void end() override {
    (void)halo_->finish_in_place<double>();
    steps_->write_ranks(ranks_.view());
  }
  [[nodiscard]] span<const double, device> ranks() const noexcept override { return ranks_.view(); }
  [[nodiscard]] std::string_view how() const noexcept override { return halo_->how(); }

 private:
  // An owner's ghosts arrive in the order of their local places, for consecutive writes; the owner gathers anyway.
  void sort_by_places(const context<device>& ctx, const partition& parts, std::vector<std::int64_t>& ghosts) {
    const auto places = to_host(ctx, steps_->places());
    std::vector<std::pair<std::int32_t, std::int64_t>> sorted;  // (place, ghost)
    for (std::size_t k = 0; k < ghosts.size(); ++k) {
      sorted.emplace_back(places[rows_ + static_cast<std::int64_t>(k)], ghosts[k]);
    }
    auto first = sorted.begin();
    for (int r = 0; r < parts.parts(); ++r) {
      const auto last =
          std::find_if(first, sorted.end(), [&](const auto& each) { return each.second >= parts.last(r); });
      std::sort(first, last);
      first = last;
    }
    std::vector<std::int32_t> their_places;
    for (std::size_t k = 0; k < ghosts.size(); ++k) {
      their_places.push_back(sorted[k].first);
      ghosts[k] = sorted[k].second;
    }
    ghost_places_ = to_device(ctx, their_places);
  }

  // This rank's in-edges. Ghosts have no in-edges; of out-edges only the number is needed.
  struct local_graph {
    std::int32_t rows = 0;
    array<std::int64_t, device> in_offsets;
    array<std::int64_t, device> out_offsets;
    array<std::int32_t, device> indices;

    local_graph() = default;
    local_graph(const context<device>& ctx, span<const std::int64_t, host> offsets, const local_columns& columns)
        : rows(static_cast<std::int32_t>(columns.own)),
          out_offsets(ctx, columns.size() + 1),
          indices(to_device(ctx, columns.indices)) {
      std::vector<std::int64_t> in(static_cast<std::size_t>(columns.size()) + 1, columns.indices.size());
      std::copy(offsets.begin(), offsets.end(), in.begin());
      in_offsets = to_device(ctx, in);
      count_columns(ctx, indices, out_offsets);
    }
    [[nodiscard]] graph_view<std::int32_t, std::int64_t, device> view(direction_kind direction) const {
      const auto n = static_cast<std::int32_t>(out_offsets.size() - 1);
      graph_view<std::int32_t, std::int64_t, device> g;
      g.in = {rows, n, in_offsets.view(), indices.view()};
      g.out = {n, n, out_offsets.view(), {}};
      g.direction = direction;
      return g;
    }
  };

  std::int64_t rows_;
  double dangling_ = 0;  // number of vertices without out-edges
  local_graph local_;    // only during construction of the steps
  std::unique_ptr<pagerank::part_steps<double>> steps_;
  array<std::int32_t, device> ghost_places_;  // in order of arrival; empty: by number
  array<double, device> ranks_;
  std::optional<exchange<device>> halo_;
};

}  // namespace

template <class I>
std::unique_ptr<pagerank_executor<device>> make_pagerank_executor(const communicator& comm, const context<device>& ctx,
                                                                  const distributed_graph<I>& g, local_columns columns,
                                                                  const pagerank_options& options,
                                                                  const exchange_options& links) {
  const device_pagerank::rows_of_graph rows{g.in().offsets, g.out().offsets, g.parts(), g.direction()};
  return std::make_unique<device_pagerank>(comm, ctx, rows, columns, options, links);
}

#define INSTANTIATE(I)                                                                         \
  template std::unique_ptr<pagerank_executor<device>> make_pagerank_executor(                  \
      const communicator&, const context<device>&, const distributed_graph<I>&, local_columns, \
      const pagerank_options&, const exchange_options&);
SPARGO_FOR_EACH_INDEX(INSTANTIATE)

}  // namespace spargo::detail::distributed
