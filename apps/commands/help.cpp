// help [COMMAND]: what there is, or the help of one command. Hidden flags write what the build installs: completion for
// shells, and manual pages.
#include "cli/help.hpp"
#include "cli/choice.hpp"
#include "cli/cli.hpp"
#include "cli/completion.hpp"
#include "cli/man_page.hpp"
#include "commands/table.hpp"

#include <spargo/distributed/communicator.hpp>

namespace spargo::apps {

namespace {

struct help_flags {
  std::string command;
  std::string program;
  std::string shell;
  bool man = false;
  bool brief = false;
};

std::vector<std::string> names_of_commands() {
  std::vector<std::string> names;
  for (const command* each : all_commands()) names.emplace_back(each->name);
  return names;
}

// "  NAME      TEXT" in 80 columns.
std::string row(const std::string& name, const std::string& text) {
  constexpr std::size_t indent = 18;
  std::string line = "  " + name;
  line.resize(indent, ' ');
  append_wrapped(line, text, indent, indent);
  return line;
}

std::string flags_of(const command& which, flag_owner owner) {
  return flags_in_line(*declare_command(which, which.name).app, owner);
}

enum class overview_extent { brief, whole };

std::string overview(overview_extent extent) {
  std::string text =
      "Spargo: graphs and sparse matrices from files, on CPUs and GPUs.\n\n"
      "Usage: spargo COMMAND [OPTIONS] ...\n       spargo help COMMAND|formats|generators\n\nCommands:\n";
  for (const command* each : all_commands()) text += row(each->name, each->summary);
  if (extent == overview_extent::brief) {
    return text +
           "\nBegin with:\n  spargo info FILE\n\nspargo COMMAND --help: its main options\nspargo help: all options, "
           "inputs and exit codes\n";
  }
  text += "\nOptions, explained by `spargo help COMMAND`:\n";
  for (const command* each : all_commands()) {
    const std::string own = flags_of(*each, flag_owner::command);
    if (!own.empty()) text += row(each->name, own);
  }
  text += row("shared", flags_of(*find_command("bfs"), flag_owner::all));
  return text + "\n" + help_on_graph_inputs + "\n" + help_on_generators + "\n" + help_on_exit_codes + "\n";
}

// What help explains besides commands.
struct help_topic {
  const char* name;
  std::vector<const char*> paragraphs;
};
const help_topic topics[] = {
    {"formats", {help_on_graph_inputs, help_on_outputs}},
    {"generators", {help_on_generators}},
};

std::string text_of(const help_flags& flags) {
  for (const help_topic& topic : topics) {
    if (flags.command != topic.name) continue;
    std::string text;
    for (const char* paragraph : topic.paragraphs) text += (text.empty() ? "" : "\n") + std::string(paragraph);
    return text;
  }
  const command* const which = flags.command.empty() ? nullptr : find_command(flags.command);
  if (which == nullptr && !flags.command.empty())
    throw usage_error(no_command(flags.command, {"formats", "generators"}));
  if (!flags.shell.empty()) {
    const shell of = shell_of(flags.shell);
    return which == nullptr ? completion(of, all_commands())
                            : completion(of, *which, flags.program.empty() ? which->name : flags.program);
  }
  if (flags.man) return which == nullptr ? man_page(all_commands()) : man_page(*which);
  const overview_extent extent = flags.brief ? overview_extent::brief : overview_extent::whole;
  return which == nullptr ? overview(extent)
                          : flag_set(*declare_command(*which, std::string("spargo ") + which->name).app).help();
}

command_body declare(flag_set app) {
  app.description(
      "What the commands are, or what one of them does: its flags, inputs and exit codes. The topics `formats` and "
      "`generators` list what commands read and write.");
  const auto flags = std::make_shared<help_flags>();
  std::vector<std::string> words = names_of_commands();
  for (const help_topic& topic : topics) words.emplace_back(topic.name);
  app.add_option("COMMAND", flags->command, "a command, formats or generators; default: all commands, in short")
      ->check(suggests(words));
  app.add_option("--completion", flags->shell)->check(one_of("a shell", shell_names()))->group("");
  app.add_flag("--man", flags->man)->group("");
  app.add_flag("--brief", flags->brief)->group("");
  app.add_option("--program", flags->program)->group("");
  add_help_and_version(app);
  return [flags] {
    const std::string text = text_of(*flags);
    if (query_launcher().rank != 0) return exit_status::success;
    write_output(text);
    return exit_status::success;
  };
}

}  // namespace

extern const command help_command{"help", "the commands, or the flags of one", declare};

}  // namespace spargo::apps
