// Thrust with a context's memory and stream, and the example that uses it.
#include "support/device.hpp"
#include "support/folders.hpp"

#include <spargo/core/array.hpp>
#include <spargo/core/thrust.cuh>

#include <gtest/gtest.h>
#include <thrust/scan.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace spargo {
namespace {

std::vector<std::int64_t> sums_up_to(std::int64_t n) {
  std::vector<std::int64_t> sums;
  for (std::int64_t k = 0, sum = 0; k < n; ++k) sums.push_back(sum += k % 7);
  return sums;
}

template <class Space>
void scan_in_place(const context<Space>& ctx, span<std::int64_t, Space> values) {
  thrust::inclusive_scan(thrust_policy(ctx), thrust_begin(values), thrust_end(values), thrust_begin(values));
}

TEST(Thrust, ScansOnTheHost) {
  for (const std::int64_t n : {0, 1, 1000}) {
    std::vector<std::int64_t> values(static_cast<std::size_t>(n));
    for (std::int64_t k = 0; k < n; ++k) values[static_cast<std::size_t>(k)] = k % 7;
    scan_in_place(context<host>(), span<std::int64_t, host>(values.data(), n));
    EXPECT_EQ(values, sums_up_to(n));
  }
}

// Forwards to another resource and counts calls per stream.
class counting_resource : public memory_resource<device> {
 public:
  explicit counting_resource(memory_resource<device>& from) : from_(from) {}
  void* allocate(std::size_t bytes, stream_handle stream) override {
    ++requests;
    ++live;
    last_stream = stream;
    return from_.allocate(bytes, stream);
  }
  void deallocate(void* pointer, std::size_t bytes, stream_handle stream) noexcept override {
    --live;
    from_.deallocate(pointer, bytes, stream);
  }
  int requests = 0;
  int live = 0;
  stream_handle last_stream = nullptr;

 private:
  memory_resource<device>& from_;
};

TEST(Thrust, ScansOnTheContextsStreamAndMemory) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> below;
  counting_resource memory(below.resource());
  const context<device> ctx({.ordinal = below.ordinal(), .resource = &memory});
  const std::int64_t n = 100'000;
  std::vector<std::int64_t> values(static_cast<std::size_t>(n));
  for (std::int64_t k = 0; k < n; ++k) values[static_cast<std::size_t>(k)] = k % 7;
  array<std::int64_t, device> there = to_device(ctx, span<const std::int64_t, host>(values.data(), n));
  const int before = memory.requests;
  scan_in_place(ctx, there.view());
  EXPECT_GT(memory.requests, before) << "the temporary storage came from elsewhere";
  EXPECT_EQ(memory.live, 1) << "the temporary storage is not given back";
  EXPECT_EQ(memory.last_stream, ctx.stream());
  const array<std::int64_t, host> back = to_host(ctx, there.view());
  ctx.synchronize();
  EXPECT_EQ(std::vector<std::int64_t>(back.begin(), back.end()), sums_up_to(n));
}

// The lines that the example prints for karate.el.
void expect_degrees_on(const std::string& device_name) {
  const std::string program = test::program_folder() + "/examples/thrust_degrees";
  if (!std::filesystem::exists(program)) GTEST_SKIP() << "the examples are not built (SPARGO_APPS=OFF)";
  const std::string graph = test::source_folder() + "/datasets/karate.el";
  std::map<long, long> expected;
  std::ifstream file(graph);
  for (std::string line; std::getline(file, line);) {
    long from = 0;
    long to = 0;
    if (std::sscanf(line.c_str(), "%ld %ld", &from, &to) == 2) ++expected[to];
  }
  ASSERT_EQ(expected.count(34), 1U);
  FILE* const lines = ::popen(("'" + program + "' '" + graph + "' " + device_name).c_str(), "r");
  ASSERT_NE(lines, nullptr);
  std::map<long, long> found;
  for (long id = 0, degree = 0; std::fscanf(lines, "%ld %ld", &id, &degree) == 2;) found[id] = degree;
  EXPECT_EQ(::pclose(lines), 0);
  EXPECT_EQ(found, expected);
}

TEST(ThrustExample, CountsInEdgesOnTheHost) { expect_degrees_on("cpu"); }

TEST(ThrustExample, CountsInEdgesOnTheDevice) {
  SPARGO_TEST_NEEDS_GPU();
  expect_degrees_on("");
}

}  // namespace
}  // namespace spargo
