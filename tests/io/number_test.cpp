// Decimal to binary against the C library, which rounds correctly too.
#include "io/text/number.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace spargo {
namespace {

template <class T>
T by_the_c_library(const std::string& text) {
  if constexpr (std::is_same_v<T, float>) {
    return std::strtof(text.c_str(), nullptr);
  } else {
    return std::strtod(text.c_str(), nullptr);
  }
}

template <class T>
void expect_same(const std::string& text) {
  const std::string line = text + "\n";
  T ours{};
  const char* const end = detail::read_real(line.data(), ours);
  const T theirs = by_the_c_library<T>(text);
  if (std::isinf(theirs)) {
    EXPECT_EQ(end, nullptr) << text;
    T ignored{};
    EXPECT_EQ(detail::parse_real(text, ignored), detail::number_status::out_of_range) << text;
    return;
  }
  ASSERT_EQ(end, line.data() + text.size()) << text;
  EXPECT_EQ(ours, theirs) << text << " as float" << 8 * sizeof(T);
  EXPECT_EQ(std::signbit(ours), std::signbit(theirs)) << text;
}

std::string digits(std::mt19937_64& random, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += static_cast<char>('0' + random() % 10);
  return text;
}

TEST(Number, RandomDecimalsAreRoundedAsTheCLibraryDoes) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200'000; ++i) {
    std::string text = random() % 2 == 0 ? "-" : "";
    text += digits(random, 1 + random() % 12);
    if (random() % 4 != 0) text += "." + digits(random, random() % 20);
    const int range = i % 3 == 0 ? 340 : i % 3 == 1 ? 45 : 12;
    if (random() % 2 == 0) {
      text += random() % 2 == 0 ? "e" : "E";
      text += std::to_string(static_cast<int>(random() % static_cast<unsigned>(2 * range)) - range);
    }
    expect_same<double>(text);
    expect_same<float>(text);
  }
}

// Halfway between two neighbours, and one digit to either side.
TEST(Number, TiesGoToEven) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 20'000; ++i) {
    const auto significand = (std::uint64_t{1} << 24) + random() % (std::uint64_t{1} << 24);
    const std::string whole = std::to_string(2 * significand + 1);  // a tie for float, exact for double
    for (const std::string& text :
         {whole, whole + ".0000000001", whole + "e0", std::to_string(2 * significand) + ".9999999999"}) {
      expect_same<float>(text);
      expect_same<double>(text);
    }
  }
  for (const char* text : {"9007199254740993",
                           "9007199254740993.00000000001",
                           "9007199254740992.99999999999",
                           "0.1",
                           "1e22",
                           "1e23",
                           "16777217",
                           "16777219",
                           "1e10",
                           "1e11",
                           "8388608.5",
                           "9007199254740991e22",
                           "4503599627370497.5",
                           "2.4703282292062328e-324",
                           "2.4703282292062327e-324",
                           "1.7976931348623157e308",
                           "1.7976931348623159e308",
                           "3.4028235677973366e38",
                           "3.4028235677973365e38",
                           "1e-99999999999999999999999",
                           "1e99999999999999999999999",
                           "0.000e99999999999999999999999",
                           "0.00000000000000000000000000000000012345678901234567e3"}) {
    expect_same<double>(text);
    expect_same<float>(text);
  }
}

template <class T, class Bits>
void expect_round_trips() {
  std::mt19937_64 random(3);
  for (int i = 0; i < 200'000; ++i) {
    const auto value = std::bit_cast<T>(static_cast<Bits>(random()));
    if (!std::isfinite(value)) continue;
    char text[40];
    *std::to_chars(text, text + 39, value).ptr = '\n';
    T back{};
    ASSERT_NE(detail::read_real(text, back), nullptr);
    ASSERT_EQ(std::bit_cast<Bits>(back), std::bit_cast<Bits>(value)) << value;
  }
}

TEST(Number, ShortestFormsReadBackToTheSameBits) {
  expect_round_trips<double, std::uint64_t>();
  expect_round_trips<float, std::uint32_t>();
}

TEST(Number, FortranExponentsAndSpecialValues) {
  double v = 0;
  for (const char* text : {"1.5D+02\n", "1.5d2\n", "+1.5e2\n", "150\n", "1500D-1\n", "150.d0\n"}) {
    ASSERT_NE(detail::read_real(text, v), nullptr) << text;
    EXPECT_EQ(v, 150) << text;
  }
  for (const char* text : {"inf\n", "+INF\n", "Infinity\n"}) {
    ASSERT_NE(detail::read_real(text, v), nullptr) << text;
    EXPECT_EQ(v, std::numeric_limits<double>::infinity()) << text;
  }
  ASSERT_NE(detail::read_real("-inf ", v), nullptr);
  EXPECT_EQ(v, -std::numeric_limits<double>::infinity());
  for (const char* text : {"nan\n", "NaN\n", "-nan\n"}) {
    ASSERT_NE(detail::read_real(text, v), nullptr) << text;
    EXPECT_TRUE(std::isnan(v)) << text;
  }
}

TEST(Number, WhatIsNoNumberIsRefused) {
  double v = 0;
  for (const char* text :
       {"\n",    "-\n",   "+\n",   ".\n",   "-.\n",   "e5\n",    "1e\n", "1e+\n", "1e5x\n", "1.5.5\n", "1,5\n",
        "--1\n", "+-1\n", "-+1\n", "++1\n", "0x10\n", "1_000\n", "1d\n", "d5\n",  "infd\n", "1\r2\n",  "1e5 \b"}) {
    const char* const end = detail::read_real(text, v);
    EXPECT_TRUE(end == nullptr || *end == ' ') << text;
  }
}

TEST(Number, Integers) {
  std::int64_t v = 0;
  const std::vector<std::pair<std::string, std::int64_t>> good = {{"0", 0},
                                                                  {"-0", 0},
                                                                  {"+7", 7},
                                                                  {"-7", -7},
                                                                  {"000000000000000000000000012", 12},
                                                                  {"999999999999999999", 999999999999999999},
                                                                  {"9223372036854775807", INT64_MAX},
                                                                  {"-9223372036854775808", INT64_MIN}};
  for (const auto& [text, expected] : good) {
    const std::string line = text + "\n";
    EXPECT_EQ(detail::read_integer(line.data(), v), line.data() + text.size()) << text;
    EXPECT_EQ(v, expected);
  }
  for (const char* text : {"9223372036854775808", "-9223372036854775809", "99999999999999999999999"}) {
    EXPECT_EQ(detail::parse_integer(text, v), detail::number_status::out_of_range) << text;
  }
  for (const char* text : {"", "-", "+", "1.0", "1e3", "0x1", "+-1", "1 2", "12a"}) {
    EXPECT_EQ(detail::parse_integer(text, v), detail::number_status::malformed) << text;
  }
}

TEST(Number, KnowsWhichIntegersAreRounded) {
  const std::int64_t limit = std::int64_t{1} << 53;
  for (const std::int64_t exact :
       {std::int64_t{0}, limit, -limit, limit - 1, 2 * limit, limit + 2, INT64_MIN, std::int64_t{1} << 62}) {
    EXPECT_FALSE(detail::must_round(exact, 53)) << exact;
    EXPECT_FALSE(detail::must_round(-(exact / 2), 53)) << exact;
  }
  for (const std::int64_t inexact : {limit + 1, -limit - 1, 2 * limit + 2, INT64_MAX, INT64_MIN + 1}) {
    EXPECT_TRUE(detail::must_round(inexact, 53)) << inexact;
  }
  EXPECT_TRUE(detail::must_round((1 << 24) + 1, 24));
  EXPECT_FALSE(detail::must_round((1 << 24) + 2, 24));
}

}  // namespace
}  // namespace spargo
