// A run that is asked to end before its time, by Ctrl-C say: what was measured is kept, and no file is left behind.
//
// A signal handler may do next to nothing, and a case may have minutes to go. So the handler sends the signal's number
// through a pipe to a thread, which saves what there is beside the case that still runs, removes the temporary files,
// and ends the process by the same signal.
#pragma once

#include <functional>
#include <string>

namespace spargo::bench {

// `save(signal)` runs in a thread of its own, at most once. Signals that are ignored stay so.
void on_interrupt(std::function<void(int)> save);

// A new, empty file in the folder for temporary files, under a name that nobody can foresee; removed with this object
// or at an interrupt.
class temporary_file {
 public:
  temporary_file();
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;
  ~temporary_file();

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace spargo::bench
