// A way out of long work: what a program's Ctrl-C, a deadline or a closed window has to say; and how far the work is.
#pragma once

#include <spargo/core/config.hpp>

#include <chrono>
#include <cstdint>
#include <functional>

namespace spargo {

// How much of an operation is done, in parts of its own: sources of betweenness and of its check. Others do not say.
struct operation_progress {
  std::int64_t done = 0;
  std::int64_t total = 0;  // 0: unknown
};

// While one lives, the operations that its thread calls ask it now and then whether to go on: between levels,
// iterations, sources, passes over the edges and blocks of a file, on the thread that made the call, and at most once
// in `interval`. What `ask` throws ends the operation, whose other threads finish the parts that they have begun, and
// is what the call throws. A plan whose run has ended so must be made anew; results of before and inputs are as they
// were. Of several on one thread the one made last is asked. Without one an operation pays for a look at a variable.
//
// Not asked, since they have one pass only: a product, a search by one thread over unweighted edges, Tarjan's
// algorithm, levels of a few vertices that follow each other; nor while a device is waited for.
class SPARGO_EXPORT interruption {
 public:
  using clock = std::chrono::steady_clock;

  explicit interruption(std::function<void()> ask, clock::duration interval = std::chrono::milliseconds(50));
  explicit interruption(std::function<void(const operation_progress&)> ask,
                        clock::duration interval = std::chrono::milliseconds(50));
  interruption(const interruption&) = delete;
  interruption& operator=(const interruption&) = delete;
  ~interruption();  // on the thread that made it, the last made first

  // Asks, if it is time, the one of this thread: for loops of one's own. What `now` says holds until the next such
  // call; with all done, nothing is known again.
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
