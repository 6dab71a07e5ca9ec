// The --help of each command, within 80 columns.
#include "apps/all_commands.hpp"
#include "apps/run_app.hpp"

#include <spargo/core/error.hpp>
#include <spargo/io/generate.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace spargo {
namespace {

using test::run_app;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// As listed by the library's error for an unknown one.
std::vector<std::string> generators() {
  std::vector<std::string> names;
  try {
    (void)describe_generator("gen:none");
  } catch (const error& e) {
    std::string text = e.what();
    text = text.substr(text.find("one of ") + 7);
    for (char& c : text) c = c == ',' || c == ')' ? ' ' : c;
    std::istringstream words(text);
    for (std::string name; words >> name;) names.push_back(name);
  }
  return names;
}

class help_of : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const test::app_run run = run_app("spargo", {"help", GetParam()});
    ASSERT_EQ(run.code, 0) << run.err;
    text_ = run.out;
  }
  [[nodiscard]] bool names(const std::string& word) const { return text_.find(word) != std::string::npos; }
  std::string text_;
};

TEST_P(help_of, fits_80_columns) {
  for (const std::string& line : lines_of(text_)) {
    EXPECT_LE(line.size(), 80U) << line;
    EXPECT_FALSE(line.ends_with(' ')) << "'" << line << "'";
  }
}

TEST_P(help_of, names_every_generator) {
  ASSERT_GE(generators().size(), 11U);
  for (const std::string& name : generators()) {
    EXPECT_TRUE(names("gen:" + name + ":")) << name << "\n" << text_;
  }
}

TEST_P(help_of, names_the_input_formats_and_exit_codes) {
  for (const char* word : {"Matrix Market", ".gz", "0 success", "1 the run", "2 the command line is wrong"}) {
    EXPECT_TRUE(names(word)) << word << "\n" << text_;
  }
  if (GetParam() != "bench") {
    EXPECT_TRUE(names(".spg")) << text_;
  }
  if (apps::find_command(GetParam())->kind != apps::command_kind::matrices) {
    EXPECT_TRUE(names("edge list")) << text_;
  }
}

// The endings are those of the message about a name that has none.
TEST(help, names_every_format_that_convert_writes) {
  const std::string error = run_app("spargo", {"convert", "gen:path:n=3", "x.nope"}).err;
  const std::string text = run_app("spargo", {"help", "formats"}).out;
  std::size_t endings = 0;
  for (std::size_t at = error.find("(expected ."); at != std::string::npos; at = error.find(" .", at + 1)) {
    const std::size_t dot = error.find('.', at);
    const std::string ending = error.substr(dot, error.find_first_of(" ,;", dot) - dot);
    EXPECT_NE(text.find(ending), std::string::npos) << ending << "\n" << text;
    ++endings;
  }
  EXPECT_GE(endings, 13U) << error;
}

TEST_P(help_of, names_every_flag_of_all_apps) {
  if (GetParam() == "plan") return;  // it takes those of the command that it plans
  for (const char* flag : {"--help", "--version", "--device", "--threads", "--json"}) EXPECT_TRUE(names(flag)) << flag;
  if (GetParam() == "bench") return;
  for (const char* flag : {"--quiet", "--max-memory", "--force"}) EXPECT_TRUE(names(flag)) << flag;
}

TEST_P(help_of, has_a_short_form) {
  const std::string command = GetParam();
  if (command == "bench" || command == "plan") return;  // other programs, or commands, answer
  const std::string brief = run_app("spargo", {command, "--help"}).out;
  EXPECT_LE(lines_of(brief).size(), 55U) << brief;
  EXPECT_LT(lines_of(brief).size(), lines_of(text_).size() * 2 / 3) << brief;
  for (const std::string& line : lines_of(brief)) EXPECT_LE(line.size(), 80U) << line;
  for (const std::string& word : {"Usage: spargo " + command + " [OPTIONS]", std::string("--json FILE"),
                                  "\nExample:\n  spargo " + command + " ", "spargo help " + command}) {
    EXPECT_NE(brief.find(word), std::string::npos) << word << "\n" << brief;
  }
  EXPECT_EQ(brief.find("gen:laplacian3d"), std::string::npos);
  const auto half_open = command == "spmv" ? 1 : 0;  // [-1, 1)
  EXPECT_EQ(std::count(brief.begin(), brief.end(), '(') + half_open, std::count(brief.begin(), brief.end(), ')'))
      << brief;
}

TEST_P(help_of, names_the_command_as_it_is_called) {
  const std::string command = GetParam();
  EXPECT_TRUE(names("Usage: spargo " + command + " [OPTIONS]")) << text_;
  EXPECT_TRUE(names("\n  spargo " + command + " ")) << "no example in " << text_;
  if (!test::is_program(command)) return;
  const std::string alone = run_app(command, {"--help"}).out;
  EXPECT_NE(alone.find("Usage: " + test::called(command) + " [OPTIONS]"), std::string::npos) << alone;
  EXPECT_NE(alone.find("\n  " + test::called(command) + " "), std::string::npos) << alone;
}

INSTANTIATE_TEST_SUITE_P(apps, help_of, testing::ValuesIn(test::commands_where([](const apps::command& each) {
                           return std::string(each.name) != "help";
                         })),
                         [](const auto& of) { return test::test_name(of.param); });

// What a newcomer looks for, and every choice of a flag, is in the short form.
TEST(help, in_short_names_choices_and_what_is_asked_for_first) {
  for (const auto& [command, says] : std::vector<std::pair<std::string, std::vector<std::string>>>{
           {"pagerank", {"--undirected ", "--top K ", "--print FORM "}},
           {"eigs", {"adjacency: the matrix A itself; also laplacian, normalized\n"}},
           {"solve",
            {"where it fails; also cg, minres, bicgstab and gmres\n",
             "--rhs B b: ones-solution (A times ones); also random\n",
             "the diagonal has a zero; also none, jacobi, block-jacobi, ilu0, ic0\n"}},
           {"reorder", {"for small bandwidth; also degree, rabbit, random[:SEED]\n"}}}) {
    std::string brief;  // in long lines
    for (const std::string& line : lines_of(run_app("spargo", {command, "--help"}).out)) {
      const std::size_t start = std::min(line.find_first_not_of(' '), line.size());
      if (start > 2) brief.back() = ' ';
      brief += line.substr(start) + "\n";
    }
    for (std::size_t k = 0; (k = brief.find("  ", k)) != std::string::npos;) brief.erase(k, 1);
    for (const std::string& each : says) EXPECT_NE(brief.find(each), std::string::npos) << each << "\n" << brief;
  }
}

// The text of a flag, on one line.
std::string text_of(const std::string& help, const std::string& flag) {
  std::string text;
  for (const std::string& line : lines_of(help)) {
    const std::size_t start = std::min(line.find_first_not_of(' '), line.size());
    if (start <= 2 && !text.empty()) return text;
    if (line.starts_with("  " + flag + " ") || !text.empty()) text += line.substr(start) + " ";
  }
  return text;
}

// In short and in full, the words that the refusal of another one lists.
TEST(help, names_every_choice_that_a_flag_takes) {
  const auto expect_words = [](const std::string& command, const std::string& flag, const std::string& words) {
    std::istringstream each(words);
    for (std::string word; each >> word;) {
      if (word == "or") continue;
      word.erase(std::remove(word.begin(), word.end(), ','), word.end());
      for (const std::vector<std::string>& asked : {std::vector<std::string>{command, "--help"}, {"help", command}}) {
        const std::string text = text_of(run_app("spargo", asked).out, flag);
        EXPECT_NE(text.find(word), std::string::npos) << command << " " << word << ": " << text;
      }
    }
  };
  for (const auto& [command, flag] : {std::pair("convert", "--to"), std::pair("layout", "--color-by"),
                                      std::pair("spmv", "--format"), std::pair("convert", "--ids")}) {
    std::vector<std::string> words{command, "gen:path:n=3", flag, "nonsense"};
    const std::string refusal = run_app("spargo", words).err;
    const std::size_t list = refusal.find("(expected ");
    ASSERT_NE(list, std::string::npos) << refusal;
    expect_words(command, flag, refusal.substr(list + 10, refusal.find(')', list) - list - 10));
  }
  expect_words("bfs", "--source", "first max-degree random");
}

TEST(help, of_every_command_is_a_row_of_the_page_of_commands) {
  const std::string page = test::slurp(test::source_folder() + "/apps/docs/commands.md");
  for (const std::string& command : test::all_commands()) {
    if (command == "help") continue;
    EXPECT_NE(page.find("\n| `" + command + " "), std::string::npos) << command;
  }
}

TEST(help, of_all_commands_names_every_flag_in_80_columns) {
  const std::string text = run_app("spargo", {"help"}).out;
  for (const std::string& line : lines_of(text)) EXPECT_LE(line.size(), 80U) << line;
  for (const std::string& command : test::all_commands()) {
    EXPECT_NE(text.find("\n  " + command + " "), std::string::npos) << command;
    std::istringstream words(run_app("spargo", {"help", command}).out);
    for (std::string word; words >> word;) {
      if (!word.starts_with("--") || word.size() < 3) continue;
      word = word.substr(0, word.find_first_of("=,.;:){["));
      EXPECT_NE(text.find(word), std::string::npos) << command << " " << word;
    }
  }
  for (const std::string& name : generators()) EXPECT_NE(text.find("gen:" + name + ":"), std::string::npos) << name;
  for (const char* format : {"Matrix Market", "edge list", "METIS", "DIMACS", ".spg", "gzip"}) {
    EXPECT_NE(text.find(format), std::string::npos) << format;
  }
  EXPECT_EQ(run_app("spargo", {"--help"}).out, text);
}

TEST(help, without_a_command_fits_a_terminal) {
  const std::vector<std::string> brief = lines_of(run_app("spargo", {}).out);
  EXPECT_LE(brief.size(), 50U);
  for (const std::string& line : brief) EXPECT_LE(line.size(), 80U) << line;
  const auto has = [&](const std::string& start) {
    return std::any_of(brief.begin(), brief.end(), [&](const std::string& line) { return line.starts_with(start); });
  };
  for (const std::string& command : test::all_commands()) EXPECT_TRUE(has("  " + command + " ")) << command;
  EXPECT_TRUE(has("spargo COMMAND --help"));
}

// The library accepts every spec that --help shows, with and without the optional parts in brackets.
TEST(help, shows_generators_as_they_are) {
  for (const char* app : {"spmv", "bfs", "convert", "info"}) {
    std::size_t specs = 0;
    std::istringstream words(run_app("spargo", {"help", app}).out);
    for (std::string word; words >> word;) {
      if (!word.starts_with("gen:") || word.starts_with("gen:NAME")) continue;
      const std::size_t open = word.find('[');
      EXPECT_NO_THROW((void)describe_generator(word.substr(0, open))) << word;
      if (open == std::string::npos) continue;
      ++specs;
      std::string whole = word;
      std::erase_if(whole, [](char c) { return c == '[' || c == ']'; });
      EXPECT_NO_THROW((void)describe_generator(whole)) << word;
    }
    EXPECT_GE(specs, 8U) << app;
  }
}

}  // namespace
}  // namespace spargo
