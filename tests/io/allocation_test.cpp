// Every allocation fails in turn, of arrays and of anything else, once or from then on. Reading, writing and building
// must end in out_of_memory, leave nothing allocated or open, and leave files unchanged.
// Own program: it replaces operator new.
#include "io/edge_list/read.hpp"
#include "io/matrix_market/detail.hpp"
#include "io/support/files.hpp"
#include "support/refusing_new.hpp"
#include "support/snapshots.hpp"

#include <spargo/graph/graph.hpp>
#include <spargo/io/edge_list.hpp>
#include <spargo/io/generate.hpp>
#include <spargo/io/matrix_market.hpp>
#include <spargo/io/output.hpp>
#include <spargo/io/snapshot.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>

namespace spargo {
namespace {

using test::allocator;
using test::end_of;
using test::ending;
using test::refusing_resource;

std::size_t open_files() {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) count += entry.exists() ? 1 : 0;
  return count;
}

struct allocation_case {
  const char* name;
  const char* file;  // to read or to write
  std::function<void(const context<host>&, const std::string& path)> prepare;
  std::function<void(const context<host>&, const std::string& path)> run;
  bool translated = true;  // by the called function; otherwise the exception may be the standard library's

  friend void PrintTo(const allocation_case& c, std::ostream* to) { *to << c.name; }
};

class Allocation : public testing::TestWithParam<allocation_case> {};

std::map<std::string, std::string> contents(const test::temporary_folder& folder) {
  std::map<std::string, std::string> all;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    all[entry.path().filename()] = test::read_file(entry.path());
  }
  return all;
}

// The error is the library's even if there is no memory for its message.
TEST_P(Allocation, RefusedAnywhereIsAnErrorAndNothingElse) {
  if (std::string(GetParam().name).find("snapshot") != std::string::npos) SPARGO_NEEDS_SNAPSHOTS();
  const test::temporary_folder folder;
  refusing_resource resource;
  const context<host> ctx({.threads = 2, .resource = &resource});
  const std::string path = folder.file(GetParam().file);
  GetParam().prepare(ctx, path);
  const auto run = [&] { GetParam().run(ctx, path); };
  const auto before = contents(folder);
  std::string what;
  what.reserve(4096);  // so that building the message allocates nothing
  allocator.refused = -1;
  ASSERT_EQ(end_of(run, what), ending::done) << what;  // also allocates what is allocated once per process
  for (const auto& [name, content] : before) (void)folder.write(name, content);
  for (const bool onwards : {false, true}) {
    std::int64_t k = 0;
    for (;; ++k) {
      ASSERT_LT(k, 20'000);
      const std::int64_t live = allocator.live;
      const std::size_t files = open_files();
      allocator.requests = 0;
      allocator.refused = k;
      allocator.onwards = onwards;
      what.clear();
      const ending how = end_of(run, what);
      ASSERT_EQ(open_files(), files) << "request " << k;
      ASSERT_EQ(allocator.live, live) << "request " << k;
      if (allocator.requests <= k) {
        ASSERT_EQ(how, ending::done) << what;
        break;
      }
      const bool right = how == ending::out_of_memory || (!GetParam().translated && how == ending::bad_alloc);
      ASSERT_TRUE(right) << "request " << k << (onwards ? " and all after it" : "") << ": " << static_cast<int>(how)
                         << " " << what;
      ASSERT_TRUE(contents(folder) == before) << "request " << k;
    }
    for (const auto& [name, content] : before) (void)folder.write(name, content);
    EXPECT_GT(k, 0);
  }
}

std::string matrix_text() {
  std::string text = "%%MatrixMarket matrix coordinate real symmetric\n% a comment\n90 90 60\n";
  for (int k = 1; k <= 60; ++k) text += fmt::format("{} {} {}\n", k + k % 7, k, 1.0 / k);
  return text;
}

std::string edges_text(std::int64_t step) {
  std::string text = "# edges\n";
  for (std::int64_t k = 0; k < 200; ++k) text += fmt::format("{} {} 0.5\n", k * k % 97 * step, k * 31 % 89 * step);
  return text;
}

using host_context = context<host>;
using entries_type = coo_matrix<double, std::int32_t, host>;
using csr_type = csr_matrix<double, std::int32_t, std::int32_t, host>;

const entries_type& some_entries() {
  static const entries_type entries = generate<double, std::int32_t>(host_context(), "gen:laplacian2d:n=9");
  return entries;
}

const coo_matrix<pattern, std::int32_t, host>& some_pairs() {
  static const auto pairs = generate<pattern, std::int32_t>(host_context(), "gen:rmat:scale=8,degree=4");
  return pairs;
}

csr_view<const double, std::int32_t, std::int32_t, host> some_csr() {
  static const csr_type csr = to_csr<std::int32_t>(host_context(), some_entries().view());
  return csr.view();
}

auto holding(std::string content) {
  return [content = std::move(content)](const host_context&, const std::string& path) {
    std::ofstream(path, std::ios::binary) << content;
    (void)some_entries();
    (void)some_csr();
    (void)some_pairs();
  };
}

auto read_matrix(std::int64_t block, std::int64_t part) {
  return [=](const host_context& ctx, const std::string& path) {
    matrix_market_summary summary;
    (void)detail::read_entries<double, std::int32_t>(
        ctx, path, {}, {.input = {.block_bytes = block}, .part_bytes = part}, detail::triangles::both, summary);
  };
}

auto read_edges(std::int64_t block, std::int64_t part) {
  return [=](const host_context& ctx, const std::string& path) {
    detail::edge_list_tuning tuning;
    tuning.input.block_bytes = block;
    tuning.part_bytes = part;
    (void)detail::read_edge_list_with<std::int32_t>(ctx, path, {}, tuning);
  };
}

void read_by_the_public_names(const host_context& ctx, const std::string& path) {
  (void)read_matrix_market_header(path);
  (void)read_matrix_market<float, std::int64_t>(ctx, path);
}

void open_snapshot(const host_context& ctx, const std::string& path) { const snapshot read(ctx, path); }

void put_snapshot(const host_context& ctx, const std::string& path) {
  write_snapshot<double, std::int32_t, std::int32_t>(ctx, path, some_csr(), {.notes = "some"});
}

void put_matrix(const host_context&, const std::string& path) {
  write_matrix_market<double, std::int32_t>(path, some_entries().view());
}

void put_edges(const host_context&, const std::string& path) {
  write_edge_list<double, std::int32_t>(path, some_entries().view());
}

void build_directed(const host_context& ctx, const std::string&) {
  (void)build_graph<std::int64_t>(ctx, some_pairs().view(), {.in_edges = true});
}

void build_undirected(const host_context& ctx, const std::string&) {
  (void)build_graph<std::int32_t>(ctx, some_pairs().view(), {.direction = direction_kind::undirected});
}

void build_csr(const host_context& ctx, const std::string&) { (void)to_csr<std::int64_t>(ctx, some_entries().view()); }

std::string named_text() {
  std::string text = "source,target\n";
  for (int k = 0; k < 200; ++k) text += fmt::format("\"vertex \"\"{}\"\"\",name {}\n", k % 37, k);
  return text;
}

std::vector<allocation_case> cases() {
  const std::string matrix = matrix_text();
  const std::string sparse = edges_text(1'000'000'007);
  return {
      {"matrix", "in", holding(matrix), read_matrix(0, 1 << 17), false},
      {"matrix_in_parts", "in", holding(matrix), read_matrix(256, 40), false},
      {"matrix_gzip", "in", holding(test::gzip(matrix)), read_matrix(0, 1 << 17), false},
      {"matrix_gzip_in_parts", "in", holding(test::gzip(matrix)), read_matrix(256, 40), false},
      {"matrix_without_a_last_end", "in", holding(matrix.substr(0, matrix.size() - 1)), read_matrix(256, 40), false},
      {"array", "in", holding("%%MatrixMarket matrix array real general\n3 2\n1\n2\n3\n4\n5\n6\n"),
       read_matrix(0, 1 << 17), false},
      {"public_readers", "in", holding(matrix), read_by_the_public_names},
      {"edges", "in", holding(edges_text(1)), read_edges(0, 1 << 17)},
      {"edges_in_parts", "in", holding(edges_text(1)), read_edges(300, 50)},
      {"edges_sparse_ids", "in", holding(sparse), read_edges(300, 50)},
      {"named_edges", "in", holding(named_text()), read_edges(300, 50)},
      {"edges_gzip", "in", holding(test::gzip(sparse)), read_edges(300, 50)},
      {"snapshot", "in", put_snapshot, open_snapshot},
      {"write_matrix", "out.mtx", holding("old"), put_matrix},
      {"write_matrix_gzip", "out.mtx.gz", holding("old"), put_matrix},
      {"write_edges", "out.wel", holding("old"), put_edges},
      {"write_snapshot", "out.spg", holding("old"), put_snapshot},
      {"build_directed", "none", holding(""), build_directed},
      {"build_undirected", "none", holding(""), build_undirected},
      {"build_csr", "none", holding(""), build_csr},
  };
}

INSTANTIATE_TEST_SUITE_P(Cases, Allocation, testing::ValuesIn(cases()),
                         [](const auto& of) { return std::string(of.param.name); });

}  // namespace
}  // namespace spargo
