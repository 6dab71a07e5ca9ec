// Values of a rank's own vertices and of the ghosts in its rows, for checks.
#pragma once

#include "distributed/graph/deal.hpp"

#include <spargo/formats/csr.hpp>

#include <algorithm>
#include <vector>

namespace spargo::detail::distributed {

// Values of a rank's own vertices, then of the ghosts in `rows`.
template <class T, class I>
class with_ghosts {
 public:
  with_ghosts(const communicator& comm, const context<host>& ctx, const csr_pattern_view<I, std::int64_t, host>& rows,
              const partition& parts)
      : columns_(comm.agree_on([&] { return number_columns<I>(ctx, rows.indices, parts, comm.rank()); })),
        halo_(comm, ctx, parts, columns_.ghosts, sizeof(T)),
        values(static_cast<std::size_t>(columns_.size())) {}

  void exchange_values(span<const T, host> own) {
    std::copy(own.begin(), own.end(), values.begin());
    halo_.start(own);
    halo_.finish(span<T, host>(values.data() + columns_.own, std::ssize(columns_.ghosts)));
  }
  // Local number of the column of entry e.
  [[nodiscard]] std::size_t place(std::int64_t e) const { return static_cast<std::size_t>(columns_.indices[e]); }
  [[nodiscard]] const std::vector<std::int64_t>& ghosts() const { return columns_.ghosts; }

 private:
  local_columns columns_;
  exchange<host> halo_;

 public:
  std::vector<T> values;
};

}  // namespace spargo::detail::distributed
