// Flags whose values are words: checked on the command line and offered by shell completion.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
class Validator;
}  // namespace CLI

namespace spargo::apps {

// The name of a validator for a flag with these words; `words_of` extracts them again.
[[nodiscard]] std::string name_of_words(const std::vector<std::string>& words);

// "sideways is not a direction (expected auto, push or pull)", where `noun` is "a direction".
[[nodiscard]] CLI::Validator one_of(std::string noun, std::vector<std::string> words);

// Accepts everything; the words are suggestions, for example where a file is accepted as well.
[[nodiscard]] CLI::Validator suggests(const std::vector<std::string>& words);

// Adds a flag that takes one of the words, as `one_of` checks; its default is the value that it has.
void add_choice(CLI::App& app, const std::string& flag, std::string& value, const std::string& help, std::string noun,
                std::vector<std::string> words);

// The words of an option checked by `one_of` or with `suggests`; empty for others.
[[nodiscard]] std::vector<std::string> words_of(CLI::Option& option);

// Whether a value must follow; false for a flag without a value, or with one only after =.
[[nodiscard]] bool takes_value(const CLI::Option& option);

}  // namespace spargo::apps
