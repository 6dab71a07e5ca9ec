// Completion for bash and manual pages, both generated from the commands' flags.
#include "apps/all_commands.hpp"
#include "apps/run_app.hpp"

#include <gtest/gtest.h>

#include <set>

namespace spargo {
namespace {

using test::run_app;
using test::scratch;
using words = std::vector<std::string>;

std::string quoted(const words& line) {
  std::string text;
  for (const std::string& word : line) text += " '" + word + "'";
  return text;
}

// The completions of the last of these words, split as by readline.
class completion : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("bash -c 'compgen -W x' > /dev/null 2>&1") != 0) GTEST_SKIP() << "no bash";
    (void)folder_.write("spargo", run_app("spargo", {"help", "--completion", "bash"}).out);
    (void)folder_.write("alone", run_app("spargo", {"help", "bfs", "--completion", "bash", "--program", "my-bfs"}).out);
    (void)folder_.write("graph.mtx", "");
    (void)folder_.write("with blank.el", "");
  }

  [[nodiscard]] std::set<std::string> replies(const words& line, const std::string& program = "spargo") const {
    const bool alone = program != "spargo";
    const std::string script = folder_.write(
        "script",
        "cd '" + folder_.path().string() + "'\nset -u\n. ./" + (alone ? "alone" : "spargo") +
            "\nread -ra registered <<< \"$(complete -p " + program + ")\"\nCOMP_WORDS=(" + program + quoted(line) +
            ")\nCOMP_CWORD=" + std::to_string(line.size()) +
            "\n\"${registered[2]}\"\nfor reply in ${COMPREPLY[@]+\"${COMPREPLY[@]}\"}; do echo \"$reply\"; done\n");
    const test::app_run run = test::run_shell("bash --norc '" + script + "'");
    EXPECT_EQ(run.err, "");
    std::set<std::string> found;
    std::istringstream lines(run.out);
    for (std::string reply; std::getline(lines, reply);) found.insert(reply);
    return found;
  }

  const scratch folder_;
};

using set = std::set<std::string>;

TEST_F(completion, of_commands) {
  const auto beginning = [](const std::string& letters) {
    const auto names =
        test::commands_where([&](const apps::command& each) { return std::string(each.name).starts_with(letters); });
    return set(names.begin(), names.end());
  };
  EXPECT_TRUE(beginning("b").contains("bfs"));
  EXPECT_EQ(replies({""}), beginning(""));
  EXPECT_EQ(replies({"b"}), beginning("b"));
  EXPECT_EQ(replies({"help", "c"}), beginning("c"));
  EXPECT_EQ(replies({"--"}), (set{"--help", "--version"}));
  EXPECT_EQ(replies({"x"}), set{});
  EXPECT_EQ(replies({"nothing", ""}), set{});
}

TEST_F(completion, of_flags) {
  EXPECT_EQ(replies({"bfs", "--dev"}), (set{"--device", "--devices"}));
  EXPECT_EQ(replies({"bfs", "graph.mtx", "--direct"}), (set{"--directed", "--direction"}));
  EXPECT_EQ(replies({"spmv", "--direct"}), set{});
  const set all = replies({"bfs", "--"});
  for (const char* flag : {"--source", "--output", "--json", "--max-memory", "--help", "--deterministic"}) {
    EXPECT_EQ(all.count(flag), 1U) << flag;
  }
  EXPECT_EQ(replies({"bench", "--check"}), set{"--check-automatic"});
  EXPECT_EQ(replies({"help", "--"}), (set{"--help", "--version"})) << "the hidden ones are not offered";
}

// Those of --help, which CLI11 lays out, not those of the table that completions are made from.
set flags_in_help(const std::string& command) {
  set flags;
  std::istringstream lines(run_app("spargo", {"help", command}).out);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.starts_with("  --") ? 2 : line.starts_with("  -h, --") ? 6 : std::string::npos;
    if (at != std::string::npos) flags.insert(line.substr(at, line.find_first_of(" ={[", at) - at));
  }
  return flags;
}

class every_flag : public completion, public testing::WithParamInterface<std::string> {};

TEST_P(every_flag, is_offered_by_every_shell) {
  const std::string& command = GetParam();
  const set wanted = flags_in_help(command);
  ASSERT_TRUE(wanted.contains("--help")) << testing::PrintToString(wanted);
  EXPECT_GE(wanted.size(), command == "help" ? 2U : 3U);
  EXPECT_EQ(replies({command, "--"}), wanted);
  const auto named_in = [](const std::string& script, const std::string& begins, const std::string& dashes) {
    set flags;
    std::istringstream lines(script);
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with(begins)) continue;
      const std::string rest = line.substr(begins.size());
      flags.insert(dashes + rest.substr(0, rest.find_first_of(" =['")));
    }
    return flags;
  };
  const std::string zsh = run_app("spargo", {"help", "--completion", "zsh"}).out;
  const std::size_t begin = zsh.find("\n_spargo-" + command + "() {\n");
  ASSERT_NE(begin, std::string::npos);
  EXPECT_EQ(named_in(zsh.substr(begin, zsh.find("\n}\n", begin) - begin), "    '--", "--"), wanted);
  const std::string fish = run_app("spargo", {"help", "--completion", "fish"}).out;
  EXPECT_EQ(named_in(fish, "complete -c spargo -n '__spargo_command " + command + "' -l ", "--"), wanted);
}

INSTANTIATE_TEST_SUITE_P(of_commands, every_flag, testing::ValuesIn(test::all_commands()),
                         [](const auto& of) { return test::test_name(of.param); });

TEST_F(completion, of_values) {
  EXPECT_EQ(replies({"bfs", "--device", ""}), (set{"auto", "cpu", "cuda"}));
  EXPECT_EQ(replies({"bfs", "--device", "=", "c"}), (set{"cpu", "cuda"}));
  EXPECT_EQ(replies({"bfs", "--device", "="}), (set{"auto", "cpu", "cuda"}));
  EXPECT_EQ(replies({"bfs", "--device=c"}), (set{"--device=cpu", "--device=cuda"})) << "where = does not split words";
  EXPECT_EQ(replies({"spmv", "--format", "s"}), set{"sell"});
  EXPECT_EQ(replies({"spmv", "--algorithm", "row_per_"}), (set{"row_per_thread", "row_per_warp"}));
  EXPECT_EQ(replies({"convert", "--to", ""}),
            (set{"mtx", "el", "wel", "csv", "tsv", "spg", "metis", "gml", "graphml"}));
  EXPECT_EQ(replies({"spmv", "--x", "r"}), (set{"reciprocal", "random"}));
  EXPECT_EQ(replies({"bfs", "--threads", ""}), set{}) << "a number is the user's own";
  EXPECT_EQ(replies({"pagerank", "--tolerance", ""}), set{});
  EXPECT_EQ(replies({"bfs", "--undirected", "gr"}), set{"graph.mtx"}) << "this flag has no value";
}

TEST_F(completion, of_files_and_generators) {
  EXPECT_EQ(replies({"bfs", "gr"}), set{"graph.mtx"});
  EXPECT_EQ(replies({"bfs", "--output", "w"}), set{"with blank.el"});
  EXPECT_EQ(replies({"bfs", "--json", "=", "gr"}), set{"graph.mtx"});
  EXPECT_EQ(replies({"info", "gen", ":", "grid"}), (set{"grid2d:n=", "grid3d:n="}));
  EXPECT_EQ(replies({"info", "gen:grid"}), (set{"gen:grid2d:n=", "gen:grid3d:n="})) << "where : does not split words";
  EXPECT_GE(replies({"spmv", "gen", ":"}).size(), 11U);
  EXPECT_EQ(replies({"convert", "gen", ":", "path", ":", "n", "=", "3", "gr"}), set{"graph.mtx"});
}

TEST_F(completion, of_a_program_of_its_own) {
  EXPECT_EQ(replies({"--dev"}, "my-bfs"), (set{"--device", "--devices"}));
  EXPECT_EQ(replies({"--direction", "pu"}, "my-bfs"), (set{"push", "pull"}));
  EXPECT_EQ(replies({"gr"}, "my-bfs"), set{"graph.mtx"});
  EXPECT_EQ(replies({"gen", ":", "rm"}, "my-bfs"), set{"rmat:scale="});
}

class man_page : public testing::TestWithParam<std::string> {
 protected:
  man_page() : command_(GetParam()) {
    text_ = run_app("spargo", command_.empty() ? words{"help", "--man"} : words{"help", command_, "--man"}).out;
  }
  const std::string command_;
  std::string text_;
};

TEST_P(man_page, has_the_sections_of_one) {
  std::string title = command_.empty() ? "spargo" : "spargo-" + command_;
  for (std::size_t at = 0; (at = title.find('-', at)) != std::string::npos; at += 2) title.insert(at, 1, '\\');
  EXPECT_TRUE(text_.starts_with(".TH SPARGO")) << text_;
  std::size_t at = 0;
  for (const std::string& section : {"NAME\n" + title + " \\- ", std::string("SYNOPSIS\n\\fBspargo"),
                                     std::string("DESCRIPTION\n"), std::string("SEE ALSO\n")}) {
    at = text_.find("\n.SH " + section, at);
    ASSERT_NE(at, std::string::npos) << section << " in " << text_;
  }
  if (command_ == "help") return;
  for (const char* word : {"\n.SH EXIT STATUS\n", "\n.SH GENERATORS\n", "\n.SH INPUTS\n", "gen:rmat:scale=20"}) {
    EXPECT_NE(text_.find(word), std::string::npos) << word << " in " << text_;
  }
}

TEST_P(man_page, describes_every_flag) {
  if (command_.empty()) return;
  std::istringstream lines(run_app("spargo", {"help", command_}).out);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream first(line);
    std::string word;
    if (!line.starts_with("  -") || !(first >> word)) continue;
    if (word == "-h,") first >> word;
    std::string name = word.substr(0, word.find_first_of("={"));
    for (std::size_t at = 0; (at = name.find('-', at)) != std::string::npos; at += 2) name.insert(at, 1, '\\');
    EXPECT_NE(text_.find("\n.TP\n"), std::string::npos);
    EXPECT_NE(text_.find("\\fB" + name + "\\fR"), std::string::npos) << name << " in " << text_;
  }
}

TEST_P(man_page, is_taken_by_groff_without_a_warning) {
  if (std::system("groff --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "no groff";
  const scratch folder;
  const test::app_run run = test::run_shell("groff -man -Tutf8 -ww '" + folder.write("page.1", text_) + "'");
  EXPECT_EQ(run.code, 0);
  EXPECT_EQ(run.err, "");
  EXPECT_NE(run.out.find("SPARGO"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(commands, man_page, testing::ValuesIn([] {
                           std::vector<std::string> pages = test::all_commands();
                           pages.insert(pages.begin(), "");
                           return pages;
                         }()),
                         [](const auto& of) { return test::test_name(of.param); });

}  // namespace
}  // namespace spargo
