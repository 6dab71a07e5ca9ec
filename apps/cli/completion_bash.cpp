#include "cli/completion.hpp"

#include <fmt/format.h>

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

// Possible values of an option, FILE for any file; empty for free values.
std::string values_of(const completed_option& option) {
  std::vector<std::string> words = option.words;
  if (option.file) words.emplace_back("FILE");
  return joined(words);
}

struct cases {
  std::string values;  // by COMMAND:FLAG
  std::string words;   // by COMMAND:CURRENT
};

void add_cases(const completed_command& of, cases& to) {
  std::vector<std::string> flags;
  for (const completed_option& option : of.flags) {
    flags.push_back(option.names.front());
    if (!option.takes_value) continue;
    for (const std::string& name : option.names) {
      to.values += fmt::format("    {}:{}) echo '{}'; return ;;\n", of.name, name, values_of(option));
    }
  }
  const std::string arguments = of.arguments.empty() ? "" : values_of(of.arguments.front());
  to.words += fmt::format("    {}:-*) echo '{}' ;;\n", of.name, joined(flags));
  if (arguments == "FILE")
    to.words += fmt::format("    {}:gen:*) echo '{}' ;;\n", of.name, joined(generator_prefixes()));
  to.words += fmt::format("    {}:*) echo '{}' ;;\n", of.name, arguments);
}

}  // namespace

std::string bash_script(const completed_program& of) {
  cases all;
  std::vector<std::string> names;
  for (const completed_command& each : of.commands) {
    add_cases(each, all);
    names.push_back(each.name);
  }
  if (of.by_command) {
    all.words += fmt::format("    :-*) echo '--help --version' ;;\n    :*) echo '{}' ;;\n", joined(names));
  }
  const std::string function = "_" + of.identifier();
  const std::string words = fmt::format(
      "# Completion of {0} for bash; written by `spargo help --completion bash`.\n\n"
      "# COMMAND PREVIOUS CURRENT: what the current word may be.\n"
      "%NAME%_words() {{\n  case $1:$2 in\n{1}  esac\n  case $1:$3 in\n{2}  esac\n}}\n\n",
      of.name, all.values, all.words);
  // With three words, the second one is the command's name.
  const std::string command = of.by_command ? "${words[2]+${words[1]}}" : names.front();
  return replaced(replaced(words + completer, "%COMMAND%", command), "%NAME%", function) +
         fmt::format("complete -F {} {}\n", function, of.name);
}

}  // namespace spargo::apps
