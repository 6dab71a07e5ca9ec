#include "graph/layout/levels.hpp"

#include "core/hypotenuse.hpp"
#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "graph/layout/pace.hpp"

#include <spargo/core/interruption.hpp>

#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

namespace spargo::detail::layout {

namespace {

constexpr std::int64_t coarsest = 48;
constexpr std::int64_t lone_group = 8;       // vertices without edges
constexpr std::int64_t joined_groups = 256;  // by a thread at a time
constexpr int join_threads = 16;             // at most, each with 4 bytes per group
constexpr std::int64_t sampled_groups = 512;
constexpr std::int64_t length_rows = 1024;  // whose lengths are added up at a time

template <class I, class O>
class contraction {
 public:
  contraction(const context<host>& ctx, const charged_graph<I, O, host>& g)
      : ctx_(ctx), g_(g), n_(g.edges.vertices()), group_of_(ctx, n_), degrees_(ctx, n_) {
    parallel_for(ctx_.threads(), n_, grain::rows, [&](std::int64_t v) { degrees_[v] = degree_of<I, O>(g_.edges, v); });
  }

  // Nothing if the contracted graph would cost about as much.
  [[nodiscard]] std::optional<coarse_graph> contract(std::int64_t many) {
    form_groups();
    interruption::look();
    if (10 * std::int64_t{groups_} > 9 * n_) return std::nullopt;
    list_members();
    if (is_dense(many)) return std::nullopt;
    coarse_graph coarse;
    add_up_masses(coarse);
    join_edges(coarse);
    coarse.group_of = std::move(group_of_);
    return coarse;
  }

 private:
  void form_groups() {
    constexpr std::int32_t none = -1;
    std::fill(group_of_.begin(), group_of_.end(), none);
    std::int64_t lone = 0;
    for (const std::int32_t v : by_degree()) {
      if (group_of_[v] != none) continue;
      std::int64_t heaviest = none;
      double weight = -1;
      bool founds = false;
      for_each_edge(g_.edges, v, [&](std::int64_t u, double w) {
        if (u == v) return;
        if (group_of_[u] == none) {
          group_of_[u] = groups_;
          founds = true;
        } else if (!founds && w > weight) {
          weight = w;
          heaviest = u;
        }
      });
      if (founds) {
        group_of_[v] = groups_++;
      } else if (heaviest != none) {
        group_of_[v] = group_of_[heaviest];
      } else if (lone++ % lone_group == 0) {
        group_of_[v] = lone_ = groups_++;
      } else {
        group_of_[v] = lone_;
      }
    }
  }

  // Vertices by descending degree (1023 and more count as equal), then by number.
  [[nodiscard]] std::vector<std::int32_t> by_degree() const {
    constexpr std::int64_t most = 1023;
    const auto place = [&](std::int64_t v) { return static_cast<std::size_t>(most - std::min(degrees_[v], most)); };
    std::vector<std::int64_t> begins(most + 2);
    for (std::int64_t v = 0; v < n_; ++v) ++begins[place(v) + 1];
    std::partial_sum(begins.begin(), begins.end(), begins.begin());
    std::vector<std::int32_t> order(static_cast<std::size_t>(n_));
    for (std::int64_t v = 0; v < n_; ++v) {
      order[static_cast<std::size_t>(begins[place(v)]++)] = static_cast<std::int32_t>(v);
    }
    return order;
  }

  void list_members() {
    begins_.resize(static_cast<std::size_t>(groups_) + 1);
    for (const std::int32_t group : group_of_) ++begins_[static_cast<std::size_t>(group) + 1];
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
    members_.resize(static_cast<std::size_t>(n_));
    std::vector<std::int64_t> ends(begins_.begin(), begins_.end() - 1);
    for (std::int64_t v = 0; v < n_; ++v) {
      members_[static_cast<std::size_t>(ends[static_cast<std::size_t>(group_of_[v])]++)] = static_cast<std::int32_t>(v);
    }
  }
  template <class Body>
  void for_each_member(std::size_t group, Body&& body) const {
    for (std::int64_t k = begins_[group]; k < begins_[group + 1]; ++k) {
      body(std::int64_t{members_[static_cast<std::size_t>(k)]});
    }
  }

  // Of `many` edges and more, whether the groups keep over four fifths, as groups evenly spread over all show. A grid's
  // keep .74 of them.
  [[nodiscard]] bool is_dense(std::int64_t many) const {
    if (std::accumulate(degrees_.begin(), degrees_.end(), std::int64_t{0}) < many) return false;
    std::vector<std::int64_t> seen(static_cast<std::size_t>(groups_), -1);
    std::int64_t before = 0;
    std::int64_t after = 0;
    const std::int64_t count = std::min<std::int64_t>(groups_, sampled_groups);
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int64_t group = k * groups_ / count;
      seen[static_cast<std::size_t>(group)] = group;
      for_each_member(static_cast<std::size_t>(group), [&](std::int64_t v) {
        for_each_edge(g_.edges, v, [&](std::int64_t u, double) {
          ++before;
          std::int64_t& last = seen[static_cast<std::size_t>(group_of_[u])];
          after += last != group ? 1 : 0;
          last = group;
        });
      });
    }
    return 5 * after > 4 * before;
  }

  void add_up_masses(coarse_graph& coarse) const {
    coarse.masses = array<float, host>(ctx_, groups_);
    parallel_for(ctx_.threads(), groups_, grain::rows, [&](std::int64_t group) {
      double sum = 0;
      for_each_member(static_cast<std::size_t>(group), [&](std::int64_t v) {
        sum += g_.masses.empty() ? static_cast<double>(degrees_[v] + 1) : g_.masses[v];
      });
      coarse.masses[group] = static_cast<float>(sum);
    });
  }

  // Edges between groups, with their weights added up.
  void join_edges(coarse_graph& coarse) const {
    // Ranges of groups are joined by threads, each in vectors of its own, then concatenated.
    struct part {
      std::vector<std::int32_t> indices;
      std::vector<double> weights;
    };
    const parts ranges = chunks_of(groups_, joined_groups);
    std::vector<part> made(static_cast<std::size_t>(ranges.count));
    coarse.offsets = array<std::int64_t, host>(ctx_, groups_ + std::int64_t{1});
    coarse.offsets[0] = 0;
    const int threads = std::min(ctx_.threads(), join_threads);
    std::vector<std::vector<std::int32_t>> places(static_cast<std::size_t>(threads));
    on_threads(threads, ranges.count, [&](part_taker& mine) {
      // [group] one more than the place of its edge in this row.
      std::vector<std::int32_t>& place = places[static_cast<std::size_t>(mine.slot())];
      place.resize(static_cast<std::size_t>(groups_));
      for (std::int64_t p; mine.take(p);) {
        part& own = made[static_cast<std::size_t>(p)];
        for (auto group = static_cast<std::size_t>(ranges.first(p)); group < static_cast<std::size_t>(ranges.last(p));
             ++group) {
          const std::size_t first = own.indices.size();
          for_each_member(group, [&](std::int64_t v) {
            for_each_edge(g_.edges, v, [&](std::int64_t u, double w) {
              const auto other = static_cast<std::size_t>(group_of_[u]);
              if (other == group) return;
              if (place[other] == 0) {
                own.indices.push_back(group_of_[u]);
                own.weights.push_back(0);
                place[other] = static_cast<std::int32_t>(own.indices.size() - first);
              }
              own.weights[first + static_cast<std::size_t>(place[other]) - 1] += w;
            });
          });
          for (std::size_t k = first; k < own.indices.size(); ++k) place[static_cast<std::size_t>(own.indices[k])] = 0;
          coarse.offsets[static_cast<std::int64_t>(group) + 1] = static_cast<std::int64_t>(own.indices.size() - first);
        }
      }
    });
    std::partial_sum(coarse.offsets.begin(), coarse.offsets.end(), coarse.offsets.begin());
    coarse.indices = array<std::int32_t, host>(ctx_, coarse.offsets[groups_]);
    coarse.weights = array<double, host>(ctx_, coarse.offsets[groups_]);
    parallel_parts(ctx_.threads(), ranges.count, [&](std::int64_t p) {
      part own = std::move(made[static_cast<std::size_t>(p)]);
      const std::int64_t to = coarse.offsets[ranges.first(p)];
      std::copy(own.indices.begin(), own.indices.end(), coarse.indices.data() + to);
      std::copy(own.weights.begin(), own.weights.end(), coarse.weights.data() + to);
    });
  }

  const context<host>& ctx_;
  charged_graph<I, O, host> g_;
  std::int64_t n_;
  array<std::int32_t, host> group_of_;
  array<std::int64_t, host> degrees_;
  std::vector<std::int64_t> begins_;  // [group] in members_
  std::vector<std::int32_t> members_;
  std::int32_t groups_ = 0;
  std::int32_t lone_ = 0;
};

}  // namespace

template <class I, class O>
std::vector<coarse_graph> contract_all(const context<host>& ctx, const charged_graph<I, O, host>& g,
                                       std::int64_t many) {
  std::vector<coarse_graph> levels;
  while ((levels.empty() ? g.edges.vertices() : levels.back().vertices()) > coarsest) {
    auto next = levels.empty() ? contraction<I, O>(ctx, g).contract(many)
                               : contraction<std::int32_t, std::int64_t>(ctx, levels.back().view()).contract(many);
    if (!next) break;
    levels.push_back(std::move(*next));
  }
  return levels;
}

template <class I, class O>
void place_finer(const context<host>& ctx, const charged_graph<I, O, host>& g, const coarse_graph& coarse,
                 span<const double, host> positions, std::uint64_t seed, span<double, host> finer) {
  const parts ranges = chunks_of(coarse.vertices(), length_rows);
  std::vector<double> lengths(static_cast<std::size_t>(ranges.count));
  parallel_parts(ctx.threads(), ranges.count, [&](std::int64_t p) {
    double sum = 0;
    for (std::int64_t c = ranges.first(p); c < ranges.last(p); ++c) {
      for (std::int64_t e = coarse.offsets[c]; e < coarse.offsets[c + 1]; ++e) {
        const std::int64_t d = coarse.indices[e];
        sum += hypotenuse(positions[2 * c] - positions[2 * d], positions[2 * c + 1] - positions[2 * d + 1]);
      }
    }
    lengths[static_cast<std::size_t>(p)] = sum;
  });
  const double length = std::accumulate(lengths.begin(), lengths.end(), 0.0);
  const double step = coarse.indices.empty() ? 1 : 0.2 * length / static_cast<double>(coarse.indices.size());
  parallel_for(ctx.threads(), g.edges.vertices(), grain::rows, [&](std::int64_t v) {
    double sum[2] = {positions[2 * coarse.group_of[v]], positions[2 * coarse.group_of[v] + 1]};
    double weight = 1;
    for_each_edge(g.edges, v, [&](std::int64_t u, double w) {
      for (int k = 0; k < 2; ++k) sum[k] += w * positions[2 * coarse.group_of[u] + k];
      weight += w;
    });
    for (int k = 0; k < 2; ++k) {
      const double chance = unit_interval(seed, static_cast<std::uint64_t>(2 * v + k)) - 0.5;
      finer[2 * v + k] = sum[k] / weight + step * chance;
    }
  });
}

#define INSTANTIATE(I, O)                                                                                 \
  template std::vector<coarse_graph> contract_all(const context<host>&, const charged_graph<I, O, host>&, \
                                                  std::int64_t);                                          \
  template void place_finer(const context<host>&, const charged_graph<I, O, host>&, const coarse_graph&,  \
                            span<const double, host>, std::uint64_t, span<double, host>);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::layout
