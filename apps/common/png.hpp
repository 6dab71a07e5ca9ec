// Pictures: an RGB canvas with text, and PNG (W3C Recommendation, second edition) written through zlib.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace spargo::apps {

struct colour {
  std::uint8_t red = 0, green = 0, blue = 0;
};

namespace palette {
inline constexpr colour white{255, 255, 255};
inline constexpr colour ink{28, 32, 40};
inline constexpr colour grid{226, 229, 234};
inline constexpr colour muted{96, 104, 116};
}  // namespace palette

enum class anchor { left, centre, right };

class canvas {
 public:
  canvas(int width, int height, colour background = palette::white);

  [[nodiscard]] int width() const { return width_; }
  [[nodiscard]] int height() const { return height_; }

  // Everything is clipped to the canvas.
  void set(int x, int y, colour c);
  void fill(int x, int y, int width, int height, colour c);
  void frame(int x, int y, int width, int height, colour c);  // one pixel wide, outside the rectangle
  void disc(int x, int y, double radius, colour c);           // antialiased
  void line(double x0, double y0, double x1, double y1, double thickness, colour c);  // antialiased

  // ASCII in a 5 x 7 font, `scale` times enlarged; y is its top. What is not ASCII shows as '?'.
  void text(int x, int y, std::string_view words, colour c, int scale = 2, anchor at = anchor::left);
  // Reading upwards, centred on y; x is its left edge.
  void text_upwards(int x, int y, std::string_view words, colour c, int scale = 2);
  [[nodiscard]] static int text_width(std::string_view words, int scale = 2);

  // The PNG file's bytes, 8-bit RGB.
  [[nodiscard]] std::string png() const;

 private:
  void blend(int x, int y, colour c, double share);

  int width_;
  int height_;
  std::vector<std::uint8_t> pixels_;
};

// From pale to dark through blue and green (a cut of viridis), monotone in lightness: t in [0, 1].
[[nodiscard]] colour density_colour(double t);

}  // namespace spargo::apps
