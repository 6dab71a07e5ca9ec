#include "io/text/number.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>

namespace spargo::detail {

namespace {

// from_chars accepts '-' but not '+'; "+-1" is not a number.
std::string_view without_plus(std::string_view token) {
  return token.size() > 1 && token[0] == '+' && token[1] != '-' ? token.substr(1) : token;
}

// Whether a number outside T's range is too small: the exponent of its first significant digit is negative.
bool is_tiny(std::string_view number) {
  const std::size_t e = std::min(number.find_first_of("eE"), number.size());
  const std::string_view significand = number.substr(0, e);
  const auto point = static_cast<std::int64_t>(std::min(significand.find('.'), significand.size()));
  const auto first = static_cast<std::int64_t>(significand.find_first_of("123456789"));
  std::string_view digits = number.substr(std::min(e + 1, number.size()));
  const bool negative = !digits.empty() && digits[0] == '-';
  if (!digits.empty() && (digits[0] == '-' || digits[0] == '+')) digits.remove_prefix(1);
  std::int64_t exponent = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
  if (result.ec == std::errc::result_out_of_range) return negative;
  return (first < point ? point - first - 1 : point - first) + (negative ? -exponent : exponent) < 0;
}

}  // namespace

number_status parse_integer(std::string_view token, std::int64_t& value) noexcept {
  const std::string_view number = without_plus(token);
  const auto [end, status] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (status == std::errc::invalid_argument || end != number.data() + number.size()) return number_status::malformed;
  return status == std::errc::result_out_of_range ? number_status::out_of_range : number_status::ok;
}

bool is_rounded(std::string_view token, double value) noexcept {
  if (token[0] == '-' || token[0] == '+') token.remove_prefix(1);
  token.remove_prefix(std::min(token.find_first_not_of('0'), token.size()));
  if (!std::all_of(token.begin(), token.end(), is_digit)) return false;
  std::array<char, 310> exact{};  // maximum digits of a double
  const auto end =
      std::to_chars(exact.data(), exact.data() + exact.size(), std::abs(value), std::chars_format::fixed, 0);
  return std::string_view(exact.data(), end.ptr) != token;
}

template <class T>
number_status parse_real(std::string_view token, T& value) {
  std::string fortran;
  std::string_view number = without_plus(token);
  // An exponent letter follows a digit or a point; the d of "infd" does not.
  if (const std::size_t d = number.find_first_of("dD");
      d != std::string_view::npos && d > 0 && (is_digit(number[d - 1]) || number[d - 1] == '.')) {
    fortran = number;
    fortran[d] = 'e';
    number = fortran;
  }
  const auto [end, status] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (status == std::errc::invalid_argument || end != number.data() + number.size()) return number_status::malformed;
  if (status != std::errc::result_out_of_range) return number_status::ok;
  if (!is_tiny(number)) return number_status::out_of_range;
  value = number[0] == '-' ? -T{0} : T{0};
  return number_status::ok;
}

template number_status parse_real(std::string_view, float&);
template number_status parse_real(std::string_view, double&);

}  // namespace spargo::detail
