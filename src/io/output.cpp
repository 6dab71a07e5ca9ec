#include <spargo/io/output.hpp>

#include "core/rethrow.hpp"
#include "io/file.hpp"
#include "io/gzip.hpp"
#include "io/unfinished_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <system_error>

namespace spargo {

using detail::throw_system_error;

namespace {

struct tuning {
  static constexpr std::size_t buffer = std::size_t{1} << 20;  // bytes per write: the cost of the call is negligible
  static constexpr int attempts = 1000;                        // names tried for the temporary file
  static constexpr int links = 40;                             // Linux's limit
};

// The N of a path /dev/fd/N or /proc/self/fd/N under any of its names.
std::optional<int> descriptor_at(const std::filesystem::path& path) {
  constexpr std::array<std::string_view, 3> standard = {"/dev/stdin", "/dev/stdout", "/dev/stderr"};
  for (std::size_t k = 0; k < standard.size(); ++k) {
    if (path == standard[k]) return static_cast<int>(k);
  }
  const std::string digits = path.filename().string();
  int number = -1;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (failure != std::errc{} || end != digits.data() + digits.size() || number < 0) return std::nullopt;
  std::error_code ignored;
  for (const char* const own : {"/dev/fd", "/proc/self/fd", "/proc/thread-self/fd"}) {
    const std::filesystem::path folder = path.parent_path();
    if (folder == own || std::filesystem::equivalent(folder, own, ignored)) return number;
  }
  return std::nullopt;
}

// The meaning of a path: an open descriptor, or a file name with links followed, so that a rename replaces the file and
// not the link. A link may lead to a file that does not exist yet.
struct destination {
  int descriptor = -1;
  std::string name;
};

destination resolved(const std::string& path, output_links links) {
  if (path == "-") return {STDOUT_FILENO, path};
  if (links == output_links::replaced) return {-1, path};
  std::filesystem::path target = path;
  std::error_code failure;
  for (int followed = 0; followed <= tuning::links; ++followed) {
    if (const std::optional<int> descriptor = descriptor_at(target)) return {*descriptor, path};
    if (followed == tuning::links || !std::filesystem::is_symlink(target, failure)) break;
    const std::filesystem::path next = std::filesystem::read_symlink(target, failure);
    if (failure) break;
    target = target.parent_path() / next;  // `next` alone if it is absolute
  }
  return {-1, target.string()};
}

std::string directory_of(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

// A rename is durable once its directory is synced. Some file systems refuse that; then nothing more can be done.
void sync_directory(const std::string& directory) {
  const detail::file_handle handle(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (handle.is_open()) ::fsync(handle.get());
}

// Where an output will go, determined without touching it.
struct place {
  destination to;
  std::string directory;  // of the file
  bool exists = false;
  bool direct = false;  // cannot be replaced
  mode_t mode = 0;      // of the existing file
};

place examine(const std::string& path, output_links links) {
  detail::expect_name(path);
  place at;
  at.to = resolved(path, links);
  if (at.to.descriptor >= 0) {
    const int flags = ::fcntl(at.to.descriptor, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY) throw_system_error(path, "open for writing", EBADF);
    at.direct = true;
    return at;
  }
  at.directory = directory_of(at.to.name);
  struct stat status {};
  const int found =
      links == output_links::followed ? ::stat(at.to.name.c_str(), &status) : ::lstat(at.to.name.c_str(), &status);
  at.exists = found == 0;
  if (!at.exists && errno != ENOENT) throw_system_error(path, "create", errno);
  at.mode = status.st_mode;
  if (at.exists && S_ISDIR(at.mode)) throw_system_error(path, "write", EISDIR);
  if (links == output_links::followed && at.exists) {
    at.direct = !S_ISREG(at.mode);
    // A rename would replace even a read-only file.
    if (::access(at.to.name.c_str(), W_OK) != 0) throw_system_error(path, "open for writing", errno);
  }
  if (!at.direct && ::access(at.directory.c_str(), W_OK | X_OK) != 0) throw_system_error(path, "create", errno);
  return at;
}

}  // namespace

struct output_file::state {
  state(const std::string& path, const output_options& options);
  void write(std::string_view bytes);
  void commit();

  void open_directly();
  void create_temporary(mode_t permissions);
  void flush();
  void put(std::string_view bytes);

  std::string path;  // as given by the caller: for messages
  place at;
  detail::unfinished_file temporary;  // no name if the target is written directly
  detail::file_handle file;
  std::unique_ptr<detail::gzip_writer> compressor;
  std::string buffer;
  std::string compressed;
};

output_file::state::state(const std::string& name, const output_options& options)
    : path(name == "-" ? "standard output" : name), at(examine(name, options.links)) {
  if (at.direct) {
    open_directly();
  } else {
    const bool keeps = at.exists && options.links == output_links::followed;
    create_temporary(keeps ? at.mode & 0666 : 0666);
    if (keeps) ::fchmod(file.get(), at.mode & 07777);
  }
  if (path.ends_with(".gz")) compressor = std::make_unique<detail::gzip_writer>();
  buffer.reserve(tuning::buffer);
}

// A duplicate shares position and flags with the shell's descriptor; reopening the name would not.
void output_file::state::open_directly() {
  file = detail::file_handle(at.to.descriptor >= 0 ? ::fcntl(at.to.descriptor, F_DUPFD_CLOEXEC, 0)
                                                   : ::open(at.to.name.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC));
  if (!file.is_open()) throw_system_error(path, "open for writing", errno);
}

void output_file::state::create_temporary(mode_t permissions) {
  for (int attempt = 0; attempt < tuning::attempts; ++attempt) {
    file = detail::file_handle(
        temporary.create(fmt::format("{}/.spargo-{}-{}.tmp", at.directory, ::getpid(), attempt), permissions));
    if (file.is_open()) return;
    if (errno != EEXIST) throw_system_error(path, "create", errno);
  }
  throw_system_error(path, "create a temporary file beside it", EEXIST);
}

void output_file::state::put(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) {  // a pipe in non-blocking mode
      pollfd room{file.get(), POLLOUT, 0};
      ::poll(&room, 1, -1);
      continue;
    }
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
  if (!at.direct && ::fsync(file.get()) != 0) throw_system_error(path, "write", errno);
  if (::close(file.release()) != 0) throw_system_error(path, "write", errno);
  if (at.direct) return;
  if (::rename(temporary.name().c_str(), at.to.name.c_str()) != 0) throw_system_error(path, "replace", errno);
  temporary.keep();
  sync_directory(at.directory);  // nothing may fail after the rename: the file exists
}

output_file::output_file(const std::string& path, const output_options& options) try
    : state_(std::make_unique<state>(path, options)) {
} catch (...) {
  detail::rethrow("output_file");
}
output_file::output_file(output_file&&) noexcept = default;
output_file& output_file::operator=(output_file&&) noexcept = default;
output_file::~output_file() = default;

void output_file::write(std::string_view bytes) try { state_->write(bytes); } catch (...) {
  detail::rethrow("output_file");
}
void output_file::commit() try { state_->commit(); } catch (...) {
  detail::rethrow("output_file");
}

std::optional<int> output_descriptor(const std::string& path) {
  const int descriptor = resolved(path, output_links::followed).descriptor;
  return descriptor >= 0 ? std::optional<int>(descriptor) : std::nullopt;
}

void check_output(const std::string& path) { (void)examine(path, output_links::followed); }

}  // namespace spargo
