#include "io/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

namespace spargo::detail {

namespace {

struct tuning {
  static constexpr std::size_t buffer = std::size_t{1} << 20;  // bytes a write: the cost of the call vanishes
  static constexpr int attempts = 1000;                        // names tried for the temporary file
};

// The file that `path` means, through links, so that a rename replaces the file and not the link.
std::string resolved(const std::string& path) {
  char* real = ::realpath(path.c_str(), nullptr);
  if (real == nullptr) return path;  // there is none yet
  std::string result = real;
  std::free(real);
  return result;
}

std::string directory_of(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

// A rename is durable once its directory is. Some file systems refuse to sync one: then it is as durable as it gets.
void sync_directory(const std::string& directory) {
  const file_handle handle(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (handle.is_open()) ::fsync(handle.get());
}

}  // namespace

output_file::output_file(const std::string& path) : path_(path), target_(resolved(path)) {
  struct stat status {};
  const bool exists = ::stat(target_.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) throw_system_error(path_, "write", EISDIR);
  if (exists && !S_ISREG(status.st_mode)) {
    file_ = file_handle(::open(target_.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file_.is_open()) throw_system_error(path_, "open for writing", errno);
  } else {
    // A rename would replace a file that its owner has made read-only.
    if (exists && ::access(target_.c_str(), W_OK) != 0) throw_system_error(path_, "open for writing", errno);
    create_temporary();
    if (exists) ::fchmod(file_.get(), status.st_mode & 07777);
  }
  if (path_.ends_with(".gz")) compressor_ = std::make_unique<gzip_writer>();
  buffer_.reserve(tuning::buffer);
}

output_file::~output_file() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void output_file::create_temporary() {
  for (int attempt = 0; attempt < tuning::attempts; ++attempt) {
    const std::string name = fmt::format("{}/.spargo-{}-{}.tmp", directory_of(target_), ::getpid(), attempt);
    file_ = file_handle(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (file_.is_open()) {
      temporary_ = name;
      return;
    }
    if (errno != EEXIST) throw_system_error(path_, "create", errno);
  }
  throw_system_error(path_, "create a temporary file beside it", EEXIST);
}

void output_file::put(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(file_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw_system_error(path_, "write", errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void output_file::flush() {
  if (compressor_) {
    compressor_->compress(buffer_, compressed_);
    put(compressed_);
    compressed_.clear();
  } else {
    put(buffer_);
  }
  buffer_.clear();
}

void output_file::write(std::string_view bytes) {
  if (buffer_.size() + bytes.size() > tuning::buffer) flush();
  if (bytes.size() >= tuning::buffer && !compressor_) {
    put(bytes);
  } else {
    buffer_ += bytes;
  }
}

void output_file::commit() {
  flush();
  if (compressor_) {
    compressor_->finish(compressed_);
    put(compressed_);
  }
  const bool direct = temporary_.empty();
  if (!direct && ::fsync(file_.get()) != 0) throw_system_error(path_, "write", errno);
  if (::close(file_.release()) != 0) throw_system_error(path_, "write", errno);
  if (direct) return;
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) throw_system_error(path_, "replace", errno);
  temporary_.clear();
  sync_directory(directory_of(target_));
}

}  // namespace spargo::detail
