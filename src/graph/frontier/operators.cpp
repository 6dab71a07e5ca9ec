// The one part of the host's operators that needs the library's threads, so that who includes their header does not.
#include <spargo/graph/operators.hpp>

#include "core/parallel.hpp"

namespace spargo::detail {

// There may be fewer threads than were asked for: some then do the work of several, in turn.
void run_on_threads(int threads, void (*work)(void* self, int thread), void* self) {
  parallel_parts(threads, threads, [&](std::int64_t t) { work(self, static_cast<int>(t)); });
}

}  // namespace spargo::detail
