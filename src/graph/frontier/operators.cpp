// The only part of the host operators that needs the library's threads; it keeps those out of the public header.
#include <spargo/graph/operators.hpp>

#include "core/parallel.hpp"

namespace spargo::detail {

// With fewer threads than requested, some run several calls one after the other.
void run_on_threads(int threads, void (*work)(void* self, int thread), void* self) {
  parallel_parts(threads, threads, [&](std::int64_t t) { work(self, static_cast<int>(t)); });
}

}  // namespace spargo::detail
