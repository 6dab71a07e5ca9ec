// The words of an enumeration for a flag that is checked by one_of.
#pragma once

#include "cli/choice.hpp"

#include <spargo/core/enum_names.hpp>

namespace spargo::apps {

// As the library's table has them, between `first` and `last`.
template <named_enum E>
[[nodiscard]] std::vector<std::string> words_of(std::vector<std::string> first = {},
                                                const std::vector<std::string>& last = {}) {
  for (const enum_row<E>& row : enum_rows<E>()) first.emplace_back(row.word());
  first.insert(first.end(), last.begin(), last.end());
  return first;
}

}  // namespace spargo::apps
