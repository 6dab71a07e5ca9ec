// Shared by all bindings: arrays between NumPy and the library without copies, contexts, enumerators by name.
//
// Functions are registered once for each combination of types that the library is built for, under one name; nanobind
// picks the one that matches the arrays. The Python code (spargo/*.py) checks and converts the arguments first, so that
// every call matches one. Long work runs inside `unlocked`, without the interpreter's lock.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <spargo/spargo.hpp>

#include <array>
#include <limits>

namespace spargo::python {

namespace nb = nanobind;
using nb::literals::operator""_a;

// One-dimensional, contiguous, in host memory; may be read-only if T is const.
template <class T>
using vector_of = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
// In row-major order.
template <class T>
using matrix_of_rows = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
[[nodiscard]] span<T, host> view(const vector_of<T>& a) {
  return {a.data(), static_cast<std::int64_t>(a.size())};
}

[[nodiscard]] inline context<host> threads_context(int threads) { return context<host>({.threads = threads}); }

// Thrown once Python's error is set.
struct raised {};

// Runs the work without the interpreter's lock. It takes the lock now and then to handle signals: Ctrl-C ends it.
template <class Work>
decltype(auto) unlocked(Work&& work) {
  const nb::gil_scoped_release released;
  const interruption signals([] {
    const nb::gil_scoped_acquire held;
    if (PyErr_CheckSignals() != 0) throw raised{};
  });
  return work();
}

// A NumPy array over memory that `owner` keeps alive.
template <class T>
[[nodiscard]] nb::object borrowed(span<T, host> a, nb::handle owner) {
  static std::remove_const_t<T> nothing{};  // an empty array needs an address
  nb::object array = nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(a.empty() ? &nothing : a.data(),
                                                                     {static_cast<std::size_t>(a.size())}, owner));
  // The type with NumPy's usual name: int64, not longlong.
  if constexpr (std::same_as<std::remove_const_t<T>, std::int64_t>) array = array.attr("view")("int64");
  return array;
}

// A NumPy array that owns the memory of `a`.
template <class T>
[[nodiscard]] nb::object moved(array<T, host> a) {
  auto owned = std::make_unique<array<T, host>>(std::move(a));
  auto* const p = owned.get();
  const nb::capsule owner(p, [](void* held) noexcept { delete static_cast<array<T, host>*>(held); });
  (void)owned.release();
  return borrowed(p->view(), owner);
}

// The space of a call, and the form of its results in Python: NumPy arrays from the host, device_vectors from a device.
template <class Space>
class where;

template <>
class where<host> {
 public:
  explicit where(int threads) : ctx(threads_context(threads)) {}

  context<host> ctx;

  template <class T>
  [[nodiscard]] nb::object out(array<T, host> a) const {
    return moved(std::move(a));
  }
  // Copies a plan's result, which the next run overwrites.
  template <class T>
  [[nodiscard]] nb::object out(span<const T, host> a) const {
    return moved(unlocked([&] { return clone(ctx, a); }));
  }
  // Moves a result.
  template <class T, class Owner>
  [[nodiscard]] nb::object out(span<const T, host> a, const std::shared_ptr<Owner>&) const {
    return out(a);
  }
};
template <class T>
[[nodiscard]] where<host> where_of(int threads, const vector_of<T>&) {
  return where<host>(threads);
}

// A vector argument in memory of the space; a function with such arguments is bound for each space.
template <class T, class Space>
struct read_vector {
  using type = vector_of<const T>;
};
template <class T, class Space>
using vector_in = typename read_vector<T, Space>::type;

// A size as an index of type I.
template <index_type I>
[[nodiscard]] I narrowed(std::int64_t n) {
  SPARGO_EXPECTS(n >= 0 && n <= std::numeric_limits<I>::max(),
                 "spargo: a size of " + std::to_string(n) + " does not fit the indices");
  return static_cast<I>(n);
}

// An enumerator by its name; a ValueError lists all names.
template <named_enum E>
[[nodiscard]] E choose(const char* what, std::string_view name) {
  std::string known;
  for (const enum_row<E>& row : enum_rows<E>()) {
    if (row.is_called(name)) return row.value;
    known += (known.empty() ? "'" : ", '") + std::string(row.name == "automatic" ? row.word() : row.name) + "'";
  }
  throw nb::value_error((std::string(what) + " is '" + std::string(name) + "', and may be one of " + known).c_str());
}

// f.template operator()<I, O>() for each combination of index and offset types; also with each of several types V.
template <class F>
void for_each_index(F&& f) {
  f.template operator()<std::int32_t, std::int32_t>();
  f.template operator()<std::int32_t, std::int64_t>();
  f.template operator()<std::int64_t, std::int64_t>();
}
template <class... V, class F>
void for_each_type(F&& f) {
  (f.template operator()<V>(), ...);
}

// A class name with its types in NumPy's short form, "Graph_i4_i8": class names are unique in a module.
template <class... T>
[[nodiscard]] std::string name_with_types(std::string name) {
  const auto append = [&]<class U>(std::type_identity<U>) {
    name += complex_type<U> ? "_c" : (std::is_integral_v<U> ? "_i" : "_f");
    name += std::to_string(sizeof(U));
  };
  (append(std::type_identity<T>{}), ...);
  return name;
}

// A str; bytes that are not UTF-8 become surrogates, as in Python's own names of files.
[[nodiscard]] nb::object text_of(std::string_view bytes);
// An array of str.
[[nodiscard]] nb::object names_of(const vertex_name_table& names);

void bind_arrow_reader(nb::module_& m);
void bind_arrow_writer(nb::module_& m);
void bind_device(nb::module_& m);
void bind_io(nb::module_& m);
void bind_algebra(nb::module_& m);
void bind_matrix(nb::module_& m);
void bind_solvers(nb::module_& m);
void bind_graph(nb::module_& m);

}  // namespace spargo::python
