// For checks: breadth-first search with a queue over lists of neighbours. Independent of the plans.
#pragma once

#include <spargo/core/interruption.hpp>
#include <spargo/formats/csr.hpp>

#include <cstdint>
#include <vector>

namespace spargo::detail::closeness {

// The neighbours of v are ids[offsets[v]] to ids[offsets[v + 1] - 1].
template <class I>
struct neighbour_lists {
  std::vector<std::int64_t> offsets;
  std::vector<I> ids;
};

template <class I, class O>
[[nodiscard]] neighbour_lists<I> list_out_neighbours(const csr_pattern_view<I, O, host>& out) {
  return {{out.offsets.begin(), out.offsets.end()}, {out.indices.begin(), out.indices.end()}};
}

template <class I, class O>
[[nodiscard]] neighbour_lists<I> list_in_neighbours(const csr_pattern_view<I, O, host>& out) {
  neighbour_lists<I> in;
  in.offsets.resize(static_cast<std::size_t>(out.rows) + 1);
  in.ids.resize(static_cast<std::size_t>(out.nnz()));
  for (const I v : out.indices) ++in.offsets[static_cast<std::size_t>(v) + 1];
  for (std::size_t v = 1; v < in.offsets.size(); ++v) in.offsets[v] += in.offsets[v - 1];
  std::vector<std::int64_t> at(in.offsets.begin(), in.offsets.end() - 1);
  for (std::int64_t u = 0; u < out.rows; ++u) {
    for (O e = out.offsets[u]; e < out.offsets[u + 1]; ++e) {
      in.ids[static_cast<std::size_t>(at[static_cast<std::size_t>(out.indices[e])]++)] = static_cast<I>(u);
    }
  }
  return in;
}

template <class I>
class queue_search {
 public:
  explicit queue_search(const neighbour_lists<I>& lists) : lists_(lists), distance_(lists.offsets.size() - 1, -1) {}

  void run(I source) {
    for (const I v : queue_) distance_[static_cast<std::size_t>(v)] = -1;
    queue_.assign(1, source);
    distance_[static_cast<std::size_t>(source)] = 0;
    for (std::size_t head = 0; head < queue_.size(); ++head) {
      if (head % 4096 == 0) interruption::look();
      const auto v = static_cast<std::size_t>(queue_[head]);
      for (std::int64_t e = lists_.offsets[v]; e < lists_.offsets[v + 1]; ++e) {
        const I u = lists_.ids[static_cast<std::size_t>(e)];
        if (distance_[static_cast<std::size_t>(u)] >= 0) continue;
        distance_[static_cast<std::size_t>(u)] = distance_[v] + 1;
        queue_.push_back(u);
      }
    }
  }
  [[nodiscard]] const std::vector<I>& reached() const { return queue_; }  // by ascending distance
  [[nodiscard]] std::int64_t operator[](std::int64_t v) const { return distance_[static_cast<std::size_t>(v)]; }

 private:
  const neighbour_lists<I>& lists_;
  std::vector<std::int64_t> distance_;  // -1: unreached
  std::vector<I> queue_;
};

}  // namespace spargo::detail::closeness
