// Vector operations of iterative methods.
#pragma once

#include "core/parallel.hpp"

#include <spargo/core/array.hpp>
#include <spargo/primitives/reduce.hpp>

#include <memory>

namespace spargo::detail::distributed {

// to[i] = a * x[i] + b * y[i]; asynchronous on a device. `to` may be x or y.
inline void combine(const context<host>& ctx, double a, span<const double, host> x, double b,
                    span<const double, host> y, span<double, host> to) {
  parallel_for(ctx.threads(), to.size(), grain::elements, [&](std::int64_t i) { to[i] = a * x[i] + b * y[i]; });
}
void combine(const context<device>& ctx, double a, span<const double, device> x, double b, span<const double, device> y,
             span<double, device> to);

// Dot products in two parts, with the bits of `dot`. On a device work enqueued between `start` and `finish` overlaps.
template <class Space>
class started_dot;
template <>
class started_dot<host> {
 public:
  explicit started_dot(const context<host>& ctx) : ctx_(ctx) {}
  void start(span<const double, host> u, span<const double, host> v) { value_ = dot<double, host>(ctx_, u, v); }
  [[nodiscard]] double finish() const { return value_; }

 private:
  context<host> ctx_;
  double value_ = 0;
};
template <>
class started_dot<device> {
 public:
  explicit started_dot(const context<device>& ctx);
  ~started_dot();
  void start(span<const double, device> u, span<const double, device> v);
  [[nodiscard]] double finish() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace spargo::detail::distributed
