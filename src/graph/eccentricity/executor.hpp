// The bounds of all vertices on a backend: updates by a search, and which vertices are worth a search.
#pragma once

#include <spargo/graph/eccentricity.hpp>

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace spargo::detail::eccentricity {

inline constexpr std::int32_t no_bound = std::numeric_limits<std::int32_t>::max();

// Which vertices are candidates: those whose eccentricity may change the answer.
enum class question { all, diameter, radius };

struct candidate_rule {
  question asked = question::all;
  std::int32_t largest = 0;          // eccentricity known so far
  std::int32_t smallest = no_bound;  // known so far
  std::int32_t floor = 0;            // no eccentricity is smaller

  [[nodiscard]] SPARGO_HD bool holds(std::int32_t lower, std::int32_t upper) const {
    if (lower >= upper) return false;  // also outside of the component
    if (asked == question::diameter) return upper > largest;
    if (asked == question::radius) return lower < smallest && floor < smallest;
    return true;
  }
};

// A search on behalf of a candidate: from it, or from its only neighbour.
template <class I>
struct search_start {
  I vertex = 0;
  I source = 0;
};

// Of the component.
template <class I>
struct survey {
  std::int64_t candidates = 0;
  std::int32_t max_lower = 0;
  std::int32_t min_lower = no_bound;
  std::int32_t max_upper = 0;
  std::int32_t min_upper = no_bound;
  std::int32_t highest_upper = 0;  // of `highest`
  search_start<I> highest;         // the candidate with the largest upper bound; of several, with the most neighbours
  search_start<I> lowest;          // the candidate with the smallest lower bound; likewise
};

template <class I, class Space>
class bound_table {
 public:
  bound_table() = default;
  bound_table(const bound_table&) = delete;
  bound_table& operator=(const bound_table&) = delete;
  virtual ~bound_table() = default;

  virtual void reset() = 0;
  // By a search from a vertex with eccentricity `ecc`: distances from it (`from`) and to it (`to`). If `beyond`, the
  // vertex has a neighbour without other neighbours, one step farther away from all others.
  virtual void apply(span<const std::int32_t, Space> from, span<const std::int32_t, Space> to, std::int32_t ecc,
                     bool beyond) = 0;
  virtual void settle(const std::vector<I>& vertices, const std::vector<std::int32_t>& ecc) = 0;
  // Vertices with one neighbour whose eccentricity is known get theirs first.
  [[nodiscard]] virtual survey<I> look(const candidate_rule& rule) = 0;
  // Up to `count` candidates with upper bound `upper`, the first ones; then others.
  [[nodiscard]] virtual std::vector<search_start<I>> pick(const candidate_rule& rule, std::int32_t upper,
                                                          std::int64_t count) = 0;
  // The first vertex, as the caller numbers them, whose eccentricity is known to be `ecc`; -1 if there is none.
  [[nodiscard]] virtual std::int64_t first_with(std::int32_t ecc) = 0;
  // Of all vertices of the caller's graph. finish() comes first.
  virtual void finish() = 0;
  [[nodiscard]] virtual span<const std::int32_t, Space> lower() const noexcept = 0;
  [[nodiscard]] virtual span<const std::int32_t, Space> upper() const noexcept = 0;
  [[nodiscard]] virtual std::int64_t workspace_bytes() const noexcept = 0;
};

// The graph that is searched: the caller's, or a copy of one of its components.
template <class I>
struct component_part {
  span<const std::uint8_t, host> inside;  // [vertex] not 0 within the component
  span<const I, host> ids;                // of a copy: [vertex] its number in the caller's graph; else empty
  std::int64_t vertices = 0;              // of the caller's graph
  bool leaves = false;  // vertices with one neighbour follow from it; undirected, three vertices or more
};

template <class I, class O>
[[nodiscard]] std::unique_ptr<bound_table<I, host>> make_bounds(const context<host>& ctx,
                                                                const csr_pattern_view<I, O, host>& edges,
                                                                const component_part<I>& part);
template <class I, class O>
[[nodiscard]] std::unique_ptr<bound_table<I, device>> make_bounds(const context<device>& ctx,
                                                                  const csr_pattern_view<I, O, device>& edges,
                                                                  const component_part<I>& part);

}  // namespace spargo::detail::eccentricity
