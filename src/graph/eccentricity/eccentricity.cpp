// Names, checks, the component, and the loop over searches, written once for both backends.
#include "graph/eccentricity/algorithms.hpp"
#include "graph/eccentricity/executor.hpp"
#include "graph/plan.hpp"

#include <spargo/core/interruption.hpp>
#include <spargo/graph/bfs.hpp>
#include <spargo/graph/components.hpp>
#include <spargo/graph/multi_bfs.hpp>
#include <spargo/graph/structure.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <optional>
#include <utility>
#include <vector>

namespace spargo {

template <>
enum_table<eccentricity_algorithm> enum_rows() noexcept {
  return detail::eccentricity::algorithms;
}

namespace detail::eccentricity {

namespace {

struct search_tuning {
  static constexpr std::int64_t first_searches = 6;  // one by one, before searches are bundled
  static constexpr std::int64_t least_bundled = 8;   // candidates
  static constexpr std::int64_t bundle = 64;         // searches at once: one word per vertex
  // A search pays for itself if it leaves at most 7/8 of the candidates.
  [[nodiscard]] static constexpr bool pays(std::int64_t before, std::int64_t now) { return now <= before - before / 8; }
  static constexpr std::int64_t sampled = 256;  // searches by which those to come are estimated
};

// Searches that are expected to follow, from the candidates that some searches settled.
class expected_searches {
 public:
  // Of the candidates left after `searches` of bundles; known from the second sample on.
  [[nodiscard]] bool exceed(std::int64_t most, std::int64_t candidates, std::int64_t searches) {
    const std::int64_t made = searches - searches_;
    if (most < 0 || (candidates_ >= 0 && made < search_tuning::sampled)) return false;
    const std::int64_t settled = std::max<std::int64_t>(1, candidates_ - candidates);
    const bool many =
        candidates_ >= 0 && static_cast<double>(candidates) / static_cast<double>(settled) * static_cast<double>(made) >
                                static_cast<double>(most);
    candidates_ = candidates;
    searches_ = searches;
    return many;
  }

 private:
  std::int64_t candidates_ = -1;  // at the last sample's end
  std::int64_t searches_ = 0;
};

void expect_options(const eccentricity_options& options) {
  const auto output = static_cast<int>(options.output);
  SPARGO_EXPECTS(output >= 0 && output <= static_cast<int>(eccentricity_output::diameter),
                 fmt::format("eccentricity: no output has the number {}", output));
  SPARGO_EXPECTS(options.max_searches >= -1,
                 fmt::format("eccentricity: at most {} searches (expected 0 or more, or -1)", options.max_searches));
  SPARGO_EXPECTS(options.max_expected_searches >= -1,
                 fmt::format("eccentricity: at most {} expected searches (expected 0 or more, or -1)",
                             options.max_expected_searches));
}

// The vertices of the largest weak component; of several, of the one with the smallest vertex.
template <class I, class O>
std::vector<std::uint8_t> largest_weak(const context<device>& ctx, const graph_view<I, O, device>& g) {
  const array<I, host> labels = to_host(ctx, components(ctx, g).labels.view());
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(g.vertices()));
  for (const I label : labels) ++sizes[static_cast<std::size_t>(label)];
  const auto largest = std::max_element(sizes.begin(), sizes.end()) - sizes.begin();
  std::vector<std::uint8_t> inside(sizes.size());
  for (std::int64_t v = 0; v < labels.size(); ++v) inside[static_cast<std::size_t>(v)] = labels[v] == largest ? 1 : 0;
  return inside;
}
template <class I, class O>
std::vector<std::uint8_t> largest_weak(const context<host>& ctx, const graph_view<I, O, host>& g) {
  std::vector<std::uint8_t> inside(static_cast<std::size_t>(g.vertices()));
  for (const I v : largest_component(ctx, g, components_connection::weak)) inside[static_cast<std::size_t>(v)] = 1;
  return inside;
}

// The graph that is searched.
template <class I, class O, class Space>
struct searched_part {
  graph<I, O, Space> copy;  // of the largest strong component of a directed graph, with in-edges
  graph_view<I, O, Space> view;
  std::vector<I> ids;
  std::vector<std::uint8_t> inside;
  std::int64_t size = 0;  // vertices of the component
};

template <class I, class O>
graph<I, O, host> strong_component(const context<host>& ctx, const graph_view<I, O, host>& g, std::vector<I>& ids) {
  const array<I, host> found = largest_component(ctx, g, components_connection::strong);
  ids.assign(found.begin(), found.end());
  graph<I, O, host> part = induced_subgraph(ctx, g, found.view());
  add_in_edges(ctx, part);
  return part;
}

template <class I, class O, class Space>
searched_part<I, O, Space> find_part(const context<Space>& ctx, const graph_view<I, O, Space>& g) {
  searched_part<I, O, Space> part{{}, g, {}, {}, 0};
  if (g.direction == direction_kind::undirected) {
    part.inside = largest_weak(ctx, g);
    part.size = std::count(part.inside.begin(), part.inside.end(), 1);
    return part;
  }
  if constexpr (std::same_as<Space, host>) {
    part.copy = strong_component(ctx, g, part.ids);
  } else {
    const context<host> cpu;
    const graph<I, O, host> all = to_host(ctx, g);
    part.copy = to_device(ctx, strong_component(cpu, all.view(), part.ids).view());
  }
  part.view = std::as_const(part.copy).view();
  part.size = std::ssize(part.ids);
  part.inside.assign(part.ids.size(), 1);
  return part;
}

template <class I, class O, class Space>
class solver {
 public:
  solver(const context<Space>& ctx, const graph_view<I, O, Space>& g, const eccentricity_options& options)
      : options_(options), part_(find_part(ctx, g)), undirected_(g.direction == direction_kind::undirected) {
    const bool leaves = undirected_ && part_.size > 2;
    if constexpr (is_built<Space>) {
      bounds_ = make_bounds(ctx, part_.view.out, component_part<I>{part_.inside, part_.ids, g.vertices(), leaves});
    }
    if (part_.size < 2) return;
    forwards_.emplace(ctx, part_.view, bfs_options{.output = bfs_output::levels});
    if (!undirected_) {
      graph_view<I, O, Space> reversed = part_.view;
      std::swap(reversed.out, reversed.in);
      backwards_.emplace(ctx, reversed, bfs_options{.output = bfs_output::levels});
    }
    bundles_.emplace(ctx, part_.view, search_tuning::bundle, multi_bfs_options{.output = multi_bfs_output::counts});
  }

  void run() {
    summary_ = {};
    summary_.vertices = part_.size;
    largest_ = 0;
    smallest_ = no_bound;
    bounds_->reset();
    if (part_.size == 1) {
      const auto only = std::find(part_.inside.begin(), part_.inside.end(), 1) - part_.inside.begin();
      bounds_->settle({static_cast<I>(only)}, {0});
    }
    if (part_.size > 0) {
      const bool all = options_.output == eccentricity_output::all;
      bool known = answer(all ? question::all : question::diameter);
      if (known && options_.output == eccentricity_output::extremes) known = answer(question::radius);
      summarize(known);
    }
    bounds_->finish();
  }

  [[nodiscard]] const eccentricity_summary& summary() const { return summary_; }
  [[nodiscard]] const bound_table<I, Space>& bounds() const { return *bounds_; }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept {
    std::int64_t bytes = bounds_->workspace_bytes();
    if (forwards_.has_value()) bytes += forwards_->workspace_bytes() + bundles_->workspace_bytes();
    if (backwards_.has_value()) bytes += backwards_->workspace_bytes();
    const auto edges = [](const auto& rows) {
      return rows.nnz() * std::int64_t{sizeof(I)} + rows.offsets.size() * std::int64_t{sizeof(O)};
    };
    return undirected_ ? bytes : bytes + edges(part_.view.out) + edges(part_.view.in);
  }

 private:
  // Searches until no vertex can change the answer; false: a limit on searches came first.
  bool answer(question asked) {
    bool high = true;
    expected_searches expected;
    std::int64_t before = -1;  // candidates before the last search, if that was a single one
    for (std::int64_t single = 0;;) {
      const survey<I> now = look(asked);
      interruption::look({part_.size - now.candidates, part_.size});
      if (now.candidates == 0) return true;
      if (left() == 0) return false;
      const bool bundled = single >= search_tuning::first_searches && before >= 0 &&
                           now.candidates >= search_tuning::least_bundled &&
                           !search_tuning::pays(before, now.candidates);
      if (bundled) {
        if (expected.exceed(options_.max_expected_searches, now.candidates, summary_.searches)) return false;
        search_bundle(asked, now);
        before = -1;
      } else {
        search_one(single == 0 || high ? now.highest : now.lowest);
        if (single > 0) high = !high;
        before = now.candidates;
        ++single;
      }
    }
  }

  [[nodiscard]] candidate_rule rule(question asked) const {
    return {asked, largest_, smallest_, undirected_ ? (largest_ + 1) / 2 : 0};
  }
  // With the extremes as known after it.
  [[nodiscard]] survey<I> look(question asked) {
    for (;;) {
      const survey<I> now = bounds_->look(rule(asked));
      if (now.max_lower <= largest_ && now.min_upper >= smallest_) return now;
      largest_ = std::max(largest_, now.max_lower);
      smallest_ = std::min(smallest_, now.min_upper);
    }
  }
  [[nodiscard]] std::int64_t left() const {
    return options_.max_searches < 0 ? part_.size : options_.max_searches - summary_.searches;
  }

  void search_one(const search_start<I>& start) {
    forwards_->run(start.source);
    if (backwards_.has_value()) backwards_->run(start.source);
    const auto ecc = static_cast<std::int32_t>(forwards_->level_sizes().size() - 1);
    const bool beyond = start.vertex != start.source;
    bounds_->apply(forwards_->levels(), backwards_.has_value() ? backwards_->levels() : forwards_->levels(), ecc,
                   beyond);
    largest_ = std::max(largest_, ecc + (beyond ? 1 : 0));
    smallest_ = std::min(smallest_, ecc);
    ++summary_.searches;
  }

  void search_bundle(question asked, const survey<I>& now) {
    std::vector<I> sources;
    for (const search_start<I>& start :
         bounds_->pick(rule(asked), now.highest_upper, std::min(search_tuning::bundle, left()))) {
      sources.push_back(start.source);
    }
    std::sort(sources.begin(), sources.end());
    sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
    bundles_->run(span<const I, host>(sources));
    std::vector<std::int32_t> ecc;
    for (const multi_bfs_counts& counts : bundles_->counts()) {
      ecc.push_back(counts.eccentricity);
      largest_ = std::max(largest_, counts.eccentricity);
      smallest_ = std::min(smallest_, counts.eccentricity);
    }
    bounds_->settle(sources, ecc);
    summary_.searches += std::ssize(sources);
  }

  void summarize(bool known) {
    const survey<I> now = look(question::all);
    const std::int32_t half = undirected_ ? (largest_ + 1) / 2 : 0;
    summary_.diameter = {largest_, now.max_upper};
    summary_.radius = {std::min(std::max(now.min_lower, half), smallest_), smallest_};
    if (known && options_.output != eccentricity_output::all) summary_.diameter.upper = largest_;
    if (known && options_.output == eccentricity_output::extremes) summary_.radius.lower = smallest_;
    summary_.peripheral = bounds_->first_with(largest_);
    summary_.central = bounds_->first_with(smallest_);
    summary_.exact = known;
  }

  eccentricity_options options_;
  searched_part<I, O, Space> part_;
  bool undirected_;
  std::unique_ptr<bound_table<I, Space>> bounds_;
  std::optional<bfs_plan<I, O, Space>> forwards_;
  std::optional<bfs_plan<I, O, Space>> backwards_;  // of a directed graph
  std::optional<multi_bfs_plan<I, O, Space>> bundles_;
  eccentricity_summary summary_;
  std::int32_t largest_ = 0;  // eccentricity known so far
  std::int32_t smallest_ = no_bound;
};

}  // namespace

}  // namespace detail::eccentricity

// Nanoseconds per vertex or entry: 16 searches of R-MAT 20, degree 16.
plan_estimate estimate(const graph_shape& s, const eccentricity_options&) {
  constexpr double entry_ns = 8;
  const plan_estimate one = estimate(s, bfs_options{.output = bfs_output::levels});
  const plan_estimate many = estimate(s, 64, multi_bfs_options{.output = multi_bfs_output::counts});
  const bool directed = s.direction == direction_kind::directed;
  const std::int64_t copies = directed ? 2 * s.rows_bytes() + s.vertices * (8 + s.index_bytes) : 0;
  plan_estimate of;
  of.host_bytes = (directed ? 2 : 1) * one.host_bytes + many.host_bytes + copies + 10 * s.vertices;
  of.device_bytes = (directed ? 2 : 1) * one.device_bytes + many.device_bytes + copies + 9 * s.vertices;
  of.host_seconds = detail::expected_seconds(s, entry_ns);
  return of;
}

template <index_type I, index_type O, class Space>
struct detail::state_of<eccentricity_plan<I, O, Space>> {
  detail::eccentricity::solver<I, O, Space> solver;

  state_of(const context<Space>& ctx, const graph_view<I, O, Space>& g, const eccentricity_options& options)
      : solver(ctx, g, options) {}
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept { return solver.workspace_bytes(); }
};

template <index_type I, index_type O, class Space>
eccentricity_plan<I, O, Space>::eccentricity_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                                  const eccentricity_options& options) try {
  detail::expect_graph("eccentricity", g);
  detail::eccentricity::expect_options(options);
  this->state_ =
      detail::plan_only<state>(detail::eccentricity::algorithms, "eccentricity", options.algorithm, ctx,
                               [&](const auto& where) { return std::make_unique<state>(where, g, options); });
} catch (...) {
  detail::rethrow("eccentricity");
}

template <index_type I, index_type O, class Space>
void eccentricity_plan<I, O, Space>::run() try {
  if constexpr (detail::is_built<Space>) this->state_->solver.run();
} catch (...) {
  detail::rethrow("eccentricity");
}

template <index_type I, index_type O, class Space>
span<const std::int32_t, Space> eccentricity_plan<I, O, Space>::lower() const noexcept {
  return this->state_->solver.bounds().lower();
}
template <index_type I, index_type O, class Space>
span<const std::int32_t, Space> eccentricity_plan<I, O, Space>::upper() const noexcept {
  return this->state_->solver.bounds().upper();
}
template <index_type I, index_type O, class Space>
const eccentricity_summary& eccentricity_plan<I, O, Space>::summary() const noexcept {
  return this->state_->solver.summary();
}

#define INSTANTIATE(I, O, S) template class eccentricity_plan<I, O, S>;
SPARGO_FOR_EACH_GRAPH(INSTANTIATE)

}  // namespace spargo
