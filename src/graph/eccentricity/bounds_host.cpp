// Bounds on the host. Each pass is over all vertices, by all threads.
#include "core/bytes_of.hpp"
#include "core/parallel.hpp"
#include "graph/eccentricity/executor.hpp"

#include "core/instantiate.hpp"

#include <algorithm>
#include <mutex>
#include <tuple>

namespace spargo::detail::eccentricity {

namespace {

constexpr std::int64_t chunk_vertices = 8192;

template <class I, class O>
class host_bounds final : public bound_table<I, host> {
 public:
  host_bounds(const context<host>& ctx, const csr_pattern_view<I, O, host>& edges, const component_part<I>& part)
      : threads_(ctx.threads()),
        edges_(edges),
        leaves_(part.leaves),
        component_(clone(ctx, part.inside)),
        ids_(clone(ctx, part.ids)),
        lower_(ctx, edges.rows),
        upper_(ctx, edges.rows) {
    if (ids_.empty()) return;
    all_lower_ = {ctx, part.vertices};
    all_upper_ = {ctx, part.vertices};
  }

  void reset() override {
    parallel_for(threads_, lower_.size(), grain::elements, [&](std::int64_t v) {
      lower_[v] = component_[v] != 0 ? 0 : -1;
      upper_[v] = component_[v] != 0 ? no_bound : -1;
    });
  }

  void apply(span<const std::int32_t, host> from, span<const std::int32_t, host> to, std::int32_t ecc,
             bool beyond) override {
    const std::int32_t step = beyond ? 1 : 0;
    parallel_for(threads_, lower_.size(), grain::elements, [&](std::int64_t v) {
      if (lower_[v] >= upper_[v]) return;
      lower_[v] = std::max({lower_[v], to[v] + step, ecc - from[v]});
      upper_[v] = static_cast<std::int32_t>(std::min<std::int64_t>(upper_[v], std::int64_t{to[v]} + ecc));
    });
  }

  void settle(const std::vector<I>& vertices, const std::vector<std::int32_t>& ecc) override {
    for (std::size_t k = 0; k < vertices.size(); ++k) lower_[vertices[k]] = upper_[vertices[k]] = ecc[k];
  }

  [[nodiscard]] survey<I> look(const candidate_rule& rule) override {
    tally all;
    std::mutex mutex;
    const parts shares = chunks_of(lower_.size(), chunk_vertices);
    on_threads(threads_, shares.count, [&](part_taker& mine) {
      tally own;
      for (std::int64_t p; mine.take(p);) {
        for (std::int64_t v = shares.first(p); v < shares.last(p); ++v) look_at(static_cast<I>(v), rule, own);
      }
      const std::lock_guard lock(mutex);
      all.add(own);
    });
    survey<I> found = all.found;
    if (found.candidates > 0) {
      found.highest_upper = upper_[all.high.vertex];
      found.highest = start_of(all.high.vertex);
      found.lowest = start_of(all.low.vertex);
    }
    return found;
  }

  [[nodiscard]] std::vector<search_start<I>> pick(const candidate_rule& rule, std::int32_t upper,
                                                  std::int64_t count) override {
    std::vector<search_start<I>> picked;
    for (const bool largest : {true, false}) {
      for (std::int64_t v = 0; v < lower_.size() && std::ssize(picked) < count; ++v) {
        if ((upper_[v] == upper) != largest || !rule.holds(lower_[v], upper_[v])) continue;
        picked.push_back(start_of(static_cast<I>(v)));
      }
    }
    return picked;
  }

  [[nodiscard]] std::int64_t first_with(std::int32_t ecc) override {
    for (std::int64_t v = 0; v < lower_.size(); ++v) {
      if (lower_[v] == ecc && upper_[v] == ecc) return ids_.empty() ? v : std::int64_t{ids_[v]};
    }
    return -1;
  }
  void finish() override {
    if (ids_.empty()) return;
    parallel_for(threads_, all_lower_.size(), grain::elements,
                 [&](std::int64_t v) { all_lower_[v] = all_upper_[v] = -1; });
    parallel_for(threads_, ids_.size(), grain::elements, [&](std::int64_t v) {
      all_lower_[ids_[v]] = lower_[v];
      all_upper_[ids_[v]] = upper_[v];
    });
  }
  [[nodiscard]] span<const std::int32_t, host> lower() const noexcept override {
    return (ids_.empty() ? lower_ : all_lower_).view();
  }
  [[nodiscard]] span<const std::int32_t, host> upper() const noexcept override {
    return (ids_.empty() ? upper_ : all_upper_).view();
  }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return bytes_of(component_, ids_, lower_, upper_, all_lower_, all_upper_);
  }

 private:
  // A candidate and how good it is: larger is better; of equal ones more neighbours, then the first.
  struct ranked {
    std::int64_t bound = std::numeric_limits<std::int64_t>::min();
    std::int64_t degree = -1;
    I vertex = std::numeric_limits<I>::max();

    void take(const ranked& other) {
      if (std::tuple(other.bound, other.degree, vertex) > std::tuple(bound, degree, other.vertex)) *this = other;
    }
  };
  struct tally {
    survey<I> found;
    ranked high;
    ranked low;

    void add(const tally& other) {
      found.candidates += other.found.candidates;
      found.max_lower = std::max(found.max_lower, other.found.max_lower);
      found.min_lower = std::min(found.min_lower, other.found.min_lower);
      found.max_upper = std::max(found.max_upper, other.found.max_upper);
      found.min_upper = std::min(found.min_upper, other.found.min_upper);
      high.take(other.high);
      low.take(other.low);
    }
  };

  [[nodiscard]] std::int64_t degree(I v) const { return edges_.offsets[v + 1] - edges_.offsets[v]; }
  [[nodiscard]] bool is_leaf(I v) const { return leaves_ && degree(v) == 1; }
  [[nodiscard]] search_start<I> start_of(I v) const { return {v, is_leaf(v) ? edges_.indices[edges_.offsets[v]] : v}; }

  // A leaf's neighbour is no leaf, so nobody writes its bounds meanwhile.
  void look_at(I v, const candidate_rule& rule, tally& own) {
    if (component_[v] == 0) return;
    if (lower_[v] < upper_[v] && is_leaf(v)) {
      const I u = edges_.indices[edges_.offsets[v]];
      if (lower_[u] == upper_[u]) lower_[v] = upper_[v] = lower_[u] + 1;
    }
    survey<I>& found = own.found;
    found.max_lower = std::max(found.max_lower, lower_[v]);
    found.min_lower = std::min(found.min_lower, lower_[v]);
    found.max_upper = std::max(found.max_upper, upper_[v]);
    found.min_upper = std::min(found.min_upper, upper_[v]);
    if (!rule.holds(lower_[v], upper_[v])) return;
    ++found.candidates;
    own.high.take({upper_[v], degree(v), v});
    own.low.take({-std::int64_t{lower_[v]}, degree(v), v});
  }

  int threads_;
  csr_pattern_view<I, O, host> edges_;
  bool leaves_;
  array<std::uint8_t, host> component_;
  array<I, host> ids_;
  array<std::int32_t, host> lower_;
  array<std::int32_t, host> upper_;
  array<std::int32_t, host> all_lower_;  // with `ids_`: of the caller's graph
  array<std::int32_t, host> all_upper_;
};

}  // namespace

template <class I, class O>
std::unique_ptr<bound_table<I, host>> make_bounds(const context<host>& ctx, const csr_pattern_view<I, O, host>& edges,
                                                  const component_part<I>& part) {
  return std::make_unique<host_bounds<I, O>>(ctx, edges, part);
}

#define INSTANTIATE(I, O)                                     \
  template std::unique_ptr<bound_table<I, host>> make_bounds( \
      const context<host>&, const csr_pattern_view<I, O, host>&, const component_part<I>&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::eccentricity
