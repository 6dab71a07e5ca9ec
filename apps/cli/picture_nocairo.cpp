#include "cli/picture.hpp"

#include <stdexcept>

namespace spargo::apps {

struct canvas::state {};

bool can_draw() noexcept { return false; }
std::string drawing_version() { return {}; }

canvas::canvas(double, double, colour) { throw std::runtime_error("a picture: this build has no Cairo"); }
canvas::canvas(canvas&&) noexcept = default;
canvas& canvas::operator=(canvas&&) noexcept = default;
canvas::~canvas() = default;

double canvas::width() const { return 0; }
double canvas::height() const { return 0; }
void canvas::fill(double, double, double, double, colour) {}
void canvas::frame(double, double, double, double, colour) {}
void canvas::disc(double, double, double, colour) {}
void canvas::line(double, double, double, double, double, colour, double) {}
void canvas::faint_line(double, double, double, double, double, colour, double) {}
void canvas::cells(int, int, int, int, int, const std::vector<colour>&) {}
void canvas::text(double, double, std::string_view, const text_style&) {}
void canvas::text_upwards(double, double, std::string_view, const text_style&) {}
double canvas::text_width(std::string_view, const text_style&) const { return 0; }
std::string canvas::shorten(std::string_view, double, const text_style&) const { return {}; }
std::string canvas::file(picture_format) const { return {}; }

}  // namespace spargo::apps
