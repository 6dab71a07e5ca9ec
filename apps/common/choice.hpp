// Flags whose values are words: checked on the command line, and offered by shell completion.
#pragma once

#include <CLI/CLI.hpp>

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace spargo::apps {

// The name of a validator whose flag takes these words: `words_of` finds them in it.
[[nodiscard]] inline std::string name_of_words(const std::vector<std::string>& words) {
  return CLI::detail::join(words, " ");
}

// "sideways is not a direction (expected auto, push or pull)", where `noun` is "a direction".
[[nodiscard]] inline CLI::Validator one_of(std::string noun, std::vector<std::string> words) {
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

// Passes everything: the words are suggestions, as where a file may stand as well.
[[nodiscard]] inline CLI::Validator suggests(const std::vector<std::string>& words) {
  return {[](const std::string&) { return std::string(); }, "", name_of_words(words)};
}

// The words of an option that is checked by `one_of` or has `suggests`; none for others.
[[nodiscard]] inline std::vector<std::string> words_of(CLI::Option& option) {
  std::vector<std::string> words;
  try {
    for (int k = 0; words.empty(); ++k) {
      std::istringstream name(option.get_validator(k)->get_name());
      for (std::string word; name >> word;) words.push_back(word);
    }
  } catch (const CLI::OptionNotFound&) {  // there are no more validators
  }
  return words;
}

// Whether a value must follow: of a flag none, or only after =.
[[nodiscard]] inline bool takes_value(const CLI::Option& option) { return option.get_items_expected_min() > 0; }

}  // namespace spargo::apps
