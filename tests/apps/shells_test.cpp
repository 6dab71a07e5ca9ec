// Completion for zsh and fish, asked as these shells ask: skipped where they are not installed.
#include "apps/run_app.hpp"

#include <gtest/gtest.h>

#include <set>

namespace spargo {
namespace {

using test::run_app;
using test::scratch;
using set = std::set<std::string>;

// First words of the lines of what a shell offers.
set offers_of(const test::app_run& run) {
  EXPECT_EQ(run.err, "");
  set found;
  std::istringstream lines(run.out);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) found.insert(line.substr(0, line.find('\t')));
  }
  return found;
}

class shells : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (std::system((GetParam() + " -c true > /dev/null 2>&1").c_str()) != 0) GTEST_SKIP() << "no " << GetParam();
    const auto write = [&](const std::string& name, const std::vector<std::string>& arguments) {
      (void)folder_.write(name, run_app("spargo", arguments).out);
    };
    write("completions", {"help", "--completion", GetParam()});
    write("alone", {"help", "bfs", "--completion", GetParam(), "--program", "my-bfs"});
    (void)folder_.write("graph.mtx", "");
    (void)folder_.write("zsh", capture);
  }

  // What follows the last word of a line.
  [[nodiscard]] set offers(const std::string& line, const std::string& script = "completions") const {
    const std::string here = "cd '" + folder_.path().string() + "' && HOME=$PWD ";
    const std::string asked = GetParam() == "zsh"
                                  ? "zsh -f zsh " + script + " '" + line + "' | tr -d '\\r'"
                                  : "fish --no-config -c 'source " + script + "; complete -C \"" + line + "\"'";
    return offers_of(test::run_shell(here + asked));
  }

  const scratch folder_;

 private:
  // Completes a line in a terminal of its own, where compadd prints what it is offered.
  static constexpr const char* capture = R"zsh(zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PROMPT=; autoload -Uz compinit; compinit -u -D; source ./$1"
zpty -w shell '
compadd() {
  if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return; fi
  local -a offered
  builtin compadd -A offered "$@"
  builtin compadd "$@"
  print -l -- "<"${^offered}">"
}
finish() { print "<<END>>" }
compprefuncs=(); comppostfuncs=(finish)
zstyle ":completion:*" list-grouped false
bindkey "^I" complete-word; print "<<READY>>"'
zpty -r shell line '*<<READY>>'$'\r'
zpty -n -w shell "$2"$'\t'
zpty -r shell line '*<<END>>*'
print -r -- $line | grep -o '<[^<>]*>' | tr -d '<>' | grep -v '^END$\|^READY$'
zpty -d shell
true
)zsh";
};

TEST_P(shells, commands) {
  EXPECT_TRUE(offers("spargo bf").contains("bfs"));
  EXPECT_FALSE(offers("spargo bf").contains("pagerank"));
  EXPECT_TRUE(offers("spargo help bf").contains("bfs"));
}

TEST_P(shells, flags) {
  const set found = offers("spargo bfs --dev");
  EXPECT_TRUE(found.contains("--device") || found.contains("--device=")) << testing::PrintToString(found);
  EXPECT_TRUE(found.contains("--devices") || found.contains("--devices=")) << testing::PrintToString(found);
  const set other = offers("spargo spmv --direct");
  EXPECT_FALSE(other.contains("--direction") || other.contains("--direction=")) << testing::PrintToString(other);
}

TEST_P(shells, values) {
  EXPECT_EQ(offers("spargo bfs --direction pu"), (set{"pull", "push"}));
  EXPECT_TRUE(offers("spargo bfs --output gr").contains("graph.mtx"));
  EXPECT_FALSE(offers("spargo pagerank --tolerance gr").contains("graph.mtx")) << "a number";
  EXPECT_TRUE(offers("spargo spmv --x re").contains("reciprocal"));
}

TEST_P(shells, files_and_generators) {
  EXPECT_TRUE(offers("spargo bfs gr").contains("graph.mtx"));
  EXPECT_TRUE(offers("spargo info gen:grid").contains("gen:grid2d:n="));
  EXPECT_TRUE(offers("spargo plan pager").contains("pagerank"));
}

TEST_P(shells, a_program_of_its_own) {
  EXPECT_EQ(offers("my-bfs --direction pu", "alone"), (set{"pull", "push"}));
  EXPECT_TRUE(offers("my-bfs gr", "alone").contains("graph.mtx"));
}

INSTANTIATE_TEST_SUITE_P(completion, shells, testing::Values("zsh", "fish"), [](const auto& of) { return of.param; });

}  // namespace
}  // namespace spargo
