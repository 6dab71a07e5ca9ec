#include "cli/picture.hpp"

#include "cli/exit_status.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>

namespace spargo::apps {

std::optional<picture_format> picture_format_of(const std::string& path) {
  std::filesystem::path name = std::filesystem::path(path).filename();
  if (name.extension() == ".gz") name = name.stem();
  const std::string ending = name.extension().string();
  if (ending == ".svg") return picture_format::svg;
  if (ending == ".pdf") return picture_format::pdf;
  return ending.empty() || ending == ".png" ? std::optional(picture_format::png) : std::nullopt;
}

void check_picture(const std::string& flag, const std::string& path) {
  if (path.empty()) return;
  if (!picture_format_of(path).has_value()) {
    throw usage_error(flag + " " + path +
                      ": the name does not say which picture to draw (expected .png, .svg or .pdf)");
  }
  if (!can_draw()) {
    throw std::runtime_error(flag + ": this build has no Cairo (install libcairo2-dev and configure again)");
  }
}

colour density_colour(double t) {
  static constexpr colour stops[] = {{214, 234, 223}, {142, 208, 186}, {72, 172, 160}, {40, 130, 142},
                                     {46, 88, 132},   {58, 44, 104},   {36, 12, 56}};
  constexpr auto last = static_cast<double>(std::size(stops) - 1);
  const double at = std::clamp(t, 0.0, 1.0) * last;
  const auto below = static_cast<std::size_t>(std::min(std::floor(at), last - 1));
  const double share = at - static_cast<double>(below);
  const auto mix = [&](std::uint8_t under, std::uint8_t over) {
    return static_cast<std::uint8_t>(std::lround(under + (over - under) * share));
  };
  const colour a = stops[below], b = stops[below + 1];
  return {mix(a.red, b.red), mix(a.green, b.green), mix(a.blue, b.blue)};
}

}  // namespace spargo::apps
