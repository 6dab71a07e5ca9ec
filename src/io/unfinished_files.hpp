// The names of this process's temporary files, accessible to signal handlers.
//
// Idea: a fixed table of names, so that a handler needs neither memory nor locks. A slot is `taken` while its file is
// being created, with signals blocked in that thread; so a handler that sees it runs in another thread and can wait for
// it. Invariant: from a file's creation until it is removed or renamed, its name is in a slot that is `live` or
// `taken`. The handler closes the table first: no file is created after that.
#pragma once

#include <sys/types.h>

#include <string>

namespace spargo::detail {

// A new file that is removed with this object, or by `remove_unfinished_files`, unless `keep` is called first.
class unfinished_file {
 public:
  unfinished_file() = default;
  unfinished_file(const unfinished_file&) = delete;
  unfinished_file& operator=(const unfinished_file&) = delete;
  ~unfinished_file();

  // Creates `name`, which must not exist, with these permissions less the umask. Returns the descriptor, or -1 and
  // errno; EINTR after `remove_unfinished_files`. Signal handlers miss it if all slots are taken or the name is too
  // long.
  [[nodiscard]] int create(std::string name, mode_t permissions);

  // Empty until `create` succeeds.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  // The file has been renamed.
  void keep() noexcept;

 private:
  std::string name_;
  int slot_ = -1;
};

}  // namespace spargo::detail
