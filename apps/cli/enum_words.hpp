// The words of an enumeration for a flag that is checked by one_of.
#pragma once

#include "cli/choice.hpp"

#include <spargo/core/enum_names.hpp>

namespace spargo::apps {

// In the order of the library's table, between `first` and `last`.
template <named_enum E>
[[nodiscard]] std::vector<std::string> words_of(std::vector<std::string> first = {},
                                                const std::vector<std::string>& last = {}) {
  for (const enum_row<E>& row : enum_rows<E>()) first.emplace_back(row.word());
  first.insert(first.end(), last.begin(), last.end());
  return first;
}

// For help: "auto, jacobi or gauss_seidel (CPU)", with the backend of values that only one has.
template <named_enum E>
[[nodiscard]] std::string describe_words() {
  const auto rows = enum_rows<E>();
  std::string text;
  for (std::int64_t k = 0; k < rows.size(); ++k) {
    text += k == 0 ? "" : k + 1 == rows.size() ? " or " : ", ";
    text += rows[k].word();
    if (!rows[k].on_device) text += " (CPU)";
    if (!rows[k].on_host) text += " (GPU)";
  }
  return text;
}

// Adds --algorithm.
template <named_enum E>
void add_algorithm_flag(flag_set app, std::string& value, const std::string& help = describe_words<E>()) {
  add_choice(app, "--algorithm", value, help, "an algorithm", words_of<E>());
}

}  // namespace spargo::apps
