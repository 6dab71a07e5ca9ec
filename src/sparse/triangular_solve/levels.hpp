// Levels of a triangle's rows, and an order of its rows by stages: wide levels, and runs of narrow ones.
#pragma once

#include "core/parallel.hpp"

#include <spargo/core/array.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace spargo::detail::triangular {

struct tuning {
  // Rows and entries of a level that threads share: estimated, ten times the cost of waking and waiting for threads.
  static constexpr std::int64_t wide_level = std::int64_t{1} << 14;
  // Of one part of a level.
  static constexpr std::int64_t least_part = std::int64_t{1} << 12;
};

// Rows at places [first, last) of the order, shared by threads in `parts` parts; 1: the calling thread alone.
struct stage {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t parts = 1;
};

class level_order {
 public:
  level_order() = default;

  // level[row] from 0 and entries[row] of the triangle; rows in ascending or descending order where levels do not pay.
  level_order(const context<host>& ctx, const array<std::int64_t, host>& level,
              const array<std::int64_t, host>& entries, bool is_descending)
      : threads_(ctx.threads()), rows_(ctx, level.size()) {
    const std::int64_t n = level.size();
    std::int64_t all = 0;
    for (std::int64_t r = 0; r < n; ++r) levels_ = std::max(levels_, level[r] + 1);
    std::vector<std::int64_t> work(static_cast<std::size_t>(levels_));
    std::vector<std::int64_t> rows(static_cast<std::size_t>(levels_));
    for (std::int64_t r = 0; r < n; ++r) {
      const auto l = static_cast<std::size_t>(level[r]);
      work[l] += entries[r] + 1;
      ++rows[l];
      all += entries[r] + 1;
    }
    // Parts of a level.
    const auto parts_of = [&](std::size_t l) {
      return work[l] < tuning::wide_level ? 1 : std::min(rows[l], work[l] / tuning::least_part);
    };
    std::int64_t wide = 0;
    for (std::size_t l = 0; l < work.size(); ++l) wide += parts_of(l) > 1 ? work[l] : 0;
    shares_levels_ = threads_ > 1 && 2 * wide > all;
    if (!shares_levels_) {
      for (std::int64_t k = 0; k < n; ++k) rows_[k] = is_descending ? n - 1 - k : k;
      stages_.push_back({0, n, 1});
      return;
    }
    std::vector<std::int64_t> first(work.size() + 1);  // [level] its first place; while rows are placed, the next one
    for (std::size_t l = 0; l < work.size(); ++l) {
      first[l + 1] = first[l] + rows[l];
      const stage next{first[l], first[l + 1], parts_of(l)};
      if (next.parts == 1 && !stages_.empty() && stages_.back().parts == 1) {
        stages_.back().last = next.last;
      } else {
        stages_.push_back(next);
      }
    }
    for (std::int64_t k = 0; k < n; ++k) {
      const std::int64_t r = is_descending ? n - 1 - k : k;
      rows_[first[static_cast<std::size_t>(level[r])]++] = r;
    }
  }

  // body(first, last) for ranges of places; those of earlier levels have finished.
  template <class Body>
  void run(Body&& body) const {
    for (const stage& s : stages_) {
      if (s.parts == 1) {
        body(s.first, s.last);
        continue;
      }
      const parts shares{s.last - s.first, s.parts};
      parallel_parts(
          threads_, s.parts, [&](std::int64_t p) { body(s.first + shares.first(p), s.first + shares.last(p)); },
          waking::unless_busy);
    }
  }

  [[nodiscard]] std::int64_t row(std::int64_t place) const { return rows_[place]; }
  [[nodiscard]] std::int64_t levels() const noexcept { return levels_; }
  [[nodiscard]] bool shares_levels() const noexcept { return shares_levels_; }
  [[nodiscard]] std::int64_t bytes() const noexcept {
    return rows_.size() * 8 + static_cast<std::int64_t>(stages_.size() * sizeof(stage));
  }

 private:
  int threads_ = 1;
  std::int64_t levels_ = 0;
  bool shares_levels_ = false;
  array<std::int64_t, host> rows_;  // [place]
  std::vector<stage> stages_;
};

}  // namespace spargo::detail::triangular
