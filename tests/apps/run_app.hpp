// Runs an app as a shell would and keeps what it said.
#pragma once

#include "support/data.hpp"
#include "support/device.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

extern char** environ;

namespace spargo::test {

struct app_run {
  int code = -1;  // the exit code; 128 + the signal that ended it
  std::string out;
  std::string err;

  // Standard output as JSON; a failed expectation and null when it is none.
  [[nodiscard]] nlohmann::json json() const {
    nlohmann::json parsed = nlohmann::json::parse(out, nullptr, false);
    EXPECT_FALSE(parsed.is_discarded()) << "not JSON: " << out << "\nstderr: " << err;
    return parsed.is_discarded() ? nlohmann::json() : parsed;
  }
};

inline std::string slurp(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline void spill(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

// A folder of its own for each test, removed after it.
class scratch {
 public:
  scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "spargo-apps-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = name;
  }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  ~scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::filesystem::path path() const { return path_; }
  [[nodiscard]] std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  [[nodiscard]] std::string write(const std::string& name, const std::string& text) const {
    spill(path_ / name, text);
    return *this / name;
  }

 private:
  std::filesystem::path path_;
};

inline app_run run_app(const std::string& app, std::vector<std::string> arguments,
                       const std::string& output = std::string()) {
  const scratch folder;
  const std::string out = output.empty() ? folder / "out" : output;
  const std::string err = folder / "err";
  arguments.insert(arguments.begin(), std::string(SPARGO_BIN_DIR) + "/" + app);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&files, 1, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::posix_spawn_file_actions_addopen(&files, 2, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t child = 0;
  const int failed = ::posix_spawn(&child, argv[0], &files, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  if (failed != 0) {
    ADD_FAILURE() << "cannot run " << argv[0];
    return {};
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  app_run run;
  run.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  run.out = slurp(out);
  run.err = slurp(err);
  return run;
}

// A line for /bin/sh, in which $BIN is where the apps are.
inline app_run run_shell(const std::string& line) {
  const scratch folder;
  const std::string script =
      folder.write("script", "BIN='" + std::string(SPARGO_BIN_DIR) + "'\n(" + line + "\n) < /dev/null > '" +
                                 (folder / "out") + "' 2> '" + (folder / "err") + "'\n");
  const int status = std::system(("/bin/sh '" + script + "'").c_str());
  app_run run;
  run.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  run.out = slurp(folder / "out");
  run.err = slurp(folder / "err");
  return run;
}

// The contract of every failure: the code, one line that begins with the app's name, nothing on standard output.
inline void expect_failure(const app_run& run, const std::string& app, int code, const std::string& says = {}) {
  EXPECT_EQ(run.code, code) << run.err;
  EXPECT_EQ(run.out, "");
  EXPECT_TRUE(run.err.starts_with(app + ": ")) << run.err;
  EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
  EXPECT_NE(run.err.find(says), std::string::npos) << "expected '" << says << "' in: " << run.err;
}

inline const nlohmann::json& truth() {
  static const nlohmann::json all = nlohmann::json::parse(slurp(data_directory() / "truth.json"));
  return all.at("files");
}

// The devices to run on: the CPU, and the GPU where there is one. A required but missing GPU fails.
inline std::vector<std::string> devices() {
  std::vector<std::string> list = {"cpu"};
  if (gpu().usable()) list.push_back("cuda");
  if (!gpu().usable() && gpu_required()) ADD_FAILURE() << "a GPU is required: " << gpu().reason;
  return list;
}

}  // namespace spargo::test
