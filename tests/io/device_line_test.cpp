// The line parser of GPU threads, run on the host. It may reject a line, which then goes to the host reader; what it
// accepts must equal what the C library reads, and the host reader must accept it too.
#include "io/device/line.hpp"
#include "io/edge_list/line.hpp"
#include "io/matrix_market/parts.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <random>

namespace spargo {
namespace {

using namespace detail::device_text;

constexpr detail::powers_of_five::entry const* fives() { return detail::powers_of_five::table.data(); }

float c_number(const char* text, float) { return std::strtof(text, nullptr); }
double c_number(const char* text, double) { return std::strtod(text, nullptr); }

template <class T>
bool same_bits(T a, T b) {
  using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  return std::bit_cast<bits>(a) == std::bit_cast<bits>(b);
}

// Whether the token is accepted as a whole; it must then be the C library's number.
template <class T>
bool takes(const std::string& token) {
  const std::string text = token + '\n';
  T value{-7};
  const char* const end = read_real(fives(), text.data(), value);
  if (end != text.data() + token.size()) return false;
  EXPECT_TRUE(same_bits(value, c_number(token.c_str(), T{}))) << token << ": " << value;
  return true;
}

TEST(DeviceLine, TakesTheNumbersThatFilesHold) {
  for (const char* token : {"0",
                            "-0",
                            "0.0",
                            "-0.0e5",
                            "1",
                            "+1",
                            "1.",
                            ".5",
                            "-.5",
                            "1e5",
                            "1E+05",
                            "1.5e-7",
                            "1234567890123456789",
                            "0.1234567890123456789",
                            "0.00000000000000000000012345",
                            "1234567890123456789.",
                            "9007199254740993",
                            "9007199254740992.5",
                            "0.3",
                            "1e22",
                            "1e23",
                            "8.5e-10",
                            "123456789012345678e-30",
                            "000000000000000000000001",
                            "9999999999999999999",
                            "5e-20",
                            "1e-30"}) {
    EXPECT_TRUE(takes<double>(token)) << token;
  }
  EXPECT_TRUE(takes<double>("1e80"));
  EXPECT_TRUE(takes<double>("1e-80"));
  EXPECT_TRUE(takes<float>("16777217"));
  EXPECT_TRUE(takes<float>("3.4e-36"));
  EXPECT_TRUE(takes<float>("1e18"));
}

TEST(DeviceLine, LeavesTheRestToTheHost) {
  for (const char* token : {"",
                            "-",
                            "+",
                            ".",
                            "-.",
                            "e5",
                            "1e",
                            "1e+",
                            "1e-",
                            "inf",
                            "nan",
                            "NaN",
                            "-Inf",
                            "1d5",
                            "0x10",
                            "1e81",
                            "1e-99",
                            "1e99999",
                            "1e00000",
                            "--1",
                            "+-1",
                            "1,5",
                            "1 ",
                            "123456789012345678901",
                            "0.12345678901234567890123",
                            "1.2.3",
                            "1e5.5"}) {
    EXPECT_FALSE(takes<double>(token)) << token;
  }
  EXPECT_FALSE(takes<float>("1e19"));
  EXPECT_FALSE(takes<float>("1e-38"));
}

std::string random_number(std::mt19937_64& random) {
  const auto digits = [&](int most) {
    std::string text;
    for (auto n = static_cast<int>(random() % static_cast<unsigned>(most + 1)); n > 0; --n) {
      text += static_cast<char>('0' + random() % 10);
    }
    return text;
  };
  switch (random() % 4) {
    case 0:
      return fmt::format("{:.17g}", std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())),
                                               static_cast<int>(random() % 100) - 110));
    case 1:
      return fmt::format("{}.{}", digits(9), digits(19));
    case 2:
      return fmt::format("-{}.{}e{}", digits(3), digits(16), static_cast<int>(random() % 60) - 30);
    default:
      return fmt::format("{}e{}", random() >> random() % 60, static_cast<int>(random() % 40) - 20);
  }
}

TEST(DeviceLine, RoundsAsTheCLibrary) {
  std::mt19937_64 random(11);
  int taken = 0;
  for (int k = 0; k < 400'000; ++k) {
    const std::string token = random_number(random);
    taken += takes<double>(token);
    (void)takes<float>(token);
  }
  EXPECT_GT(taken, 300'000);
}

// Halfway between two doubles, and next to it.
TEST(DeviceLine, RoundsTiesToEven) {
  std::mt19937_64 random(12);
  for (int k = 0; k < 100'000; ++k) {
    const std::uint64_t half = (std::uint64_t{1} << 53) + 2 * (random() >> 12) + 1;  // 54 bits
    for (const std::uint64_t near : {half - 1, half, half + 1}) {
      ASSERT_TRUE(takes<double>(fmt::format("{}", near)));
      ASSERT_TRUE(takes<double>(fmt::format("{}.5", near)) || near > 9'999'999'999'999'999);
      ASSERT_TRUE(takes<float>(fmt::format("{}e-3", near >> 29)));
      ASSERT_TRUE(takes<float>(fmt::format("{}.5", near >> 30)));
    }
  }
}

// --- Whole lines -----------------------------------------------------------------------------------------------------

template <class T>
struct host_line {
  bool accepted = false;
  std::int64_t row = 0;
  std::int64_t col = 0;
  T value{};
};

template <matrix_market_field F>
host_line<double> by_host(const std::string& line, const matrix_line& rule) {
  host_line<double> met;
  detail::mtx::entry_value<F, double> value;
  const char* start = nullptr;
  try {
    (void)detail::mtx::read_any_line<F>(line.data(), line.data() + line.size(),
                                        {rule.rows, rule.cols, rule.symmetry, 1 << 20}, start, met.row, met.col, value);
    met.accepted = start != nullptr;
    met.value = value.real;
  } catch (const detail::bad_line&) {
  }
  return met;
}

host_line<double> by_host(const std::string& line, const matrix_line& rule) {
  if (rule.field == matrix_market_field::real) return by_host<matrix_market_field::real>(line, rule);
  if (rule.field == matrix_market_field::integer) return by_host<matrix_market_field::integer>(line, rule);
  return by_host<matrix_market_field::pattern>(line, rule);
}

// A line accepted here must be accepted by the host reader with the same result.
bool accepted_by_both(const std::string& line, const matrix_line& rule) {
  parsed_entry<double> entry;
  if (!parse_line(rule, fives(), line.data(), entry)) return false;
  const host_line<double> host = by_host(line, rule);
  EXPECT_TRUE(host.accepted) << line;
  EXPECT_EQ(entry.row, host.row - 1) << line;
  EXPECT_EQ(entry.col, host.col - 1) << line;
  EXPECT_TRUE(same_bits(entry.value, host.value)) << line;
  return true;
}

TEST(DeviceLine, TakesTheLinesThatFilesHold) {
  using field = matrix_market_field;
  for (const char* end : {"\n", "\r\n", " \n", "\t \r\n"}) {
    EXPECT_TRUE(accepted_by_both(std::string("1 2 3.5") + end, {9, 9, field::real}));
    EXPECT_TRUE(accepted_by_both(std::string("  9\t9   -3e5") + end, {9, 9, field::real}));
    EXPECT_TRUE(accepted_by_both(std::string("1 2 -35") + end, {9, 9, field::integer}));
    EXPECT_TRUE(accepted_by_both(std::string("1 2") + end, {9, 9, field::pattern}));
    EXPECT_TRUE(accepted_by_both(std::string("3 3 0") + end, {9, 9, field::real, symmetry_kind::skew_symmetric}));
  }
  for (const char* line : {"", "% 1 2 3", "0 1 1", "1 0 1", "10 1 1", "1 10 1", "1 2", "1 2 3 4", "1 2 3\r4", "1,2,3",
                           "1.5 2 3", "-1 2 3", "+1 2 3", "1 2 3x", "1 2 x", "1 2 3 %", "1\r2 3", "1 2 1d5"}) {
    EXPECT_FALSE(accepted_by_both(std::string(line) + '\n', {9, 9, field::real})) << line;
  }
  EXPECT_FALSE(accepted_by_both("3 3 1\n", {9, 9, field::real, symmetry_kind::skew_symmetric}));
  EXPECT_FALSE(accepted_by_both("3 3 1.0\n", {9, 9, field::integer}));
  EXPECT_FALSE(accepted_by_both("3 3 1\n", {9, 9, field::pattern}));
}

TEST(DeviceLine, IntegersSayWhetherTheyWereRounded) {
  parsed_entry<float> narrow;
  parsed_entry<double> wide;
  const matrix_line rule{9, 9, matrix_market_field::integer};
  ASSERT_TRUE(parse_line(rule, fives(), "1 1 16777216\n", narrow));
  EXPECT_FALSE(narrow.rounded);
  ASSERT_TRUE(parse_line(rule, fives(), "1 1 -16777217\n", narrow));
  EXPECT_TRUE(narrow.rounded);
  EXPECT_EQ(narrow.value, -16777216.0F);
  ASSERT_TRUE(parse_line(rule, fives(), "1 1 16777217\n", wide));
  EXPECT_FALSE(wide.rounded);
  ASSERT_TRUE(parse_line(rule, fives(), "1 1 9007199254740993\n", wide));
  EXPECT_TRUE(wide.rounded);
}

// Valid lines, and lines with a few bytes changed.
TEST(DeviceLine, NeverTakesWhatTheHostRefuses) {
  std::mt19937_64 random(13);
  const std::string alphabet = std::string("0123456789 \t\r.+-eEdx%,n") + '\0';
  int accepted = 0;
  for (int k = 0; k < 300'000; ++k) {
    const auto kind = static_cast<matrix_market_field>(random() % 3 == 2 ? 3 : random() % 2);
    std::string line = fmt::format("{} {}", 1 + random() % 40, 1 + random() % 40);
    if (kind == matrix_market_field::real) line += ' ' + random_number(random);
    if (kind == matrix_market_field::integer)
      line += fmt::format(" {}", static_cast<std::int64_t>(random()) >> random() % 64);
    for (auto changes = random() % 3; changes > 0; --changes) {
      line[random() % line.size()] = alphabet[random() % alphabet.size()];
    }
    const auto symmetry = random() % 4 == 0 && kind != matrix_market_field::pattern ? symmetry_kind::skew_symmetric
                                                                                    : symmetry_kind::general;
    accepted += accepted_by_both(line + '\n', {38, 38, kind, symmetry});
  }
  EXPECT_GT(accepted, 100'000);
}

TEST(DeviceLine, Edges) {
  parsed_entry<double> edge;
  const edge_line plain{2'147'483'647, false};
  const edge_line weighted{2'147'483'647, true};
  for (const char* line : {"3 4\n", "  3\t4\r\n", "3,4\n", "3 , 4 \n", "3;4\n", "003 04\n"}) {
    ASSERT_TRUE(parse_line(plain, fives(), line, edge)) << line;
    EXPECT_EQ(edge.row, 3);
    EXPECT_EQ(edge.col, 4);
    EXPECT_EQ(edge.value, 1.0);
  }
  for (const char* line : {"3 4 0.5\n", "3,4,5e-1\n", "3 4 .5 and more\n", "3\t4\t0.5\r\n", "3 4 0.5,x\n"}) {
    ASSERT_TRUE(parse_line(weighted, fives(), line, edge)) << line;
    EXPECT_EQ(edge.value, 0.5);
    EXPECT_FALSE(parse_line(plain, fives(), line, edge)) << line;
  }
  for (const char* line : {"3 4\n", "3\n", "\n", "# 3 4\n", "3 4 x\n", "3,,4 5\n", "2147483648 1 1\n", "-3 4 1\n"}) {
    EXPECT_FALSE(parse_line(weighted, fives(), line, edge)) << line;
  }
  for (const char* line : {"3 4 {}\n", "3 4 {'weight': 5}\n", "source,target\n", "source,target,weight\n"}) {
    EXPECT_FALSE(parse_line(plain, fives(), line, edge)) << line;
    EXPECT_FALSE(parse_line(weighted, fives(), line, edge)) << line;
  }
}

// An edge of a list whose first edge has a weight or none and this delimiter, as the host reads any line; none if it
// refuses the line.
std::optional<detail::edge_text::edge_fields> edge_by_host(const std::string& line, const edge_line& rule) {
  edge_list_header header;
  header.names = {"source", "target"};
  detail::edge_text::edge_part<std::int32_t> part;
  if (rule.more >= 0) header.columns = 3 + rule.more;
  part.header = &header;
  part.delimiter = rule.delimiter;
  part.weighted = rule.weighted;
  part.first_column = line.data();
  detail::edge_text::edge_fields edge;
  try {
    if (detail::edge_text::read_any_edge(line.data(), part, edge) && !edge.rounded) return edge;
  } catch (const detail::bad_line&) {
  }
  return {};
}

// Whether the line is accepted; then the host reads the same edge.
bool edge_accepted_by_both(const std::string& line, const edge_line& rule) {
  parsed_entry<double> edge;
  if (!parse_line(rule, fives(), line.data(), edge)) return false;
  const auto host = edge_by_host(line, rule);
  EXPECT_TRUE(host.has_value()) << line << "delimiter '" << rule.delimiter << "'";
  if (!host.has_value()) return true;
  EXPECT_EQ(edge.row, host->source) << line;
  EXPECT_EQ(edge.col, host->target) << line;
  if (rule.weighted) {
    EXPECT_TRUE(same_bits(edge.value, host->weight)) << line;
  }
  return true;
}

TEST(DeviceLine, EdgesWithBlanksWithinNumbersAreTheHosts) {
  for (const char delimiter : {',', ';', '\t'}) {
    const auto line = [&](const char* source, const char* target, const char* weight) {
      return fmt::format("{1}{0}{2}{0}{3}\n", delimiter, source, target, weight);
    };
    const edge_line rule{2'147'483'647, true, delimiter};
    EXPECT_TRUE(edge_accepted_by_both(line("1", "2", "0.5"), rule));
    EXPECT_TRUE(edge_accepted_by_both(line("1", " 2", "0.5"), rule));
    for (const std::string& bad : {line("1 000", "2", "3"), line("1", "2 000", "3"), line("1", "2", "1 000")}) {
      EXPECT_FALSE(edge_accepted_by_both(bad, rule)) << bad;
      EXPECT_TRUE(edge_accepted_by_both(bad, {rule.largest, true, ' '}) || delimiter != '\t') << bad;
    }
    EXPECT_FALSE(edge_accepted_by_both(fmt::format("1 000{}2\n", delimiter), {rule.largest, false, delimiter}));
  }
}

TEST(DeviceLine, EdgesWithMoreFieldsThanTheHeaderAreTheHosts) {
  const edge_line rule{2'147'483'647, true, ','};
  edge_line ends = rule, one = rule;
  ends.more = 0;
  one.more = 1;
  for (const char* line : {"1,2,3\n", "1,2,3\r\n", "1, 2, 3\n"}) {
    EXPECT_TRUE(edge_accepted_by_both(line, rule) && edge_accepted_by_both(line, ends)) << line;
  }
  for (const char* line : {"1,2,3,4\n", "1,2,3,\n", "1,2,1,234.5\n"}) {
    EXPECT_TRUE(edge_accepted_by_both(line, rule) && edge_accepted_by_both(line, one)) << line;
    EXPECT_FALSE(edge_accepted_by_both(line, ends)) << line;
  }
  EXPECT_FALSE(edge_accepted_by_both("1,2,3,x,y\n", one));
}

// Edges as files hold them, most with a few bytes changed, in lists with every delimiter.
TEST(DeviceLine, EdgesAreAcceptedAsTheHostReadsThem) {
  std::mt19937_64 random(14);
  const std::string alphabet = std::string("0123456789 \t\r.+-eE,;:#%{}'\"x") + '\0';
  const std::string delimiters = " \t,;";
  int accepted = 0;
  for (int k = 0; k < 400'000; ++k) {
    const char delimiter = delimiters[random() % 4];
    const auto between = [&] {
      const std::string blanks[] = {"", "", "", " ", "\t"};
      return blanks[random() % 5] + delimiter + blanks[random() % 5];
    };
    const bool weighted = random() % 3 != 0;
    std::string line = std::to_string(random() >> random() % 64) + between() + std::to_string(random() % 4000);
    if (weighted || random() % 8 == 0) line += between() + random_number(random);
    if (random() % 8 == 0) line += between() + std::to_string(random() % 100);
    for (auto changes = random() % 4; changes > 0; --changes) {
      const std::size_t at = random() % line.size();
      if (random() % 3 == 0) {
        line.insert(at, 1, alphabet[random() % alphabet.size()]);
      } else {
        line[at] = alphabet[random() % alphabet.size()];
      }
    }
    accepted += edge_accepted_by_both(line + (random() % 8 == 0 ? "\r\n" : "\n"),
                                      {std::numeric_limits<std::int64_t>::max(), weighted, delimiter});
  }
  EXPECT_GT(accepted, 70'000);
}

}  // namespace
}  // namespace spargo
