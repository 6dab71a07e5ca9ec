// What every plan holds: the algorithm that was chosen, the reason, and a state that only the library knows.
#pragma once

#include <spargo/core/config.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <spargo/core/macros_push.hpp>

namespace spargo::detail {

// An algorithm, never `automatic`, and why: one sentence.
template <class Algorithm>
struct SPARGO_EXPORT plan_choice {
  Algorithm algorithm{};
  std::string reason;
};

// Owns a State that may be incomplete where a plan is moved or destroyed: its destructor comes with the pointer, so a
// plan needs no destructor and no moves of its own.
template <class State, class Algorithm>
class SPARGO_EXPORT plan_state {
 public:
  plan_state() noexcept = default;
  // For the library, which knows State; State::workspace_bytes() is what the plan reports.
  plan_state(plan_choice<Algorithm> choice, std::unique_ptr<State> state)
      : choice_(std::move(choice)), state_(state.release(), functions::of_complete()) {}

  [[nodiscard]] Algorithm algorithm() const noexcept { return choice_.algorithm; }
  [[nodiscard]] const std::string& reason() const noexcept { return choice_.reason; }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept { return state_.get_deleter().bytes(*state_); }

  State* operator->() const noexcept { return state_.get(); }

 private:
  struct functions {
    void (*destroy)(State*) noexcept = nullptr;
    std::int64_t (*bytes)(const State&) noexcept = nullptr;

    void operator()(State* state) const noexcept { destroy(state); }
    static functions of_complete() noexcept {
      return {[](State* state) noexcept { delete state; },
              [](const State& state) noexcept -> std::int64_t { return state.workspace_bytes(); }};
    }
  };

  plan_choice<Algorithm> choice_;
  std::unique_ptr<State, functions> state_;
};

}  // namespace spargo::detail

#include <spargo/core/macros_pop.hpp>
