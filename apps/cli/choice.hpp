// Flags whose values are words: checked on the command line and offered by shell completion.
#pragma once

#include "cli/flags.hpp"

#include <string>
#include <vector>

namespace spargo::apps {

// "sideways is not a direction (expected auto, push or pull)", where `noun` is "a direction".
[[nodiscard]] value_check one_of(std::string noun, std::vector<std::string> words);

// Accepts everything; the words are suggestions, for example where a file is accepted as well.
[[nodiscard]] value_check suggests(std::vector<std::string> words);

// Adds a flag that takes one of the words, as `one_of` checks; its default is the value that it has.
void add_choice(flag_set app, const std::string& flag, std::string& value, const std::string& help, std::string noun,
                std::vector<std::string> words);

}  // namespace spargo::apps
