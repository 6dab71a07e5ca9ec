// Interface of the backends: an executor for the graph, and one for each contracted graph.
#pragma once

#include "core/plan_executor.hpp"

#include <spargo/graph/layout.hpp>

#include <cmath>
#include <limits>
#include <memory>
#include <string_view>

namespace spargo::detail::layout {

// Largest distance of start positions from their middle.
inline constexpr double most_extent = 0x1p40;

// The middle of the start's bounding box, and the factor that scales distances from it.
struct frame {
  double x = 0, y = 0, scale = 1;

  // Of a box with these corners.
  [[nodiscard]] static frame around(double low_x, double low_y, double high_x, double high_y) {
    const double half = std::fmax(0.5 * high_x - 0.5 * low_x, 0.5 * high_y - 0.5 * low_y);
    return {0.5 * low_x + 0.5 * high_x, 0.5 * low_y + 0.5 * high_y, half > most_extent ? most_extent / half : 1};
  }
  [[nodiscard]] SPARGO_HD float inward(double offset, double value) const {
    return static_cast<float>((value - offset) * scale);
  }
  [[nodiscard]] SPARGO_HD double outward(double offset, double value) const {
    constexpr double most = std::numeric_limits<double>::max();
    return std::fmin(std::fmax(offset + value / scale, -most), most);
  }
};

template <class Space>
class executor : public plan_executor {
 public:
  // `start` has two finite values per vertex. Then positions and forces are those after `iterations` steps.
  virtual void run(span<const double, Space> start, std::int64_t iterations) = 0;
  [[nodiscard]] virtual span<const double, Space> positions() const noexcept = 0;
  [[nodiscard]] virtual span<const double, Space> forces() const noexcept = 0;
};

// Edges that attract, with weights or none (1 each); `masses`: of the vertices, or none: degree + 1.
template <class I, class O, class Space>
struct charged_graph {
  weighted_graph_view<double, I, O, Space> edges;
  span<const float, Space> masses;
};

template <class I, class O>
[[nodiscard]] std::unique_ptr<executor<host>> make_executor(const context<host>& ctx,
                                                            const charged_graph<I, O, host>& g,
                                                            const layout_options& options);
template <class I, class O>
[[nodiscard]] std::unique_ptr<executor<device>> make_executor(const context<device>& ctx,
                                                              const charged_graph<I, O, device>& g,
                                                              const layout_options& options);

// Throws invalid_argument unless there are two coordinates per vertex.
void expect_coordinates(std::string_view operation, std::int64_t values, std::int64_t vertices);
// Throws invalid_argument for a coordinate that is not finite.
void expect_finite(span<const double, host> start);

}  // namespace spargo::detail::layout
