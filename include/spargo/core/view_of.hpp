// Converts callers' types to those that operations are built for: owners, host containers and views of mutable elements
// become views of const elements. An operation has an overload for these, so that calls need no template arguments.
#pragma once

#include <spargo/core/span.hpp>

namespace spargo::detail {

template <class T>
[[nodiscard]] constexpr auto view_of(const T& from) {
  if constexpr (requires { from.view(); }) {
    return from.view();
  } else if constexpr (requires { typename T::const_view; }) {
    const typename T::const_view view = from;
    return view;
  } else if constexpr (requires { requires host_range<const T&, const typename T::value_type>; }) {
    return span<const typename T::value_type, host>(from);
  }
}

template <class T>
using view_type = decltype(view_of(std::declval<const T&>()));

// A type that is not such a view but converts to one.
template <class T>
concept viewable = std::is_class_v<T> && !std::is_void_v<view_type<T>> && !std::same_as<view_type<T>, T>;

// Types of a matrix's values, indices and offsets; for formats without offsets the index type.
template <class Matrix>
using scalar_of = typename decltype(view_type<Matrix>::values)::value_type;
template <class Matrix>
using index_of = decltype(view_type<Matrix>::rows);
template <class View>
constexpr auto offset_type(const View& view) {
  if constexpr (requires { view.offsets; }) {
    return typename decltype(view.offsets)::value_type{};
  } else if constexpr (requires { view.slice_offsets; }) {
    return typename decltype(view.slice_offsets)::value_type{};
  } else {
    return view.rows;
  }
}
template <class Matrix>
using offset_of = decltype(offset_type(std::declval<view_type<Matrix>>()));

// Ranges convertible to `span<const element_of<Range>, Space>`; writable ones; writable ones other than spans.
template <class Range>
using element_of = typename std::remove_cvref_t<Range>::value_type;
template <class Range, class Space>
concept input_range = std::convertible_to<Range, span<const element_of<Range>, Space>>;
template <class Range, class Space>
concept output_range = std::convertible_to<Range, span<element_of<Range>, Space>>;
template <class Range, class Space>
concept output_storage =
    output_range<Range, Space> && !std::same_as<std::remove_cvref_t<Range>, span<element_of<Range>, Space>>;

}  // namespace spargo::detail
