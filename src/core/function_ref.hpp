// A non-owning reference to a callable, for functions that are not templates: only the callable is compiled per use. A
// call costs one indirect jump, so pass callables that process many elements per call.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace spargo::detail {

template <class Signature>
class function_ref;

// Valid while the callable lives: use it as an argument, never as a member that outlives a call.
template <class R, class... Arguments>
class function_ref<R(Arguments...)> {
 public:
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, function_ref>)
      function_ref(F&& callable)  // NOLINT: converts implicitly
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
