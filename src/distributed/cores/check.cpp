// Whether numbers are core numbers, as in graph/cores/check.cpp: from below, every vertex has as many neighbours of its
// number or more; from above, the vertices of each number can be ordered such that each has at most its number of
// neighbours behind it. Each rank orders its own vertices as far as it can, then the ranks exchange which vertices have
// a place.
#include "distributed/bfs/check.hpp"
#include "core/instantiate.hpp"
#include "distributed/exchange/with_ghosts.hpp"

#include <spargo/distributed/cores.hpp>

#include <fmt/format.h>

#include <utility>

namespace spargo {

namespace {

template <class I>
class core_proof {
 public:
  core_proof(const communicator& comm, const context<host>& ctx, const distributed_graph<I>& g,
             span<const I, host> cores)
      : comm_(comm), first_(g.parts().first(comm.rank())), cores_(cores), behind_(cores.size()) {
    sides_.push_back({g.out(), {comm, ctx, g.out(), g.parts()}, {comm, ctx, g.out(), g.parts()}});
    if (g.direction() == direction_kind::directed) {
      sides_.push_back({g.in(), {comm, ctx, g.in(), g.parts()}, {comm, ctx, g.in(), g.parts()}});
    }
    for (side& each : sides_) each.numbers.exchange_values(cores);
  }

  [[nodiscard]] std::string fault_from_below() const {
    for (std::int64_t v = 0; v < cores_.size(); ++v) {
      std::int64_t count = 0;
      for_each_neighbour(v, [&](I number, bool, std::size_t) { count += number >= cores_[v] ? 1 : 0; });
      if (count >= cores_[v]) continue;
      return fmt::format("vertex {} has core number {} but {} neighbours of that number or more", first_ + v,
                         std::int64_t{cores_[v]}, count);
    }
    return {};
  }

  // Collective.
  [[nodiscard]] std::string fault_from_above() {
    std::vector<std::int32_t> placed(static_cast<std::size_t>(cores_.size()));
    std::vector<std::int64_t> queue;
    for (std::int64_t found = 1; found > 0;) {
      for (side& each : sides_) each.placed.exchange_values(placed);
      for (std::int64_t v = 0; v < cores_.size(); ++v) {
        if (placed[static_cast<std::size_t>(v)] != 0) continue;
        std::int64_t& count = behind_[static_cast<std::size_t>(v)] = 0;
        for_each_neighbour(v, [&](I number, bool has_place, std::size_t) {
          count += number > cores_[v] || (number == cores_[v] && !has_place) ? 1 : 0;
        });
        if (count <= cores_[v]) queue.push_back(v);
      }
      found = std::ssize(queue);
      while (!queue.empty()) {
        const std::int64_t v = queue.back();
        queue.pop_back();
        placed[static_cast<std::size_t>(v)] = 1;
        for_each_neighbour(v, [&](I number, bool, std::size_t u) {
          if (u >= placed.size() || number != cores_[v]) return;
          if (--behind_[u] == number) queue.push_back(static_cast<std::int64_t>(u));
        });
      }
      found = comm_.all_reduce(found, reduction::sum);
    }
    for (std::int64_t v = 0; v < cores_.size(); ++v) {
      if (placed[static_cast<std::size_t>(v)] != 0) continue;
      return fmt::format("vertex {} has core number {} (expected {} or more)", first_ + v, std::int64_t{cores_[v]},
                         std::int64_t{cores_[v]} + 1);
    }
    return {};
  }

 private:
  struct side {
    csr_pattern_view<I, std::int64_t, host> rows;
    detail::distributed::with_ghosts<I, I> numbers;
    detail::distributed::with_ghosts<std::int32_t, I> placed;
  };

  // f(number, whether it had a place at the last exchange, local number).
  template <class F>
  void for_each_neighbour(std::int64_t v, F&& f) const {
    for (const side& each : sides_) {
      for (std::int64_t e = each.rows.offsets[v]; e < each.rows.offsets[v + 1]; ++e) {
        if (each.rows.indices[e] == first_ + v) continue;
        const std::size_t u = each.numbers.place(e);
        f(each.numbers.values[u], each.placed.values[u] != 0, u);
      }
    }
  }

  const communicator& comm_;
  std::int64_t first_;
  span<const I, host> cores_;
  std::vector<std::int64_t> behind_;  // neighbours behind each vertex, as far as the order is known
  std::vector<side> sides_;
};

}  // namespace

template <index_type I>
std::string check_cores(const communicator& comm, const context<host>& ctx, const distributed_graph<I>& g,
                        std::type_identity_t<span<const I, host>> cores) {
  using detail::distributed::first_of;
  const std::int64_t first = g.parts().first(comm.rank());
  std::string wrong;
  if (cores.size() != g.out().rows) {
    wrong = fmt::format("there are {} core numbers for {} vertices", cores.size(), g.out().rows);
  }
  for (std::int64_t v = 0; v < cores.size() && wrong.empty(); ++v) {
    if (cores[v] >= 0) continue;
    wrong = fmt::format("vertex {} has core number {} (expected 0 or more)", first + v, std::int64_t{cores[v]});
  }
  wrong = first_of(comm, std::move(wrong));
  if (!wrong.empty()) return wrong;
  core_proof<I> proof(comm, ctx, g, cores);
  wrong = first_of(comm, proof.fault_from_below());
  if (!wrong.empty()) return wrong;
  return first_of(comm, proof.fault_from_above());
}

#define INSTANTIATE(I)                                                                                        \
  template std::string check_cores<I>(const communicator&, const context<host>&, const distributed_graph<I>&, \
                                      std::type_identity_t<span<const I, host>>);
SPARGO_FOR_EACH_INDEX(INSTANTIATE)

}  // namespace spargo
