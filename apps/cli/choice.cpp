#include "cli/choice.hpp"

#include <algorithm>
#include <utility>

namespace spargo::apps {

value_check one_of(std::string noun, std::vector<std::string> words) {
  std::string expected;
  for (std::size_t k = 0; k < words.size(); ++k) {
    expected += (k == 0 ? "" : k + 1 < words.size() ? ", " : " or ") + words[k];
  }
  return {[noun = std::move(noun), words, expected](const std::string& text) -> std::string {
            if (std::find(words.begin(), words.end(), text) != words.end()) return {};
            return text + " is not " + noun + " (expected " + expected + ")";
          },
          std::move(words)};
}

value_check suggests(std::vector<std::string> words) {
  return {[](const std::string&) { return std::string(); }, std::move(words)};
}

void add_choice(flag_set app, const std::string& flag, std::string& value, const std::string& help, std::string noun,
                std::vector<std::string> words) {
  app.add_option(flag, value, help)
      ->check(one_of(std::move(noun), std::move(words)))
      ->type_name("NAME")
      ->capture_default_str();
}

}  // namespace spargo::apps
