// Large files with lines of every form, against a naive reader that uses the C library for numbers.
#include "io/text/common_line.hpp"

#include "io/matrix_market/detail.hpp"
#include "io/support/files.hpp"
#include "support/rounds.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstdlib>
#include <limits>
#include <random>
#include <sstream>

namespace spargo {
namespace {

using detail::matrix_market_tuning;
using detail::triangles;

// Writes random lines; half of them are `common`, so that both paths of the reader are used alternately.
class line_writer {
 public:
  explicit line_writer(unsigned seed) : random_(seed) {}

  std::string blanks() {
    const std::string all[] = {" ",
                               " ",
                               " ",
                               " ",
                               "\t",
                               "  ",
                               " \t ",
                               std::string(7, ' '),
                               std::string(8, ' '),
                               std::string(9, ' '),
                               std::string(40, ' ')};
    return all[random_() % (rare() ? 11 : 4)];
  }
  std::string index(std::int64_t value) {
    const std::string digits = std::to_string(value);
    if (!rare()) return digits;
    const std::string zeros(1 + random_() % 20, '0');
    return (random_() % 3 == 0 ? "+" : "") + (random_() % 2 == 0 ? zeros + digits : digits);
  }
  std::string digits(std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += static_cast<char>('0' + random_() % 10);
    return text;
  }
  std::string real() {
    if (!rare()) return fmt::format("{}", static_cast<double>(random_() >> 11) * 0x1p-53 - 0.25);
    std::string text = random_() % 3 == 0 ? "-" : random_() % 8 == 0 ? "+" : "";
    const bool before = random_() % 5 != 0;
    if (before) text += random_() % 2 == 0 ? "0" : digits(1 + random_() % 24);
    if (!before || random_() % 3 != 0)
      text += "." + std::string(random_() % 3 == 0 ? random_() % 9 : 0, '0') +
              digits(before ? random_() % 26 : 1 + random_() % 26);
    if (random_() % 3 == 0) text += fmt::format("{}{}", random_() % 2 == 0 ? "e" : "E+", random_() % 90);
    if (random_() % 9 == 0) text = random_() % 2 == 0 ? "inf" : "-1.5e-0300";
    return text;
  }
  std::string integer() { return fmt::format("{}", static_cast<std::int64_t>(random_()) >> (random_() % 64)); }
  std::string end() { return (rare() ? blanks() : "") + (random_() % 8 == 0 ? "\r\n" : "\n"); }
  std::string between() {  // lines without an entry
    if (random_() % 500 != 0) return "";
    return random_() % 2 == 0 ? "% a comment, 1 2 3\n" : random_() % 2 == 0 ? "\n" : " \t\r\n";
  }
  std::int64_t below(std::int64_t limit) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(limit));
  }

 private:
  bool rare() { return random_() % 8 == 0; }
  std::mt19937_64 random_;
};

struct entry {
  std::int64_t row;
  std::int64_t col;
  double real;
  double imaginary;
};

// The oracle: the standard library alone.
std::vector<entry> read_naively(const std::string& text) {
  std::istringstream lines(text);
  std::vector<entry> all;
  bool size_seen = false;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream tokens(line);
    std::string row, col, real, imaginary;
    if (!(tokens >> row) || row[0] == '%') continue;
    tokens >> col >> real >> imaginary;
    if (size_seen) {
      all.push_back({std::atoll(row.c_str()) - 1, std::atoll(col.c_str()) - 1,
                     real.empty() ? 1 : std::strtod(real.c_str(), nullptr),
                     imaginary.empty() ? 0 : std::strtod(imaginary.c_str(), nullptr)});
    }
    size_seen = true;
  }
  return all;
}

std::string write_file(const std::string& field, std::int64_t dimension, int entries, unsigned seed) {
  line_writer write(seed);
  std::string text =
      fmt::format("%%MatrixMarket matrix coordinate {} general\n{} {} {}\n", field, dimension, dimension, entries);
  for (int k = 0; k < entries; ++k) {
    text += write.between() + (write.below(9) == 0 ? write.blanks() : "");
    text += write.index(1 + write.below(dimension)) + write.blanks() + write.index(1 + write.below(dimension));
    if (field != "pattern") text += write.blanks() + (field == "integer" ? write.integer() : write.real());
    if (field == "complex") text += write.blanks() + write.real();
    text += write.end();
  }
  return text;
}

template <class V>
void expect_read(const std::string& field, std::int64_t dimension, unsigned seed) {
  const test::temporary_folder folder;
  const std::string text = write_file(field, dimension, 30'000, seed);
  const std::vector<entry> expected = read_naively(text);
  ASSERT_EQ(expected.size(), 30'000U);
  const std::string plain = folder.write("plain", text);
  const std::string packed = folder.write("packed", test::gzip(text));
  for (const std::int64_t part : {1'000, 70'000, 1 << 20}) {
    for (const auto& [path, block] : {std::pair(plain, 0), std::pair(plain, 300'000), std::pair(packed, 50'000)}) {
      matrix_market_summary summary;
      const auto a = detail::read_entries<V, std::int64_t>(context<host>({.threads = 3}), path, {},
                                                           {.input = {.block_bytes = block}, .part_bytes = part},
                                                           triangles::stored, summary);
      ASSERT_EQ(a.nnz(), 30'000);
      for (std::size_t k = 0; k < expected.size(); ++k) {
        const auto i = static_cast<std::int64_t>(k);
        ASSERT_EQ(a.row_indices()[i], expected[k].row) << "entry " << k << " of " << field;
        ASSERT_EQ(a.col_indices()[i], expected[k].col) << "entry " << k << " of " << field;
        if constexpr (complex_type<V>) {
          ASSERT_EQ(std::bit_cast<std::uint64_t>(a.values()[i].real()), std::bit_cast<std::uint64_t>(expected[k].real))
              << k;
          ASSERT_EQ(std::bit_cast<std::uint64_t>(a.values()[i].imag()),
                    std::bit_cast<std::uint64_t>(expected[k].imaginary))
              << k;
        } else if constexpr (!is_pattern<V>) {
          ASSERT_EQ(std::bit_cast<std::uint64_t>(a.values()[i]), std::bit_cast<std::uint64_t>(expected[k].real)) << k;
        }
      }
    }
  }
}

TEST(CommonLine, LinesOfEveryFormAreRead) {
  unsigned seed = 1;
  for (const std::int64_t dimension :
       {9LL, 12'345'678LL, 123'456'789LL, 999'999'999'999'999LL, 4'000'000'000'000'000'000LL}) {
    expect_read<double>("real", dimension, ++seed);
    expect_read<double>("integer", dimension, ++seed);
    expect_read<std::complex<double>>("complex", dimension, ++seed);
    expect_read<pattern>("pattern", dimension, ++seed);
  }
}

// Replaces each character of a valid line by any other: both paths of the reader must report the same.
TEST(CommonLine, ADamagedLineIsTheSameInTheMiddleAndAtTheEnd) {
  const test::temporary_folder folder;
  const std::string head = "%%MatrixMarket matrix coordinate complex general\n400 400 3\n1 1 1 1\n";
  const std::string line = "12 345 -1.25e-3 0.50\n";
  const std::string far = "% " + std::string(1000, 'x') + "\n2 2 2 2\n";
  const auto outcome = [&](const std::string& text) -> std::string {
    try {
      matrix_market_summary summary;
      const auto a = detail::read_entries<std::complex<double>, std::int32_t>(
          context<host>({.threads = 1}), folder.write("f", text), {}, {}, triangles::stored, summary);
      return fmt::format("{} {} {} {}", a.row_indices()[1], a.col_indices()[1], a.values()[1].real(),
                         a.values()[1].imag());
    } catch (const error& e) {
      return e.what();
    }
  };
  for (std::size_t at = 0; at + 1 < line.size(); ++at) {
    // Under sanitizers a third of the bytes, others in each column.
    for (int c = 1 + (test::is_sanitized ? static_cast<int>(at % 3) : 0); c < 256; c += test::is_sanitized ? 3 : 1) {
      std::string damaged = line;
      damaged[at] = static_cast<char>(c);
      if (c == '\n' || c == '%') continue;  // changes the line structure
      // Followed by much text the line is read by the fast path; as the last line, by the other.
      const std::string early = outcome(head + damaged + far);
      const std::string late = outcome(head + far + damaged);
      if (early.find("f:") == std::string::npos) {
        const std::string first_of_late =
            outcome("%%MatrixMarket matrix coordinate complex general\n400 400 2\n2 2 2 2\n" + damaged);
        EXPECT_EQ(early, first_of_late) << "byte " << c << " at " << at;
      } else {
        ASSERT_NE(late.find("f:6:"), std::string::npos) << late << " against " << early;
        EXPECT_EQ(early.substr(early.find("f:4:") + 4), late.substr(late.find("f:6:") + 4))
            << "byte " << c << " at " << at;
      }
    }
  }
}

TEST(CommonLine, NothingIsReadBeyondItsReach) {
  // The longest tokens of all kinds, and each one byte longer: read within the reach, or rejected.
  const std::string blanks(7, ' ');
  const std::string index(19, '1');
  const std::string real = "-1234567.12345678901234567890123e+100";
  const std::string line = blanks + index + blanks + index + blanks + real + blanks + real + blanks + "\r\n";
  EXPECT_LE(static_cast<std::int64_t>(line.size()) + 8, detail::common_line::line_reach);
  EXPECT_EQ(detail::common_line::skip_few_blanks("        1"), nullptr);
  std::int64_t ignored = 0;
  EXPECT_EQ(detail::common_line::read_index("12345678901234567890           ", ignored), nullptr);
  double value = 0;
  EXPECT_EQ(detail::common_line::read_real("0.000000000000000000000001          ", value), nullptr);
  EXPECT_EQ(detail::common_line::read_real("12345678.5                          ", value), nullptr);
  EXPECT_EQ(detail::common_line::read_real("1e0001                              ", value), nullptr);
}

// The most negative 64-bit integer has no positive counterpart: left to the general reader.
TEST(CommonLine, TheLeastIntegerIsNotNegated) {
  std::int64_t value = 0;
  EXPECT_EQ(detail::common_line::read_integer("-9223372036854775808            ", value), nullptr);
  EXPECT_NE(detail::common_line::read_integer("-9223372036854775807            ", value), nullptr);
  EXPECT_EQ(value, -std::numeric_limits<std::int64_t>::max());
}

}  // namespace
}  // namespace spargo
