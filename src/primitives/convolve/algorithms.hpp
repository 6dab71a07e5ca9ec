// Convolution algorithms. `separable` is for images only; some take filters of limited width only.
#pragma once

#include "core/algorithm_table.hpp"

#include <spargo/primitives/convolve.hpp>

namespace spargo::detail::convolve {

inline constexpr algorithm_table<convolve_algorithm, 8> algorithms{{
    {convolve_algorithm::automatic, "automatic", true, true},
    {convolve_algorithm::naive, "naive", true, true},
    {convolve_algorithm::constant_filter, "constant_filter", false, true},
    {convolve_algorithm::tiled_halo_output, "tiled_halo_output", false, true},
    {convolve_algorithm::tiled_halo_input, "tiled_halo_input", false, true},
    {convolve_algorithm::tiled_cached_halo, "tiled_cached_halo", false, true},
    {convolve_algorithm::register_tiled, "register_tiled", true, true},
    {convolve_algorithm::separable, "separable", true, true},
}};

inline constexpr int widest_parameter = 15;  // filters up to this width are passed by value

template <class Space>
[[nodiscard]] constexpr bool takes_width(convolve_algorithm algorithm, std::int64_t width) noexcept {
  const bool any =
      runs_on<host>(algorithms, algorithm) && (std::same_as<Space, host> || algorithm != convolve_algorithm::separable);
  return any || width <= widest_parameter;
}

// Algorithms for any taps of this width: all but `separable`.
template <class Space>
[[nodiscard]] std::vector<convolve_algorithm> algorithms_for(std::int64_t width) {
  auto found = algorithms_on<Space>(algorithms);
  std::erase_if(found, [&](auto a) { return a == convolve_algorithm::separable || !takes_width<Space>(a, width); });
  return found;
}

}  // namespace spargo::detail::convolve
