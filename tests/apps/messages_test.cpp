// What people see of an error and of progress: on a terminal, which the test is itself.
#include "apps/run_app.hpp"
#include "common/memory_limit.hpp"
#include "common/progress.hpp"
#include "common/source_line.hpp"

#include <gtest/gtest.h>
#include <pty.h>
#include <zlib.h>

namespace spargo::apps {
namespace {

using test::scratch;

// Standard output and error of a command whose terminal this is.
std::string on_a_terminal(const std::string& program, const std::string& argument) {
  int terminal = -1;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, nullptr);
  if (child == 0) {
    ::execl(program.c_str(), program.c_str(), argument.c_str(), nullptr);
    ::_exit(127);
  }
  std::string text;
  char buffer[4096];
  for (ssize_t got = 0; (got = ::read(terminal, buffer, sizeof(buffer))) > 0;) {
    text.append(buffer, static_cast<std::size_t>(got));
  }
  ::close(terminal);
  int status = 0;
  ::waitpid(child, &status, 0);
  return text;
}

TEST(source_line, shows_the_line_and_a_caret) {
  const scratch folder;
  const std::string path = folder.write("a.el", "1 2\n3\tsix\r\n\x01\xffx y\n");
  EXPECT_EQ(source_line({path, 2, 3}), "2 | 3 six\n      ^\n");
  EXPECT_EQ(source_line({path, 2, 6}), "2 | 3 six\n         ^\n") << "one past the end";
  EXPECT_EQ(source_line({path, 3, 1}), "3 | ..x y\n    ^\n");
  for (const source_position& nowhere :
       {source_position{path, 0, 0}, source_position{path, 4, 1}, source_position{path, 2, 60},
        source_position{path + "x", 1, 1}, source_position{"/dev/zero", 1, 1}, source_position{"", 1, 1}}) {
    EXPECT_EQ(source_line(nowhere), "") << nowhere.line;
  }
}

TEST(source_line, of_a_long_line_is_a_part) {
  const scratch folder;
  const std::string path = folder.write("a", std::string(100'000, 'a') + "X" + std::string(100'000, 'b') + "\n");
  const std::string shown = source_line({path, 1, 100'001});
  const std::string line = shown.substr(0, shown.find('\n'));
  EXPECT_LT(line.size(), 80U);
  EXPECT_EQ(shown.substr(line.size() + 1).find('^'), line.find('X'));
}

TEST(source_line, of_a_compressed_file_is_its_text) {
  const scratch folder;
  const std::string path = folder / "a.gz";
  const gzFile file = ::gzopen(path.c_str(), "wb");
  ::gzputs(file, "1 2\nx 3\n");
  ::gzclose(file);
  EXPECT_EQ(source_line({path, 2, 1}), "2 | x 3\n    ^\n");
}

TEST(source_line, is_for_terminals_only) {
  const scratch folder;
  const std::string path = folder.write("bad.el", "1 2\n3 six\n");
  const std::string program = std::string(SPARGO_BIN_DIR) + "/info";
  const std::string seen = on_a_terminal(program, path);
  EXPECT_NE(seen.find("bad.el:2:3: "), std::string::npos) << seen;
  EXPECT_NE(seen.find("2 | 3 six\r\n      ^\r\n"), std::string::npos) << seen;
  const test::app_run piped = test::run_app("info", {path});
  EXPECT_EQ(std::count(piped.err.begin(), piped.err.end(), '\n'), 1);
}

TEST(memory_limit, is_kept_and_given_back) {
  limited_resource memory(1000);
  void* const first = memory.allocate(600, nullptr);
  EXPECT_THROW((void)memory.allocate(401, nullptr), error);
  void* const second = memory.allocate(400, nullptr);
  memory.deallocate(first, 600, nullptr);
  memory.deallocate(memory.allocate(600, nullptr), 600, nullptr);
  EXPECT_THROW((void)memory.allocate(std::size_t{1} << 62, nullptr), error);
  memory.deallocate(second, 400, nullptr);
  memory.deallocate(memory.allocate(1000, nullptr), 1000, nullptr);
  memory.set_limit(10);
  EXPECT_THROW((void)memory.allocate(11, nullptr), error);
}

TEST(memory_limit, is_an_amount_with_a_unit) {
  std::int64_t bytes = 0;
  for (const auto& [text, expected] : {std::pair("1M", 1'000'000L), std::pair("2.5G", 2'500'000'000L),
                                       std::pair("1234567", 1'234'567L), std::pair("1T", 1'000'000'000'000L)}) {
    EXPECT_TRUE(parse_bytes(text, bytes)) << text;
    EXPECT_EQ(bytes, expected);
  }
  for (const char* text : {"", "G", "-1G", "1Q", "1GB", "0", "10", "nan", "inf", "1e9", "9999999999T", "1 G"}) {
    EXPECT_FALSE(parse_bytes(text, bytes)) << text;
  }
}

// 3 million entries take 48 MB of the host's memory: no app may, within 20 MB. (With a GPU, spmv would hold them
// there.)
TEST(memory_limit, ends_every_app_in_one_line) {
  const scratch folder;
  std::string text = "%%MatrixMarket matrix coordinate real general\n9 9 3000000\n";
  for (int k = 0; k < 3'000'000; ++k) text += "1 1 1\n";
  const std::string path = folder.write("a.mtx", text);
  for (const std::vector<std::string>& command : {std::vector<std::string>{"info", path},
                                                  {"convert", path, folder / "b.spg"},
                                                  {"spmv", path, "--device", "cpu"},
                                                  {"bfs", path, "--device", "cpu"}}) {
    const std::string app = command[0];
    std::vector<std::string> arguments(command.begin() + 1, command.end());
    arguments.insert(arguments.end(), {"--max-memory", "20M"});
    test::expect_failure(test::run_app(app, arguments), app, 1, "--max-memory");
  }
  test::expect_failure(test::run_app("info", {path, "--max-memory", "lots"}), "info", 2, "amount of memory");
  EXPECT_EQ(test::run_app("info", {path, "--max-memory", "1G"}).code, 0);
}

TEST(remaining_time, is_what_the_rate_so_far_promises) {
  EXPECT_EQ(remaining_time({50, 100}, 7), "7 s left");
  EXPECT_EQ(remaining_time({1, 100}, 1), "1:39 min left");
  EXPECT_EQ(remaining_time({1, 7261}, 1), "2:01 h left");
  EXPECT_EQ(remaining_time({100, 100}, 7), "0 s left");
  EXPECT_EQ(remaining_time({300, 100}, 7), "0 s left");
  EXPECT_EQ(remaining_time({0, 100}, 7), "");
  EXPECT_EQ(remaining_time({100, 0}, 7), "");
}

}  // namespace
}  // namespace spargo::apps
