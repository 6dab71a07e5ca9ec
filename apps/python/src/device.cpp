// GPUs and vectors in their memory.
#include "device.hpp"

#include <complex>

namespace spargo::python {
namespace {

// Keeps another library's array alive and releases it under the interpreter's lock.
std::shared_ptr<void> kept(nb::object owner) {
  return {owner.release().ptr(), [](void* held) {
            const nb::gil_scoped_acquire lock;
            Py_DECREF(static_cast<PyObject*>(held));
          }};
}

// The NumPy dtype object, created once.
template <class T>
nb::handle dtype_of() {
  static const nb::handle type = [] {
    const char* const kind = complex_type<T> ? "complex" : (std::is_integral_v<T> ? "int" : "float");
    return nb::module_::import_("numpy").attr("dtype")(kind + std::to_string(8 * sizeof(T))).release();
  }();
  return type;
}

// The CUDA Array Interface, version 3. Exported arrays are complete, so no stream is given.
template <class T>
nb::dict interface_of(const device_vector<T>& a) {
  nb::dict all;
  all["shape"] = nb::make_tuple(a.data.size());
  all["typestr"] = dtype_of<T>().attr("str");
  all["data"] = nb::make_tuple(reinterpret_cast<address>(a.data.data()), false);
  all["version"] = 3;
  return all;
}

// Copies to memory of another library on the same device, ordered on its stream.
template <class T>
void copy_to(const device_vector<T>& a, address to, address stream) {
  const nb::gil_scoped_release released;
  stream_order order(a.at.ctx);
  order.after(stream_at(stream));
  copy<T>(a.at.ctx, a.data, span<T, device>{reinterpret_cast<T*>(to), a.data.size()});
  order.before(stream_at(stream));
}

// Copies to the host and waits.
template <class T>
void fetch(const device_vector<T>& a, const vector_of<T>& to) {
  const auto out = view(to);
  unlocked([&] {
    copy<T>(a.at.ctx, a.data, out);
    a.at.ctx.synchronize();
  });
}

template <class T>
void bind_vectors(nb::module_& m, nb::class_<where<device>>& place) {
  nb::class_<device_vector<T>>(m, name_with_types<T>("DeviceVector").c_str())
      .def_prop_ro("address", [](const device_vector<T>& a) { return reinterpret_cast<address>(a.data.data()); })
      .def_prop_ro("size", [](const device_vector<T>& a) { return a.data.size(); })
      .def_prop_ro("dtype", [](const device_vector<T>&) { return nb::borrow<nb::object>(dtype_of<T>()); })
      .def_prop_ro("ordinal", [](const device_vector<T>& a) { return a.at.ctx.ordinal(); })
      .def_prop_ro("__cuda_array_interface__", &interface_of<T>)
      .def("copy_to", &copy_to<T>, "address"_a, "stream"_a)
      .def("fetch", &fetch<T>, "to"_a.noconvert());
  place.def(
      "upload",
      [](const where<device>& at, const vector_of<const T>& from) {
        return unlocked([&] {
          const auto owner = std::make_shared<array<T, device>>(to_device(at.ctx, view(from)));
          return device_vector<T>{at, owner->view(), owner};
        });
      },
      "from"_a.noconvert());
}

// f.template operator()<T>() for the type with this NumPy name.
template <class F>
nb::object with_name(std::string_view dtype, F&& f) {
  if (dtype == "int32") return f.template operator()<std::int32_t>();
  if (dtype == "int64") return f.template operator()<std::int64_t>();
  if (dtype == "float32") return f.template operator()<float>();
  if (dtype == "float64") return f.template operator()<double>();
  if (dtype == "complex64") return f.template operator()<std::complex<float>>();
  if (dtype == "complex128") return f.template operator()<std::complex<double>>();
  throw error(error_code::unsupported, "spargo: a device holds no arrays of " + std::string(dtype));
}

template <class Place>
void bind_places(nb::module_& m) {
  nb::class_<Place> place(m, "DevicePlace");
  place
      .def("__init__",
           [](Place* made, int ordinal) {
             const nb::gil_scoped_release released;
             new (made) Place(ordinal);
           })
      .def_prop_ro("ordinal", [](const Place& at) { return at.ctx.ordinal(); })
      .def_prop_ro("stream", [](const Place& at) { return reinterpret_cast<address>(at.ctx.stream()); })
      .def_prop_ro("name", [](const Place& at) { return at.ctx.properties().name; })
      .def(
          "after",
          [](const Place& at, address stream) {
            const nb::gil_scoped_release released;
            stream_order(at.ctx).after(stream_at(stream));
          },
          "stream"_a)
      .def(
          "before",
          [](const Place& at, address stream) {
            const nb::gil_scoped_release released;
            stream_order(at.ctx).before(stream_at(stream));
          },
          "stream"_a)
      .def(
          "borrow",
          [](const Place& at, address data, std::int64_t size, std::string_view dtype, nb::object owner) {
            return with_name(dtype, [&]<class T>() {
              return nb::cast(device_vector<T>{at, {reinterpret_cast<T*>(data), size}, kept(std::move(owner))});
            });
          },
          "address"_a, "size"_a, "dtype"_a, "owner"_a)
      .def(
          "empty",
          [](const Place& at, std::int64_t size, std::string_view dtype) {
            return with_name(dtype, [&]<class T>() { return at.out(array<T, device>(at.ctx, size)); });
          },
          "size"_a, "dtype"_a);
  for_each_type<std::int32_t, std::int64_t, float, double, std::complex<float>, std::complex<double>>(
      [&]<class T>() { bind_vectors<T>(m, place); });
}

}  // namespace

void bind_device(nb::module_& m) {
  for_each_space([&]<class Space>() {
    if constexpr (std::same_as<Space, device>) bind_places<where<Space>>(m);
  });
}

}  // namespace spargo::python
