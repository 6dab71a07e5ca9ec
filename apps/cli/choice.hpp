// Flags whose values are words: checked on the command line, and offered by shell completion.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class Option;
class Validator;
}  // namespace CLI

namespace spargo::apps {

// The name of a validator whose flag takes these words: `words_of` finds them in it.
[[nodiscard]] std::string name_of_words(const std::vector<std::string>& words);

// "sideways is not a direction (expected auto, push or pull)", where `noun` is "a direction".
[[nodiscard]] CLI::Validator one_of(std::string noun, std::vector<std::string> words);

// Passes everything: the words are suggestions, as where a file may stand as well.
[[nodiscard]] CLI::Validator suggests(const std::vector<std::string>& words);

// The words of an option that is checked by `one_of` or has `suggests`; none for others.
[[nodiscard]] std::vector<std::string> words_of(CLI::Option& option);

// Whether a value must follow: of a flag none, or only after =.
[[nodiscard]] bool takes_value(const CLI::Option& option);

}  // namespace spargo::apps
