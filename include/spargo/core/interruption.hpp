// Cancellation of long operations (Ctrl-C, a deadline, a closed window) and their progress.
#pragma once

#include <spargo/core/config.hpp>

#include <chrono>
#include <cstdint>
#include <functional>

namespace spargo {

// Progress in units of the operation. Reported by betweenness and its check only (in sources).
struct operation_progress {
  std::int64_t done = 0;
  std::int64_t total = 0;  // 0: unknown
};

// While an interruption exists, operations called by its thread call `ask` between levels, iterations, sources, passes
// over the edges and blocks of a file: on the calling thread, at most once per `interval`. An exception from `ask` ends
// the operation: its other threads finish the parts they have begun, and the call throws that exception. The plan whose
// run ended must be made anew; inputs and earlier results are unchanged. With several on one thread, the newest is
// asked. Without one the cost is one read of a variable.
//
// Not asked within single-pass work (a product, a search of unweighted edges by one thread, Tarjan's algorithm,
// consecutive levels of a few vertices), nor while waiting for a device.
class SPARGO_EXPORT interruption {
 public:
  using clock = std::chrono::steady_clock;

  explicit interruption(std::function<void()> ask, clock::duration interval = std::chrono::milliseconds(50));
  explicit interruption(std::function<void(const operation_progress&)> ask,
                        clock::duration interval = std::chrono::milliseconds(50));
  interruption(const interruption&) = delete;
  interruption& operator=(const interruption&) = delete;
  ~interruption();  // on the thread that made it, in reverse order of construction

  // For user-defined loops: calls this thread's `ask` if the interval has passed. `now` is reported until the next such
  // call; once done == total, progress is unknown again.
  static void look();
  static void look(const operation_progress& now);

 private:
  std::function<void(const operation_progress&)> ask_;
  operation_progress progress_;
  clock::duration interval_;
  clock::time_point next_;
  interruption* outer_;
};

}  // namespace spargo
