#include "cli/man_page.hpp"

#include "cli/flags.hpp"
#include "cli/help.hpp"

#include <spargo/core/config.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cctype>
#include <sstream>
#include <string_view>

namespace spargo::apps {

namespace {

// Escapes text for roff: literal backslashes and hyphens, no line taken for a request.
std::string roff(std::string_view text) {
  std::string safe;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) safe += "\\&";
    if (c == '\\') {
      safe += "\\e";
    } else if (c == '-') {
      safe += "\\-";
    } else {
      safe += c;
    }
    line_begins = c == '\n';
  }
  return safe;
}

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::string header(const std::string& page, const std::string& summary) {
  return fmt::format(".TH {0} 1 \"\" \"Spargo {1}\" \"Spargo\"\n.SH NAME\n{2} \\- {3}\n", roff(upper(page)),
                     SPARGO_VERSION_STRING, roff(page), roff(summary));
}

// "-h, --help", "--device DEVICE", "FILE".
std::string names_of(const CLI::Option& option) {
  if (option.get_positional()) return "\\fI" + roff(option.get_name()) + "\\fR";
  std::string text;
  for (const std::string& name : option.get_snames()) text += "\\fB" + roff("-" + name) + "\\fR, ";
  if (!option.get_lnames().empty()) text += "\\fB" + roff("--" + option.get_lnames().front()) + "\\fR, ";
  text.resize(text.size() - 2);
  if (takes_value(option)) text += " \\fI" + roff(option.get_type_name()) + "\\fR";
  return text;
}

std::string option_entry(const CLI::Option& option) {
  std::string text = ".TP\n" + names_of(option) + "\n" + roff(with_words(option.get_description(), option));
  if (!option.get_default_str().empty()) text += fmt::format(" (default: {})", roff(option.get_default_str()));
  return text + "\n";
}

std::string synopsis(const CLI::App& app) {
  std::string text = ".SH SYNOPSIS\n\\fB" + roff(app.get_name()) + "\\fR [\\fIOPTIONS\\fR]";
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional()) continue;
    const std::string name = names_of(*option);
    text += option->get_required() ? " " + name : " [" + name + "]";
  }
  return text + "\n";
}

// The options of a command, common ones last.
std::string options(const CLI::App& app) {
  std::string arguments;
  std::string own;
  std::string shared;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    (option->get_positional()                          ? arguments
     : option->get_group() == help_style::shared_group ? shared
                                                       : own) += option_entry(*option);
  }
  const auto section = [](const char* title, const std::string& entries) {
    return entries.empty() ? std::string() : std::string(title) + "\n" + entries;
  };
  return section(".SH ARGUMENTS", arguments) + section(".SH OPTIONS", own + shared);
}

// Title of a paragraph like "Examples:", "Inputs, recognised by ...:" or "Exit codes: ..."; empty: none.
std::string title_of(const std::string& paragraph) {
  const std::string title = paragraph.substr(0, paragraph.find_first_of(":,\n"));
  const bool named = title.size() < paragraph.size() && paragraph[title.size()] != '\n';
  return named && std::count(title.begin(), title.end(), ' ') < 2 ? title : std::string();
}

// The closing paragraphs of a command's help: titled ones become sections; the others are description.
struct closing_sections {
  std::string description;
  std::string sections;
};

void add_paragraph(const std::string& paragraph, closing_sections& to) {
  const std::string title = title_of(paragraph);
  if (title.empty()) {
    to.description += ".PP\n" + roff(paragraph);
    return;
  }
  std::string text = paragraph;
  if (text.starts_with(title + ":\n")) text.erase(0, title.size() + 2);
  const std::string heading = title == "Exit codes" ? "EXIT STATUS" : upper(title);
  to.sections += ".SH " + heading + "\n.nf\n" + roff(text) + ".fi\n";
}

closing_sections closing_of(const std::string& footer) {
  closing_sections closing;
  std::istringstream lines(footer);
  std::string paragraph;
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) {
      paragraph += line + "\n";
    } else if (!paragraph.empty()) {
      add_paragraph(std::exchange(paragraph, {}), closing);
    }
  }
  if (!paragraph.empty()) add_paragraph(paragraph, closing);
  return closing;
}

std::string see_also(const std::vector<std::string>& pages) {
  std::string text = ".SH SEE ALSO\n";
  for (std::size_t k = 0; k < pages.size(); ++k) {
    text += fmt::format("\\fB{}\\fR(1){}\n", roff(pages[k]), k + 1 < pages.size() ? "," : "");
  }
  return text;
}

}  // namespace

std::string man_page(const command& which) {
  const declared_command declared = declare_command(which, std::string("spargo ") + which.name);
  const CLI::App& app = *declared.app;
  const closing_sections closing = closing_of(app.get_footer());
  return header(std::string("spargo-") + which.name, which.summary) + synopsis(app) + ".SH DESCRIPTION\n" +
         roff(app.get_description()) + "\n" + closing.description + options(app) + closing.sections +
         see_also({"spargo"});
}

std::string man_page(const std::vector<const command*>& commands) {
  std::string text = header("spargo", "analytics of graphs and sparse matrices on CPUs and GPUs") +
                     ".SH SYNOPSIS\n\\fBspargo\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR] ...\n"
                     ".SH DESCRIPTION\nEach command reads files as they are, runs on the CPU or a GPU, and checks its "
                     "result. \\fBspargo help\\fR \\fICOMMAND\\fR and the pages of the commands describe their flags.\n"
                     ".SH COMMANDS\n";
  std::vector<std::string> pages;
  for (const command* each : commands) {
    pages.push_back(std::string("spargo-") + each->name);
    text += fmt::format(".TP\n\\fB{}\\fR(1)\n{}\n", roff(pages.back()), roff(each->summary));
  }
  const std::string closing = std::string(help_on_graph_inputs) + "\n" + help_on_generators + "\n" + help_on_exit_codes;
  return text + closing_of(closing).sections + see_also(pages);
}

}  // namespace spargo::apps
