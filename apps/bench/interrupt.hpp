// Early end of a run, for example by Ctrl-C: results so far are saved, and no temporary file is left.
//
// A signal handler may do little, and a case may have minutes to go. So the handler sends the signal through a pipe to
// a thread, which saves the results, removes temporary files, and ends the process by the same signal.
#pragma once

#include <functional>
#include <string>

namespace spargo::bench {

// `save(signal)` runs in its own thread, at most once. Ignored signals stay ignored.
void on_interrupt(std::function<void(int)> save);

// A new, empty file in the temporary folder with an unpredictable name; removed with this object or at an interrupt.
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
