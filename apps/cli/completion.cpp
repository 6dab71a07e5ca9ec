#include "cli/completion.hpp"

#include "cli/choice.hpp"
#include "cli/help.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cctype>
#include <sstream>
#include <string_view>

namespace spargo::apps {

namespace {

// Common part of all scripts; %NAME% is the function's name, %COMMAND% the command. Readline splits words at = and :,
// and a reply replaces only the part after the last of them.
constexpr const char* completer = R"bash(%NAME%() {
  local word words=() i
  for ((i = 0; i <= COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    if ((i > 1)) && [[ -n $word && ($word == [:=]* || ${words[${#words[@]} - 1]} == *[:=]) ]]; then
      words[${#words[@]} - 1]+=$word
    else
      words+=("$word")
    fi
  done
  local last=${words[${#words[@]} - 1]} previous=${words[${#words[@]} - 2]} typed=${COMP_WORDS[COMP_CWORD]}
  [[ $typed != [:=] ]] || typed=
  local kept=${last%"$typed"} current=$last
  if [[ $last == --*=* ]]; then
    previous=${last%%=*} current=${last#*=}
  fi
  local before=${last%"$current"}
  COMPREPLY=()
  for word in $(%NAME%_words "%COMMAND%" "$previous" "$current"); do
    if [[ $word == FILE ]]; then
      while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$current")
      compopt -o filenames -o default 2> /dev/null
    elif [[ $word == "$current"* ]]; then
      word=$before$word
      COMPREPLY+=("${word#"$kept"}")
      [[ $word != *[:=] ]] || compopt -o nospace 2> /dev/null
    fi
  done
  return 0
}
)bash";

std::string joined(const std::vector<std::string>& words) { return CLI::detail::join(words, " "); }

// "gen:rmat:scale=" and so on: the part that is common to all specs.
std::string generators() {
  std::vector<std::string> found;
  std::istringstream words{std::string(help_on_generators)};
  for (std::string word; words >> word;) {
    if (word.starts_with("gen:")) found.push_back(word.substr(0, word.find('=') + 1));
  }
  return joined(found);
}

// Possible values of an option, FILE for any file; empty for free values.
std::string values_of(CLI::Option& option) {
  std::vector<std::string> words = words_of(option);
  const std::string type = option.get_type_name();
  const bool file = option.get_positional()
                        ? words.empty()
                        : type == "FILE" || type == "X" || type.ends_with(".png") || type.ends_with(".html");
  if (file) words.emplace_back("FILE");
  return joined(words);
}

struct cases {
  std::string values;  // by COMMAND:FLAG
  std::string words;   // by COMMAND:CURRENT
};

void add_cases(const command& which, cases& to) {
  const declared_command declared = declare_command(which, which.name);
  std::vector<std::string> flags;
  std::string arguments;
  for (CLI::Option* option : declared.app->get_options()) {
    const std::string values = values_of(*option);
    if (option->get_positional()) {
      if (arguments.empty()) arguments = values;
      continue;
    }
    if (option->get_group().empty()) continue;  // hidden
    for (const std::string& name : option->get_lnames()) {
      if (name == option->get_lnames().front()) flags.push_back("--" + name);
      if (!takes_value(*option)) continue;
      to.values += fmt::format("    {}:--{}) echo '{}'; return ;;\n", which.name, name, values);
    }
  }
  to.words += fmt::format("    {}:-*) echo '{}' ;;\n", which.name, joined(flags));
  if (arguments == "FILE") to.words += fmt::format("    {}:gen:*) echo '{}' ;;\n", which.name, generators());
  to.words += fmt::format("    {}:*) echo '{}' ;;\n", which.name, arguments);
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// `command`: shell expression for the command's name.
std::string script(const cases& all, const std::string& program, const std::string& command) {
  std::string function = "_" + program;
  std::replace_if(
      function.begin(), function.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  const std::string words = fmt::format(
      "# Completion of {0} for bash; written by `spargo help --bash-completion`.\n\n"
      "# COMMAND PREVIOUS CURRENT: what the current word may be.\n"
      "%NAME%_words() {{\n  case $1:$2 in\n{1}  esac\n  case $1:$3 in\n{2}  esac\n}}\n\n",
      program, all.values, all.words);
  return replaced(replaced(words + completer, "%COMMAND%", command), "%NAME%", function) +
         fmt::format("complete -F {} {}\n", function, program);
}

}  // namespace

std::string bash_completion(const std::vector<const command*>& commands) {
  cases all;
  std::vector<std::string> names;
  for (const command* each : commands) {
    add_cases(*each, all);
    names.emplace_back(each->name);
  }
  all.words += fmt::format("    :-*) echo '--help --version' ;;\n    :*) echo '{}' ;;\n", joined(names));
  // With three words, the second one is the command's name.
  return script(all, "spargo", "${words[2]+${words[1]}}");
}

std::string bash_completion(const command& which, const std::string& program) {
  cases all;
  add_cases(which, all);
  return script(all, program, which.name);
}

}  // namespace spargo::apps
