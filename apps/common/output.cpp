#include "common/output.hpp"

#include <spargo/core/error.hpp>

#include <fmt/format.h>
#include <zlib.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace spargo::apps {

namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 18;

// The permissions a plain open() would have given: those of the file to replace, else 0666 less the umask.
mode_t wanted_mode(const struct stat* old) {
  if (old != nullptr) return old->st_mode & 07777;
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

}  // namespace

output_file::output_file(std::string path) : path_(std::move(path)) {
  std::error_code ignored;  // a link stays a link: its target is replaced
  if (std::filesystem::is_symlink(path_, ignored)) path_ = std::filesystem::weakly_canonical(path_, ignored).string();
  struct stat old {};
  const bool exists = ::stat(path_.c_str(), &old) == 0;
  if (exists && S_ISDIR(old.st_mode)) {
    errno = EISDIR;
    fail("cannot write");
  }
  if (exists && !S_ISREG(old.st_mode)) {
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    temporary_ = path_ + ".XXXXXX";
    descriptor_ = ::mkostemp(temporary_.data(), O_CLOEXEC);
    if (descriptor_ < 0) temporary_.clear();
  }
  if (descriptor_ < 0) fail("cannot write");
  if (!temporary_.empty()) (void)::fchmod(descriptor_, wanted_mode(exists ? &old : nullptr));
  if (path_.ends_with(".gz")) {
    gzip_ = ::gzdopen(::dup(descriptor_), "wb6");
    if (gzip_ == nullptr) throw std::bad_alloc();
  }
  buffer_.reserve(buffer_bytes);
}

output_file::~output_file() {
  if (gzip_ != nullptr) ::gzclose(static_cast<gzFile>(gzip_));
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void output_file::fail(const char* what) const {
  throw error(error_code::io, source_position{path_, 0, 0}, fmt::format("{}: {}", what, std::strerror(errno)));
}

void output_file::write(std::string_view bytes) {
  buffer_.append(bytes);
  if (buffer_.size() >= buffer_bytes) flush();
}

void output_file::flush() {
  if (gzip_ == nullptr) {
    write_raw(buffer_.data(), buffer_.size());
  } else if (!buffer_.empty() &&
             ::gzwrite(static_cast<gzFile>(gzip_), buffer_.data(), static_cast<unsigned>(buffer_.size())) <= 0) {
    fail("cannot write");
  }
  buffer_.clear();
}

void output_file::write_raw(const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t written = ::write(descriptor_, data, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail("cannot write");
    data += written;
    size -= static_cast<std::size_t>(written);
  }
}

void output_file::commit() {
  flush();
  if (gzip_ != nullptr) {
    const int closed = ::gzclose(static_cast<gzFile>(gzip_));
    gzip_ = nullptr;
    if (closed != Z_OK) fail("cannot write");
  }
  if (!temporary_.empty() && ::fsync(descriptor_) != 0) fail("cannot write");
  const int closed = ::close(descriptor_);
  descriptor_ = -1;
  if (closed != 0) fail("cannot write");
  if (temporary_.empty()) return;
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("cannot replace");
  temporary_.clear();
}

}  // namespace spargo::apps
