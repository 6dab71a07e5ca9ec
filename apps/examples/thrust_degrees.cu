// thrust_degrees FILE [cpu]: in-degrees of an edge list's vertices, by Thrust on a context's stream: sorts the edges'
// targets, then counts runs of equal ones. Prints `id in-degree` lines; exits with 77 without a GPU.
#include <spargo/core/array.hpp>
#include <spargo/core/thrust.cuh>
#include <spargo/io/edge_list.hpp>

#include <thrust/iterator/constant_iterator.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>

#include <cstdint>
#include <cstdio>
#include <string_view>

namespace {

using namespace spargo;

// Sorts `ends`; stores the n vertices with in-edges and their degrees in the first n elements. Returns n.
template <class Space>
std::int64_t count_in_edges(const context<Space>& ctx, span<std::int32_t, Space> ends,
                            span<std::int32_t, Space> vertices, span<std::int32_t, Space> degrees) {
  const auto policy = thrust_policy(ctx);
  thrust::sort(policy, thrust_begin(ends), thrust_end(ends));
  const auto last = thrust::reduce_by_key(policy, thrust_begin(ends), thrust_end(ends),
                                          thrust::make_constant_iterator(std::int32_t{1}), thrust_begin(vertices),
                                          thrust_begin(degrees));
  return last.first - thrust_begin(vertices);
}

void print(const edge_list<std::int32_t>& list, const array<std::int32_t, host>& vertices,
           const array<std::int32_t, host>& degrees, std::int64_t n) {
  for (std::int64_t k = 0; k < n; ++k) {
    std::printf("%lld %d\n", static_cast<long long>(list.ids[static_cast<std::size_t>(vertices[k])]), degrees[k]);
  }
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2) {
    std::fprintf(stderr, "usage: thrust_degrees FILE [cpu]\n");
    return 2;
  }
  const context<host> cpu;
  edge_list<std::int32_t> list = read_edge_list<std::int32_t>(cpu, argv[1]);
  array<std::int32_t, host>& ends = list.edges.col_indices();
  if (argc > 2 && std::string_view(argv[2]) == "cpu") {
    array<std::int32_t, host> vertices(cpu, ends.size());
    array<std::int32_t, host> degrees(cpu, ends.size());
    print(list, vertices, degrees, count_in_edges(cpu, ends.view(), vertices.view(), degrees.view()));
    return 0;
  }
  const context<device> gpu;
  array<std::int32_t, device> there = to_device(gpu, ends.view());
  array<std::int32_t, device> vertices(gpu, ends.size());
  array<std::int32_t, device> degrees(gpu, ends.size());
  const std::int64_t n = count_in_edges(gpu, there.view(), vertices.view(), degrees.view());
  print(list, to_host(gpu, vertices.view()), to_host(gpu, degrees.view()), n);
  return 0;
} catch (const spargo::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return e.code() == spargo::error_code::device_unavailable ? 77 : 1;
}
