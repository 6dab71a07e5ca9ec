#include <spargo/io/output.hpp>

#include "io/file.hpp"
#include "io/gzip.hpp"
#include "io/unfinished_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace spargo {

using detail::throw_system_error;

namespace {

struct tuning {
  static constexpr std::size_t buffer = std::size_t{1} << 20;  // bytes a write: the cost of the call vanishes
  static constexpr int attempts = 1000;                        // names tried for the temporary file
  static constexpr int links = 40;                             // as many as Linux follows
};

// The file that `path` means, through links, so that a rename replaces the file and not the link. A link may lead
// to a file that is yet to be.
std::string resolved(const std::string& path) {
  std::filesystem::path target = path;
  std::error_code failure;
  for (int links = 0; links < tuning::links && std::filesystem::is_symlink(target, failure); ++links) {
    const std::filesystem::path next = std::filesystem::read_symlink(target, failure);
    if (failure) break;
    target = target.parent_path() / next;  // or `next` alone, when it is absolute
  }
  return target.string();
}

std::string directory_of(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

// A rename is durable once its directory is. Some file systems refuse to sync one: then it is as durable as it gets.
void sync_directory(const std::string& directory) {
  const detail::file_handle handle(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (handle.is_open()) ::fsync(handle.get());
}

}  // namespace

struct output_file::state {
  explicit state(const std::string& path);
  void write(std::string_view bytes);
  void commit();

  void create_temporary();
  void flush();
  void put(std::string_view bytes);

  std::string path;                   // as the caller named it: for messages
  std::string target;                 // with links resolved
  std::string directory;              // of the target
  detail::unfinished_file temporary;  // without a name when the target is written directly
  detail::file_handle file;
  std::unique_ptr<detail::gzip_writer> compressor;
  std::string buffer;
  std::string compressed;
};

output_file::state::state(const std::string& name)
    : path(name), target(resolved(name)), directory(directory_of(target)) {
  struct stat status {};
  const bool exists = ::stat(target.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) throw_system_error(path, "write", EISDIR);
  if (exists && !S_ISREG(status.st_mode)) {
    file = detail::file_handle(::open(target.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file.is_open()) throw_system_error(path, "open for writing", errno);
  } else {
    // A rename would replace a file that its owner has made read-only.
    if (exists && ::access(target.c_str(), W_OK) != 0) throw_system_error(path, "open for writing", errno);
    create_temporary();
    if (exists) ::fchmod(file.get(), status.st_mode & 07777);
  }
  if (path.ends_with(".gz")) compressor = std::make_unique<detail::gzip_writer>();
  buffer.reserve(tuning::buffer);
}

void output_file::state::create_temporary() {
  for (int attempt = 0; attempt < tuning::attempts; ++attempt) {
    file = detail::file_handle(temporary.create(fmt::format("{}/.spargo-{}-{}.tmp", directory, ::getpid(), attempt)));
    if (file.is_open()) return;
    if (errno != EEXIST) throw_system_error(path, "create", errno);
  }
  throw_system_error(path, "create a temporary file beside it", EEXIST);
}

void output_file::state::put(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw_system_error(path, "write", errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void output_file::state::flush() {
  if (compressor) {
    compressor->compress(buffer, compressed);
    put(compressed);
    compressed.clear();
  } else {
    put(buffer);
  }
  buffer.clear();
}

void output_file::state::write(std::string_view bytes) {
  if (buffer.size() + bytes.size() > tuning::buffer) flush();
  if (bytes.size() >= tuning::buffer && !compressor) {
    put(bytes);
  } else {
    buffer += bytes;
  }
}

void output_file::state::commit() {
  flush();
  if (compressor) {
    compressor->finish(compressed);
    put(compressed);
  }
  const bool direct = temporary.name().empty();
  if (!direct && ::fsync(file.get()) != 0) throw_system_error(path, "write", errno);
  if (::close(file.release()) != 0) throw_system_error(path, "write", errno);
  if (direct) return;
  if (::rename(temporary.name().c_str(), target.c_str()) != 0) throw_system_error(path, "replace", errno);
  temporary.keep();
  sync_directory(directory);  // nothing from the rename on may fail: the file is there
}

output_file::output_file(const std::string& path) : state_(std::make_unique<state>(path)) {}
output_file::output_file(output_file&&) noexcept = default;
output_file& output_file::operator=(output_file&&) noexcept = default;
output_file::~output_file() = default;

void output_file::write(std::string_view bytes) { state_->write(bytes); }
void output_file::commit() { state_->commit(); }

}  // namespace spargo
