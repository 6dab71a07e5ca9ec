// Open files and read-only mappings, with one-line errors.
#pragma once

#include <spargo/core/error.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace spargo::detail {

// `error` (io): "PATH: cannot WHAT: STRERROR".
[[noreturn]] void throw_system_error(const std::string& path, std::string_view what, int number);

// An open file descriptor; closed on destruction.
class file_handle {
 public:
  file_handle() = default;
  explicit file_handle(int descriptor) noexcept : descriptor_(descriptor) {}
  file_handle(file_handle&& other) noexcept : descriptor_(other.release()) {}
  file_handle& operator=(file_handle&& other) noexcept;
  ~file_handle();

  [[nodiscard]] int get() const noexcept { return descriptor_; }
  [[nodiscard]] bool is_open() const noexcept { return descriptor_ >= 0; }
  int release() noexcept;

 private:
  int descriptor_ = -1;
};

struct opened_file {
  file_handle handle;
  std::int64_t size = 0;     // 0 if it is not a regular file
  bool is_regular = true;    // otherwise a pipe or device, which can only be read in order
  std::int64_t time_ns = 0;  // of the last modification
};

[[nodiscard]] inline std::string input_name(const std::string& path) { return path == "-" ? "<stdin>" : path; }

// Opens for reading; `-` (standard input) is read in order. Throws `error` (io) if missing, unreadable, a directory.
[[nodiscard]] opened_file open_for_reading(const std::string& path);

// Throws `error` (invalid_argument) for a name with a NUL byte, where the system would cut it.
void expect_name(const std::string& path);

// Reads up to `bytes`; 0 at the end. Retries when interrupted. `offset` is used for a regular file only.
[[nodiscard]] std::int64_t read_some(const opened_file& file, const std::string& path, char* to, std::int64_t bytes,
                                     std::int64_t offset);

// Up to `bytes` from byte `offset` of a regular file; less only at its end.
[[nodiscard]] std::int64_t read_up_to(const opened_file& file, const std::string& path, char* to, std::int64_t bytes,
                                      std::int64_t offset);

// Throws `error` (io) if a regular file's size or modification time has changed since it was opened.
void expect_unchanged(const opened_file& file, const std::string& path);

// A regular file mapped read-only. If another process truncates it, access raises SIGBUS, as with any mmap.
class mapped_file {
 public:
  mapped_file() = default;
  mapped_file(const opened_file& file, const std::string& path);
  mapped_file(mapped_file&& other) noexcept;
  mapped_file& operator=(mapped_file&& other) noexcept;
  ~mapped_file();

  [[nodiscard]] const char* data() const noexcept { return data_; }
  [[nodiscard]] std::int64_t size() const noexcept { return size_; }
  [[nodiscard]] std::string_view bytes() const noexcept { return {data_, static_cast<std::size_t>(size_)}; }

 private:
  const char* data_ = nullptr;
  std::int64_t size_ = 0;
};

}  // namespace spargo::detail
