// Files written whole or not at all: to a temporary name beside the target, synced, then renamed over it.
//
// Until `commit` returns, an existing file of that name is untouched; without a `commit` (an exception, a full disk)
// the temporary file is removed. A link is followed, an existing file keeps its permissions. A pipe or a device
// (/dev/stdout) cannot be replaced and is written directly. A name that ends in .gz is compressed.
#pragma once

#include <spargo/core/config.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace spargo {

// One thread at a time. Throws `error` (io), naming the target, when the system refuses.
class SPARGO_EXPORT output_file {
 public:
  explicit output_file(const std::string& path);
  output_file(output_file&&) noexcept;
  output_file& operator=(output_file&&) noexcept;
  ~output_file();

  // Appends; buffered.
  void write(std::string_view bytes);

  // Makes what was written the file of that name, durably. Nothing may be written after it.
  void commit();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

// Removes the temporary files of every `output_file` that is being written. For a program's own signal handlers (the
// library installs none), before the process ends: async-signal-safe, and no file can be begun after it. Of more than
// 64 files written at once some are not found.
SPARGO_EXPORT void remove_unfinished_files() noexcept;

}  // namespace spargo
