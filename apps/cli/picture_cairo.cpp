// A canvas records drawing; a file replays it on Cairo's surface, so text and shapes stay such in SVG and PDF.
#include "cli/picture.hpp"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <cairo.h>

#include <algorithm>
#include <cmath>
#include <new>
#include <numbers>
#include <stdexcept>

namespace spargo::apps {

namespace {

constexpr double most_pixels = 30000;  // Cairo's images end at 32767

void check(cairo_status_t status) {
  if (status == CAIRO_STATUS_SUCCESS) return;
  if (status == CAIRO_STATUS_NO_MEMORY) throw std::bad_alloc();
  throw std::runtime_error(std::string("a picture: ") + cairo_status_to_string(status));
}

struct destroy {
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
  void operator()(cairo_t* context) const { cairo_destroy(context); }
  void operator()(cairo_font_options_t* options) const { cairo_font_options_destroy(options); }
};
using surface = std::unique_ptr<cairo_surface_t, destroy>;
using drawing = std::unique_ptr<cairo_t, destroy>;

void set_colour(cairo_t* to, colour c) { cairo_set_source_rgb(to, c.red / 255.0, c.green / 255.0, c.blue / 255.0); }

// Bytes of the UTF-8 character at the front; 0 if invalid or a control character.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  const std::size_t length = first >= 0xc2 && first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  for (std::size_t k = 1; k < length; ++k) {
    if ((byte(k) & 0xc0) != 0x80) return 0;
  }
  // Overlong forms, surrogates, and values beyond U+10FFFF.
  const bool bad = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) >= 0xa0) ||
                   (first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) >= 0x90);
  return bad ? 0 : length;
}

// Cairo stops drawing altogether after text that is not UTF-8.
std::string printable(std::string_view text) {
  std::string clean;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = character_length(text.substr(at));
    clean += length > 0 ? text.substr(at, length) : std::string_view("?");
    at += std::max<std::size_t>(length, 1);
  }
  return clean;
}

cairo_status_t append(void* bytes, const unsigned char* data, unsigned int length) {
  try {
    static_cast<std::string*>(bytes)->append(reinterpret_cast<const char*>(data), length);
    return CAIRO_STATUS_SUCCESS;
  } catch (const std::bad_alloc&) {
    return CAIRO_STATUS_NO_MEMORY;
  }
}

surface make_surface(picture_format format, double width, double height, std::string& bytes) {
  switch (format) {
    case picture_format::svg: {
      surface to(cairo_svg_surface_create_for_stream(append, &bytes, width, height));
      cairo_svg_surface_set_document_unit(to.get(), CAIRO_SVG_UNIT_PX);
      return to;
    }
    case picture_format::pdf: {
      surface to(cairo_pdf_surface_create_for_stream(append, &bytes, width, height));
      cairo_pdf_surface_set_metadata(to.get(), CAIRO_PDF_METADATA_CREATE_DATE, "");  // otherwise files would differ
      return to;
    }
    case picture_format::png:
      break;
  }
  return surface(cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(std::ceil(width)),
                                            static_cast<int>(std::ceil(height))));
}

}  // namespace

struct canvas::state {
  double width, height;
  surface record;
  drawing to;

  state(double w, double h) : width(w), height(h) {
    const cairo_rectangle_t whole{0, 0, w, h};
    record.reset(cairo_recording_surface_create(CAIRO_CONTENT_COLOR_ALPHA, &whole));
    to.reset(cairo_create(record.get()));
    // Independent of desktop font settings.
    const std::unique_ptr<cairo_font_options_t, destroy> options(cairo_font_options_create());
    cairo_font_options_set_antialias(options.get(), CAIRO_ANTIALIAS_GRAY);
    cairo_font_options_set_hint_style(options.get(), CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(options.get(), CAIRO_HINT_METRICS_OFF);
    cairo_set_font_options(to.get(), options.get());
  }

  void use(const text_style& style) const {
    cairo_select_font_face(to.get(), "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                           style.weight == font_weight::bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(to.get(), style.size);
    set_colour(to.get(), style.ink);
  }
};

bool can_draw() noexcept { return true; }
std::string drawing_version() { return ::cairo_version_string(); }

canvas::canvas(double width, double height, colour background) : state_(std::make_unique<state>(width, height)) {
  fill(0, 0, width, height, background);
}
canvas::canvas(canvas&&) noexcept = default;
canvas& canvas::operator=(canvas&&) noexcept = default;
canvas::~canvas() = default;

double canvas::width() const { return state_->width; }
double canvas::height() const { return state_->height; }

void canvas::fill(double x, double y, double width, double height, colour c) {
  set_colour(state_->to.get(), c);
  cairo_rectangle(state_->to.get(), x, y, width, height);
  cairo_fill(state_->to.get());
}

void canvas::frame(double x, double y, double width, double height, colour c) {
  set_colour(state_->to.get(), c);
  cairo_set_line_width(state_->to.get(), 1);
  cairo_rectangle(state_->to.get(), x - 0.5, y - 0.5, width + 1, height + 1);
  cairo_stroke(state_->to.get());
}

void canvas::disc(double x, double y, double radius, colour c) {
  set_colour(state_->to.get(), c);
  cairo_arc(state_->to.get(), x, y, radius, 0, 2 * std::numbers::pi);
  cairo_fill(state_->to.get());
}

void canvas::line(double x0, double y0, double x1, double y1, double thickness, colour c, double dash) {
  cairo_t* const to = state_->to.get();
  set_colour(to, c);
  cairo_set_line_width(to, thickness);
  cairo_set_line_cap(to, dash > 0 ? CAIRO_LINE_CAP_BUTT : CAIRO_LINE_CAP_ROUND);
  cairo_set_dash(to, &dash, dash > 0 ? 1 : 0, 0);
  cairo_move_to(to, x0, y0);
  cairo_line_to(to, x1, y1);
  cairo_stroke(to);
  cairo_set_dash(to, nullptr, 0, 0);
}

void canvas::faint_line(double x0, double y0, double x1, double y1, double thickness, colour c, double opacity) {
  cairo_t* const to = state_->to.get();
  cairo_set_source_rgba(to, c.red / 255.0, c.green / 255.0, c.blue / 255.0, opacity);
  cairo_set_line_width(to, thickness);
  cairo_set_line_cap(to, CAIRO_LINE_CAP_BUTT);
  cairo_move_to(to, x0, y0);
  cairo_line_to(to, x1, y1);
  cairo_stroke(to);
}

// An image of the canvas's own pixels: SVG viewers would smooth a smaller one.
void canvas::cells(int x, int y, int width, int height, int columns, const std::vector<colour>& colours) {
  if (columns == 0 || colours.empty()) return;
  const std::size_t rows = colours.size() / static_cast<std::size_t>(columns);
  const surface image(cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height));
  check(cairo_surface_status(image.get()));
  unsigned char* const pixels = cairo_image_surface_get_data(image.get());
  const int stride = cairo_image_surface_get_stride(image.get());
  for (int j = 0; j < height; ++j) {
    auto* const line = reinterpret_cast<std::uint32_t*>(pixels + std::ptrdiff_t{j} * stride);
    const std::size_t row = static_cast<std::size_t>(j) * rows / static_cast<std::size_t>(height);
    const colour* const from = &colours[row * static_cast<std::size_t>(columns)];
    for (int i = 0; i < width; ++i) {
      const colour c = from[std::int64_t{i} * columns / width];
      line[i] = static_cast<std::uint32_t>(c.red << 16 | c.green << 8 | c.blue);
    }
  }
  cairo_surface_mark_dirty(image.get());
  cairo_set_source_surface(state_->to.get(), image.get(), x, y);
  cairo_paint(state_->to.get());
}

double canvas::text_width(std::string_view words, const text_style& style) const {
  state_->use(style);
  cairo_text_extents_t extents;
  cairo_text_extents(state_->to.get(), printable(words).c_str(), &extents);
  return extents.x_advance;
}

std::string canvas::shorten(std::string_view words, double room, const text_style& style) const {
  std::string text = printable(words);
  if (text_width(text, style) <= room) return text;
  while (!text.empty() && text_width(text + "...", style) > room) {
    while ((text.back() & 0xc0) == 0x80) text.pop_back();  // remove a character's continuation bytes with its first
    text.pop_back();
  }
  return text + "...";
}

void canvas::text(double x, double y, std::string_view words, const text_style& style) {
  const double width = style.at == anchor::left ? 0 : text_width(words, style);
  state_->use(style);
  cairo_move_to(state_->to.get(), x - (style.at == anchor::centre ? width / 2 : width), y);
  cairo_show_text(state_->to.get(), printable(words).c_str());
  cairo_new_path(state_->to.get());
}

void canvas::text_upwards(double x, double y, std::string_view words, const text_style& style) {
  cairo_t* const to = state_->to.get();
  cairo_save(to);
  cairo_translate(to, x, y);
  cairo_rotate(to, -std::numbers::pi / 2);
  text_style centred = style;
  centred.at = anchor::centre;
  text(0, 0, words, centred);
  cairo_restore(to);
}

std::string canvas::file(picture_format format) const {
  const double longest = std::max(state_->width, state_->height);
  const double scale = format == picture_format::png ? std::min(1.0, most_pixels / longest) : 1.0;
  std::string bytes;
  const surface file = make_surface(format, state_->width * scale, state_->height * scale, bytes);
  const drawing to(cairo_create(file.get()));
  cairo_scale(to.get(), scale, scale);
  cairo_set_source_surface(to.get(), state_->record.get(), 0, 0);
  cairo_paint(to.get());
  check(cairo_status(state_->to.get()));
  check(cairo_status(to.get()));
  if (format == picture_format::png) check(cairo_surface_write_to_png_stream(file.get(), append, &bytes));
  cairo_surface_finish(file.get());
  check(cairo_surface_status(file.get()));
  return bytes;
}

}  // namespace spargo::apps
