#include "io/file.hpp"

#include "io/text/blocks.hpp"

#include <spargo/io/system_error.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace spargo {

system_error::system_error(int number, const std::string& file, const std::string& message)
    : error(error_code::io, {file}, message), number_(number) {}

system_error::~system_error() = default;

}  // namespace spargo

namespace spargo::detail {

void throw_system_error(const std::string& path, std::string_view what, int number) {
  throw system_error(number, path, fmt::format("cannot {}: {}", what, std::generic_category().message(number)));
}

file_handle& file_handle::operator=(file_handle&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

file_handle::~file_handle() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

int file_handle::release() noexcept { return std::exchange(descriptor_, -1); }

namespace {

std::int64_t time_of(const struct stat& status) {
  return static_cast<std::int64_t>(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec;
}

int open_descriptor(const std::string& path) {
  if (path == "-") return ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
  int descriptor = -1;
  do {
    descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  } while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

}  // namespace

void expect_name(const std::string& path) {
  if (path.find('\0') == std::string::npos) return;
  throw error(error_code::invalid_argument,
              fmt::format("{}: the name of a file has a NUL byte (expected none)", quoted(path)));
}

opened_file open_for_reading(const std::string& path) {
  expect_name(path);
  const std::string name = input_name(path);
  opened_file file;
  file.handle = file_handle(open_descriptor(path));
  if (!file.handle.is_open()) throw_system_error(name, "open for reading", errno);
  struct stat status {};
  if (::fstat(file.handle.get(), &status) != 0) throw_system_error(name, "examine", errno);
  if (S_ISDIR(status.st_mode)) throw system_error(EISDIR, name, "is a directory (expected a file)");
  file.is_regular = S_ISREG(status.st_mode) && path != "-";
  file.size = file.is_regular ? static_cast<std::int64_t>(status.st_size) : 0;
  file.time_ns = time_of(status);
  return file;
}

std::int64_t read_some(const opened_file& file, const std::string& path, char* to, std::int64_t bytes,
                       std::int64_t offset) {
  while (true) {
    const auto got = file.is_regular ? ::pread(file.handle.get(), to, static_cast<std::size_t>(bytes), offset)
                                     : ::read(file.handle.get(), to, static_cast<std::size_t>(bytes));
    if (got >= 0) return static_cast<std::int64_t>(got);
    if (errno != EINTR) throw_system_error(path, "read", errno);
  }
}

std::int64_t read_up_to(const opened_file& file, const std::string& path, char* to, std::int64_t bytes,
                        std::int64_t offset) {
  std::int64_t all = 0;
  while (all < bytes) {
    const std::int64_t got = read_some(file, path, to + all, bytes - all, offset + all);
    if (got == 0) break;
    all += got;
  }
  return all;
}

void expect_unchanged(const opened_file& file, const std::string& path) {
  struct stat status {};
  if (!file.is_regular || ::fstat(file.handle.get(), &status) != 0) return;
  if (status.st_size == file.size && time_of(status) == file.time_ns) return;
  throw error(error_code::io, {path}, "was changed by another process while it was read");
}

mapped_file::mapped_file(const opened_file& file, const std::string& path) : size_(file.size) {
  if (size_ == 0) return;  // mmap rejects an empty mapping
  void* where = ::mmap(nullptr, static_cast<std::size_t>(size_), PROT_READ, MAP_PRIVATE, file.handle.get(), 0);
  if (where == MAP_FAILED) throw_system_error(path, "map into memory", errno);
  data_ = static_cast<const char*>(where);
  ::madvise(where, static_cast<std::size_t>(size_), MADV_SEQUENTIAL);  // a hint: failure does no harm
}

mapped_file::mapped_file(mapped_file&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

mapped_file& mapped_file::operator=(mapped_file&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

mapped_file::~mapped_file() {
  if (data_ != nullptr) ::munmap(const_cast<char*>(data_), static_cast<std::size_t>(size_));
}

}  // namespace spargo::detail
