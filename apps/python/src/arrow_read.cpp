// Tables of other libraries by the Arrow PyCapsule interface: columns of integers and reals without copies, names as
// numbers.
//
// Idea: batches are read one by one, and the columns that are wanted are moved out of each, so that the rest is freed
// at once. NumPy's arrays own the column whose memory they show. The interface gives no sizes of buffers, so lengths
// are the producer's word; everything else is checked: the counts of buffers and children, offsets of strings, views,
// indices of dictionaries. Nulls are refused with their row.
#include "arrays.hpp"
#include "arrow.hpp"

#include <nanobind/stl/vector.h>

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace spargo::python {
namespace {

constexpr std::int64_t most_rows = std::int64_t{1} << 61;

// A column of a batch: rows [first, first + rows) of the array.
struct column_chunk {
  std::shared_ptr<arrow::owned<arrow::array>> memory;
  std::int64_t first;
  std::int64_t rows;

  [[nodiscard]] const arrow::array& values() const { return memory->value; }
};

// The value of a key in a field's metadata; empty if it has none.
std::string_view metadata_of(const char* p, std::string_view wanted) {
  const auto number = [&p] {
    std::int32_t n = 0;
    std::memcpy(&n, p, sizeof(n));
    p += sizeof(n);
    return n;
  };
  const auto text = [&] {
    const std::int32_t size = number();
    const std::string_view found(p, static_cast<std::size_t>(size < 0 ? 0 : size));
    p += found.size();
    return found;
  };
  if (p == nullptr) return {};
  for (std::int32_t left = number(); left > 0; --left) {
    const std::string_view key = text();
    const std::string_view value = text();
    if (key == wanted) return value;
  }
  return {};
}

std::string_view text_or_empty(const char* text) { return text == nullptr ? std::string_view() : text; }

bool is_set(const void* bits, std::int64_t k) {
  return (static_cast<const std::uint8_t*>(bits)[k / 8] >> (k % 8) & 1) != 0;
}

// The element of a buffer that need not be aligned.
template <class T>
T element(const void* buffer, std::int64_t k) {
  T value;
  std::memcpy(&value, static_cast<const char*>(buffer) + k * std::int64_t{sizeof(T)}, sizeof(T));
  return value;
}

// f.template operator()<T>() for the type of an integer format; false for other formats.
template <class F>
bool with_integer(std::string_view format, F&& f) {
  if (format.size() != 1) return false;
  switch (format[0]) {
    case 'c':
      return f.template operator()<std::int8_t>(), true;
    case 'C':
      return f.template operator()<std::uint8_t>(), true;
    case 's':
      return f.template operator()<std::int16_t>(), true;
    case 'S':
      return f.template operator()<std::uint16_t>(), true;
    case 'i':
      return f.template operator()<std::int32_t>(), true;
    case 'I':
      return f.template operator()<std::uint32_t>(), true;
    case 'l':
      return f.template operator()<std::int64_t>(), true;
    case 'L':
      return f.template operator()<std::uint64_t>(), true;
    default:
      return false;
  }
}

class arrow_table {
 public:
  // `what`: the name of the caller for messages.
  arrow_table(const nb::object& table, std::string what) : what_(std::move(what)) {
    if (nb::hasattr(table, "__arrow_c_stream__")) {
      take_stream(table.attr("__arrow_c_stream__")());
    } else {
      take_array(table.attr("__arrow_c_array__")());
    }
    const arrow::schema& all = schema_.value;
    if (text_or_empty(all.format) != "+s") {
      fail("a table is expected, and this is a column (of format '" + std::string(text_or_empty(all.format)) + "')");
    }
    if (all.n_children < 0 || (all.n_children > 0 && all.children == nullptr)) fail_inconsistent();
    for (std::int64_t k = 0; k < all.n_children; ++k) {
      if (all.children[k] == nullptr || all.children[k]->format == nullptr) fail_inconsistent();
    }
  }

  // (name, format, the format of a dictionary's values or "", name of an extension type or "") of each column.
  [[nodiscard]] nb::list columns() const {
    nb::list found;
    for (std::int64_t k = 0; k < schema_.value.n_children; ++k) {
      const arrow::schema& each = *schema_.value.children[k];
      const auto* const dictionary = each.dictionary;
      found.append(nb::make_tuple(text_of(text_or_empty(each.name)), text_of(each.format),
                                  text_of(dictionary == nullptr ? "" : text_or_empty(dictionary->format)),
                                  text_of(metadata_of(each.metadata, "ARROW:extension:name"))));
    }
    return found;
  }

  // Reads all batches, once; keeps these columns.
  void read(const std::vector<int>& wanted) {
    for (const int k : wanted) (void)schema_.value.children[k];
    wanted_ = wanted;
    chunks_.assign(wanted.size(), {});
    if (batch_.value.release != nullptr) {
      keep(batch_.value);
    } else {
      while (true) {
        arrow::owned<arrow::array> batch;
        const int status = next(batch.value);
        if (status != 0) fail_stream(status);
        if (batch.value.release == nullptr) break;
        keep(batch.value);
      }
    }
    if (stream_.value.release != nullptr) stream_.value.release(&stream_.value);
    stream_.value.release = nullptr;
  }

  [[nodiscard]] std::int64_t rows() const { return rows_; }

  // The values of a column that was read, its k'th, in an array for each batch.
  [[nodiscard]] nb::list numbers(int k) const {
    nb::list arrays;
    std::int64_t row = 0;
    for (const column_chunk& chunk : chunks_.at(static_cast<std::size_t>(k))) {
      if (chunk.rows > 0) arrays.append(numbers_of(k, chunk, row));
      row += chunk.rows;
    }
    return arrays;
  }

  // Numbers the names of columns that were read, row by row, in order of first occurrence: (numbers of each column, the
  // names as bytes or, if they are text, as str).
  [[nodiscard]] nb::object names(const std::vector<int>& columns, bool as_bytes, int threads) const {
    const auto ctx = threads_context(threads);
    const std::int64_t width = std::ssize(columns);
    array<std::string_view, host> names(ctx, rows_ * width);
    for (std::int64_t c = 0; c < width; ++c) {
      const int k = columns[static_cast<std::size_t>(c)];
      std::int64_t row = 0;
      for (const column_chunk& chunk : chunks_.at(static_cast<std::size_t>(k))) {
        expect_no_nulls(k, chunk, row);
        for_each_name(k, chunk, row,
                      [&](std::int64_t r, std::string_view name) { names[(row + r) * width + c] = name; });
        row += chunk.rows;
      }
    }
    array<std::int64_t, host> numbers(ctx, names.size());
    const vertex_name_table table = unlocked([&] { return number_names(ctx, names.view(), numbers.view()); });
    nb::list found;
    for (std::int64_t c = 0; c < width; ++c) {
      if (table.size() <= std::numeric_limits<std::int32_t>::max()) {
        found.append(moved(every<std::int32_t>(ctx, numbers, width, c)));
      } else {
        found.append(moved(every<std::int64_t>(ctx, numbers, width, c)));
      }
    }
    return nb::make_tuple(found, as_bytes ? bytes_of(table) : names_of(table));
  }

 private:
  [[noreturn]] void fail(const std::string& message, error_code code = error_code::invalid_data) const {
    throw error(code, what_ + ": " + message);
  }
  [[noreturn]] void fail_inconsistent() const {
    fail("the table contradicts itself (counts of columns or buffers, lengths, or missing buffers)");
  }
  [[noreturn]] void fail_stream(int status) const {
    const char* const said = stream_.value.get_last_error == nullptr
                                 ? nullptr
                                 : stream_.value.get_last_error(const_cast<arrow::stream*>(&stream_.value));
    fail("the table's producer failed after " + std::to_string(rows_) +
         " rows: " + (said == nullptr || *said == '\0' ? std::strerror(status) : said));
  }
  [[noreturn]] void fail_null(int k, std::int64_t row) const {
    fail("column '" + name(k) + "' is null in row " + std::to_string(row) + " (expected a value)");
  }

  [[nodiscard]] const arrow::schema& field(int k) const {
    return *schema_.value.children[wanted_.at(static_cast<std::size_t>(k))];
  }
  [[nodiscard]] std::string name(int k) const { return std::string(text_or_empty(field(k).name)); }

  template <class T>
  T& held(const nb::object& capsule, const char* name) const {
    auto* const found = PyCapsule_IsValid(capsule.ptr(), name) != 0
                            ? static_cast<T*>(PyCapsule_GetPointer(capsule.ptr(), name))
                            : nullptr;
    if (found == nullptr) fail(std::string("a capsule '") + name + "' is expected of the table");
    if (found->release == nullptr) fail(std::string("the capsule '") + name + "' was consumed before");
    return *found;
  }

  void take_stream(const nb::object& capsule) {
    arrow::stream& given = held<arrow::stream>(capsule, "arrow_array_stream");
    stream_.value = given;
    given.release = nullptr;
    const int status = [&] {
      const nb::gil_scoped_release released;
      return stream_.value.get_schema(&stream_.value, &schema_.value);
    }();
    if (status != 0) fail_stream(status);
    if (schema_.value.release == nullptr) fail_inconsistent();
  }

  void take_array(const nb::object& pair) {
    if (!nb::isinstance<nb::tuple>(pair) || nb::len(pair) != 2) fail("two capsules are expected of the table");
    auto& type = held<arrow::schema>(nb::object(pair[0]), "arrow_schema");
    auto& values = held<arrow::array>(nb::object(pair[1]), "arrow_array");
    schema_.value = type;
    type.release = nullptr;
    batch_.value = values;
    values.release = nullptr;
  }

  // Producers may compute here, and take the interpreter's lock if they need it.
  int next(arrow::array& batch) {
    const nb::gil_scoped_release released;
    return stream_.value.get_next(&stream_.value, &batch);
  }

  // Moves the wanted columns out of the batch.
  void keep(arrow::array& batch) {
    const arrow::schema& all = schema_.value;
    if (batch.length < 0 || batch.offset < 0 || batch.length > most_rows || batch.offset > most_rows ||
        batch.n_children != all.n_children || (batch.n_children > 0 && batch.children == nullptr) ||
        (batch.n_buffers > 0 && batch.buffers == nullptr)) {
      fail_inconsistent();
    }
    const void* const valid = batch.n_buffers > 0 ? batch.buffers[0] : nullptr;
    for (std::int64_t k = 0; valid != nullptr && k < batch.length; ++k) {
      if (!is_set(valid, batch.offset + k)) fail("row " + std::to_string(rows_ + k) + " is null");
    }
    for (std::size_t k = 0; k < wanted_.size(); ++k) {
      arrow::array* const child = batch.children[wanted_[k]];
      if (child == nullptr || child->release == nullptr || child->offset < 0 || child->length < 0 ||
          child->offset > most_rows || child->length < batch.offset + batch.length || child->n_buffers < 0 ||
          (child->n_buffers > 0 && child->buffers == nullptr)) {
        fail_inconsistent();
      }
      const std::int64_t first = child->offset + batch.offset;
      chunks_[k].push_back({std::make_shared<arrow::owned<arrow::array>>(*child), first, batch.length});
      (void)field(static_cast<int>(k));
    }
    rows_ += batch.length;
  }

  // `first`, `rows`: a part of an array or of a dictionary's values. Returns the row of the first null, or -1.
  [[nodiscard]] std::int64_t first_null(const arrow::array& a, std::int64_t first, std::int64_t rows) const {
    const void* const valid = a.n_buffers > 0 ? a.buffers[0] : nullptr;
    if (valid == nullptr) {
      if (a.null_count > 0 && rows > 0) fail_inconsistent();
      return -1;
    }
    for (std::int64_t k = 0; k < rows; ++k) {
      if (!is_set(valid, first + k)) return k;
    }
    return -1;
  }

  void expect_no_nulls(int k, const column_chunk& chunk, std::int64_t row) const {
    const std::int64_t null = first_null(chunk.values(), chunk.first, chunk.rows);
    if (null >= 0) fail_null(k, row + null);
  }

  [[nodiscard]] const void* values_buffer(const arrow::array& a, std::int64_t buffers) const {
    if (a.n_buffers != buffers || a.buffers[1] == nullptr) fail_inconsistent();
    return a.buffers[1];
  }

  // --- Numbers

  [[nodiscard]] nb::object numbers_of(int k, const column_chunk& chunk, std::int64_t row) const {
    expect_no_nulls(k, chunk, row);
    const std::string_view format = field(k).format;
    if (field(k).dictionary != nullptr) return looked_up(k, chunk, row);
    nb::object found;
    const auto take = [&]<class T>() { found = shown<T>(chunk); };
    if (with_integer(format, take)) return found;
    if (format == "f") return take.operator()<float>(), found;
    if (format == "g") return take.operator()<double>(), found;
    if (format == "e") return take.operator()<std::uint16_t>(), found.attr("view")("float16");
    fail_inconsistent();  // the caller asks for numbers only
  }

  // Borrowed from the column; a copy if its memory is not aligned.
  template <class T>
  [[nodiscard]] nb::object shown(const column_chunk& chunk) const {
    const auto* const values = static_cast<const T*>(values_buffer(chunk.values(), 2));
    if (reinterpret_cast<std::uintptr_t>(values) % alignof(T) != 0) {
      array<T, host> copy(threads_context(1), chunk.rows);
      for (std::int64_t r = 0; r < chunk.rows; ++r) copy[r] = element<T>(values, chunk.first + r);
      return moved(std::move(copy));
    }
    auto owner = std::make_unique<column_chunk>(chunk);
    auto* const held = owner.get();
    const nb::capsule capsule(held, [](void* p) noexcept { delete static_cast<column_chunk*>(p); });
    (void)owner.release();
    return borrowed(span<const T, host>(values + chunk.first, chunk.rows), capsule);
  }

  // A dictionary's integers, as int64.
  [[nodiscard]] nb::object looked_up(int k, const column_chunk& chunk, std::int64_t row) const {
    const arrow::array& dictionary = dictionary_of(chunk);
    const std::string_view format = field(k).dictionary->format;
    const void* const values = dictionary.length > 0 ? values_buffer(dictionary, 2) : nullptr;
    array<std::int64_t, host> found(threads_context(1), chunk.rows);
    for_each_key(k, chunk, row, [&](std::int64_t r, std::int64_t key) {
      const bool known = with_integer(format, [&]<class T>() {
        const T value = element<T>(values, dictionary.offset + key);
        if (!std::in_range<std::int64_t>(value)) {
          fail("column '" + name(k) + "' is " + std::to_string(value) + " in row " + std::to_string(row + r) +
               " (expected at most 2^63 - 1)");
        }
        found[r] = static_cast<std::int64_t>(value);
      });
      if (!known) fail_inconsistent();
    });
    return moved(std::move(found));
  }

  [[nodiscard]] const arrow::array& dictionary_of(const column_chunk& chunk) const {
    const arrow::array* const found = chunk.values().dictionary;
    if (found == nullptr || found->length < 0 || found->length > most_rows || found->offset < 0 ||
        found->offset > most_rows || found->n_buffers < 0 || (found->n_buffers > 0 && found->buffers == nullptr)) {
      fail_inconsistent();
    }
    return *found;
  }

  // Calls visit(row of the chunk, position in the dictionary, which is no null).
  template <class Visit>
  void for_each_key(int k, const column_chunk& chunk, std::int64_t row, Visit&& visit) const {
    const arrow::array& dictionary = dictionary_of(chunk);
    const void* const keys = chunk.rows > 0 ? values_buffer(chunk.values(), 2) : nullptr;
    const void* const valid = dictionary.n_buffers > 0 ? dictionary.buffers[0] : nullptr;
    const bool known = with_integer(field(k).format, [&]<class T>() {
      for (std::int64_t r = 0; r < chunk.rows; ++r) {
        const T key = element<T>(keys, chunk.first + r);
        if (std::cmp_less(key, 0) || std::cmp_greater_equal(key, dictionary.length)) fail_inconsistent();
        if (valid != nullptr && !is_set(valid, dictionary.offset + static_cast<std::int64_t>(key))) {
          fail_null(k, row + r);
        }
        visit(r, static_cast<std::int64_t>(key));
      }
    });
    if (!known) fail_inconsistent();
  }

  // --- Names

  // Calls visit(row of the chunk, its name).
  template <class Visit>
  void for_each_name(int k, const column_chunk& chunk, std::int64_t row, Visit&& visit) const {
    if (chunk.rows == 0) return;
    if (field(k).dictionary == nullptr) {
      const auto at = names_in(field(k).format, chunk.values());
      for (std::int64_t r = 0; r < chunk.rows; ++r) visit(r, at(chunk.first + r));
      return;
    }
    const arrow::array& dictionary = dictionary_of(chunk);
    if (dictionary.length == 0) fail_inconsistent();
    const auto at = names_in(field(k).dictionary->format, dictionary);
    for_each_key(k, chunk, row, [&](std::int64_t r, std::int64_t key) { visit(r, at(dictionary.offset + key)); });
  }

  // The element of an array of names at a position, which includes the array's offset.
  [[nodiscard]] std::function<std::string_view(std::int64_t)> names_in(std::string_view format,
                                                                       const arrow::array& a) const {
    if (format == "u") return names_by_offsets<std::int32_t>(a);
    if (format == "U") return names_by_offsets<std::int64_t>(a);
    if (format == "vu") return names_by_views(a);
    if (!format.starts_with("w:")) fail_inconsistent();
    const std::int64_t width = std::strtoll(format.data() + 2, nullptr, 10);
    const auto* const bytes = static_cast<const char*>(values_buffer(a, 2));
    return [=](std::int64_t k) { return std::string_view(bytes + k * width, static_cast<std::size_t>(width)); };
  }

  template <class O>
  [[nodiscard]] std::function<std::string_view(std::int64_t)> names_by_offsets(const arrow::array& a) const {
    const void* const offsets = values_buffer(a, 3);
    const auto* const characters = static_cast<const char*>(a.buffers[2]);
    return [=, this](std::int64_t k) {
      const auto begin = element<O>(offsets, k);
      const auto end = element<O>(offsets, k + 1);
      if (begin < 0 || end < begin || (characters == nullptr && end > begin)) fail_inconsistent();
      return end == begin ? std::string_view()
                          : std::string_view(characters + begin, static_cast<std::size_t>(end - begin));
    };
  }

  // Views of 16 bytes: the length, then up to 12 characters, or four, the number of a buffer and a position in it.
  [[nodiscard]] std::function<std::string_view(std::int64_t)> names_by_views(const arrow::array& a) const {
    if (a.n_buffers < 3) fail_inconsistent();
    const auto* const views = static_cast<const char*>(values_buffer(a, a.n_buffers));
    const std::int64_t count = a.n_buffers - 3;
    const auto* const sizes = a.buffers[a.n_buffers - 1];
    const void* const* const data = a.buffers + 2;
    return [=, this](std::int64_t k) {
      const char* const view = views + 16 * k;
      const std::int64_t length = element<std::int32_t>(view, 0);
      if (length < 0) fail_inconsistent();
      if (length <= 12) return std::string_view(view + 4, static_cast<std::size_t>(length));
      const std::int64_t buffer = element<std::int32_t>(view, 2);
      const std::int64_t position = element<std::int32_t>(view, 3);
      if (buffer < 0 || buffer >= count || sizes == nullptr || data[buffer] == nullptr || position < 0 ||
          position + length > element<std::int64_t>(sizes, buffer)) {
        fail_inconsistent();
      }
      return std::string_view(static_cast<const char*>(data[buffer]) + position, static_cast<std::size_t>(length));
    };
  }

  template <class I>
  static array<I, host> every(const context<host>& ctx, const array<std::int64_t, host>& numbers, std::int64_t width,
                              std::int64_t c) {
    array<I, host> found(ctx, width == 0 ? 0 : numbers.size() / width);
    for (std::int64_t k = 0; k < found.size(); ++k) found[k] = static_cast<I>(numbers[k * width + c]);
    return found;
  }

  static nb::object bytes_of(const vertex_name_table& names) {
    nb::list all;
    for (std::int64_t v = 0; v < names.size(); ++v) all.append(nb::bytes(names.name(v).data(), names.name(v).size()));
    return all;
  }

  std::string what_;
  arrow::owned<arrow::stream> stream_;
  arrow::owned<arrow::schema> schema_;
  arrow::owned<arrow::array> batch_;  // of a table without a stream
  std::vector<int> wanted_;
  std::vector<std::vector<column_chunk>> chunks_;
  std::int64_t rows_ = 0;
};

}  // namespace

void bind_arrow_reader(nb::module_& m) {
  nb::class_<arrow_table>(m, "ArrowTable")
      .def(nb::init<const nb::object&, std::string>(), "table"_a, "what"_a)
      .def("columns", &arrow_table::columns)
      .def("read", &arrow_table::read, "columns"_a)
      .def("numbers", &arrow_table::numbers, "column"_a)
      .def("names", &arrow_table::names, "columns"_a, "as_bytes"_a, "threads"_a)
      .def_prop_ro("rows", &arrow_table::rows);
  // (numbers of each id, the distinct ids, ascending).
  m.def(
      "number_ids",
      [](const vector_of<const std::int64_t>& ids, int threads) {
        const auto ctx = threads_context(threads);
        array<std::int64_t, host> numbers(ctx, view(ids).size());
        const auto distinct = unlocked([&] { return number_ids(ctx, view(ids), numbers.view()); });
        return nb::make_tuple(moved(std::move(numbers)), where<host>(1).out(span<const std::int64_t, host>(distinct)));
      },
      "ids"_a.noconvert(), "threads"_a);
  m.def("find_edge_columns", [](const std::vector<std::string>& names) {
    const edge_columns found = find_edge_columns(names);
    return nb::make_tuple(found.source, found.target, found.weight, found.named, found.may_be_two_kinds);
  });
}

}  // namespace spargo::python
