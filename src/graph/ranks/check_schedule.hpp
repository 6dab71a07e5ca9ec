// When the host reads the state of a device iteration whose steps cost time after the end, too.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace spargo::detail::ranks {

// Steps to launch before the next look: as many as the change still needs at its last rate, at most eight.
class check_schedule {
 public:
  static constexpr std::int64_t first = 2;

  // After `iterations` steps, the last of which changed the values by `change`; they end below `limit`.
  [[nodiscard]] std::int64_t next(std::int64_t iterations, double change, double limit) {
    constexpr double most = 8;
    double wait = first;
    if (last_change_ > 0) {
      const double rate = change / last_change_;
      const bool falls = rate > 0 && rate < 1 && limit > 0;
      const auto steps = static_cast<double>(iterations - last_iterations_);
      wait = falls ? std::min(most, std::log(limit / change) / std::log(rate) * steps) : most;
    }
    last_change_ = change;
    last_iterations_ = iterations;
    return std::max<std::int64_t>(static_cast<std::int64_t>(wait), 1);
  }

 private:
  double last_change_ = 0;
  std::int64_t last_iterations_ = 0;
};

}  // namespace spargo::detail::ranks
