#include "io/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace spargo::detail {

void throw_system_error(const std::string& path, std::string_view what, int number) {
  throw error(error_code::io, {path}, fmt::format("cannot {}: {}", what, std::generic_category().message(number)));
}

file_handle& file_handle::operator=(file_handle&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

file_handle::~file_handle() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

int file_handle::release() noexcept { return std::exchange(descriptor_, -1); }

opened_file open_for_reading(const std::string& path) {
  opened_file file;
  int descriptor = -1;
  do {
    descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  } while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0) throw_system_error(path, "open for reading", errno);
  file.handle = file_handle(descriptor);
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) throw_system_error(path, "examine", errno);
  if (S_ISDIR(status.st_mode)) throw_system_error(path, "read", EISDIR);
  file.is_regular = S_ISREG(status.st_mode);
  file.size = file.is_regular ? static_cast<std::int64_t>(status.st_size) : 0;
  return file;
}

std::int64_t read_some(const file_handle& file, const std::string& path, char* to, std::int64_t bytes) {
  while (true) {
    const auto got = ::read(file.get(), to, static_cast<std::size_t>(bytes));
    if (got >= 0) return static_cast<std::int64_t>(got);
    if (errno != EINTR) throw_system_error(path, "read", errno);
  }
}

mapped_file::mapped_file(const std::string& path) {
  const opened_file file = open_for_reading(path);
  if (!file.is_regular) throw error(error_code::io, {path}, "cannot map: not a regular file");
  *this = mapped_file(file, path);
}

mapped_file::mapped_file(const opened_file& file, const std::string& path) : size_(file.size) {
  if (size_ == 0) return;  // an empty mapping is an error to mmap
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

void mapped_file::forget(std::int64_t first, std::int64_t last) const noexcept {
  const auto page = static_cast<std::int64_t>(::sysconf(_SC_PAGESIZE));
  const std::int64_t from = (first + page - 1) / page * page;
  const std::int64_t to = last / page * page;
  if (from < to) ::madvise(const_cast<char*>(data_) + from, static_cast<std::size_t>(to - from), MADV_DONTNEED);
}

}  // namespace spargo::detail
