// A system whose rows are distributed over ranks: what its methods do together. Each rank runs the same method on its
// own rows; since sums are the same on every rank, so is every decision.
#pragma once

#include "core/function_ref.hpp"

#include <cstdint>

namespace spargo::detail::krylov {

// Receive buffers in device memory, one per rank, this rank included: a kernel writes its partial sums to each. None: a
// single rank.
struct rank_boxes {
  double* const* boxes = nullptr;
  int count = 0;
};
// In device memory, the numbers of all ranks: this rank's, and every `stride` elements those of the others, in order.
struct rank_numbers {
  const double* own = nullptr;
  const double* others = nullptr;
  std::int64_t stride = 0;
  int rank = 0;
  int ranks = 0;
};

// Numbers that kernels of all ranks give each other, in rounds on the context's stream: those enqueued after `begin`
// write to its boxes, those enqueued after `end` read what all ranks have written.
class device_sums {
 public:
  device_sums() = default;
  device_sums(const device_sums&) = delete;
  device_sums& operator=(const device_sums&) = delete;
  virtual ~device_sums() = default;

  [[nodiscard]] virtual rank_boxes begin() = 0;
  [[nodiscard]] virtual rank_numbers end() = 0;
};

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
  // Null on hosts, and where there is one rank.
  [[nodiscard]] virtual device_sums* on_devices() const { return nullptr; }
};

}  // namespace spargo::detail::krylov
