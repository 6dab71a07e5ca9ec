// Pictures, read back by Cairo.
#include "cli/picture.hpp"
#include "bench/plot.hpp"
#include "cli/exit_status.hpp"
#include "cli/plots.hpp"

#include <cairo.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace spargo::apps {
namespace {

using bench::measured_case;

constexpr std::uint32_t white = 0xffffff;

std::uint32_t number(colour c) { return static_cast<std::uint32_t>(c.red << 16 | c.green << 8 | c.blue); }

// A PNG's pixels.
class image {
 public:
  explicit image(const canvas& picture) : bytes_(picture.file(picture_format::png)) {
    surface_ = cairo_image_surface_create_from_png_stream(read, this);
    EXPECT_EQ(cairo_surface_status(surface_), CAIRO_STATUS_SUCCESS);
  }
  image(const image&) = delete;
  image& operator=(const image&) = delete;
  ~image() { cairo_surface_destroy(surface_); }

  [[nodiscard]] int width() const { return cairo_image_surface_get_width(surface_); }
  [[nodiscard]] int height() const { return cairo_image_surface_get_height(surface_); }
  [[nodiscard]] std::uint32_t at(int x, int y) const {
    const auto* const line = cairo_image_surface_get_data(surface_) + y * cairo_image_surface_get_stride(surface_);
    std::uint32_t pixel = 0;
    std::memcpy(&pixel, line + 4 * x, sizeof(pixel));
    return pixel & 0xffffff;
  }
  // Number of pixels of this colour in a rectangle.
  [[nodiscard]] int count(std::uint32_t c, int x, int y, int width, int height) const {
    int found = 0;
    for (int j = y; j < y + height; ++j) {
      for (int i = x; i < x + width; ++i) found += at(i, j) == c ? 1 : 0;
    }
    return found;
  }

 private:
  static cairo_status_t read(void* self, unsigned char* to, unsigned int length) {
    auto* const picture = static_cast<image*>(self);
    if (picture->bytes_.size() - picture->read_ < length) return CAIRO_STATUS_READ_ERROR;
    std::memcpy(to, picture->bytes_.data() + picture->read_, length);
    picture->read_ += length;
    return CAIRO_STATUS_SUCCESS;
  }

  std::string bytes_;
  std::size_t read_ = 0;
  cairo_surface_t* surface_ = nullptr;
};

TEST(picture, format_is_the_ending) {
  EXPECT_EQ(picture_format_of("-"), picture_format::png);
  EXPECT_EQ(picture_format_of("/dev/stdout"), picture_format::png);
  EXPECT_EQ(picture_format_of("a.png"), picture_format::png);
  EXPECT_EQ(picture_format_of("a.svg"), picture_format::svg);
  EXPECT_EQ(picture_format_of("a.svg.gz"), picture_format::svg);
  EXPECT_EQ(picture_format_of("b.c/a.pdf"), picture_format::pdf);
  EXPECT_FALSE(picture_format_of("a.jpg").has_value());
  EXPECT_THROW(check_picture("--spy", "a.jpg"), usage_error);
  EXPECT_NO_THROW(check_picture("--spy", ""));
}

TEST(picture, is_what_was_drawn) {
  canvas picture(31, 17);
  picture.fill(2, 3, 4, 5, {200, 100, 50});
  picture.fill(30, 16, 10, 10, {1, 2, 3});  // clipped
  picture.frame(10, 4, 3, 3, {4, 5, 6});
  picture.cells(20, 2, 6, 4, 3, {{1, 1, 1}, {2, 2, 2}, {3, 3, 3}, {4, 4, 4}, {5, 5, 5}, {6, 6, 6}});
  const image got(picture);
  ASSERT_EQ(got.width(), 31);
  ASSERT_EQ(got.height(), 17);
  EXPECT_EQ(got.count(0xc86432, 0, 0, 31, 17), 20);
  EXPECT_EQ(got.at(2, 3), 0xc86432U);
  EXPECT_EQ(got.at(5, 7), 0xc86432U);
  EXPECT_EQ(got.at(6, 7), white);
  EXPECT_EQ(got.at(30, 16), 0x010203U);
  EXPECT_EQ(got.count(0x040506, 0, 0, 31, 17), 16);
  EXPECT_EQ(got.at(9, 3), 0x040506U);
  EXPECT_EQ(got.at(10, 4), white);
  for (int row = 0; row < 2; ++row) {
    for (int column = 0; column < 3; ++column) {
      const auto shade = static_cast<std::uint32_t>(row * 3 + column + 1) * 0x010101;
      EXPECT_EQ(got.count(shade, 20 + 2 * column, 2 + 2 * row, 2, 2), 4) << shade;
    }
  }
}

// Two processes write identical files for the same picture; a date would differ.
TEST(picture, is_a_file_of_each_format) {
  const canvas picture = draw_spy(make_density_map(100, 100), "a title", "under it");
  EXPECT_TRUE(picture.file(picture_format::png).starts_with("\x89PNG\r\n\x1a\n"));
  EXPECT_TRUE(picture.file(picture_format::svg).starts_with("<?xml"));
  EXPECT_TRUE(picture.file(picture_format::svg).ends_with("</svg>\n"));
  const std::string pdf = picture.file(picture_format::pdf);
  EXPECT_TRUE(pdf.starts_with("%PDF-1."));
  EXPECT_NE(pdf.find("/Producer"), std::string::npos);
  EXPECT_EQ(pdf.find("Date"), std::string::npos);
}

// Text lies within its measured width, on the base line; names of any bytes are drawn.
TEST(picture, text_lies_where_it_was_measured) {
  for (const std::string words : {"degree", "\xff\xc3(\xe2\x82", "\xc3\xa9t\xc3\xa9", "a\nb\x7f"}) {
    canvas picture(400, 100);
    const text_style style{.ink = {0, 0, 0}, .size = 20};
    const auto width = static_cast<int>(std::ceil(picture.text_width(words, style)));
    EXPECT_GT(width, 10);
    picture.text(100, 50, words, style);
    picture.text(400, 90, words, {.ink = {0, 0, 0}, .at = anchor::right, .size = 20});
    const image got(picture);
    const auto inked = [&](int x, int y, int w, int h) { return w * h - got.count(white, x, y, w, h); };
    EXPECT_GT(inked(100, 30, width, 28), 20) << words;
    EXPECT_EQ(inked(0, 0, 97, 60), 0) << words;
    EXPECT_EQ(inked(103 + width, 0, 297 - width, 60), 0) << words;
    EXPECT_GT(inked(399 - width, 70, width / 2, 30), 10) << words;
    EXPECT_EQ(inked(0, 62, 396 - width, 38), 0) << words;
  }
  canvas picture(10, 10);
  EXPECT_EQ(picture.text_width("\xff\xfe"), picture.text_width("??"));
}

TEST(picture, long_text_is_shortened) {
  const canvas picture(10, 10);
  EXPECT_EQ(picture.shorten("short", 200), "short");
  for (const std::string letter : {"w", "\xc3\xa9"}) {
    std::string words;
    for (int k = 0; k < 100; ++k) words += letter;
    for (int room = 150; room < 200; ++room) {
      const std::string cut = picture.shorten(words, room);
      EXPECT_LE(picture.text_width(cut), room);
      EXPECT_GT(picture.text_width(cut), room - 20);
      EXPECT_TRUE(cut.ends_with(letter + "...")) << cut;
    }
  }
}

TEST(picture, of_any_height_is_written) {
  canvas picture(100, 60000);
  picture.fill(0, 0, 100, 30000, {1, 2, 3});
  const image got(picture);
  EXPECT_EQ(got.height(), 30000);
  EXPECT_EQ(got.width(), 50);
  EXPECT_EQ(got.at(20, 14000), 0x010203U);
  EXPECT_EQ(got.at(20, 16000), white);
}

TEST(spy, of_nothing_and_of_extremes_is_drawn_too) {
  for (const auto& [rows, cols] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {0, 0}, {1, 1}, {1, 100000}, {100000, 1}, {0, 7}, {std::int64_t{1} << 62, 3}}) {
    const image got(draw_spy(make_density_map(rows, cols), std::string(300, 'w'), ""));
    EXPECT_GT(got.width(), 300);
    EXPECT_LT(got.height(), 1200);
  }
  EXPECT_GT(image(draw_degrees(count_degrees({}), "", "", "rows")).width(), 300);
  EXPECT_GT(image(draw_degrees(count_degrees({0, 0, 5}), "", "", "rows")).width(), 300);
  EXPECT_GT(image(draw_degrees(count_degrees({1, std::numeric_limits<std::int64_t>::max()}), "", "", "rows")).width(),
            1);
}

// The words beside the scale, or below a picture that is too low for them.
TEST(spy, the_scale_of_a_flat_picture_says_what_it_counts) {
  const text_style muted{.ink = palette::muted, .at = anchor::right};
  for (const auto& [rows, cols] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 100000}, {20, 9'000'000}, {3, std::int64_t{1} << 62}}) {
    const density_map map = make_density_map(rows, cols);
    const image got(draw_spy(map, "flat", ""));
    canvas alone(600, 40);
    std::string side = std::to_string(map.side);
    for (std::size_t at = side.size(); at > 3;) side.insert(at -= 3, 1, ',');
    const std::string words = "entries in " + side + " x " + side;
    alone.text(590, 20, words, muted);
    const auto width = static_cast<int>(alone.text_width(words, muted)) + 2;
    const image want(alone);
    const int right = got.width() - 20, base_line = 76 + 60 + 46;
    int differing = 0;
    for (int y = -12; y < 5; ++y) {
      for (int x = -width; x < 2; ++x)
        differing += got.at(right + x, base_line + y) != want.at(590 + x, 20 + y) ? 1 : 0;
    }
    EXPECT_EQ(differing, 0) << words;
    EXPECT_GT(want.count(number(palette::muted), 590 - width, 8, width, 16), 10);
  }
}

// Two entries of a matrix of 3 x 5: a cell of 162 pixels each, and the rest white.
TEST(spy, shows_each_entry_in_its_place) {
  density_map map = make_density_map(3, 5);
  map.counts[0] = 1;          // row 1, column 1
  map.counts[2 * 5 + 3] = 2;  // row 3, column 4
  const image got(draw_spy(map, "two", "3 x 5, 2 entries"));
  const std::uint32_t one = number(density_colour(0)), two = number(density_colour(1));
  EXPECT_GE(got.count(one, 0, 0, 600, got.height()), 162 * 162);
  EXPECT_LE(got.count(one, 0, 0, 600, got.height()), 162 * 162 + 200);
  int left = 0;
  while (got.at(left, 150) != one) ++left;
  const int right = left + 5 * 162;
  EXPECT_EQ(got.at(left + 161, 77), one);
  EXPECT_EQ(got.at(left + 162, 77), white);
  EXPECT_EQ(got.count(two, left + 3 * 162, 76 + 2 * 162, 162, 162), 162 * 162);
  EXPECT_EQ(got.count(two, left, 76, right - left, 3 * 162), 162 * 162);
}

// The left end and length of the bar in a row of pixels; length 0: there is none.
std::pair<int, int> bar_at(const image& got, int y, apps::colour c) {
  int first = 214;  // where bars begin
  int length = 0;
  while (first + length < got.width() && got.at(first + length, y) == number(c)) ++length;
  return {first, length};
}

const std::vector<measured_case>& ladder() {
  static const std::vector<measured_case> cases{
      {.group = "reduce/a", .rung = "automatic", .milliseconds = 0.25, .fraction = 0.8, .ceiling = "read"},
      {.group = "reduce/a", .rung = "cub", .milliseconds = 0.4, .peer = true},
      {.group = "reduce/a", .rung = "slow one", .milliseconds = 5, .fraction = 0.04, .ceiling = "read"},
      {.group = "reduce/b", .rung = "automatic", .failed = "skipped: no device"},
      {.group = "reduce/b", .rung = "fast", .milliseconds = 2},
      {.group = "reduce/b", .rung = "half", .milliseconds = 4},
  };
  return cases;
}

// The centres of the bars.
constexpr int first_bar = 72 + 46 + 8;
constexpr int second_group = 72 + 46 + 3 * 24 + 18 + 46 + 8;

TEST(bench_ladder, bars_are_the_rates) {
  using style = bench::detail::plot_style;
  const image got(bench::plot_ladder(ladder(), "a machine"));
  const int fastest = bar_at(got, first_bar, style::automatic).second;
  EXPECT_NEAR(bar_at(got, first_bar + 24, style::own).second, fastest * 0.25 / 5, 1);
  EXPECT_NEAR(bar_at(got, first_bar + 48, style::other).second, fastest * 0.25 / 0.4, 1) << "a peer comes last";
  const int fast = bar_at(got, second_group + 24, style::own).second;
  EXPECT_NEAR(fast, 900 - 24 - 170 - 214, 1) << "without a ceiling the fastest ends the scale";
  EXPECT_NEAR(bar_at(got, second_group + 48, style::own).second, fast / 2.0, 1);
  const auto key_of_peers = [](const image& picture) { return picture.count(number(style::other), 700, 0, 200, 60); };
  EXPECT_EQ(key_of_peers(got), 12 * 12);
  EXPECT_EQ(key_of_peers(image(bench::plot_ladder({ladder().front()}, ""))), 0);
}

TEST(bench_ladder, the_ceiling_is_where_its_own_bar_would_end) {
  using style = bench::detail::plot_style;
  const image got(bench::plot_ladder(ladder(), "a machine"));
  const auto [left, length] = bar_at(got, first_bar, style::automatic);
  const int ceiling = left + static_cast<int>(std::lround(length / 0.8));
  const auto reddish = [&](int x) {
    int found = 0;
    for (int y = first_bar - 12; y < first_bar + 60; ++y) {
      const std::uint32_t c = got.at(x, y);
      found += (c >> 16) > (c & 0xff) + 40 ? 1 : 0;
    }
    return found;
  };
  EXPECT_GT(std::max({reddish(ceiling - 1), reddish(ceiling), reddish(ceiling + 1)}), 20);
  EXPECT_EQ(reddish(ceiling - 6), 0);
  EXPECT_EQ(reddish(ceiling + 6), 0);
}

TEST(bench_ladder, the_title_names_each_operation_once) {
  EXPECT_EQ(bench::detail::operations_of({{{.group = "reduce/a"}}, {{.group = "scan/b"}}, {{.group = "reduce/c"}}}),
            "reduce, scan");
  EXPECT_EQ(bench::detail::operations_of({}), "");
}

TEST(bench_ladder, labels_are_times_and_shares) {
  EXPECT_EQ(bench::detail::bar_label(0.25, {.milliseconds = 0.2, .name = "read"}), "250 \u00b5s \u00b7 80 %");
  EXPECT_EQ(bench::detail::bar_label(5, {.milliseconds = 0.2, .name = "read"}), "5.00 ms \u00b7 4.0 %");
  EXPECT_EQ(bench::detail::bar_label(1234.4, {}), "1.23 s");
}

TEST(bench_ladder, a_skipped_case_says_why_in_place_of_its_bar) {
  using style = bench::detail::plot_style;
  const image got(bench::plot_ladder(ladder(), "a machine"));
  const auto inked = [&](int y) { return 100 * 16 - got.count(number(style::background), 220, y - 8, 100, 16); };
  EXPECT_EQ(bar_at(got, second_group, style::automatic).second, 0);
  EXPECT_GT(inked(second_group), 100);
}

// For any times and any number of cases.
TEST(bench_ladder, holds_up_under_odd_numbers) {
  std::vector<measured_case> cases = ladder();
  for (const double ms : {0.0, -1.0, std::nan(""), HUGE_VAL, 1e-9, 1e12}) {
    for (const double fraction : {0.0, std::nan(""), HUGE_VAL, 1e-12, 3.0}) {
      cases.push_back({.group = "odd", .rung = "r", .milliseconds = ms, .fraction = fraction, .ceiling = "copy"});
    }
  }
  const image got(bench::plot_ladder(cases, ""));
  EXPECT_EQ(got.width(), 900);
  EXPECT_EQ(got.height(), 72 + 3 * (46 + 18) + 36 * 24 + 24);
  using style = bench::detail::plot_style;
  const int odd = second_group + 3 * 24 + 18 + 46;
  for (int row = 0; row < 20; ++row) EXPECT_EQ(bar_at(got, odd + 24 * row, style::own).second, 0) << row;
  EXPECT_GT(bar_at(got, odd + 24 * 20, style::own).second, 100);
  const std::uint32_t paper = number(style::background);
  EXPECT_EQ(got.count(paper, 890, 0, 10, got.height()), 10 * got.height()) << "nothing leaves the picture";
  EXPECT_EQ(image(bench::plot_ladder({}, "")).width(), 900);
}

}  // namespace
}  // namespace spargo::apps
