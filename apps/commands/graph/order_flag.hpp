// --order: the order in which a greedy algorithm decides the vertices.
#pragma once

#include "cli/choice.hpp"
#include "cli/cli.hpp"
#include "cli/enum_words.hpp"

#include <spargo/graph/greedy_order.hpp>

#include <string>

namespace spargo::apps {

inline void add_order_flag(flag_set app, std::string& order, const std::string& usual) {
  app.add_option("--order", order,
                 "decide vertices in this order, ties at random: largest-first (by falling degree), smallest-first, "
                 "smallest-last (the reverse of removing a vertex of least degree again and again) or random[:SEED]; "
                 "default: " +
                     usual)
      ->check(suggests(words_of<greedy_order>()))
      ->type_name("ORDER");
}

// Options: with an order and a seed. Throws usage_error.
template <class Options>
[[nodiscard]] Options order_options(const std::string& text) {
  Options options;
  if (text.empty()) return options;
  if (parse_random("--order", text, options.seed)) {
    options.order = greedy_order::random;
    return options;
  }
  for (const auto& row : enum_rows<greedy_order>()) {
    if (!row.is_called(text)) continue;
    options.order = row.value;
    return options;
  }
  throw usage_error("--order: " + text +
                    " is not an order (expected largest-first, smallest-last, smallest-first or random[:SEED])");
}

}  // namespace spargo::apps
