// A system whose rows are distributed over ranks: what its methods do together. Each rank runs the same method on its
// own rows; since sums are the same on every rank, so is every decision.
#pragma once

#include "core/function_ref.hpp"

#include <cstdint>

namespace spargo::detail::krylov {

// All functions are collective; ranks call them in the same order.
class collective {
 public:
  collective() = default;
  collective(const collective&) = delete;
  collective& operator=(const collective&) = delete;
  virtual ~collective() = default;

  [[nodiscard]] virtual std::int64_t rows() const = 0;  // of all ranks
  // The sums of all ranks, added in rank order: the same bits on each.
  virtual void sum(double* totals, std::int64_t count) const = 0;
  // The largest of all ranks. `row`: one of this rank, or -1; becomes the first of all ranks, numbered among all rows.
  virtual void largest(double& most, std::int64_t& row) const = 0;
  // Work that may fail on one rank alone: then it fails on all.
  virtual void together(function_ref<void()> work) const = 0;
};

}  // namespace spargo::detail::krylov
