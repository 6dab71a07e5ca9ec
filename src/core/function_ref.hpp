// A reference to a callable, for functions that take one and are not templates: what they call is compiled once per
// callable, they themselves once. A call costs one jump through a pointer: pass what works on many elements a call.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace spargo::detail {

template <class Signature>
class function_ref;

// Valid as long as the callable lives: an argument, never a member that outlives a call.
template <class R, class... Arguments>
class function_ref<R(Arguments...)> {
 public:
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, function_ref>) function_ref(F&& callable)  // NOLINT: as an argument
      : callable_(const_cast<void*>(static_cast<const void*>(std::addressof(callable)))),
        call_([](void* self, Arguments... arguments) -> R {
          return (*static_cast<std::remove_reference_t<F>*>(self))(std::forward<Arguments>(arguments)...);
        }) {}

  R operator()(Arguments... arguments) const { return call_(callable_, std::forward<Arguments>(arguments)...); }

 private:
  void* callable_;
  R (*call_)(void* self, Arguments... arguments);
};

}  // namespace spargo::detail
