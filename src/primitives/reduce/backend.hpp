// What a reduction reads, and its host and device backends.
#pragma once

#include "primitives/function_objects.hpp"

#include <spargo/primitives/reduce.hpp>

namespace spargo::detail::reduce {

// Values, products of pairs, or absolute differences of pairs. `b` is null for values.
enum class source_kind { values, products, differences };

template <source_kind Source, class T>
SPARGO_HD T item_of(T a, T b) {
  if constexpr (Source == source_kind::values) {
    return a;
  } else if constexpr (Source == source_kind::products) {
    return product_operation<T>::apply(a, b);
  } else if constexpr (std::integral<T>) {
    using wide = std::make_unsigned_t<T>;  // a difference that does not fit wraps, as documented
    return static_cast<T>(a < b ? static_cast<wide>(b) - static_cast<wide>(a)
                                : static_cast<wide>(a) - static_cast<wide>(b));
  } else {
    const T d = a - b;
    return d < T{0} ? -d : d;
  }
}

template <class T>
struct operands {
  const T* a = nullptr;
  const T* b = nullptr;
  std::int64_t size = 0;
};

// f(function object of the operation, integral_constant of the source) for each supported pair.
template <class T, class F>
void with_reduction(const char* caller, source_kind source, operation op, F&& f) {
  switch (source) {
    case source_kind::values:
      with_operation<T>(caller, op,
                        [&](auto apply) { f(apply, std::integral_constant<source_kind, source_kind::values>{}); });
      return;
    case source_kind::products:
      f(sum_operation<T>{}, std::integral_constant<source_kind, source_kind::products>{});
      return;
    case source_kind::differences:
      f(max_operation<T>{}, std::integral_constant<source_kind, source_kind::differences>{});
      return;
  }
}

// For inputs of at least one element; the result may overlap the input.
template <class T>
void run_host(const context<host>& ctx, source_kind source, operation op, operands<T> in, T* result);
template <class T>
void run_device(const context<device>& ctx, source_kind source, operation op, operands<T> in, T* result,
                const reduce_options& options);
// The algorithms that launch one kernel per level.
template <class T>
void run_by_levels(const context<device>& ctx, source_kind source, operation op, operands<T> in, T* result,
                   reduce_algorithm algorithm);

}  // namespace spargo::detail::reduce
