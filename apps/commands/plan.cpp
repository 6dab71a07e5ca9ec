// plan COMMAND INPUT [flags]: what a command would take and choose, without running it.
#include "placement/plan.hpp"

#include "cli/choice.hpp"
#include "cli/cli.hpp"
#include "cli/help.hpp"
#include "commands/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

namespace spargo::apps {

namespace {

struct plan_flags {
  std::string command;
  std::int64_t ranks = 0;
};

void add_ranks_flag(flag_set app, std::int64_t& ranks) {
  app.add_option("--ranks", ranks, "as if P processes shared the work, started by mpirun or srun")
      ->check(positive_count())
      ->type_name("P");
}

bool has_plan(const command& which) {
  return which.helper == nullptr && static_cast<bool>(declare_command(which, which.name).body.plan);
}

const command& find_planned(const std::string& name) {
  const command* const which = find_command(name);
  if (which == nullptr) throw usage_error(no_command(name));
  if (!has_plan(*which))
    throw usage_error(
        fmt::format("{} has no plan (expected one of the commands on graphs, spmv, solve, reorder or eigs)", name));
  return *which;
}

// --ranks, or how many GPUs --devices names.
plan_scale scale_of(const declared_command& declared, std::int64_t ranks) {
  const std::optional<std::string> devices = flag_set(*declared.app).given("--devices");
  if (!devices.has_value()) return {ranks, false};
  const auto commas = std::count(devices->begin(), devices->end(), ',');
  std::int64_t count = 0;
  if (commas > 0 || !parse_integer(*devices, count)) count = commas + 1;
  return {ranks > 0 ? ranks : count, true};
}

// The command's own flags decide what is wrong with a command line.
exit_status plan_command_line(const plan_flags& flags, const std::vector<std::string>& rest) {
  const command& which = find_planned(flags.command);
  const declared_command declared = declare_command(which, std::string("spargo plan ") + which.name);
  std::int64_t ranks = 0;
  add_ranks_flag(*declared.app, ranks);
  std::vector<std::string> words = {which.name};
  words.insert(words.end(), rest.begin(), rest.end());
  if (flags.ranks > 0) words.insert(words.end(), {"--ranks", std::to_string(flags.ranks)});
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  return static_cast<exit_status>(run_app(*declared.app, which.name, static_cast<int>(words.size()), argv.data(), [&] {
    if (ranks > 0 && !which.on_ranks) throw usage_error(no_ranks(which));
    return declared.body.plan(scale_of(declared, ranks));
  }));
}

command_body declare(flag_set app) {
  app.description(
      "What a command would take, without running it: bytes of host and device memory (of each rank), the time to "
      "expect, the device it would choose and why. The input's size is read from its header, or from samples.");
  const auto flags = std::make_shared<plan_flags>();
  std::vector<std::string> names;
  for (const command* each : all_commands()) {
    if (each->name != std::string_view("plan") && has_plan(*each)) names.emplace_back(each->name);
  }
  app.add_option("COMMAND", flags->command, "the command, followed by its input and any of its flags")
      ->check(suggests(names))
      ->required();
  // Declared for help; a flag before it may take the word that would be parsed as it.
  app.add_option("INPUT", "as the command takes it")->expected(0);
  add_ranks_flag(app, flags->ranks);
  app.prefix_command();
  add_help_and_version(app);
  app.footer(help_examples(app, {"pagerank links.el.gz", "bfs gen:rmat:scale=33 --ranks 64",
                                 "bfs gen:rmat:scale=30 --devices 8 --json -"}) +
             help_on_graph_inputs + "\n" + help_on_generators + "\n" + help_on_exit_codes);
  return [flags, app] { return plan_command_line(*flags, app.remaining()); };
}

}  // namespace

extern const command plan_command{"plan", "what a command would take and choose, without running it", declare};

}  // namespace spargo::apps
