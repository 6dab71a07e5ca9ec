// A plan's executor: the triangle, and how it is solved.
#pragma once

#include "core/plan_executor.hpp"

#include <spargo/sparse/triangular_solve.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace spargo::detail::triangular {

// Of Jacobi's method. On a device each is a launch, and the graphs of Krylov methods hold it for both factors and many
// iterations.
inline constexpr std::int64_t most_sweeps = 1000;

template <class V, class Space>
class executor : public plan_executor {
 public:
  // x may be b. On a device nothing happens where *active, in device memory, is 0; null: always active.
  virtual void run(const V* b, V* x, const int* active) const = 0;

  std::int64_t rows = 0;
  std::int64_t levels = 0;  // 0: sweeps need none
  std::string reason;
};

template <class V, class Space>
using executor_ptr = std::unique_ptr<executor<V, Space>>;

// Arguments are checked. Throws invalid_data for a zero on an explicit diagonal.
template <class V, class I, class O>
[[nodiscard]] executor_ptr<V, host> make_executor(const context<host>& ctx, const csr_view<const V, I, O, host>& matrix,
                                                  const triangular_solve_options& options);

// The rows on a device in the order of their levels, as the host orders them.
struct device_order {
  array<std::uint32_t, device> rows;  // [place]
  std::int64_t levels = 0;
};
// Synchronises the stream.
template <class I, class O>
[[nodiscard]] device_order order_by_levels(const context<device>& ctx, const csr_pattern_view<I, O, device>& matrix,
                                           triangle_part part);

// Synchronises the stream. `order`: of this triangle, if the caller has it.
template <class V, class I, class O>
[[nodiscard]] executor_ptr<V, device> make_executor(const context<device>& ctx,
                                                    const csr_view<const V, I, O, device>& matrix,
                                                    const triangular_solve_options& options, device_order order = {});

// A 0 on the diagonal.
[[noreturn]] void refuse_row(std::int64_t row);

// "7 levels of 3.0 rows on average: " with what is done about them, or the sweeps.
[[nodiscard]] std::string describe_levels(std::int64_t levels, std::int64_t rows, const char* how);
[[nodiscard]] std::string describe_sweeps(std::int64_t sweeps);

}  // namespace spargo::detail::triangular
