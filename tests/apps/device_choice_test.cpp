// CPU or GPU: sizes and free memory are given, so the choice needs neither a GPU nor a large graph.
#include "placement/device_choice.hpp"

#include "apps/run_app.hpp"
#include "placement/ranks.hpp"
#include "support/suites.hpp"

#include <spargo/core/error.hpp>
#include <spargo/io/generate.hpp>

namespace spargo::apps {
namespace {

using test::app_run;
using test::expect_failure;
using test::run_app;

constexpr std::int64_t gigabyte = 1'000'000'000;

search_size social() {
  return {.vertices = 4'000'000,
          .entries = 128'000'000,
          .branching = 160'000,
          .graph_bytes = 3 * gigabyte,
          .workspace_bytes = gigabyte};
}

std::string why(const std::string& device, const search_size& search, std::int64_t free_bytes = 100 * gigabyte) {
  return reason_for_cpu(device, "H9", search, free_bytes);
}

TEST(DeviceChoice, TheFirstGpuThatOpensIsTaken) {
  std::vector<int> tried;
  const auto only = [&](int working) {
    return [&tried, working](int ordinal) {
      tried.push_back(ordinal);
      if (ordinal != working) throw error(error_code::device_unavailable, "busy " + std::to_string(ordinal));
    };
  };
  const opened_device second = open_first({1, 3, 5}, only(3));
  EXPECT_EQ(second.ordinal, 3);
  EXPECT_EQ(tried, (std::vector<int>{1, 3}));
  const opened_device none = open_first({1, 3}, only(7));
  EXPECT_EQ(none.ordinal, -1);
  EXPECT_EQ(none.refusal, "busy 1");
  EXPECT_EQ(open_first({}, only(0)).ordinal, -1);
}

template <class F>
std::string refusal_of(F&& f) {
  try {
    (void)f();
    return "no error";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), error_code::device_unavailable);
    return e.what();
  }
}

TEST(DeviceChoice, DevicesAreCountedOrNamed) {
  const device_status three{3, "H9", {0, 2, 5}};
  EXPECT_EQ(find_devices("2", three), (std::vector<int>{0, 2}));
  EXPECT_EQ(find_devices("3", three), (std::vector<int>{0, 2, 5}));
  EXPECT_EQ(find_devices("5,0,5", three), (std::vector<int>{5, 0, 5}));
  EXPECT_EQ(refusal_of([&] { return find_devices("4", three); }), "--devices 4: 3 GPUs are usable (expected no more)");
  EXPECT_EQ(refusal_of([&] { return find_devices("0,1", three); }),
            "--devices 0,1: no usable GPU 1 (expected 0, 2, 5)");
  EXPECT_EQ(refusal_of([] {
              return find_devices("1", {0, "no driver", {}});
            }),
            "--devices 1: no usable GPU: no driver");
}

TEST(DeviceChoice, ProcessesOfAHostTakeItsGpusInTurn) {
  const device_status three{3, "H9", {0, 2, 5}};
  const auto taken = [&](const std::string& device, const std::string& devices) {
    std::vector<int> all;
    for (int local = 0; local < 5; ++local) all.push_back(device_of_process(device, devices, three, local));
    return all;
  };
  EXPECT_EQ(taken("cuda", ""), (std::vector<int>{0, 2, 5, 0, 2}));
  EXPECT_EQ(taken("cuda:2", ""), (std::vector<int>{2, 2, 2, 2, 2}));
  EXPECT_EQ(taken("auto", "2"), (std::vector<int>{0, 2, 0, 2, 0}));
  EXPECT_EQ(taken("cuda", "5,0"), (std::vector<int>{5, 0, 5, 0, 5}));
  EXPECT_EQ(refusal_of([&] { return device_of_process("cuda:1", "", three, 0); }),
            "--device cuda:1: no usable GPU 1 (expected 0, 2, 5)");
  EXPECT_EQ(refusal_of([&] { return device_of_process("auto", "4", three, 0); }),
            "--devices 4: 3 GPUs are usable (expected no more)");
  EXPECT_EQ(refusal_of([] {
              return device_of_process("cuda", "", {0, "no driver", {}}, 3);
            }),
            "--device cuda: no usable GPU: no driver");
}

TEST(DeviceChoice, RanksFitTogetherOrSayWhatEachNeeds) {
  const std::int64_t mega = 1'000'000;
  EXPECT_EQ(reason_against_ranks({5 * mega, 7 * mega}, {0, 1}, 7 * mega), "");
  EXPECT_EQ(reason_against_ranks({5 * mega, 7 * mega}, {0, 1}, 7 * mega - 1),
            "the ranks need 5 MB, 7 MB of device memory (expected at most 7 MB: --max-device-memory): 2 GPUs or more "
            "would do");
  EXPECT_EQ(reason_against_ranks({5 * mega, 7 * mega}, {0, 0}, 12 * mega), "");
  EXPECT_NE(reason_against_ranks({5 * mega, 7 * mega}, {0, 0}, 12 * mega - 1), "");
  EXPECT_EQ(reason_against_ranks({5 * mega, 7 * mega, 2 * mega}, {0, 1, 0}, 6 * mega),
            "the ranks need 5 MB, 7 MB, 2 MB of device memory, 7 MB on one GPU (expected at most 6 MB: "
            "--max-device-memory): 3 GPUs or more would do");
}

TEST(DeviceChoice, GhostsAreCountedOnce) {
  run_team(3, [](const communicator& comm) {
    const context<host> cpu({.threads = 1});
    const auto share = generate_part<pattern, std::int64_t>(cpu, "gen:star:n=600", comm.rank(), comm.size());
    const distributed_graph<std::int32_t> g(comm, cpu, share.view(), {direction_kind::undirected});
    const std::int64_t first = comm.rank() == g.parts().owner(0) ? g.vertices() - g.parts().count(comm.rank()) : 1;
    const rank_share own = share_of(comm, g);
    EXPECT_EQ(own.ghosts, g.parts().count(comm.rank()) == 0 ? 0 : first);
    EXPECT_EQ(own.rows, g.parts().count(comm.rank()));
    EXPECT_EQ(own.out_entries, g.out().nnz());
    EXPECT_EQ(share_of(comm, g, ghost_count::omit).ghosts, 0);
  });
}

TEST(DeviceChoice, AGraphThatFitsGoesToTheGpu) {
  for (const char* device : {"auto", "cuda", "cuda:1"}) {
    EXPECT_EQ(why(device, social()), "") << device;
    EXPECT_EQ(why(device, social(), 4 * gigabyte), "") << device;  // to the byte
  }
}

TEST(DeviceChoice, AutoFallsBackWhenMemoryIsShort) {
  EXPECT_EQ(why("auto", social(), 4 * gigabyte - 1),
            "the search needs 4 GB of device memory (graph 3 GB, workspace 1 GB), 4 GB of H9 are free");
  EXPECT_EQ(why("auto", social(), 0),
            "the search needs 4 GB of device memory (graph 3 GB, workspace 1 GB), 0 bytes of H9 are free");
}

TEST(DeviceChoice, AGpuAskedForRefusesWhatDoesNotFit) {
  search_size gpu_only = social();
  gpu_only.runs_on_cpu = false;
  for (const auto& [device, search] :
       {std::pair("cuda", social()), std::pair("cuda:0", social()), std::pair("auto", gpu_only)}) {
    try {
      (void)why(device, search, gigabyte);
      ADD_FAILURE() << device << " accepted 4 GB where 1 GB is free";
    } catch (const error& e) {
      EXPECT_EQ(e.code(), error_code::out_of_memory);
      EXPECT_STREQ(e.what(),
                   "the search needs 4 GB of device memory (graph 3 GB, workspace 1 GB), 1 GB of H9 are free");
    }
  }
}

TEST(DeviceChoice, WhatCannotFitIsKnownBeforeTheWork) {
  const auto why_not = [](const char* device, std::int64_t free_bytes, bool runs_on_cpu) {
    return reason_against_memory(device, "H9", 4 * gigabyte, free_bytes, runs_on_cpu);
  };
  const std::string says = "it takes at least 4 GB of device memory; 3 GB of H9 are free";
  EXPECT_EQ(why_not("auto", 3 * gigabyte, true), says);
  for (const char* device : {"auto", "cuda", "cuda:1"}) {
    EXPECT_EQ(why_not(device, 4 * gigabyte, true), "");  // to the byte
    try {
      (void)why_not(device, 3 * gigabyte, std::string(device) != "auto");
      ADD_FAILURE() << device;
    } catch (const error& e) {
      EXPECT_EQ(e.code(), error_code::out_of_memory);
      EXPECT_EQ(e.what(), says);
    }
  }
}

TEST(DeviceChoice, SmallGraphsAreTheCpusUnderAuto) {
  search_size search{.vertices = 100'000, .entries = 300'000, .branching = 500};
  EXPECT_EQ(why("auto", search),
            "a graph of 100,000 vertices and 300,000 edges is searched faster on the CPU than on H9");
  EXPECT_EQ(why("cuda", search), "");
  search.entries += 1;
  EXPECT_EQ(why("auto", search), "");
  search_size gpu_only{.vertices = 1000, .entries = 4000, .branching = 500};
  EXPECT_NE(why("auto", gpu_only), "");
  gpu_only.runs_on_cpu = false;
  EXPECT_EQ(why("auto", gpu_only), "");
}

TEST(DeviceChoice, TheCpusOwnAlgorithmIsTheCpusUnderAuto) {
  search_size cpu_only = social();
  cpu_only.runs_on_gpu = false;
  EXPECT_EQ(why("auto", cpu_only), "this algorithm runs on the CPU only");
  EXPECT_EQ(why("cuda", cpu_only), "");  // whose search then says what it does not have
}

TEST(DeviceChoice, PathsAreTheCpusUnderAutoWhateverTheirSize) {
  search_size path{.vertices = 50'000'000, .entries = 100'000'000, .branching = 1};
  EXPECT_NE(why("auto", path), "");
  EXPECT_EQ(why("cuda", path), "");
  path.branching = 2;
  EXPECT_EQ(why("auto", path), "");
}

TEST(DeviceChoice, AGpuIsOpenedForWhatTakesTheCpuLonger) {
  EXPECT_EQ(reason_against_opening({1'000'000, 100, 16}),
            "opening a GPU takes longer than 1,000,000 entries on the CPU");
  EXPECT_NE(reason_against_opening({1'000'000, 100, 1}), "");
  EXPECT_EQ(reason_against_opening({100'000'000, 100, 16}), "");
  EXPECT_EQ(reason_against_opening({10'000'000, 100, 1}), "");
  EXPECT_NE(reason_against_opening({10'000'000, 100, 16}), "");
  EXPECT_EQ(reason_against_opening({10'000'000, 10'000, 16}), "") << "work enough";
  EXPECT_NE(reason_against_opening({0, 100, 1}), "");
}

TEST(DeviceChoice, AutoSaysThatASmallGraphIsNotWorthAGpu) {
  for (const char* command : {"bfs", "components", "pagerank"}) {
    const auto report = run_app(command, {"--json", "-", "--device", "auto", "gen:path:n=500"}).json();
    EXPECT_EQ(report["device"], "cpu");
    EXPECT_EQ(report["device_reason"], config::has_cuda ? "opening a GPU takes longer than 998 entries on the CPU"
                                                        : "no usable GPU: this library was built without CUDA");
  }
  const auto report = run_app("bfs", {"--json", "-", "--algorithm", "sequential", "gen:path:n=500"}).json();
  EXPECT_EQ(report["device_reason"], "this algorithm runs on the CPU only");
}

TEST(DeviceChoice, AWorkspaceIsAtMost24BytesAVertexAndSomeEdges) {
  const std::int64_t base = search_workspace_bytes(0, 0, 4);
  EXPECT_EQ(search_workspace_bytes(1000, 0, 4) - base, 24'000);
  EXPECT_EQ(search_workspace_bytes(1000, 0, 8) - base, 32'000);
  EXPECT_EQ(search_workspace_bytes(0, 3200, 4) - base, 100);
}

TEST(DeviceChoice, WithoutAGpuNothingChanges) {
  backend chosen = choose_backend("cpu", 1);
  settle_backend(chosen, "cpu", social(), 1);
  EXPECT_EQ(chosen.name, "cpu");
  EXPECT_EQ(chosen.reason, "as asked for");
}

TEST(DeviceChoice, BfsTakesALimitOfDeviceMemory) {
  expect_failure(run_app("bfs", {"--max-device-memory", "lots", "gen:path:n=5"}), "bfs", 2);
  const app_run run = run_app("bfs", {"--json", "-", "--device", "cpu", "--max-device-memory", "1M", "gen:path:n=5"});
  EXPECT_EQ(run.code, 0) << run.err;
}

class DeviceChoiceOnGpu : public test::device_suite {};

TEST_F(DeviceChoiceOnGpu, BfsRefusesBeforeTheUpload) {
  const app_run run =
      run_app("bfs", {"--device", "cuda", "--max-device-memory", "2M", "gen:uniform:rows=100000,degree=8"});
  expect_failure(run, "bfs", 1, ": it takes at least ");
  EXPECT_NE(run.err.find(" of device memory; 2 MB of "), std::string::npos) << run.err;
}

TEST_F(DeviceChoiceOnGpu, BfsFallsBackAndSaysWhy) {
  const std::vector<std::string> flags = {
      "--json", "-", "--device", "auto", "--threads", "1", "gen:uniform:rows=400000,degree=8"};
  const app_run fits = run_app("bfs", flags);
  ASSERT_EQ(fits.code, 0) << fits.err;
  EXPECT_EQ(fits.json()["device"], "cuda:0");
  std::vector<std::string> limited = flags;
  limited.insert(limited.end(), {"--max-device-memory", "2M"});
  const app_run falls_back = run_app("bfs", limited);
  ASSERT_EQ(falls_back.code, 0) << falls_back.err;
  const auto report = falls_back.json();
  EXPECT_EQ(report["device"], "cpu");
  EXPECT_NE(report["device_reason"].get<std::string>().find("at least"), std::string::npos);
  EXPECT_EQ(report["runs"][0]["levels"], fits.json()["runs"][0]["levels"]);
}

TEST_F(DeviceChoiceOnGpu, BfsLeavesSmallGraphsToTheCpu) {
  const auto device = [](const std::string& asked, const std::string& graph) {
    return run_app("bfs", {"--json", "-", "--device", asked, graph}).json()["device"].get<std::string>();
  };
  EXPECT_EQ(device("auto", "gen:grid2d:n=200"), "cpu");
  EXPECT_EQ(device("cuda", "gen:grid2d:n=200"), "cuda:0");
  EXPECT_EQ(device("auto", "gen:rmat:scale=14,degree=16"), "cpu");
  EXPECT_EQ(device("cuda", "gen:rmat:scale=14,degree=16"), "cuda:0");
  const auto alone = [](const std::string& graph) {
    return run_app("bfs", {"--json", "-", "--threads", "1", graph}).json()["device"].get<std::string>();
  };
  EXPECT_EQ(alone("gen:rmat:scale=18,degree=16"), "cuda:0");
  EXPECT_EQ(alone("gen:path:n=4000000"), "cpu") << "a path, found to be one when it is there";
}

}  // namespace
}  // namespace spargo::apps
