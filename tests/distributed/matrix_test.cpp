// Distributed matrices: read, multiplied and solved with the results of one process.
#include "distributed/ranks.hpp"
#include "io/support/files.hpp"

#include <spargo/distributed/cg.hpp>
#include <spargo/distributed/spmm.hpp>
#include <spargo/io/generate.hpp>
#include <spargo/sparse/spmm.hpp>
#include <spargo/sparse/spmv.hpp>

#include <gmock/gmock.h>

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

namespace spargo {
namespace {

using test::on_ranks;
using entries = coo_matrix<double, std::int64_t, host>;

// x is a function of the column, so it need not be gathered.
double x_of(std::int64_t column) { return 1.0 / (1.0 + static_cast<double>(column % 1009)) - 0.25; }

// y = A x by all ranks, gathered on each.
std::vector<double> multiply(const communicator& comm, const context<host>& ctx, const entries& share,
                             symmetry_kind symmetry = symmetry_kind::general) {
  const distributed_matrix<double> a(comm, ctx, share.view(), symmetry);
  const distributed_spmv_plan<double, host> plan(comm, ctx, a);
  std::vector<double> x(static_cast<std::size_t>(plan.local_columns()), std::nan(""));
  for (std::int64_t i = 0; i < plan.own_columns(); ++i) {
    x[static_cast<std::size_t>(i)] = x_of(a.column_parts().first(comm.rank()) + i);
  }
  std::vector<double> y(static_cast<std::size_t>(plan.own_rows()), std::nan(""));
  for (int k = 0; k < 3; ++k) plan.run(2.0, x, 0.0, y);
  plan.run(-0.5, x, 0.5, y);
  EXPECT_EQ(comm.all_reduce(plan.own_rows(), reduction::sum), a.rows());
  return comm.all_gather(span<const double, host>(y));
}

// The same by one process.
std::vector<double> expected_of(const entries& all, symmetry_kind symmetry = symmetry_kind::general) {
  const context<host> ctx({.threads = 1});
  const auto a = to_csr<std::int64_t>(ctx, all.view(), {.symmetry = symmetry});
  const spmv_plan<double, std::int64_t, std::int64_t, host> plan(ctx, a.view(),
                                                                 {.algorithm = spmv_algorithm::row_per_thread});
  std::vector<double> x;
  for (std::int64_t j = 0; j < a.cols(); ++j) x.push_back(x_of(j));
  std::vector<double> y(static_cast<std::size_t>(a.rows()), std::nan(""));
  plan.run(2.0, x, 0.0, y);
  plan.run(-0.5, x, 0.5, y);
  return y;
}

class DistributedSpmv : public testing::TestWithParam<const char*> {};

TEST_P(DistributedSpmv, HasTheBitsOfOneProcess) {
  const std::vector<double> expected = expected_of(generate<double, std::int64_t>(context<host>(), GetParam()));
  on_ranks([&](const communicator& comm) {
    const context<host> ctx = test::context_of(comm);
    const entries share = generate_part<double, std::int64_t>(ctx, GetParam(), comm.rank(), comm.size());
    EXPECT_EQ(multiply(comm, ctx, share), expected);
  });
}

INSTANTIATE_TEST_SUITE_P(, DistributedSpmv,
                         testing::Values("gen:laplacian2d:n=60", "gen:uniform:rows=3000,degree=9",
                                         "gen:rmat:scale=11,degree=8", "gen:uniform:rows=700,cols=2100,degree=3",
                                         "gen:uniform:rows=2100,cols=50,degree=3", "gen:powerlaw:rows=4000,degree=5",
                                         "gen:banded:rows=2000,degree=7", "gen:star:n=1500", "gen:path:n=130",
                                         "gen:path:n=1"));

TEST_P(DistributedSpmv, OfSeveralVectorsHasThemToo) {
  const auto all = generate<double, std::int64_t>(context<host>(), GetParam());
  for (const std::int64_t width : {1, 3, 8}) {
    const auto fill = [&](dense_matrix<double, host>& x, std::int64_t first, std::int64_t rows) {
      for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t k = 0; k < width; ++k) x(i, k) = x_of(first + i + 17 * k);
      }
    };
    const context<host> one({.threads = 1});
    const auto a = to_csr<std::int64_t>(one, all.view());
    const spmm_plan<double, std::int64_t, std::int64_t, host> plan(one, a.view(), width,
                                                                   {.algorithm = spmm_algorithm::row_groups});
    dense_matrix<double, host> x(one, a.cols(), width);
    dense_matrix<double, host> y(one, a.rows(), width);
    fill(x, 0, a.cols());
    plan.run(2.0, x.view(), 0.0, y.view());
    plan.run(-0.5, x.view(), 0.5, y.view());
    const std::vector<double> expected(y.view().data.begin(), y.view().data.begin() + a.rows() * width);
    on_ranks([&](const communicator& comm) {
      const context<host> ctx = test::context_of(comm);
      const entries share = generate_part<double, std::int64_t>(ctx, GetParam(), comm.rank(), comm.size());
      const distributed_matrix<double> shared(comm, ctx, share.view());
      const distributed_spmm_plan<double, host> mine(comm, ctx, shared, width);
      dense_matrix<double, host> own_x(ctx, mine.local_columns(), width);
      dense_matrix<double, host> own_y(ctx, mine.own_rows(), width);
      std::fill(own_x.view().data.begin(), own_x.view().data.end(), std::nan(""));
      std::fill(own_y.view().data.begin(), own_y.view().data.end(), std::nan(""));
      fill(own_x, shared.column_parts().first(comm.rank()), mine.own_columns());
      mine.run(2.0, own_x, 0.0, own_y);
      mine.run(-0.5, own_x, 0.5, own_y);
      EXPECT_EQ(comm.all_gather(span<const double, host>(own_y.view().data)), expected);
    });
  }
}

TEST(DistributedMatrix, SeveralVectorsAreChecked) {
  on_ranks([](const communicator& comm) {
    const context<host> ctx = test::context_of(comm);
    const distributed_matrix<double> a(
        comm, ctx, generate_part<double, std::int64_t>(ctx, "gen:laplacian2d:n=128", comm.rank(), comm.size()).view());
    EXPECT_THROW((distributed_spmm_plan<double, host>(comm, ctx, a, -1)), agreed_error);
    const distributed_spmm_plan<double, host> plan(comm, ctx, a, 4);
    const int neighbours = comm.size() == 1 ? 0 : comm.rank() == 0 || comm.rank() == comm.size() - 1 ? 1 : 2;
    EXPECT_EQ(plan.ghosts(), 128 * neighbours);
    EXPECT_EQ(plan.interior_rows(), plan.own_rows() - 128 * neighbours);
    EXPECT_EQ(plan.how(), "host memory");
    EXPECT_EQ(plan.algorithm(), spmm_algorithm::row_groups);
    EXPECT_THAT(plan.reason(), testing::StartsWith("rows distributed over " + std::to_string(comm.size()) + " ranks"));
    dense_matrix<double, host> x(ctx, plan.local_columns(), 4);
    dense_matrix<double, host> y(ctx, plan.own_rows(), 4);
    EXPECT_THROW(plan.run(1.0, dense_view<double, host>{x.rows(), 3, 4, x.view().data}, 0.0, y), error);
    EXPECT_THROW(plan.run(1.0, x, 0.0, dense_view<double, host>{y.rows() - 1, 4, 4, y.view().data}), error);
    const distributed_spmm_plan<double, host> none(comm, ctx, a, 0);
    none.run(1.0, dense_matrix<double, host>(ctx, none.local_columns(), 0).view(), 0.0,
             dense_matrix<double, host>(ctx, none.own_rows(), 0).view());
  });
}

TEST(DistributedMatrix, OverlapsWhatNeedsNothingOfOthers) {
  on_ranks([](const communicator& comm) {
    const context<host> ctx = test::context_of(comm);
    const distributed_matrix<double> a(
        comm, ctx, generate_part<double, std::int64_t>(ctx, "gen:laplacian2d:n=128", comm.rank(), comm.size()).view());
    const distributed_spmv_plan<double, host> plan(comm, ctx, a);
    const int neighbours = comm.size() == 1 ? 0 : comm.rank() == 0 || comm.rank() == comm.size() - 1 ? 1 : 2;
    EXPECT_EQ(plan.ghosts(), 128 * neighbours);
    EXPECT_EQ(plan.interior_rows(), plan.own_rows() - 128 * neighbours);
  });
}

TEST(DistributedMatrix, SumsDuplicatesInTheOrderOfTheFile) {
  const context<host> one({.threads = 1});
  entries all(one, 300, 300, 900);
  for (std::int64_t k = 0; k < 900; ++k) {  // three duplicates of each entry; the sum depends on the order
    all.row_indices()[k] = (k * 7) % 300;
    all.col_indices()[k] = (k * 11) % 300;
    all.values()[k] = k < 300 ? 1e17 : k < 600 ? 0.1 * static_cast<double>(k) : -1e17;
  }
  const std::vector<double> expected = expected_of(all);
  on_ranks([&](const communicator& comm) {
    const context<host> ctx = test::context_of(comm);
    const std::int64_t first = 900 * comm.rank() / comm.size();
    const std::int64_t size = 900 * (comm.rank() + 1) / comm.size() - first;
    entries share(ctx, 300, 300, size);
    std::copy_n(all.row_indices().data() + first, size, share.row_indices().data());
    std::copy_n(all.col_indices().data() + first, size, share.col_indices().data());
    std::copy_n(all.values().data() + first, size, share.values().data());
    EXPECT_EQ(multiply(comm, ctx, share), expected);
  });
}

TEST(GenerateParts, AreTheWhole) {
  const context<host> ctx;
  for (const char* spec :
       {"gen:rmat:scale=8,degree=5", "gen:uniform:rows=777,degree=3", "gen:powerlaw:rows=900,degree=4",
        "gen:banded:rows=9000,degree=3", "gen:laplacian3d:n=19,points=27", "gen:star:n=9", "gen:path:n=1"}) {
    SCOPED_TRACE(spec);
    const entries all = generate<double, std::int64_t>(ctx, spec);
    for (const int parts : {2, 3, 7}) {
      std::int64_t at = 0;
      for (int p = 0; p < parts; ++p) {
        const entries part = generate_part<double, std::int64_t>(ctx, spec, p, parts);
        ASSERT_LE(at + part.nnz(), all.nnz());
        for (std::int64_t k = 0; k < part.nnz(); ++k, ++at) {
          ASSERT_EQ(part.row_indices()[k], all.row_indices()[at]);
          ASSERT_EQ(part.col_indices()[k], all.col_indices()[at]);
          ASSERT_EQ(part.values()[k], all.values()[at]);
        }
      }
      EXPECT_EQ(at, all.nnz());
    }
  }
}

// --- Files ---

// A file visible to all ranks, written by the first.
class shared_file {
 public:
  shared_file(const communicator& comm, const std::string& name, const std::string& text)
      : path_(std::filesystem::temp_directory_path() /
              ("spargo-dist-" + std::to_string(comm.all_gather(static_cast<std::int64_t>(::getpid())).front()) + name)),
        comm_(comm) {
    if (comm.rank() == 0) std::ofstream(path_, std::ios::binary) << text;
    comm.barrier();
  }
  ~shared_file() {
    if (comm_.rank() != 0) return;
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
  const communicator& comm_;
};

std::string market(const std::string& banner, std::int64_t n, std::int64_t entries_said, std::int64_t lines,
                   bool lower) {
  std::string text = "%%MatrixMarket matrix coordinate " + banner + "\n% a comment\n" + std::to_string(n) + " " +
                     std::to_string(n) + " " + std::to_string(entries_said) + "\n";
  for (std::int64_t k = 0; k < lines; ++k) {
    std::int64_t i = 1 + k * 13 % n;
    std::int64_t j = 1 + k * k % n;
    if (lower && i < j) std::swap(i, j);
    text += std::to_string(i) + " " + std::to_string(j) + " " + std::to_string(k % 17 - 8) + "\n";
    if (k % 50 == 3) text += "% between entries\n\n";
  }
  return text;
}

template <class Read>
std::string message_of(const Read& read) {
  try {
    (void)read();
    return "no error";
  } catch (const error& e) {
    return e.what();
  }
}

void expect_same_matrix(const communicator& comm, const std::string& path) {
  const context<host> ctx = test::context_of(comm);
  matrix_market_summary met;
  matrix_market_summary expected_met;
  const entries share = read_matrix_market_stored<double>(comm, ctx, path, {}, &met);
  const entries all = read_matrix_market_stored<double, std::int64_t>(ctx, path, {}, &expected_met);
  EXPECT_EQ(met.stored, expected_met.stored);
  EXPECT_EQ(met.expanded, expected_met.expanded);
  EXPECT_EQ(comm.all_gather(span<const std::int64_t, host>(share.row_indices())),
            std::vector<std::int64_t>(all.row_indices().begin(), all.row_indices().end()));
  EXPECT_EQ(comm.all_gather(span<const double, host>(share.values())),
            std::vector<double>(all.values().begin(), all.values().end()));
  EXPECT_EQ(multiply(comm, ctx, share, met.header.symmetry), expected_of(all, met.header.symmetry));
}

TEST(DistributedReading, MatrixMarketFiles) {
  on_ranks([](const communicator& comm) {
    for (const std::string& text :
         {market("real general", 500, 3000, 3000, false), market("integer symmetric", 300, 900, 900, true),
          market("real skew-symmetric", 1000, 0, 0, true), market("real general", 10, 2, 2, false),
          std::string("%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n"),
          std::string("%%MatrixMarket matrix coordinate real symmetric\n4 4 3\n2 1 5\n1 3 6\n4 4 7")}) {
      const shared_file file(comm, ".mtx", text);
      expect_same_matrix(comm, file.path());
    }
    const shared_file zipped(comm, ".mtx.gz", test::gzip(market("real general", 50, 300, 300, false)));
    expect_same_matrix(comm, zipped.path());
  });
}

TEST(DistributedReading, EveryRangeIsRead) {  // by its own rank, and in parallel
  on_ranks([](const communicator& comm) {
    const shared_file file(comm, ".mtx", market("real general", 500, 3000, 3000, false));
    const auto share = read_matrix_market_stored<double>(comm, test::context_of(comm), file.path());
    EXPECT_GT(share.nnz(), 3000 / comm.size() / 2);
  });
}

TEST(DistributedReading, TheSameErrorForAnyNumberOfRanks) {
  on_ranks([](const communicator& comm) {
    const context<host> ctx = test::context_of(comm);
    const std::string good = market("real general", 500, 3000, 3000, false);
    const auto spoil = [&](std::size_t at, const std::string& line) {
      std::string text = good;
      return text.insert(text.find('\n', at) + 1, line);
    };
    const std::vector<std::string> bad{
        spoil(good.size() - 20, "1 2 x\n"),                         // in the last range
        spoil(good.size() / 2, "501 1 1\n"),                        // outside
        spoil(good.size() / 3, "1 1 1 1\n") + "x\n",                // the first of two counts
        market("real general", 500, 3001, 3000, false),             // too few
        market("real general", 500, 2999, 3000, false),             // too many
        market("real general", 500, 100, 3000, false) + "1 1 y\n",  // too many before a bad line
        spoil(good.size() / 2, "1 1 " + std::string(3 << 20, ' ') + "1\n"),
        "%%MatrixMarket matrix coordinate real symmetric\n4 4 3\n2 1 5\n1 2 6\n4 4 7\n",
        "%%MatrixMarket matrix coordinate real general\n4 4\n",
        "%%MatrixMarket matrix coordinate complex general\n4 4 1\n1 1 1 1\n",
        "no\n",
        ""};
    for (std::size_t k = 0; k < bad.size(); ++k) {
      SCOPED_TRACE(k);
      const shared_file file(comm, ".mtx", bad[k]);
      const std::string expected =
          message_of([&] { return read_matrix_market_stored<double, std::int64_t>(ctx, file.path()); });
      EXPECT_NE(expected, "no error");
      EXPECT_EQ(message_of([&] { return read_matrix_market_stored<double>(comm, ctx, file.path()); }), expected);
    }
    EXPECT_EQ(message_of([&] { return read_matrix_market_stored<double>(comm, ctx, "/nowhere.mtx"); }),
              message_of([&] { return read_matrix_market_stored<double, std::int64_t>(ctx, "/nowhere.mtx"); }));
  });
}

TEST(DistributedReading, EdgeLists) {
  on_ranks([](const communicator& comm) {
    const context<host> ctx = test::context_of(comm);
    std::string plain = "# some comments\n# to begin with\n";
    std::string sparse = "from,to,weight\n";
    for (std::int64_t k = 0; k < 2000; ++k) {
      plain += std::to_string(k * 17 % 400 + 3) + "\t" + std::to_string(k * k % 401) + "\n";
      sparse += std::to_string(k * 1000003 % 700 * 1234567890123) + "," + std::to_string(k % 5) + "," +
                std::to_string(k) + ".5\n";
    }
    std::string halves;  // of 600 bytes each, the second one with weights: two ranges that are right by themselves
    for (int k = 0; k < 100; ++k) halves += "11 22\n";
    for (int k = 0; k < 75; ++k) halves += "1 2 345\n";
    const std::string comments(100000, '%');
    std::string tabled;
    for (int k = 0; k < 500; ++k) {
      tabled += std::to_string(k) + "," + std::to_string(k % 17) + ",\"a, b\"," + std::to_string(k % 29) + ",0.5\n";
    }
    std::string names;
    std::string weighted_names;
    for (int k = 0; k < 400; ++k) {
      names += "\"name " + std::to_string(k * 7 % 90) + "\",other " + std::to_string(k * 3 % 110) + "\n";
      weighted_names +=
          "n" + std::to_string(k * 5 % 70) + ",m" + std::to_string(k % 33) + "," + std::to_string(k) + "\n";
    }
    std::vector<std::string> texts{halves,
                                   plain,
                                   sparse,
                                   comments + "\nu v\n1 2\n2 3",
                                   "id,target,x,source,weight\n" + tabled,
                                   "a,b\n1,2\n3,4\n5,6\n1,7\n",
                                   "source;target;w\n1;2;0,5\n2;3;1,5\n3;4;7\n4;5;0,25\n",
                                   "% bip unweighted\n% 4 3 2\n1 1\n2 1\n2 2\n3 2\n",
                                   "# nothing\n",
                                   "5 5\n",
                                   plain + "1 2 3\n",
                                   "1 2 3\n" + plain,
                                   plain + "1 x\n",
                                   "1 2\n1 2\nfrom to\n1 2\n1 2\n",
                                   std::string(5000, '1') + " 2\n" + plain,
                                   plain + "\"a\",\"b\"\n" + plain,
                                   "alice,bob\n",
                                   "sep=;\nsource;target;weight\n1;2;0,5\n2;3;1\n3;4;2\n",
                                   "sep=|\n1|2\n2|3\n3|4\n",
                                   ",A,B\nA,0,1\nB,1,0\n",
                                   "1,2,0,5\n2,3,1,25\n",
                                   "1,2,\"0,5\"\n2,3,\"1,25\"\n",
                                   "1 2\r2 3\r",
                                   "1 2\n2 3\n3 4\n# c\r4 5\n5 6\n",
                                   "digraph G {\n a -> b;\n}\n",
                                   "Person,Friend,Since\nalice,bob,2001\nbob,carol,2002\n",
                                   names,
                                   "# comment\nsource,target,weight\n" + weighted_names,
                                   names + "\"open,quote\n"};
    for (std::size_t k = 0; k < texts.size(); ++k) {
      SCOPED_TRACE(k);
      const shared_file file(comm, ".el", texts[k]);
      edge_list<std::int64_t> all;
      const std::string expected = message_of([&] { return all = read_edge_list<std::int64_t>(ctx, file.path()), 0; });
      distributed_edge_list list;
      EXPECT_EQ(message_of([&] { return list = read_edge_list(comm, ctx, file.path()), 0; }), expected);
      if (expected != "no error") continue;
      EXPECT_EQ(list.weighted, all.weighted);
      EXPECT_EQ(list.stored, all.edges.nnz());
      EXPECT_EQ(list.first_vertex, all.first_vertex);
      EXPECT_EQ(list.edges.rows(), all.edges.rows());
      EXPECT_EQ(list.names.size(), all.names.size());
      for (std::int64_t v = 0; v < all.names.size(); ++v) EXPECT_EQ(list.names.name(v), all.names.name(v));
      EXPECT_EQ(comm.all_gather(span<const std::int64_t, host>(list.ids)), all.ids);
      EXPECT_EQ(comm.all_gather(span<const std::int64_t, host>(list.edges.row_indices())),
                std::vector<std::int64_t>(all.edges.row_indices().begin(), all.edges.row_indices().end()));
      EXPECT_EQ(comm.all_gather(span<const std::int64_t, host>(list.edges.col_indices())),
                std::vector<std::int64_t>(all.edges.col_indices().begin(), all.edges.col_indices().end()));
      EXPECT_EQ(comm.all_gather(span<const double, host>(list.edges.values())),
                std::vector<double>(all.edges.values().begin(), all.edges.values().end()));
    }
  });
}

// The first line of a rank's range may be the one with blanks within a number.
TEST(DistributedReading, NumbersWithBlanksAreRefusedOnEveryRank) {
  on_ranks([](const communicator& comm) {
    const context<host> ctx = test::context_of(comm);
    const std::string line = "11,22,33\n";
    constexpr std::int64_t lines = 8000;
    for (int rank = 0; rank < comm.size(); ++rank) {
      for (std::int64_t k = lines * rank / comm.size() - 1; k < lines * rank / comm.size() + 2; ++k) {
        if (k < 0) continue;
        std::string text;
        for (std::int64_t i = 0; i < lines; ++i) text += i == k ? "1 1,22,3\n" : line;
        const shared_file file(comm, ".csv", text);
        const std::string said = message_of([&] { return read_edge_list(comm, ctx, file.path()); });
        EXPECT_NE(said.find(":" + std::to_string(k + 1) + ":1: blanks within the number '1 1'"), std::string::npos)
            << k << ": " << said;
      }
    }
  });
}

// --- Conjugate gradients --------------------------------------------------------------------------------------------

TEST(DistributedCg, SolvesTheLaplaceEquation) {
  on_ranks([](const communicator& comm) {
    const context<host> ctx = test::context_of(comm);
    const distributed_matrix<double> a(
        comm, ctx, generate_part<double, std::int64_t>(ctx, "gen:laplacian2d:n=40", comm.rank(), comm.size()).view());
    const distributed_spmv_plan<double, host> plan(comm, ctx, a);
    const auto n = static_cast<std::size_t>(plan.own_rows());
    std::vector<double> solution(static_cast<std::size_t>(plan.local_columns()));
    for (std::size_t i = 0; i < n; ++i) {
      solution[i] = x_of(a.row_parts().first(comm.rank()) + static_cast<std::int64_t>(i));
    }
    std::vector<double> b(n);
    plan.run(1.0, solution, 0.0, b);
    std::vector<double> x(n, 0.0);
    const cg_result found = distributed_cg(plan, b, x, {.tolerance = 1e-12});
    EXPECT_TRUE(found.converged);
    EXPECT_LT(found.iterations, 250);
    for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(x[i], solution[i], 1e-9);
    std::vector<double> early(n, 0.0);
    EXPECT_FALSE(distributed_cg(plan, b, early, {.max_iterations = 3}).converged);
  });
}

// Norms whose squares over- or underflow: the same bits, times a power of 2.
TEST(DistributedCg, SolvesForRightSidesNearTheEndsOfTheRange) {
  on_ranks([](const communicator& comm) {
    const context<host> ctx = test::context_of(comm);
    const distributed_matrix<double> a(
        comm, ctx, generate_part<double, std::int64_t>(ctx, "gen:laplacian2d:n=10", comm.rank(), comm.size()).view());
    const distributed_spmv_plan<double, host> plan(comm, ctx, a);
    const auto n = static_cast<std::size_t>(plan.own_rows());
    std::vector<double> b(n);
    for (std::size_t i = 0; i < n; ++i) b[i] = x_of(a.row_parts().first(comm.rank()) + static_cast<std::int64_t>(i));
    std::vector<double> plain(n, 0.0);
    ASSERT_TRUE(distributed_cg(plan, b, plain, {.tolerance = 1e-12}).converged);
    for (const int exponent : {-1000, -665, 0, 520, 665, 1000}) {
      std::vector<double> scaled(n);
      for (std::size_t i = 0; i < n; ++i) scaled[i] = std::ldexp(b[i], exponent);
      std::vector<double> x(n, 0.0);
      const cg_result found = distributed_cg(plan, scaled, x, {.tolerance = 1e-12});
      EXPECT_TRUE(found.converged) << exponent;
      for (std::size_t i = 0; i < n; ++i) {
        ASSERT_NEAR(std::ldexp(x[i], -exponent), plain[i], 1e-9 * std::abs(plain[i])) << exponent;
      }
    }
    for (const double bad : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
      std::vector<double> wrong = b;
      if (comm.rank() == comm.size() - 1 && n > 0) wrong[n - 1] = bad;
      if (comm.all_reduce(comm.rank() == comm.size() - 1 ? plan.own_rows() : 0, reduction::sum) == 0) continue;
      std::vector<double> x(n, 0.0);
      EXPECT_THROW(distributed_cg(plan, wrong, x), agreed_error);
    }
  });
}

TEST(DistributedCg, RefusesWhatIsNotPositiveDefinite) {
  on_ranks([](const communicator& comm) {
    const context<host> ctx = test::context_of(comm);
    const distributed_matrix<double> a(
        comm, ctx, generate_part<double, std::int64_t>(ctx, "gen:path:n=400", comm.rank(), comm.size()).view());
    const distributed_spmv_plan<double, host> plan(comm, ctx, a);
    std::vector<double> b(static_cast<std::size_t>(plan.own_rows()));
    for (std::size_t i = 0; i < b.size(); ++i) {
      b[i] = (a.row_parts().first(comm.rank()) + static_cast<std::int64_t>(i)) % 2 == 0 ? 1.0 : -1.0;
    }
    std::vector<double> x(b.size(), 0.0);
    EXPECT_THROW(distributed_cg(plan, b, x), agreed_error);
  });
}

}  // namespace
}  // namespace spargo
