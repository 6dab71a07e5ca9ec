#include "cli/choice.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <sstream>
#include <utility>

namespace spargo::apps {

std::string name_of_words(const std::vector<std::string>& words) { return CLI::detail::join(words, " "); }

CLI::Validator one_of(std::string noun, std::vector<std::string> words) {
  std::string expected;
  for (std::size_t k = 0; k < words.size(); ++k) {
    expected += (k == 0 ? "" : k + 1 < words.size() ? ", " : " or ") + words[k];
  }
  std::string name = name_of_words(words);
  return {[noun = std::move(noun), words = std::move(words), expected](const std::string& text) -> std::string {
            if (std::find(words.begin(), words.end(), text) != words.end()) return {};
            return text + " is not " + noun + " (expected " + expected + ")";
          },
          "", std::move(name)};
}

CLI::Validator suggests(const std::vector<std::string>& words) {
  return {[](const std::string&) { return std::string(); }, "", name_of_words(words)};
}

void add_choice(CLI::App& app, const std::string& flag, std::string& value, const std::string& help, std::string noun,
                std::vector<std::string> words) {
  app.add_option(flag, value, help)
      ->check(one_of(std::move(noun), std::move(words)))
      ->type_name("NAME")
      ->capture_default_str();
}

std::vector<std::string> words_of(CLI::Option& option) {
  std::vector<std::string> words;
  try {
    for (int k = 0; words.empty(); ++k) {
      std::istringstream name(option.get_validator(k)->get_name());
      for (std::string word; name >> word;) words.push_back(word);
    }
  } catch (const CLI::OptionNotFound&) {  // no more validators
  }
  return words;
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_min() > 0; }

}  // namespace spargo::apps
