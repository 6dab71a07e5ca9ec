// The names of the temporary files of this process, where a signal handler finds them.
//
// Idea: a fixed table of names, so that a handler needs neither memory nor locks. A slot is `taken` while its file is
// being created, with signals blocked in that thread: a handler that meets it runs in another thread and can wait for
// it. Invariant: from the moment a file exists until it is removed or renamed, its name is in a slot that is `live` or
// `taken`. The handler closes the table first: nothing begins after it.
#pragma once

#include <sys/types.h>

#include <string>

namespace spargo::detail {

// A new file that is removed with this object, or by `remove_unfinished_files`, unless `keep` comes first.
class unfinished_file {
 public:
  unfinished_file() = default;
  unfinished_file(const unfinished_file&) = delete;
  unfinished_file& operator=(const unfinished_file&) = delete;
  ~unfinished_file();

  // Creates `name`, which must not exist, with these permissions less the umask: the descriptor, or -1 and errno; EINTR
  // after `remove_unfinished_files`. With every slot taken, or a name longer than the system's limit, no signal handler
  // finds it.
  [[nodiscard]] int create(std::string name, mode_t permissions);

  // The name, empty before `create` has succeeded.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  // The file has become another by a rename.
  void keep() noexcept;

 private:
  std::string name_;
  int slot_ = -1;
};

}  // namespace spargo::detail
