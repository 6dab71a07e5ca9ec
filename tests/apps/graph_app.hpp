// Shared by the end-to-end tests of graph commands: reports, the graphs with known results, keys and texts.
#pragma once

#include "apps/run_here.hpp"

#include <initializer_list>

namespace spargo::test {

// Runs a command and returns its JSON report: `const reporter run_on{"cores", {"--repeat", "1"}};`.
struct reporter {
  std::string command;
  std::vector<std::string> always;  // flags of every run

  nlohmann::json operator()(const std::string& file, std::vector<std::string> flags = {}) const {
    flags.insert(flags.end(), always.begin(), always.end());
    flags.insert(flags.end(), {"--json", "-", file});
    const app_run run = run_here(command, flags);
    EXPECT_EQ(run.code, 0) << command << ' ' << file << ": " << run.err;
    return run.code == 0 ? run.json() : nlohmann::json::object();
  }
};

// One run on the CPU.
inline reporter on_cpu(const std::string& command) { return {command, {"--device", "cpu", "--repeat", "1"}}; }

inline const nlohmann::json& truth_more() {
  static const nlohmann::json all = nlohmann::json::parse(slurp(data_directory() / "truth_more.json"));
  return all.at("files");
}

// The file's first vertex: Matrix Market counts from 1, the truth and edge lists from 0.
inline std::int64_t first_id(const std::string& name) { return name.find(".mtx") == std::string::npos ? 0 : 1; }

// Calls check(name, path, expected, facts) for each graph of truth_more.json whose facts have `key`, with
// expected = facts[key]. There must be more than `least`. Skips the test where the data folder is missing.
template <class Check>
void for_each_truth(const std::string& key, int least, const Check& check) {
  SPARGO_TEST_NEEDS_DATA();
  if (!std::filesystem::exists(data_directory() / "truth_more.json")) GTEST_SKIP() << "no truth_more.json";
  int files = 0;
  for (const auto& [name, facts] : truth_more().items()) {
    if (is_left_out(name)) continue;
    if (!facts.contains(key)) continue;
    SCOPED_TRACE(name);
    check(name, (data_directory() / name).string(), facts[key], facts);
    ++files;
  }
  EXPECT_GT(files, used_inputs(least));
}

inline void expect_keys(const nlohmann::json& report, std::initializer_list<const char*> keys) {
  for (const char* key : keys) EXPECT_TRUE(report.contains(key)) << key;
}
// The keys of every report on a graph, and the command's own.
inline void expect_graph_keys(const nlohmann::json& report, std::initializer_list<const char*> own) {
  expect_keys(report, {"app", "file", "vertices", "edges", "directed", "device", "threads", "algorithm", "load_ms",
                       "build_ms", "total_ms", "time_ms", "valid"});
  expect_keys(report, own);
}

inline void expect_texts(const std::string& output, std::initializer_list<const char*> texts) {
  for (const char* text : texts) EXPECT_NE(output.find(text), std::string::npos) << text << " in\n" << output;
}

}  // namespace spargo::test
