// What a reduction reads, and the two backends' halves behind the public functions.
#pragma once

#include "primitives/function_objects.hpp"

#include <spargo/primitives/reduce.hpp>

namespace spargo::detail {

// What is reduced: values, products of pairs, or absolute differences of pairs. `b` is null for values.
enum class reduce_source { values, products, differences };

template <reduce_source Source, class T>
SPARGO_HD T reduce_item(T a, T b) {
  if constexpr (Source == reduce_source::values) {
    return a;
  } else if constexpr (Source == reduce_source::products) {
    return product_operation<T>::apply(a, b);
  } else if constexpr (std::integral<T>) {
    using wide = std::make_unsigned_t<T>;  // wraps where the difference does not fit, as documented
    return static_cast<T>(a < b ? static_cast<wide>(b) - static_cast<wide>(a)
                                : static_cast<wide>(a) - static_cast<wide>(b));
  } else {
    const T d = a - b;
    return d < T{0} ? -d : d;
  }
}

template <class T>
struct reduce_input {
  const T* a = nullptr;
  const T* b = nullptr;
  std::int64_t size = 0;
};

// f(function object of the operation, integral_constant of the source) for each pair that exists.
template <class T, class F>
void with_reduction(const char* caller, reduce_source source, operation op, F&& f) {
  switch (source) {
    case reduce_source::values:
      with_operation<T>(caller, op,
                        [&](auto apply) { f(apply, std::integral_constant<reduce_source, reduce_source::values>{}); });
      return;
    case reduce_source::products:
      f(sum_operation<T>{}, std::integral_constant<reduce_source, reduce_source::products>{});
      return;
    case reduce_source::differences:
      f(max_operation<T>{}, std::integral_constant<reduce_source, reduce_source::differences>{});
      return;
  }
}

// On inputs of at least one element; the result may overlap the input.
template <class T>
void reduce_host(const context<host>& ctx, reduce_source source, operation op, reduce_input<T> in, T* result);
template <class T>
void reduce_device(const context<device>& ctx, reduce_source source, operation op, reduce_input<T> in, T* result,
                   const reduce_options& options);
// `bulk_copies`, by as many blocks as are asked for; 0: chosen.
template <class T>
void reduce_tiles(const context<device>& ctx, reduce_source source, operation op, const reduce_input<T>& in, T* result,
                  std::int64_t blocks);
// The rungs that launch one kernel per level.
template <class T>
void reduce_levels(const context<device>& ctx, reduce_source source, operation op, reduce_input<T> in, T* result,
                   reduce_algorithm algorithm);

}  // namespace spargo::detail
