// Arrays in GPU memory, of this library and others, passed as addresses. The Python code (spargo/_device.py) handles
// CuPy's and PyTorch's arrays and streams, and orders work by events. Only copies to the host wait for a device.
#pragma once

#include "arrays.hpp"

#include <memory>

namespace spargo::python {

using address = std::uintptr_t;

inline stream_handle stream_at(address stream) { return reinterpret_cast<stream_handle>(stream); }

// Contiguous, on one GPU. `owner` keeps the memory alive: an array of this library or another one; none for memory of a
// plan, valid until its next run.
template <class T>
struct device_vector;

template <>
class where<device> {
 public:
  explicit where(int ordinal) : ctx(context<device>({.ordinal = ordinal})) {}

  context<device> ctx;

  template <class T>
  [[nodiscard]] nb::object out(array<T, device> a) const {
    const auto owner = std::make_shared<array<T, device>>(std::move(a));
    return nb::cast(device_vector<T>{*this, owner->view(), owner});
  }
  template <class T>
  [[nodiscard]] nb::object out(span<const T, device> a, const std::shared_ptr<void>& owner = nullptr) const {
    return nb::cast(device_vector<T>{*this, {const_cast<T*>(a.data()), a.size()}, owner});
  }
  template <class T>
  [[nodiscard]] nb::object out(span<const T, host> a) const {
    return where<host>(1).out(a);
  }
};

template <class T>
struct device_vector {
  where<device> at;
  span<T, device> data;
  std::shared_ptr<void> owner;
};
template <class T>
[[nodiscard]] span<const T, device> view(const device_vector<T>& a) {
  return a.data;
}
template <class T>
[[nodiscard]] where<device> where_of(int, const device_vector<T>& a) {
  return a.at;
}

template <class T>
struct read_vector<T, device> {
  using type = device_vector<T>;
};

// f.template operator()<Space>() for the spaces that the library was built for.
template <class F>
void for_each_space(F&& f) {
  f.template operator()<host>();
  if constexpr (config::has_cuda) f.template operator()<device>();
}

}  // namespace spargo::python
