// Files written whole or not at all: to a temporary name beside the target, synced, then renamed over it.
//
// Until `commit` returns, an existing file of that name is untouched; without a `commit` (an exception, a full disk)
// the temporary file is removed. A link is followed, an existing file keeps its permissions. A name that ends in .gz is
// compressed.
//
// What cannot be replaced is written directly: a pipe, a device, and an open descriptor ("-" and /dev/stdout are
// standard output; /dev/stderr, /dev/fd/N and /proc/self/fd/N are taken likewise). A descriptor is written where it
// stands, or at the end where the shell opened it for appending; the file behind it is never replaced by name.
#pragma once

#include <spargo/core/config.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace spargo {

// A link in the output's place. `followed`: the file that it leads to is replaced. `replaced`: the link itself, and a
// file that is there does not pass its permissions on; for names that another user can foresee.
enum class output_links { followed, replaced };

struct SPARGO_EXPORT output_options {
  output_links links = output_links::followed;
};

// One thread at a time. Throws `error` (io), naming the target, when the system refuses.
class SPARGO_EXPORT output_file {
 public:
  explicit output_file(const std::string& path, const output_options& options = {});
  output_file(output_file&&) noexcept;
  output_file& operator=(output_file&&) noexcept;
  ~output_file();

  // Appends; buffered.
  void write(std::string_view bytes);

  // Makes what was written the file of that name, durably. Nothing may be written after it.
  void commit();

 private:
  struct [[gnu::visibility("hidden")]] state;
  std::unique_ptr<state> state_;
};

// The open descriptor that a name stands for: 1 for "-" and /dev/stdout. None for the name of a file.
[[nodiscard]] SPARGO_EXPORT std::optional<int> output_descriptor(const std::string& path);

// Throws what `output_file(path)` would, as far as that shows without creating, opening or changing anything: before
// work whose result would be lost.
SPARGO_EXPORT void check_output(const std::string& path);

// Removes the temporary files of every `output_file` that is being written. For a program's own signal handlers (the
// library installs none), before the process ends: async-signal-safe, and no file can be begun after it. Of more than
// 64 files written at once some are not found.
SPARGO_EXPORT void remove_unfinished_files() noexcept;

}  // namespace spargo
