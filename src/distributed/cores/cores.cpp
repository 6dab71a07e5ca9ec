// Core numbers over ranks, by upper bounds that fall.
//
// A vertex's bound is its degree at first. Its support is the number of its neighbours whose bounds are at least its
// own. While that is less than the bound, the bound falls to the largest k such that k neighbours have bounds of k or
// more (an h-index), which is never below the core number. Where all bounds are supported, the vertices of bound k or
// more are a subgraph of degree k: the bounds are the core numbers.
//
// Each rank lowers its own bounds, in sweeps over the vertices that lack support, until all are supported by the bounds
// that it knows. Then bounds travel to ghosts, and those that fell take support from the own vertices next to them. It
// ends when no vertex of any rank lacks support after an exchange.
//
// Invariant between sweeps: `support_` is exact for the bounds known here, so a vertex is read again only when it lacks
// support, and enters the list exactly once. Cost: each sweep reads the rows in its list twice; the first has all rows.
// Source: Montresor, De Pellegrini, Miorandi, IEEE TPDS 24(2), 2013.
#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "distributed/graph/neighbourhoods.hpp"
#include "graph/cores/executor.hpp"

#include <spargo/distributed/cores.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <optional>

namespace spargo {

namespace {

struct tuning {
  static constexpr std::int64_t chunk = 64;                     // vertices of a list that a thread takes at a time
  static constexpr std::int64_t share = std::int64_t{1} << 13;  // edges that are worth a thread: some 40 us
};

template <class I>
class falling_bounds {
 public:
  falling_bounds(const context<host>& ctx, detail::distributed::neighbourhoods rows)
      : threads_(ctx.threads()),
        rows_(std::move(rows)),
        bounds_(ctx, rows_.size()),
        support_(ctx, rows_.own),
        list_(static_cast<std::size_t>(rows_.own)),
        fallen_(static_cast<std::size_t>(rows_.own)),
        scratch_(static_cast<std::size_t>(threads_)) {
    std::int64_t most = 0;
    for (std::int64_t v = 0; v < rows_.own; ++v) most = std::max(most, degree(v));
    detail::cores::expect_narrow_degree<I>(most);
    for (scratch& own : scratch_) own.times.resize(static_cast<std::size_t>(most) + 1);
  }

  [[nodiscard]] std::int64_t own() const { return rows_.own; }
  [[nodiscard]] const std::vector<std::int64_t>& ghosts() const { return rows_.ghosts; }
  [[nodiscard]] span<const I, host> bounds() const { return bounds_.view().subspan(0, rows_.own); }
  [[nodiscard]] bool lacks_support() const { return !list_.empty(); }

  // `degrees`: of ghosts. All own vertices are in the list.
  void start() {
    for (std::int64_t v = 0; v < rows_.own; ++v) bounds_[v] = static_cast<I>(degree(v));
    list_.resize(static_cast<std::size_t>(rows_.own));
    std::iota(list_.begin(), list_.end(), 0);
  }
  void take_degrees(span<const I, host> degrees) {
    std::copy(degrees.begin(), degrees.end(), bounds_.data() + rows_.own);
  }

  // Lowers own bounds until all are supported.
  void settle() {
    while (!list_.empty()) {
      for_each_listed([&](std::int64_t k, scratch& own) { lower(k, own); });
      for (std::size_t k = 0; k < list_.size(); ++k) {
        const std::int32_t v = list_[k];
        const change now = fallen_[k];
        fallen_[k] = {bounds_[v], now.support};  // from here on: the bound before
        bounds_[v] = now.bound;
        support_[v] = now.support;
      }
      for_each_listed([&](std::int64_t k, scratch& own) {
        const std::int32_t v = list_[static_cast<std::size_t>(k)];
        withdraw(v, fallen_[static_cast<std::size_t>(k)].bound, bounds_[v], own);
      });
      gather_list();
    }
  }

  // Bounds of the ghosts, as their owners have them.
  void take(span<const I, host> bounds) {
    const detail::parts shares = detail::chunks_of(bounds.size(), detail::grain::rows);
    detail::on_threads(threads_, shares.count, [&](detail::part_taker& mine) {
      scratch& own = scratch_[static_cast<std::size_t>(mine.slot())];
      for (std::int64_t part; mine.take(part);) {
        for (std::int64_t g = shares.first(part); g < shares.last(part); ++g) {
          const std::int64_t ghost = rows_.own + g;
          const I before = std::exchange(bounds_[ghost], bounds[g]);
          withdraw(ghost, before, bounds[g], own);
        }
      }
    });
    gather_list();
  }

 private:
  struct change {
    I bound;
    I support;
  };
  struct alignas(64) scratch {
    std::vector<I> times;              // [bound]; all 0 between vertices
    std::vector<std::int32_t> listed;  // vertices that lost their support
  };

  [[nodiscard]] std::int64_t degree(std::int64_t v) const { return rows_.offsets[v + 1] - rows_.offsets[v]; }

  // Finds the new bound of the list's k-th vertex.
  void lower(std::int64_t k, scratch& own) {
    const std::int32_t v = list_[static_cast<std::size_t>(k)];
    I* const times = own.times.data();
    const I most = bounds_[v];
    for (std::int64_t e = rows_.offsets[v]; e < rows_.offsets[v + 1]; ++e) {
      ++times[std::min(bounds_[rows_.indices[e]], most)];
    }
    I support = times[most];
    I bound = most;
    while (support < bound) support += times[--bound];
    std::fill_n(times, most + 1, I{0});
    fallen_[static_cast<std::size_t>(k)] = {bound, support};
  }

  // v's bound fell: own neighbours whose bounds are in between lose its support.
  void withdraw(std::int64_t v, I before, I now, scratch& own) {
    if (now == before) return;
    for (std::int64_t e = rows_.offsets[v]; e < rows_.offsets[v + 1]; ++e) {
      const std::int32_t u = rows_.indices[e];
      if (u >= rows_.own || bounds_[u] <= now || bounds_[u] > before) continue;
      const I support = std::atomic_ref<I>(support_[u]).fetch_sub(1, std::memory_order_relaxed);
      if (support == bounds_[u]) own.listed.push_back(u);
    }
  }

  template <class Body>
  void for_each_listed(Body&& body) {
    std::int64_t edges = 0;
    for (const std::int32_t v : list_) edges += degree(v);
    const detail::parts shares = detail::chunks_of(std::ssize(list_), tuning::chunk);
    detail::on_threads(detail::useful_threads(threads_, edges, tuning::share), shares.count,
                       [&](detail::part_taker& mine) {
                         scratch& own = scratch_[static_cast<std::size_t>(mine.slot())];
                         for (std::int64_t part; mine.take(part);) {
                           for (std::int64_t k = shares.first(part); k < shares.last(part); ++k) body(k, own);
                         }
                       });
  }

  void gather_list() {
    list_.clear();
    for (scratch& own : scratch_) {
      list_.insert(list_.end(), own.listed.begin(), own.listed.end());
      own.listed.clear();
    }
  }

  int threads_;
  detail::distributed::neighbourhoods rows_;
  array<I, host> bounds_;           // of own vertices, then of ghosts as last received
  array<I, host> support_;          // of own vertices
  std::vector<std::int32_t> list_;  // own vertices that lack support
  std::vector<change> fallen_;      // [place in the list]
  std::vector<scratch> scratch_;    // [slot]
};

}  // namespace

template <index_type I>
struct distributed_cores_plan<I>::state {
  communicator comm;
  falling_bounds<I> bounds;
  array<I, host> received{};
  std::optional<exchange<host>> halo{};
  I max_core = 0;
  std::int64_t rounds = 0;

  void exchange_bounds() {
    halo->start(bounds.bounds());
    halo->finish(received.view());
    ++rounds;
  }
};

template <index_type I>
distributed_cores_plan<I>::distributed_cores_plan(const communicator& comm, const context<host>& ctx,
                                                  const distributed_graph<I>& g) {
  comm.agree_on([&] {
    if (g.in().offsets.empty() && g.vertices() > 0) {
      throw error(error_code::unsupported, "cores: a directed graph without in-edges");
    }
    state_ = detail::new_state<state>(
        comm, falling_bounds<I>(ctx, detail::distributed::neighbourhoods_of(ctx, g, comm.rank())));
    state_->received = {ctx, std::ssize(state_->bounds.ghosts())};
  });
  state_->halo.emplace(comm, ctx, g.parts(), state_->bounds.ghosts(), sizeof(I));
}

template <index_type I>
void distributed_cores_plan<I>::run() {
  state& s = *state_;
  s.rounds = 0;
  s.bounds.start();
  s.exchange_bounds();
  s.bounds.take_degrees(std::as_const(s.received).view());
  const auto any_lacks_support = [&] {
    return s.comm.template all_reduce<std::int64_t>(s.bounds.lacks_support() ? 1 : 0, reduction::max) != 0;
  };
  while (any_lacks_support()) {
    s.bounds.settle();
    s.exchange_bounds();
    s.bounds.take(std::as_const(s.received).view());
  }
  I most = 0;
  for (const I bound : s.bounds.bounds()) most = std::max(most, bound);
  s.max_core = s.comm.all_reduce(most, reduction::max);
}
template <index_type I>
span<const I, host> distributed_cores_plan<I>::cores() const noexcept {
  return std::as_const(state_->bounds).bounds();
}
template <index_type I>
I distributed_cores_plan<I>::max_core() const noexcept {
  return state_->max_core;
}
template <index_type I>
std::int64_t distributed_cores_plan<I>::rounds() const noexcept {
  return state_->rounds;
}
template <index_type I>
std::string distributed_cores_plan<I>::reason() const {
  return fmt::format("the algorithm for several ranks; vertices distributed over {} ranks by edges",
                     state_->comm.size());
}
template <index_type I>
std::string_view distributed_cores_plan<I>::how() const noexcept {
  return state_->halo->how();
}

template <index_type I>
distributed_cores_result<I> distributed_cores(const communicator& comm, const context<host>& ctx,
                                              const distributed_graph<I>& g) {
  distributed_cores_plan<I> plan(comm, ctx, g);
  plan.run();
  return {comm.agree_on([&] { return clone(ctx, plan.cores()); }), plan.max_core(), plan.rounds()};
}

#define INSTANTIATE(I)                                                                                 \
  template class distributed_cores_plan<I>;                                                            \
  template distributed_cores_result<I> distributed_cores<I>(const communicator&, const context<host>&, \
                                                            const distributed_graph<I>&);
SPARGO_FOR_EACH_INDEX(INSTANTIATE)

}  // namespace spargo
