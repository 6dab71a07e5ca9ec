// Commands on graphs that take weights if --weights asks for them: one class for the driver without weights, and from
// it one with them. Without, whatever an edge counts is the same, and the graph needs none.
//   struct layout : graph_algorithm {               // the command without weights
//     static constexpr weight_signs signs = ...;    // of the weights that are taken
//     ...
//   };
//   extern const command layout_command = optional_weights_command<layout>("what it does");
// Its flags have `weights`, the text of --weights, and is_weighted(). Weights of several edges between two vertices are
// added. On several ranks a command runs without weights, if it runs there at all.
#pragma once

#include "cli/flags.hpp"
#include "placement/driver.hpp"
#include "placement/weighted_input.hpp"

#include <memory>

namespace spargo::apps {

template <class Without>
struct with_weights : Without {
  using flags_type = typename Without::flags_type;
  static constexpr bool ranks = false;

  static graph_work work(const flags_type& flags) {
    graph_work work = Without::work(flags);
    work.wanted = in_edges::omit;
    work.edge_bytes = sizeof(std::int32_t);
    return work;
  }
  static bool reads_weights(const flags_type& flags) { return flags.weights == "file"; }
  static auto load(const flags_type& flags, const graph_work& work) {
    weight_choice choice = parse_weights(flags.weights);
    choice.signs = Without::signs;
    choice.duplicates = duplicate_weights::sum;
    return load_weighted(flags, work, choice);
  }
  static void report_input(report& out, const placed_weighted_input& read, const auto& /*g*/) {
    out.keys()["weights"] = read.weights;
    out.row("weights", read.weights);
  }
};

template <class Without, class With>
command_body declare_optional_weights(flag_set app) {
  const auto flags = std::make_shared<typename Without::flags_type>();
  declare_graph(app, *flags, Without::text(), Without::ranks, [&] { Without::add_flags(app, *flags); });
  const auto takes = [flags](bool on_ranks) { return flags->is_weighted() && !(Without::ranks && on_ranks); };
  return {[=] {
            return takes(is_shared_out(flags->common)) ? run_graph_command<With>(*flags)
                                                       : run_graph_command<Without>(*flags);
          },
          [=](const plan_scale& scale) {
            return takes(scale.ranks > 0) ? plan_graph_command<With>(*flags, scale)
                                          : plan_graph_command<Without>(*flags, scale);
          }};
}

template <class Without, class With = with_weights<Without>>
[[nodiscard]] constexpr command optional_weights_command(const char* summary) {
  return {Without::name, summary,        declare_optional_weights<Without, With>,
          nullptr,       Without::ranks, command_kind::graphs};
}

}  // namespace spargo::apps
