#include "distributed/communicator/combine.hpp"

#include "core/device/launch.cuh"
#include "distributed/exchange/device_events.cuh"

namespace spargo::detail::distributed {

void combine(const context<device>& ctx, double a, span<const double, device> x, double b, span<const double, device> y,
             span<double, device> to) {
  for_each(ctx, to.size(), [a, b, x = x.data(), y = y.data(), to = to.data()] __device__(std::int64_t i) {
    to[i] = a * x[i] + b * y[i];
  });
}

struct started_dot<device>::state {
  context<device> ctx;
  array<double, device> device_value;
  array<double, host> host_value;  // pinned
  event copied;

  explicit state(const context<device>& on)
      : ctx(on),
        device_value(on, 1),
        host_value(context<host>({.threads = 1, .resource = &pinned_host_resource()}), 1),
        copied(on) {}
  state(const state&) = delete;
  state& operator=(const state&) = delete;
  ~state() {
    const device_guard guard(ctx.ordinal(), std::nothrow);
    cudaEventSynchronize(copied.get());  // no copy is in flight
  }
};

started_dot<device>::started_dot(const context<device>& ctx) : state_(std::make_unique<state>(ctx)) {}
started_dot<device>::~started_dot() = default;

void started_dot<device>::start(span<const double, device> u, span<const double, device> v) {
  state& s = *state_;
  dot_into<double, device>(s.ctx, u, v, s.device_value.view());
  copy<double>(s.ctx, std::as_const(s.device_value).view(), s.host_value.view());
  const device_guard guard(s.ctx);
  s.copied.record(s.ctx.stream());
}

double started_dot<device>::finish() const {
  const device_guard guard(state_->ctx);
  SPARGO_CUDA_TRY(cudaEventSynchronize(state_->copied.get()));
  return state_->host_value[0];
}

}  // namespace spargo::detail::distributed
