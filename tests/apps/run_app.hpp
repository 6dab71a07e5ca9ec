// Runs an app as a shell would and keeps its output.
#pragma once

#include "cli/paths.hpp"

#include "support/data.hpp"
#include "support/device.hpp"
#include "support/folders.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
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

  // Standard output as JSON; null and a failed expectation if it is not JSON.
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

// A temporary folder for a test.
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

// Whether a command is a separate program instead of `spargo COMMAND`.
inline bool is_program(const std::string& app) { return app == "spargo" || app == "bfs" || app == "spmv"; }

// The name of a command in its messages: "bfs", "spargo info".
inline std::string called(const std::string& app) {
  if (!is_program(app)) return "spargo " + app;
  return (app == "spargo" ? "" : apps::program_prefix) + app;
}

// The words before a command's arguments: the program and, if different, the command.
inline std::vector<std::string> words_before(const std::string& app) {
  const std::string folder = program_folder() + "/";
  if (is_program(app)) return {folder + called(app)};
  return {folder + "spargo", app};
}

// For exec: valid as long as the words are.
inline std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  return argv;
}

inline std::vector<std::string> command_line(const std::string& app, const std::vector<std::string>& arguments) {
  std::vector<std::string> words = words_before(app);
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

// Replaces MARK followed by a command's name by the words that run it.
inline std::string with_programs(const std::string& line, const std::string& mark) {
  std::string text;
  std::size_t at = 0;
  for (std::size_t found = 0; (found = line.find(mark, at)) != std::string::npos;) {
    text += line.substr(at, found - at);
    found += mark.size();
    at = std::min(line.find_first_of(" \n", found), line.size());
    for (const std::string& word : words_before(line.substr(found, at - found))) text += "'" + word + "' ";
  }
  return text + line.substr(at);
}

// Under AddressSanitizer the search for leaks takes half of a short program's time. What commands leak is found where
// they run in the test's own process (run_here.hpp), whose options have been read by now.
inline const int programs_search_no_leaks = ::setenv("LSAN_OPTIONS", "detect_leaks=0", 1);

inline app_run run_app(const std::string& app, const std::vector<std::string>& arguments,
                       const std::string& output = std::string()) {
  const scratch folder;
  const std::string out = output.empty() ? folder / "out" : output;
  const std::string err = folder / "err";
  std::vector<std::string> words = command_line(app, arguments);
  const std::vector<char*> argv = pointers_to(words);

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

// A line for /bin/sh, in which $BIN/NAME runs the command NAME.
inline app_run run_shell(const std::string& line) {
  const scratch folder;
  const std::string script = folder.write("script", "(" + with_programs(line, "$BIN/") + "\n) < /dev/null > '" +
                                                        (folder / "out") + "' 2> '" + (folder / "err") + "'\n");
  const int status = std::system(("/bin/sh '" + script + "'").c_str());
  app_run run;
  run.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  run.out = slurp(folder / "out");
  run.err = slurp(folder / "err");
  return run;
}

// Every failure has the exit code, one line that begins with the command's name, and nothing on standard output.
inline void expect_failure(const app_run& run, const std::string& app, int code, const std::string& says = {}) {
  EXPECT_EQ(run.code, code) << run.err;
  EXPECT_EQ(run.out, "");
  EXPECT_TRUE(run.err.starts_with(called(app) + ": ")) << run.err;
  EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
  EXPECT_NE(run.err.find(says), std::string::npos) << "expected '" << says << "' in: " << run.err;
}

inline const nlohmann::json& truth() {
  static const nlohmann::json all = nlohmann::json::parse(slurp(data_directory() / "truth.json"));
  return all.at("files");
}

// The devices to run on: the CPU, and the GPU where there is one. A required but missing GPU is a failure.
inline std::vector<std::string> devices() {
  std::vector<std::string> list = {"cpu"};
  if (gpu().usable()) {
    take_gpu_turn();
    list.push_back("cuda");
  }
  if (!gpu().usable() && gpu_required()) ADD_FAILURE() << "a GPU is required: " << gpu().reason;
  return list;
}

}  // namespace spargo::test
