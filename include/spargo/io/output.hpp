// Files that appear complete or not at all: written to a temporary name beside the target, synced, then renamed.
//
// Until `commit` returns, an existing file of that name is untouched; without a `commit` (an exception, a full disk)
// the temporary file is removed. A link is followed; permissions of an existing file are kept. .gz names are
// compressed.
//
// Targets that cannot be replaced are written directly: a pipe, a device, and an open descriptor ("-" and /dev/stdout
// mean standard output; /dev/stderr, /dev/fd/N and /proc/self/fd/N work alike). A descriptor is written at its
// position, or at the end if the shell opened it for appending; the file behind it is never replaced.
#pragma once

#include <spargo/core/config.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace spargo {

// If the output's name is a link: `followed` replaces the file it leads to; `replaced` replaces the link itself and
// does not inherit permissions (for names that another user could guess).
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

  // Makes the written bytes the file of that name, durably. Write nothing afterwards.
  void commit();

 private:
  struct [[gnu::visibility("hidden")]] state;
  std::unique_ptr<state> state_;
};

// The open descriptor that a name denotes: 1 for "-" and /dev/stdout. None for a file name.
[[nodiscard]] SPARGO_EXPORT std::optional<int> output_descriptor(const std::string& path);

// Throws what `output_file(path)` would, as far as can be known without changing anything. Call it before the work.
SPARGO_EXPORT void check_output(const std::string& path);

// Removes the temporary files of every unfinished `output_file`: for signal handlers (the library installs none) before
// the process ends; async-signal-safe. No file can be created afterwards. Beyond 64 files some are missed.
SPARGO_EXPORT void remove_unfinished_files() noexcept;

}  // namespace spargo
