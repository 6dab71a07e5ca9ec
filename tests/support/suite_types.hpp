// Types of a typed suite: `using cases = test::suite_types<graph_case<int, int, host>, graph_case<int, int, device>>;`.
// Under sanitizers, where there is no CUDA, those on the device are omitted: they could only skip, and take half of
// the time to compile. The release build compiles them everywhere.
#pragma once

#include "support/rounds.hpp"

#include <gtest/gtest.h>

#include <concepts>
#include <type_traits>

namespace spargo::test {

namespace suites {

template <class T>
struct names_device : std::is_same<T, device> {};
template <template <class...> class Case, class... T>
struct names_device<Case<T...>> : std::disjunction<names_device<T>...> {};

template <class Kept, class... T>
struct without_device {
  using type = Kept;
};
template <class... Kept, class T, class... More>
struct without_device<testing::Types<Kept...>, T, More...> {
  using type = typename std::conditional_t<names_device<T>::value, without_device<testing::Types<Kept...>, More...>,
                                           without_device<testing::Types<Kept..., T>, More...>>::type;
};

}  // namespace suites

template <class... T>
using suite_types = typename std::conditional_t<is_sanitized, suites::without_device<testing::Types<>, T...>,
                                                std::type_identity<testing::Types<T...>>>::type;

}  // namespace spargo::test
