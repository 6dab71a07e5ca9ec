// Bucket k of distances is [k * delta, (k + 1) * delta). Delta is a power of 2: exact for floating point too.
#pragma once

#include "graph/sssp/host_search.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace spargo::detail::sssp {

template <class D>
class bucket_rule {
 public:
  bucket_rule() = default;
  explicit bucket_rule(double delta) : shift_(std::clamp(std::ilogb(delta), 0, std::numeric_limits<D>::digits - 1)) {}

  [[nodiscard]] std::int64_t of(D distance) const { return static_cast<std::int64_t>(distance >> shift_); }
  [[nodiscard]] D start(std::int64_t bucket) const {
    return bucket > of(unreached<D>) ? unreached<D> : static_cast<D>(bucket) << shift_;
  }

 private:
  int shift_ = 0;
};

template <>
class bucket_rule<double> {
 public:
  bucket_rule() = default;
  explicit bucket_rule(double delta) : inverse_(1 / delta) {}

  // The last bucket holds everything beyond.
  [[nodiscard]] std::int64_t of(double distance) const {
    return static_cast<std::int64_t>(std::min(distance * inverse_, most));
  }
  [[nodiscard]] double start(std::int64_t bucket) const {
    const auto number = static_cast<double>(bucket);
    return number > most ? unreached<double> : number / inverse_;
  }

 private:
  static constexpr double most = 0x1p52;
  double inverse_ = 1;
};

}  // namespace spargo::detail::sssp
