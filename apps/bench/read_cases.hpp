// Texts for the reading cases, generated once per run in the temporary folder.
//
// They are in the page cache when read, so rates are those of the readers; "GB/s" is of text.
#pragma once

#include "bench/bench.hpp"
#include "bench/interrupt.hpp"

#include <spargo/core/context.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <fstream>
#include <random>
#include <string>

namespace spargo::bench {

enum class text_kind { real, pattern_symmetric, edges };

// Random lines over 2^20 vertices, repeated up to 512 MiB of text: values of 17 digits; lower triangle; ids.
class text_file {
 public:
  static const text_file& of(text_kind kind) {
    static const text_file real(text_kind::real);
    static const text_file symmetric(text_kind::pattern_symmetric);
    static const text_file edges(text_kind::edges);
    return kind == text_kind::real ? real : kind == text_kind::edges ? edges : symmetric;
  }

  [[nodiscard]] const std::string& path() const { return file_.path(); }
  [[nodiscard]] double bytes() const { return bytes_; }

 private:
  static constexpr std::int64_t vertices = std::int64_t{1} << 20;
  static constexpr std::int64_t lines = std::int64_t{1} << 20;
  static constexpr std::int64_t wanted = std::int64_t{512} << 20;

  static std::string block_of(text_kind kind) {
    std::mt19937_64 random(1);
    std::string text;
    for (std::int64_t k = 0; k < lines; ++k) {
      const auto a = static_cast<std::int64_t>(random() % vertices) + 1;
      const auto b = static_cast<std::int64_t>(random() % vertices) + 1;
      const double value = static_cast<double>(static_cast<std::int64_t>(random())) * 0x1p-60;
      if (kind == text_kind::real) text += fmt::format("{} {} {:.17g}\n", a, b, value);
      if (kind == text_kind::pattern_symmetric) text += fmt::format("{} {}\n", std::max(a, b), std::min(a, b));
      if (kind == text_kind::edges) text += fmt::format("{}\t{}\n", a - 1, b - 1);
    }
    return text;
  }

  explicit text_file(text_kind kind) {
    const std::string block = block_of(kind);
    const std::int64_t blocks = wanted / static_cast<std::int64_t>(block.size()) + 1;
    std::ofstream file(path(), std::ios::binary);
    if (kind == text_kind::real) {
      file << fmt::format("%%MatrixMarket matrix coordinate real general\n{} {} {}\n", vertices, vertices,
                          blocks * lines);
    }
    if (kind == text_kind::pattern_symmetric) {
      file << fmt::format("%%MatrixMarket matrix coordinate pattern symmetric\n{} {} {}\n", vertices, vertices,
                          blocks * lines);
    }
    for (std::int64_t k = 0; k < blocks; ++k) file << block;
    bytes_ = static_cast<double>(file.tellp());
    file.close();
    if (!file) throw error(error_code::io, {path()}, "cannot write the text to be read");
  }

  temporary_file file_;
  double bytes_ = 0;
};

inline const char* name_of(text_kind kind) {
  return kind == text_kind::real ? "real" : kind == text_kind::edges ? "edges" : "pattern_symmetric";
}

// Text per second, from the median of a few runs, since each takes long.
template <class Read>
double measure_reading(benchmark::State& state, text_kind kind, const Read& read) {
  const text_file& text = text_file::of(kind);
  const double seconds = median_seconds([&] { read(text.path()); }, 7, 1);
  state.counters[gbytes_per_second] = text.bytes() / seconds * 1e-9;
  return seconds;
}

}  // namespace spargo::bench
