// Tables for other libraries by the Arrow PyCapsule interface.
//
// The caller gives the buffers of each column as NumPy's arrays; nothing is copied. Every column of every array that is
// handed out has its own reference to all of them, since a consumer may move columns out of a table and release them in
// any order, in any thread.
#include "arrays.hpp"
#include "arrow.hpp"

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace spargo::python {
namespace {

struct exported_column {
  std::string name;
  std::string format;
  std::int64_t nulls = 0;
  std::vector<const void*> buffers;  // validity or null, values; or validity, offsets, characters
};

// Columns, and the objects that own their memory.
struct exported_table {
  std::vector<exported_column> columns;
  std::int64_t rows = 0;
  std::vector<nb::object> owners;

  exported_table() = default;
  exported_table(const exported_table&) = delete;
  exported_table& operator=(const exported_table&) = delete;
  ~exported_table() {
    if (Py_IsInitialized() == 0) {  // too late to free anything
      for (nb::object& each : owners) (void)each.release();
      return;
    }
    const nb::gil_scoped_acquire held;
    owners.clear();
  }
};
using shared_table = std::shared_ptr<const exported_table>;

// --- Types

// Of a table and its columns: `parts` and `pointers` are the children.
struct schema_data {
  shared_table table;
  std::vector<arrow::schema> parts;
  std::vector<arrow::schema*> pointers;
};

void release_schema(arrow::schema* s) {
  auto* const data = static_cast<schema_data*>(s->private_data);
  for (arrow::schema& part : data->parts) {
    if (part.release != nullptr) part.release(&part);
  }
  s->release = nullptr;
  delete data;
}

arrow::schema make_schema(const shared_table& table, const char* format, const char* name, std::int64_t flags) {
  arrow::schema made{};
  made.format = format;
  made.name = name;
  made.flags = flags;
  made.release = &release_schema;
  made.private_data = new schema_data{table, {}, {}};
  return made;
}

void put_schema(const shared_table& table, arrow::schema& out) {
  out = make_schema(table, "+s", "", 0);
  auto& data = *static_cast<schema_data*>(out.private_data);
  for (const exported_column& each : table->columns) {
    data.parts.push_back(make_schema(table, each.format.c_str(), each.name.c_str(), arrow::nullable));
  }
  for (arrow::schema& part : data.parts) data.pointers.push_back(&part);
  out.n_children = std::ssize(data.parts);
  out.children = data.pointers.data();
}

// --- Values

struct array_data {
  shared_table table;
  std::vector<const void*> buffers;
  std::vector<arrow::array> parts;
  std::vector<arrow::array*> pointers;
};

void release_array(arrow::array* a) {
  auto* const data = static_cast<array_data*>(a->private_data);
  for (arrow::array& part : data->parts) {
    if (part.release != nullptr) part.release(&part);
  }
  a->release = nullptr;
  delete data;
}

arrow::array make_array(const shared_table& table, std::int64_t nulls, const std::vector<const void*>& buffers) {
  auto* const data = new array_data{table, buffers, {}, {}};
  arrow::array made{};
  made.length = table->rows;
  made.null_count = nulls;
  made.n_buffers = std::ssize(buffers);
  made.buffers = data->buffers.data();
  made.release = &release_array;
  made.private_data = data;
  return made;
}

void put_array(const shared_table& table, arrow::array& out) {
  out = make_array(table, 0, {nullptr});
  auto& data = *static_cast<array_data*>(out.private_data);
  for (const exported_column& each : table->columns) data.parts.push_back(make_array(table, each.nulls, each.buffers));
  for (arrow::array& part : data.parts) data.pointers.push_back(&part);
  out.n_children = std::ssize(data.parts);
  out.children = data.pointers.data();
}

// --- A stream of one batch

struct stream_data {
  shared_table table;
  bool ended = false;
};

void put_stream(const shared_table& table, arrow::stream& out) {
  out.get_schema = [](arrow::stream* s, arrow::schema* to) {
    put_schema(static_cast<stream_data*>(s->private_data)->table, *to);
    return 0;
  };
  out.get_next = [](arrow::stream* s, arrow::array* to) {
    auto& data = *static_cast<stream_data*>(s->private_data);
    *to = {};
    if (!std::exchange(data.ended, true)) put_array(data.table, *to);
    return 0;
  };
  out.get_last_error = [](arrow::stream*) -> const char* { return nullptr; };
  out.release = [](arrow::stream* s) {
    s->release = nullptr;
    delete static_cast<stream_data*>(s->private_data);
  };
  out.private_data = new stream_data{table};
}

// --- Capsules, which release what nobody took

template <class T>
nb::object capsule_of(const shared_table& table, void (*put)(const shared_table&, T&), const char* name) {
  auto made = std::make_unique<arrow::owned<T>>();
  put(table, made->value);
  T* const value = &made->value;
  const auto free = [](PyObject* capsule) {
    void* const found = PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule));
    delete static_cast<arrow::owned<T>*>(found);  // its first member is the value
  };
  static_assert(offsetof(arrow::owned<T>, value) == 0);
  PyObject* const capsule = PyCapsule_New(value, name, free);
  if (capsule == nullptr) throw raised{};
  (void)made.release();
  return nb::steal(capsule);
}

class arrow_export {
 public:
  // `columns`: (name, format, nulls, buffers) of each; a buffer is an array or None.
  arrow_export(std::int64_t rows, const nb::list& columns) {
    auto made = std::make_shared<exported_table>();
    made->rows = rows;
    for (const nb::handle each : columns) {
      const auto [name, format, nulls, buffers] =
          std::array<nb::object, 4>{nb::object(each[0]), nb::object(each[1]), nb::object(each[2]), nb::object(each[3])};
      exported_column column{
          nb::cast<std::string>(name), nb::cast<std::string>(format), nb::cast<std::int64_t>(nulls), {}};
      for (const nb::handle buffer : buffers) {
        const bool has = !buffer.is_none();
        column.buffers.push_back(has ? nb::cast<nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>>(buffer).data()
                                     : nullptr);
        if (has) made->owners.push_back(nb::borrow(buffer));
      }
      made->columns.push_back(std::move(column));
    }
    table_ = std::move(made);
  }

  [[nodiscard]] nb::object schema() const { return capsule_of<arrow::schema>(table_, &put_schema, "arrow_schema"); }
  [[nodiscard]] nb::object array() const {
    return nb::make_tuple(schema(), capsule_of<arrow::array>(table_, &put_array, "arrow_array"));
  }
  [[nodiscard]] nb::object stream() const {
    return capsule_of<arrow::stream>(table_, &put_stream, "arrow_array_stream");
  }

 private:
  shared_table table_;
};

}  // namespace

void bind_arrow_writer(nb::module_& m) {
  nb::class_<arrow_export>(m, "ArrowExport")
      .def(nb::init<std::int64_t, const nb::list&>(), "rows"_a, "columns"_a)
      .def("schema", &arrow_export::schema)
      .def("array", &arrow_export::array)
      .def("stream", &arrow_export::stream);
}

}  // namespace spargo::python
