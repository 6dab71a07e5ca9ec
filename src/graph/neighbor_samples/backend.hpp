// Interface of the backends of neighbour sampling.
#pragma once

#include "graph/neighbor_samples/draw.hpp"

namespace spargo::detail::neighbor_samples {

// Throws invalid_argument: seed k is not a vertex, or is listed twice.
[[noreturn]] void refuse_vertex(std::int64_t k, std::int64_t vertex, std::int64_t vertices);
[[noreturn]] void refuse_duplicate(std::int64_t k, std::int64_t vertex);

[[nodiscard]] inline hop_rule rule_of(const neighbor_sample_options& options, std::size_t hop) {
  return {options.fan_outs[hop], options.replacement, options.seed, static_cast<std::uint32_t>(hop)};
}

// Precondition: the graph's shape and the options are valid.
template <class I, class O>
[[nodiscard]] neighbor_sample<I, O, host> sample(const context<host>& ctx, const csr_pattern_view<I, O, host>& rows,
                                                 span<const I, host> seeds, const neighbor_sample_options& options);
template <class I, class O>
[[nodiscard]] neighbor_sample<I, O, device> sample(const context<device>& ctx,
                                                   const csr_pattern_view<I, O, device>& rows,
                                                   span<const I, device> seeds, const neighbor_sample_options& options);

}  // namespace spargo::detail::neighbor_samples
