// A pointer to a state that only the library knows.
#pragma once

#include <memory>
#include <utility>

namespace spargo::detail {

// Carries the State's destructor, so a class that holds such a pointer needs no destructor and no moves of its own.
template <class State>
struct state_deleter {
  void (*destroy)(State*) noexcept = nullptr;

  void operator()(State* state) const noexcept { destroy(state); }
};
template <class State>
using state_pointer = std::unique_ptr<State, state_deleter<State>>;

// For the library, where State is complete: one with these members, or from these arguments.
template <class State, class... Arguments>
[[nodiscard]] state_pointer<State> new_state(Arguments&&... arguments) {
  return {new State{std::forward<Arguments>(arguments)...}, {[](State* state) noexcept { delete state; }}};
}

}  // namespace spargo::detail
