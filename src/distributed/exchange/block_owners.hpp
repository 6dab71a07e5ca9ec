// Owner of an element in one lookup: 4 bytes per block of partition::grain elements.
#pragma once

#include <spargo/distributed/exchange.hpp>

#include <algorithm>
#include <vector>

namespace spargo::detail::distributed {

class block_owners {
 public:
  explicit block_owners(const partition& parts)
      : owners_(static_cast<std::size_t>(div_up(parts.size(), partition::grain))) {
    for (int p = 0; p < parts.parts(); ++p) {
      const auto first = static_cast<std::ptrdiff_t>(parts.first(p) / partition::grain);
      const auto last = static_cast<std::ptrdiff_t>(div_up(parts.last(p), partition::grain));
      if (parts.count(p) > 0) std::fill(owners_.begin() + first, owners_.begin() + last, p);
    }
  }
  [[nodiscard]] int of(std::int64_t element) const {
    return owners_[static_cast<std::size_t>(element / partition::grain)];
  }

 private:
  std::vector<int> owners_;
};

}  // namespace spargo::detail::distributed
