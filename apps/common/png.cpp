#include "common/png.hpp"

#include "common/font.hpp"

#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <new>

namespace spargo::apps {

namespace {

void put_word(std::string& bytes, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>((value >> shift) & 0xff));
}

void put_chunk(std::string& file, std::string_view type, const std::string& data) {
  put_word(file, static_cast<std::uint32_t>(data.size()));
  std::string body(type);
  body += data;
  file += body;
  const uLong checksum = ::crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  put_word(file, static_cast<std::uint32_t>(checksum));
}

std::string deflate_all(const std::string& raw) {
  uLongf size = ::compressBound(static_cast<uLong>(raw.size()));
  std::string packed(size, '\0');
  const int status = ::compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                                 reinterpret_cast<const Bytef*>(raw.data()), static_cast<uLong>(raw.size()), 9);
  if (status != Z_OK) throw std::bad_alloc();  // the only way that compress2 fails with a large enough buffer
  packed.resize(size);
  return packed;
}

std::uint8_t mix(std::uint8_t under, std::uint8_t over, double share) {
  return static_cast<std::uint8_t>(std::lround(under + (over - under) * share));
}

}  // namespace

canvas::canvas(int width, int height, colour background)
    : width_(width), height_(height), pixels_(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3) {
  fill(0, 0, width, height, background);
}

void canvas::blend(int x, int y, colour c, double share) {
  if (x < 0 || y < 0 || x >= width_ || y >= height_) return;
  std::uint8_t* p =
      &pixels_[(static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(x)) * 3];
  p[0] = mix(p[0], c.red, share);
  p[1] = mix(p[1], c.green, share);
  p[2] = mix(p[2], c.blue, share);
}

void canvas::set(int x, int y, colour c) { blend(x, y, c, 1.0); }

void canvas::fill(int x, int y, int width, int height, colour c) {
  for (int j = y; j < y + height; ++j) {
    for (int i = x; i < x + width; ++i) set(i, j, c);
  }
}

void canvas::frame(int x, int y, int width, int height, colour c) {
  fill(x - 1, y - 1, width + 2, 1, c);
  fill(x - 1, y + height, width + 2, 1, c);
  fill(x - 1, y, 1, height, c);
  fill(x + width, y, 1, height, c);
}

void canvas::disc(int x, int y, double radius, colour c) {
  const int reach = static_cast<int>(std::ceil(radius)) + 1;
  for (int j = -reach; j <= reach; ++j) {
    for (int i = -reach; i <= reach; ++i) {
      const double share = std::clamp(radius + 0.5 - std::hypot(i, j), 0.0, 1.0);
      if (share > 0) blend(x + i, y + j, c, share);
    }
  }
}

void canvas::line(double x0, double y0, double x1, double y1, double thickness, colour c) {
  const double dx = x1 - x0, dy = y1 - y0;
  const double length_squared = std::max(dx * dx + dy * dy, 1e-9);
  const int reach = static_cast<int>(std::ceil(thickness)) + 1;
  const int left = static_cast<int>(std::floor(std::min(x0, x1))) - reach,
            right = static_cast<int>(std::ceil(std::max(x0, x1))) + reach;
  const int top = static_cast<int>(std::floor(std::min(y0, y1))) - reach,
            bottom = static_cast<int>(std::ceil(std::max(y0, y1))) + reach;
  for (int y = std::max(top, 0); y <= std::min(bottom, height_ - 1); ++y) {
    for (int x = std::max(left, 0); x <= std::min(right, width_ - 1); ++x) {
      const double along = std::clamp(((x - x0) * dx + (y - y0) * dy) / length_squared, 0.0, 1.0);
      const double distance = std::hypot(x - (x0 + along * dx), y - (y0 + along * dy));
      const double share = std::clamp(thickness / 2 + 0.5 - distance, 0.0, 1.0);
      if (share > 0) blend(x, y, c, share);
    }
  }
}

int canvas::text_width(std::string_view words, int scale) {
  return words.empty() ? 0 : (static_cast<int>(words.size()) * font::advance - 1) * scale;
}

void canvas::text(int x, int y, std::string_view words, colour c, int scale, anchor at) {
  if (at == anchor::centre) x -= text_width(words, scale) / 2;
  if (at == anchor::right) x -= text_width(words, scale);
  for (const char letter : words) {
    const auto& glyph = font::glyph(letter);
    for (int column = 0; column < font::width; ++column) {
      for (int row = 0; row < font::height; ++row) {
        if ((glyph[static_cast<std::size_t>(column)] >> row & 1) != 0) {
          fill(x + column * scale, y + row * scale, scale, scale, c);
        }
      }
    }
    x += font::advance * scale;
  }
}

void canvas::text_upwards(int x, int y, std::string_view words, colour c, int scale) {
  int bottom = y + text_width(words, scale) / 2;
  for (const char letter : words) {
    const auto& glyph = font::glyph(letter);
    for (int column = 0; column < font::width; ++column) {
      for (int row = 0; row < font::height; ++row) {
        if ((glyph[static_cast<std::size_t>(column)] >> row & 1) != 0) {
          fill(x + row * scale, bottom - (column + 1) * scale, scale, scale, c);
        }
      }
    }
    bottom -= font::advance * scale;
  }
}

std::string canvas::png() const {
  std::string file = "\x89PNG\r\n\x1a\n";
  std::string header;
  put_word(header, static_cast<std::uint32_t>(width_));
  put_word(header, static_cast<std::uint32_t>(height_));
  header += std::string("\x08\x02\0\0\0", 5);  // 8 bits, RGB, deflate, filters, no interlace
  put_chunk(file, "IHDR", header);
  std::string raw;
  const std::size_t row_bytes = static_cast<std::size_t>(width_) * 3;
  raw.reserve((row_bytes + 1) * static_cast<std::size_t>(height_));
  for (std::size_t y = 0; y < static_cast<std::size_t>(height_); ++y) {
    raw.push_back(0);  // no filter
    raw.append(reinterpret_cast<const char*>(&pixels_[y * row_bytes]), row_bytes);
  }
  put_chunk(file, "IDAT", deflate_all(raw));
  put_chunk(file, "IEND", {});
  return file;
}

colour density_colour(double t) {
  static constexpr colour stops[] = {{214, 234, 223}, {142, 208, 186}, {72, 172, 160}, {40, 130, 142},
                                     {46, 88, 132},   {58, 44, 104},   {36, 12, 56}};
  constexpr auto last = static_cast<double>(std::size(stops) - 1);
  const double at = std::clamp(t, 0.0, 1.0) * last;
  const auto below = static_cast<std::size_t>(std::min(std::floor(at), last - 1));
  const double share = at - static_cast<double>(below);
  const colour a = stops[below], b = stops[below + 1];
  return {mix(a.red, b.red, share), mix(a.green, b.green, share), mix(a.blue, b.blue, share)};
}

}  // namespace spargo::apps
