// What the executors of plans have in common. An operation has an abstract class, and a final one for each backend.
#pragma once

#include <cstdint>

namespace spargo::detail {

// Held by a pointer, and never copied.
class executor_base {
 public:
  executor_base() = default;
  executor_base(const executor_base&) = delete;
  executor_base& operator=(const executor_base&) = delete;
  virtual ~executor_base() = default;
};

// Of a plan that knows its workspace.
class plan_executor : public executor_base {
 public:
  [[nodiscard]] virtual std::int64_t workspace_bytes() const noexcept = 0;
};

}  // namespace spargo::detail
