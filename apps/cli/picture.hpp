// Pictures: shapes and text on a canvas, drawn by Cairo and written as PNG, SVG or PDF. Independent of the library.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spargo::apps {

enum class picture_format { png, svg, pdf };

// By the name's ending (before .gz): .png, .svg or .pdf; PNG for a name without an ending. None for others.
[[nodiscard]] std::optional<picture_format> picture_format_of(const std::string& path);

// False without Cairo; a canvas cannot be created then.
[[nodiscard]] bool can_draw() noexcept;
// Version of the running Cairo; empty without it.
[[nodiscard]] std::string drawing_version();

// Call before the work. Throws usage_error for an unknown format, std::runtime_error without Cairo. Skips "".
void check_picture(const std::string& flag, const std::string& path);

struct colour {
  std::uint8_t red = 0, green = 0, blue = 0;
};

namespace palette {
inline constexpr colour white{255, 255, 255};
inline constexpr colour ink{28, 32, 40};
inline constexpr colour grid{226, 229, 234};
inline constexpr colour muted{96, 104, 116};
}  // namespace palette

// From pale through blue and green to dark (a cut of viridis), with monotone lightness; t in [0, 1].
[[nodiscard]] colour density_colour(double t);

enum class anchor { left, centre, right };
enum class font_weight { normal, bold };

struct text_style {
  colour ink = palette::ink;
  anchor at = anchor::left;
  double size = 13;
  font_weight weight = font_weight::normal;
};

// Coordinates in pixels from the top left; everything is clipped to the canvas.
class canvas {
 public:
  canvas(double width, double height, colour background = palette::white);
  canvas(canvas&&) noexcept;
  canvas& operator=(canvas&&) noexcept;
  ~canvas();

  [[nodiscard]] double width() const;
  [[nodiscard]] double height() const;

  void fill(double x, double y, double width, double height, colour c);
  void frame(double x, double y, double width, double height, colour c);  // one pixel wide, outside the rectangle
  void disc(double x, double y, double radius, colour c);
  void line(double x0, double y0, double x1, double y1, double thickness, colour c, double dash = 0);  // 0: solid
  // Thin lines that add up where they cross; opacity in [0, 1].
  void faint_line(double x0, double y0, double x1, double y1, double thickness, colour c, double opacity);
  // Rows of `columns` cells each, stretched over the rectangle with sharp edges.
  void cells(int x, int y, int width, int height, int columns, const std::vector<colour>& colours);

  // UTF-8; invalid bytes become '?'. `y`: base line.
  void text(double x, double y, std::string_view words, const text_style& style = {});
  // Rotated to read upwards, centred on y; x: base line.
  void text_upwards(double x, double y, std::string_view words, const text_style& style = {});
  [[nodiscard]] double text_width(std::string_view words, const text_style& style = {}) const;
  // Shortens text to `room`, replacing its end by dots.
  [[nodiscard]] std::string shorten(std::string_view words, double room, const text_style& style = {}) const;

  // The file's bytes; deterministic. A PNG of more than 30000 pixels in either dimension is scaled down.
  [[nodiscard]] std::string file(picture_format format) const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace spargo::apps
