// Any bytes as a METIS graph.
#include "io/fuzz/adjacency.hpp"

#include <spargo/io/metis.hpp>

using namespace spargo;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const fuzz::memory_file file(data, size);
  const auto read = [&](int threads) {
    return fuzz::outcome([&] {
      const auto graph = read_metis<std::int32_t>(context<host>({.threads = threads}), file.path());
      fuzz::expect_pairs(graph.triangle, true);
      if (graph.first_vertex < -1 || graph.first_vertex >= graph.triangle.rows()) std::abort();
      return fuzz::text_of(graph.triangle);
    });
  };
  fuzz::expect_same(read(1), read(2));
  return 0;
}
