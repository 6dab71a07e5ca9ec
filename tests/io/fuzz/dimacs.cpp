// Any bytes as a DIMACS graph.
#include "io/fuzz/adjacency.hpp"

#include <spargo/io/dimacs.hpp>

using namespace spargo;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const fuzz::memory_file file(data, size);
  const auto read = [&](int threads) {
    return fuzz::outcome([&] {
      const auto graph = read_dimacs<std::int32_t>(context<host>({.threads = threads}), file.path());
      fuzz::expect_pairs(graph.entries, graph.problem == dimacs_problem::edge);
      if (graph.first_vertex < -1 || graph.first_vertex >= graph.entries.rows()) std::abort();
      return fuzz::text_of(graph.entries);
    });
  };
  fuzz::expect_same(read(1), read(2));
  return 0;
}
