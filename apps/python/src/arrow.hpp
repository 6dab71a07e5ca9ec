// The structs of the Arrow C data interface and the Arrow C stream interface, public specifications of a stable ABI
// (https://arrow.apache.org/docs/format/CDataInterface.html), and their owner.
#pragma once

#include <cstdint>

namespace spargo::python::arrow {

struct schema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  schema** children;
  schema* dictionary;
  void (*release)(schema*);  // null: released, or moved
  void* private_data;
};

struct array {
  std::int64_t length;
  std::int64_t null_count;  // -1: not counted
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  array** children;
  array* dictionary;
  void (*release)(array*);
  void* private_data;
};

struct stream {
  int (*get_schema)(stream*, schema*);
  int (*get_next)(stream*, array*);  // an array that is released: the end
  const char* (*get_last_error)(stream*);
  void (*release)(stream*);
  void* private_data;
};

inline constexpr std::int64_t nullable = 2;  // a flag of schema

// Calls the producer's release at the end.
template <class T>
struct owned {
  T value{};

  owned() = default;
  explicit owned(T& from) : value(from) { from.release = nullptr; }  // moves it
  owned(const owned&) = delete;
  owned& operator=(const owned&) = delete;
  ~owned() {
    if (value.release != nullptr) value.release(&value);
  }
};

}  // namespace spargo::python::arrow
