// Parses a part of a Matrix Market file line by line; one thread per part.
//
// Most lines go through common_line.hpp; others, and a part's last ones, where eight bytes cannot be read at once, are
// read byte by byte. The cold path throws errors as `bad_line`. A part ends in '\n', the sentinel of every loop.
#pragma once

#include "io/matrix_market/detail.hpp"
#include "io/text/common_line.hpp"
#include "io/text/entry_store.hpp"
#include "io/text/number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <exception>
#include <limits>
#include <optional>

namespace spargo::detail::mtx {

using field_kind = matrix_market_field;

// float for V = float and complex<float>, so that numbers are rounded once; otherwise double.
template <class V>
struct real_part {
  using type = double;
};
template <>
struct real_part<float> {
  using type = float;
};
template <>
struct real_part<std::complex<float>> {
  using type = float;
};

struct rules {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  symmetry_kind symmetry = symmetry_kind::general;
  std::int64_t max_line_bytes = 0;
  bool is_unsigned = false;  // integers up to 2^64 - 1
};

// --- Cold path: errors ----------------------------------------------------------------------------------------------

[[noreturn]] inline void refuse_token(const char* p, const std::string& expected) {
  const std::string_view token = token_at(p);
  if (token.empty()) throw bad_line{p, fmt::format("the line ends (expected {})", expected)};
  throw bad_line{p, fmt::format("unexpected {} (expected {})", quoted(token), expected)};
}

[[gnu::noinline]] inline const char* read_unusual_index(const char* p, const char* what, std::int64_t limit,
                                                        std::int64_t& value) {
  const std::string_view token = token_at(p);
  const number_status status = parse_integer(token, value);
  if (status == number_status::malformed) refuse_token(p, fmt::format("a {} index, 1 to {}", what, limit));
  if (status == number_status::out_of_range || value < 1 || value > limit) {
    throw bad_line{
        p, fmt::format("{} index {} is outside the matrix (expected 1 to {})", what, token.substr(0, 32), limit)};
  }
  return p + token.size();
}

template <field_kind F, class R>
[[noreturn, gnu::noinline]] void refuse_value(const char* p) {
  const std::string_view token = token_at(p);
  if constexpr (F == field_kind::integer) {
    std::int64_t ignored = 0;
    if (parse_integer(token, ignored) == number_status::out_of_range) {
      throw bad_line{p, fmt::format("{} is beyond 64-bit integers", quoted(token))};
    }
    refuse_token(p, "an integer");
  } else {
    R ignored{};
    if (parse_real(token, ignored) == number_status::out_of_range) {
      throw bad_line{p, fmt::format("{} is beyond the range of float{}", quoted(token), 8 * sizeof(R))};
    }
    refuse_token(p, F == field_kind::complex ? "the two real numbers of a complex one" : "a real number");
  }
}

[[noreturn, gnu::noinline]] inline void refuse_diagonal(const char* p, symmetry_kind symmetry) {
  throw bad_line{p, symmetry == symmetry_kind::hermitian
                        ? "a hermitian matrix has a real diagonal (expected an imaginary part of 0)"
                        : "a skew-symmetric matrix has no diagonal (expected an entry off it, or 0)"};
}

// --- Warm path: any line --------------------------------------------------------------------------------------------

inline const char* read_index(const char* p, const char* what, std::int64_t limit, std::int64_t& value) {
  const char* const end = parse_digits(p, value);
  if (end != nullptr && value >= 1 && value <= limit) return end;
  return read_unusual_index(p, what, limit, value);
}

// A value in the requested precision. `read` takes any form and throws; `read_common` returns null if uncommon.
template <field_kind F, class R>
struct entry_value {
  R real{1};
  R imaginary{0};
  bool rounded = false;

  const char* read(const char* p, bool is_unsigned) {
    if constexpr (F == field_kind::pattern) return p;
    if constexpr (F == field_kind::integer) {
      std::int64_t value = 0;
      const char* const end = read_integer(p, value);
      if (end == nullptr) return read_large(p, is_unsigned);
      real = static_cast<R>(value);
      rounded = must_round(value, std::numeric_limits<R>::digits);
      return end;
    }
    if constexpr (F == field_kind::real || F == field_kind::complex) {
      p = skip_blanks(p);
      const char* end = read_real(p, real);
      if (end == nullptr) refuse_value<F, R>(p);
      if constexpr (F == field_kind::real) return end;
      p = skip_blanks(end);
      end = read_real(p, imaginary);
      if (end == nullptr) refuse_value<F, R>(p);
      return end;
    }
  }

  // 2^63 to 2^64 - 1.
  [[gnu::noinline]] const char* read_large(const char* p, bool is_unsigned) {
    const std::string_view token = token_at(p);
    const char* const end = token.data() + token.size();
    std::uint64_t value = 0;
    const auto result = std::from_chars(token.data() + (token.starts_with('+') ? 1 : 0), end, value);
    if (!is_unsigned || result.ec != std::errc{} || result.ptr != end) refuse_value<F, R>(p);
    real = static_cast<R>(value);
    constexpr int excess = 64 - std::numeric_limits<R>::digits;
    rounded = (value & ((std::uint64_t{1} << excess) - 1)) != 0;
    return end;
  }

  // A null `p` gives null, so calls can be chained.
  [[nodiscard]] const char* read_common(const char* p) noexcept {
    if constexpr (F == field_kind::pattern) return p;
    if (p == nullptr || (p = common_line::separate(p)) == nullptr) return nullptr;
    if constexpr (F == field_kind::integer) {
      std::int64_t value = 0;
      p = common_line::read_integer(p, value);
      real = static_cast<R>(value);
      rounded = must_round(value, std::numeric_limits<R>::digits);
      return p;
    }
    if constexpr (F == field_kind::real || F == field_kind::complex) {
      p = common_line::read_real(p, real);
      if constexpr (F == field_kind::real) return p;
      if (p == nullptr || (p = common_line::separate(p)) == nullptr) return nullptr;
      return common_line::read_real(p, imaginary);
    }
  }

  [[nodiscard]] bool may_be_diagonal(symmetry_kind symmetry) const {
    if (symmetry == symmetry_kind::hermitian) return imaginary == 0;
    return symmetry != symmetry_kind::skew_symmetric || (real == 0 && imaginary == 0);
  }

  template <class V>
  void store(V& to) const {
    if constexpr (real_type<V>) to = real;
    if constexpr (complex_type<V>) to = V(real, imaginary);
  }
};

// The lines of [text) and their entries, up to the first bad line. `lines` bounds the number of entries.
template <class V, class I>
struct part {
  std::string_view text;
  std::int64_t lines = 0;
  entry_sink<V, I> to;
  bool direct = false;     // `to` is in the result, from entry `first` on; otherwise in `own`
  std::int64_t first = 0;  // its first entry's number if every earlier line of the block has one
  std::int64_t place = 0;  // its first entry's number
  entry_store<V, I> own;
  std::int64_t count = 0;
  std::int64_t rounded = 0;
  std::int64_t diagonal = 0;  // entries on the diagonal; for coordinates, like the next two
  bool below = false;         // some entry is below the diagonal
  bool above = false;
  std::optional<bad_line> bad;
  std::exception_ptr exception;
};

// If the line at `line` has no entry, returns the beginning of the next; otherwise null, with `p` at its first token.
inline const char* skip_if_empty(const char* line, const char*& p, const char* end, const rules& rule) {
  p = skip_blanks(line);
  if (is_digit(*p)) return nullptr;
  if (*p == '%') return skip_comment(p, end, rule.max_line_bytes - (p - line));
  return ends_token(p) ? finish_line(p, line, rule.max_line_bytes) : nullptr;
}

// Reads a line of the common form; returns the next line, or null. Row and column are not checked yet.
template <field_kind F, class R>
[[nodiscard]] inline const char* read_common_entry(const char* p, std::int64_t& row, std::int64_t& col,
                                                   entry_value<F, R>& value) noexcept {
  p = common_line::skip_few_blanks(p);
  if (p == nullptr || (p = common_line::read_index(p, row)) == nullptr) return nullptr;
  if ((p = common_line::separate(p)) == nullptr || (p = common_line::read_index(p, col)) == nullptr) return nullptr;
  p = value.read_common(p);
  return p != nullptr ? common_line::finish(p) : nullptr;
}

// Reads any line; returns the next one. `start`: where its entry begins, null if it has none.
template <field_kind F, class R>
[[nodiscard]] const char* read_any_line(const char* line, const char* end, const rules& rule, const char*& start,
                                        std::int64_t& row, std::int64_t& col, entry_value<F, R>& value) {
  start = nullptr;
  const char* p = nullptr;
  if (const char* const after = skip_if_empty(line, p, end, rule); after != nullptr) return after;
  start = p;
  p = read_index(p, "row", rule.rows, row);
  p = read_index(skip_blanks(p), "column", rule.cols, col);
  p = value.read(skip_blanks(p), rule.is_unsigned);
  if (row == col && !value.may_be_diagonal(rule.symmetry)) refuse_diagonal(start, rule.symmetry);
  return finish_line(p, line, rule.max_line_bytes);
}

template <field_kind F, class V, class I>
void parse_coordinates(part<V, I>& out, const rules& rule) {
  entry_value<F, typename real_part<V>::type> value;
  const char* const end = out.text.data() + out.text.size();
  const bool common = rule.max_line_bytes >= common_line::line_reach;
  std::int64_t count = 0;
  std::int64_t diagonal = 0;
  bool below = false;
  bool above = false;
  for (const char* line = out.text.data(); line != end;) {
    std::int64_t row = 0;
    std::int64_t col = 0;
    const char* next = nullptr;
    if (common && end - line > common_line::line_reach) next = read_common_entry(line, row, col, value);
    const bool good = next != nullptr && row >= 1 && row <= rule.rows && col >= 1 && col <= rule.cols &&
                      (row != col || value.may_be_diagonal(rule.symmetry));
    if (!good) {
      out.count = count;  // for the exception
      const char* start = nullptr;
      next = read_any_line(line, end, rule, start, row, col, value);
      if (start == nullptr) {
        line = next;
        continue;
      }
    }
    line = next;
    below |= row > col;
    above |= row < col;
    diagonal += row == col ? 1 : 0;
    out.to.rows[count] = static_cast<I>(row - 1);
    out.to.cols[count] = static_cast<I>(col - 1);
    if constexpr (!is_pattern<V>) value.store(out.to.values[count]);
    if constexpr (F == field_kind::integer && !is_pattern<V>) out.rounded += value.rounded;
    ++count;
  }
  out.count = count;
  out.diagonal = diagonal;
  out.below = below;
  out.above = above;
}

// Enumerates an array in file order: column by column; for symmetric kinds the lower triangle.
class array_position {
 public:
  array_position(const rules& rule, std::int64_t entry)
      : rows_(rule.rows),
        packed_(rule.symmetry != symmetry_kind::general),
        skip_(rule.symmetry == symmetry_kind::skew_symmetric ? 1 : 0) {
    if (rows_ == 0) return;
    if (!packed_) {
      col_ = entry / rows_;
      row_ = entry % rows_;
      return;
    }
    std::int64_t above = rows_;  // binary search: the column is in [col_, above)
    while (above - col_ > 1) {
      const std::int64_t middle = col_ + (above - col_) / 2;
      (before(middle) <= static_cast<std::uint64_t>(entry) ? col_ : above) = middle;
    }
    row_ = col_ + skip_ + static_cast<std::int64_t>(static_cast<std::uint64_t>(entry) - before(col_));
  }

  [[nodiscard]] std::int64_t row() const { return row_; }
  [[nodiscard]] std::int64_t col() const { return col_; }

  void advance() {
    if (++row_ < rows_) return;
    ++col_;
    row_ = packed_ ? col_ + skip_ : 0;
  }

 private:
  // Entries of the columns before `col`; no overflow, since their number fits (see `array_entries`).
  [[nodiscard]] std::uint64_t before(std::int64_t col) const {
    const auto j = static_cast<std::uint64_t>(col);
    return j * static_cast<std::uint64_t>(rows_ - skip_) - (j == 0 ? 0 : j * (j - 1) / 2);
  }

  std::int64_t rows_;
  bool packed_;
  std::int64_t skip_;  // rows below the diagonal where a packed column starts
  std::int64_t row_ = 0;
  std::int64_t col_ = 0;
};

// `out.first` matters only for hermitian arrays, because of their diagonal; `limit`: total number of entries expected.
template <field_kind F, class V, class I>
void parse_array(part<V, I>& out, const rules& rule, std::int64_t limit) {
  entry_value<F, typename real_part<V>::type> value;
  const bool hermitian = rule.symmetry == symmetry_kind::hermitian;
  array_position position(rule, hermitian ? out.first : 0);
  const char* const end = out.text.data() + out.text.size();
  const char* p = nullptr;
  for (const char* line = out.text.data(); line != end;) {
    if (const char* const after = skip_if_empty(line, p, end, rule); after != nullptr) {
      line = after;
      continue;
    }
    const char* const start = p;
    p = value.read(p, rule.is_unsigned);
    if (hermitian && out.first + out.count < limit) {
      if (position.row() == position.col() && value.imaginary != 0) refuse_diagonal(start, rule.symmetry);
      position.advance();
    }
    line = finish_line(p, line, rule.max_line_bytes);
    const std::int64_t k = out.count++;
    if constexpr (!is_pattern<V>) value.store(out.to.values[k]);
    if constexpr (F == field_kind::integer && !is_pattern<V>) out.rounded += value.rounded;
  }
}

// The first token of entry k of a text; null if there are fewer.
inline const char* find_entry(std::string_view text, std::int64_t k) {
  const char* const end = text.data() + text.size();
  for (const char* line = text.data(); line != end; line = std::find(line, end, '\n') + 1) {
    const char* const p = skip_blanks(line);
    if (*p != '%' && !ends_token(p) && k-- == 0) return p;
  }
  return nullptr;
}

inline std::int64_t count_entries(std::string_view text) {
  std::int64_t count = 0;
  const char* const end = text.data() + text.size();
  for (const char* line = text.data(); line != end; line = std::find(line, end, '\n') + 1) {
    const char* const p = skip_blanks(line);
    if (*p != '%' && !ends_token(p)) ++count;
  }
  return count;
}

}  // namespace spargo::detail::mtx
