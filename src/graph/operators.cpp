// The one part of the host's operators that needs OpenMP, so that who includes their header does not.
#include <spargo/graph/operators.hpp>

#include <omp.h>

namespace spargo::detail {

// The runtime may give fewer threads than were asked for: each then does the work of several, in turn.
void run_on_threads(int threads, void (*work)(void* self, int thread), void* self) {
  if (threads <= 1) {
    work(self, 0);
    return;
  }
#pragma omp parallel num_threads(threads)
  for (int t = omp_get_thread_num(); t < threads; t += omp_get_num_threads()) work(self, t);
}

}  // namespace spargo::detail
