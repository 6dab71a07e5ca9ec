// The module spargo._core: errors, devices and versions here, the rest by layer in the other files.
#include "arrays.hpp"

namespace spargo::python {
namespace {

// spargo._errors.make(code, message, file, line, column, errno) makes the exception; errno is 0 if there is none.
void raise(const error& e) {
  const auto* const of_system = dynamic_cast<const system_error*>(&e);
  const auto& at = e.position();
  const nb::object made = nb::module_::import_("spargo._errors")
                              .attr("make")(to_string(e.code()), e.what(), at.file, at.line, at.column,
                                            of_system ? of_system->number() : 0);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())), made.ptr());
}

nb::list devices() {
  nb::list all;
  const device_status status = unlocked([] { return query_devices(); });
  for (const int ordinal : status.ordinals) {
    nb::dict one;
    one["name"] = "cuda:" + std::to_string(ordinal);
    if (ordinal == status.ordinals.front()) one["description"] = status.reason;
    all.append(one);
  }
  return all;
}

}  // namespace
}  // namespace spargo::python

NB_MODULE(_core, m) {
  using namespace spargo::python;
  m.doc() = "The library behind the package spargo; its functions are no interface.";
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const spargo::error& e) {
      raise(e);
    } catch (const raised&) {  // the error is set
    }
  });
  nb::set_leak_warnings(false);  // objects that live until the interpreter ends keep plans
  m.attr("version") = SPARGO_VERSION_STRING;
  m.attr("has_cuda") = spargo::config::has_cuda;
  m.def("cuda_devices", &devices);
  m.def("cuda_reason", [] { return unlocked([] { return spargo::query_devices(); }).reason; });
  m.def(
      "threads", [](int threads) { return threads_context(threads).threads(); }, "threads"_a = 0);
  bind_algebra(m);
  bind_arrow_reader(m);
  bind_arrow_writer(m);
  bind_device(m);
  bind_io(m);
  bind_matrix(m);
  bind_solvers(m);
  bind_graph(m);
}
