// The entries of a Matrix Market file, read in parallel.
//
// Idea: a block of whole lines is cut into parts at line ends. Threads parse parts into buffers of their own; then, in
// file order, counts are added up and errors looked for; then threads copy the buffers to their places in the result.
// A buffer is bounded by the bytes of its part (an entry has at least four), the result by the bytes that are left in
// the file and by the declared count, whichever is less: the count alone allocates nothing.
// Invariant: what is thrown depends on the text only: of all parts the first error in file order, and an entry past
// the declared count counts as one before anything else that is wrong with its line.
// Cost: one pass over the text; memory is the result and, for each thread, some buffers of the size of a part.
#include "core/instantiate.hpp"
#include "io/matrix_market_detail.hpp"
#include "io/number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <utility>

namespace spargo {

namespace detail {

const char* skip_comment(const char* p, const char* end) {
  const char* const newline = std::find(p, end, '\n');
  if (const void* nul = std::memchr(p, '\0', static_cast<std::size_t>(newline - p)); nul != nullptr) {
    throw bad_line{static_cast<const char*>(nul), "unexpected NUL byte"};
  }
  return newline;
}

const char* finish_line(const char* p, const char* line, std::int64_t max_line_bytes) {
  p = skip_blanks(p);
  if (*p == '\r' && p[1] == '\n') ++p;
  if (*p != '\n') throw bad_line{p, fmt::format("unexpected {} (expected the end of the line)", quoted(token_at(p)))};
  if (p - line > max_line_bytes) throw bad_line{line, {}};  // `text_source::fail` knows what to say
  return p + 1;
}

namespace {

using field_kind = matrix_market_field;

// A float for V = float and complex<float>, so that numbers are rounded once; else a double.
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
};

// --- The cold half: what is wrong ------------------------------------------------------------------------------------

[[noreturn]] void refuse_token(const char* p, const std::string& expected) {
  const std::string_view token = token_at(p);
  if (token.empty()) throw bad_line{p, fmt::format("the line ends (expected {})", expected)};
  throw bad_line{p, fmt::format("unexpected {} (expected {})", quoted(token), expected)};
}

[[gnu::noinline]] const char* read_unusual_index(const char* p, const char* what, std::int64_t limit,
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

[[noreturn, gnu::noinline]] void refuse_diagonal(const char* p, symmetry_kind symmetry) {
  throw bad_line{p, symmetry == symmetry_kind::hermitian
                        ? "a hermitian matrix has a real diagonal (expected an imaginary part of 0)"
                        : "a skew-symmetric matrix has no diagonal (expected an entry off it, or 0)"};
}

// --- The hot half ----------------------------------------------------------------------------------------------------

inline const char* read_index(const char* p, const char* what, std::int64_t limit, std::int64_t& value) {
  const char* const end = parse_digits(p, value);
  if (end != nullptr && value >= 1 && value <= limit) return end;
  return read_unusual_index(p, what, limit, value);
}

// A value as the field writes it, in real numbers of the precision wanted.
template <field_kind F, class R>
struct entry_value {
  R real{1};
  R imaginary{0};
  bool rounded = false;

  const char* read(const char* p) {
    if constexpr (F == field_kind::pattern) return p;
    if constexpr (F == field_kind::integer) {
      std::int64_t value = 0;
      const char* const end = read_integer(p, value);
      if (end == nullptr) refuse_value<F, R>(p);
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

// Lines [text) and the entries in them, up to the first bad line.
template <class V, class I>
struct part {
  std::string_view text;
  array<I, host> rows;
  array<I, host> cols;
  array<V, host> values;
  std::int64_t count = 0;
  std::int64_t rounded = 0;
  bool below = false;  // the diagonal; both are kept for symmetric matrices only
  bool above = false;
  std::int64_t first = 0;  // of the result: where its entries go
  std::optional<bad_line> bad;
  std::exception_ptr exception;
};

// If the line at `line` holds no entry, the beginning of the next; else null, and `p` is its first token.
inline const char* skip_if_empty(const char* line, const char*& p, const char* end, const rules& rule) {
  p = skip_blanks(line);
  if (is_digit(*p)) return nullptr;
  if (*p == '%') return finish_line(skip_comment(p, end), line, rule.max_line_bytes);
  return ends_token(p) ? finish_line(p, line, rule.max_line_bytes) : nullptr;
}

template <field_kind F, class V, class I>
void parse_coordinates(part<V, I>& out, const rules& rule) {
  entry_value<F, typename real_part<V>::type> value;
  const char* const end = out.text.data() + out.text.size();
  const char* p = nullptr;
  for (const char* line = out.text.data(); line != end;) {
    if (const char* const after = skip_if_empty(line, p, end, rule); after != nullptr) {
      line = after;
      continue;
    }
    std::int64_t row = 0;
    std::int64_t col = 0;
    const char* const start = p;
    p = read_index(p, "row", rule.rows, row);
    p = read_index(skip_blanks(p), "column", rule.cols, col);
    p = value.read(skip_blanks(p));
    if (rule.symmetry != symmetry_kind::general) {
      out.below |= row > col;
      out.above |= row < col;
      if (row == col && !value.may_be_diagonal(rule.symmetry)) refuse_diagonal(start, rule.symmetry);
    }
    line = finish_line(p, line, rule.max_line_bytes);
    const std::int64_t k = out.count++;
    out.rows[k] = static_cast<I>(row - 1);
    out.cols[k] = static_cast<I>(col - 1);
    if constexpr (!is_pattern<V>) value.store(out.values[k]);
    if constexpr (F == field_kind::integer && !is_pattern<V>) out.rounded += value.rounded;
  }
}

// Walks an array in file order: column by column, of the symmetric kinds the lower triangle.
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
    std::int64_t above = rows_;  // the column is in [col_, above)
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
  // Entries of the columns before `col`; fits, for their number does (see `array_entries`).
  [[nodiscard]] std::uint64_t before(std::int64_t col) const {
    const auto j = static_cast<std::uint64_t>(col);
    return j * static_cast<std::uint64_t>(rows_ - skip_) - (j == 0 ? 0 : j * (j - 1) / 2);
  }

  std::int64_t rows_;
  bool packed_;
  std::int64_t skip_;  // rows below the diagonal where a packed column begins
  std::int64_t row_ = 0;
  std::int64_t col_ = 0;
};

// `out.first` matters for hermitian arrays only, whose diagonal has a rule; `limit` entries are expected at all.
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
    p = value.read(p);
    if (hermitian && out.first + out.count < limit) {
      if (position.row() == position.col() && value.imaginary != 0) refuse_diagonal(start, rule.symmetry);
      position.advance();
    }
    line = finish_line(p, line, rule.max_line_bytes);
    const std::int64_t k = out.count++;
    if constexpr (!is_pattern<V>) value.store(out.values[k]);
    if constexpr (F == field_kind::integer && !is_pattern<V>) out.rounded += value.rounded;
  }
}

// The first token of entry k of a text; null if there are fewer.
const char* find_entry(std::string_view text, std::int64_t k) {
  const char* const end = text.data() + text.size();
  for (const char* line = text.data(); line != end; line = std::find(line, end, '\n') + 1) {
    const char* const p = skip_blanks(line);
    if (*p != '%' && !ends_token(p) && k-- == 0) return p;
  }
  return nullptr;
}

std::int64_t count_entries(std::string_view text) {
  std::int64_t count = 0;
  const char* const end = text.data() + text.size();
  for (const char* line = text.data(); line != end; line = std::find(line, end, '\n') + 1) {
    const char* const p = skip_blanks(line);
    if (*p != '%' && !ends_token(p)) ++count;
  }
  return count;
}

// --- The reader ------------------------------------------------------------------------------------------------------

template <class V, class I>
class entry_reader {
 public:
  entry_reader(const context<host>& ctx, text_source& source, const matrix_market_header& header,
               const matrix_market_tuning& tuning)
      : ctx_(ctx),
        source_(source),
        header_(header),
        tuning_(tuning),
        rule_{header.rows, header.cols, header.symmetry, source.max_line_bytes()},
        is_array_(header.layout == matrix_market_layout::array) {}

  coo_matrix<V, I, host> run(matrix_market_summary& summary) {
    for (std::string_view block = source_.next(); !block.empty(); block = source_.next()) {
      cut(block);
      parse_parts();
      check_parts(summary);
      reserve();
      copy_parts();
    }
    if (total_ < header_.entries) {
      source_.fail_at_end(fmt::format("the file ends after {} entries (expected {})", total_, header_.entries));
    }
    summary.stored = total_;
    if (below_ && above_) refuse_both_triangles();
    return {static_cast<I>(header_.rows), static_cast<I>(header_.cols), std::move(rows_), std::move(cols_),
            std::move(values_)};
  }

 private:
  // The shortest line that can hold an entry: digits, blanks and a '\n'.
  [[nodiscard]] std::int64_t least_bytes() const {
    const int numbers = header_.field == field_kind::complex ? 2 : header_.field == field_kind::pattern ? 0 : 1;
    return 2 * (numbers + (is_array_ ? 0 : 2));
  }

  template <class T>
  void ensure(array<T, host>& buffer, std::int64_t size) {
    if (buffer.size() < size) buffer = array<T, host>(ctx_, size);
  }

  void cut(std::string_view block) {
    std::int64_t pieces = div_up(static_cast<std::int64_t>(block.size()), tuning_.part_bytes);
    pieces = std::min(pieces, tuning_.parts_per_thread * ctx_.threads());
    if (is_array_ && header_.symmetry == symmetry_kind::hermitian) pieces = 1;  // its parser must know where it is
    const auto texts = split_at_lines(block, ctx_.threads() == 1 ? 1 : pieces);
    used_ = texts.size();
    if (parts_.size() < used_) parts_.resize(used_);
    for (std::size_t i = 0; i < used_; ++i) {
      part<V, I>& next = parts_[i];
      next.text = texts[i];
      next.count = next.rounded = 0;
      next.below = next.above = false;
      next.first = total_;
      const std::int64_t most = static_cast<std::int64_t>(texts[i].size()) / least_bytes();
      if (!is_array_) {
        ensure(next.rows, most);
        ensure(next.cols, most);
      }
      if constexpr (!is_pattern<V>) ensure(next.values, most);
    }
  }

  template <field_kind F>
  void parse_field(part<V, I>& p) const {
    if constexpr (F == field_kind::complex && real_type<V>) {
      return;  // refused before
    } else if constexpr (F == field_kind::pattern) {
      parse_coordinates<F>(p, rule_);
    } else {
      is_array_ ? parse_array<F>(p, rule_, header_.entries) : parse_coordinates<F>(p, rule_);
    }
  }

  void parse_part(part<V, I>& p) const {
    switch (header_.field) {
      case field_kind::real:
        return parse_field<field_kind::real>(p);
      case field_kind::integer:
        return parse_field<field_kind::integer>(p);
      case field_kind::complex:
        return parse_field<field_kind::complex>(p);
      case field_kind::pattern:
        return parse_field<field_kind::pattern>(p);
    }
  }

  void parse_parts() {
    const auto count = static_cast<std::int64_t>(used_);
#pragma omp parallel for num_threads(ctx_.threads()) schedule(dynamic) if (count > 1)
    for (std::int64_t i = 0; i < count; ++i) {
      part<V, I>& p = parts_[static_cast<std::size_t>(i)];
      try {
        parse_part(p);
      } catch (bad_line& bad) {
        p.bad = std::move(bad);
      } catch (...) {
        p.exception = std::current_exception();
      }
    }
  }

  void check_parts(matrix_market_summary& summary) {
    for (std::size_t i = 0; i < used_; ++i) {
      part<V, I>& p = parts_[i];
      if (p.exception) std::rethrow_exception(p.exception);
      const std::int64_t room = header_.entries - total_;
      if (p.count > room || (p.bad && p.count == room)) {
        const char* const extra = find_entry(p.text, room);
        if (extra != nullptr && (p.count > room || extra <= p.bad->where)) {
          source_.fail(extra, fmt::format("an entry too many (expected {})", header_.entries));
        }
      }
      if (p.bad) source_.fail(p.bad->where, p.bad->message);
      p.first = total_;
      total_ += p.count;
      summary.rounded_integers += p.rounded;
      below_ |= p.below;
      above_ |= p.above;
    }
  }

  template <class T>
  void grow(array<T, host>& to, std::int64_t used, std::int64_t capacity) {
    array<T, host> larger(ctx_, capacity);
    if (used > 0) copy<T>(ctx_, std::as_const(to).view().subspan(0, used), larger.view().subspan(0, used));
    to = std::move(larger);
  }

  // Room for what was read; for a mapped file, at once for as many entries as the rest of it may hold.
  void reserve() {
    const std::int64_t capacity = rows_.size();
    if (capacity >= total_) return;
    const std::int64_t left = source_.bytes_left();
    const std::int64_t wanted = left >= 0 ? total_ + left / least_bytes() + 1 : std::max(total_, 2 * capacity);
    const std::int64_t next = std::min(header_.entries, wanted);
    const std::int64_t used = parts_[0].first;
    grow(rows_, used, next);
    grow(cols_, used, next);
    if constexpr (!is_pattern<V>) grow(values_, used, next);
  }

  void copy_parts() {
    const auto count = static_cast<std::int64_t>(used_);
#pragma omp parallel for num_threads(ctx_.threads()) schedule(dynamic) if (count > 1)
    for (std::int64_t i = 0; i < count; ++i) {
      const part<V, I>& p = parts_[static_cast<std::size_t>(i)];
      if constexpr (!is_pattern<V>) std::copy_n(p.values.data(), p.count, values_.data() + p.first);
      if (!is_array_) {
        std::copy_n(p.rows.data(), p.count, rows_.data() + p.first);
        std::copy_n(p.cols.data(), p.count, cols_.data() + p.first);
        continue;
      }
      array_position position(rule_, p.first);
      for (std::int64_t k = p.first; k < p.first + p.count; ++k, position.advance()) {
        rows_[k] = static_cast<I>(position.row());
        cols_[k] = static_cast<I>(position.col());
      }
    }
  }

  // Called when both triangles hold entries. One of them is enough, and either is taken; but a place that is given in
  // both would count twice once mirrored, and nobody can know whether that was meant.
  void refuse_both_triangles() const {
    struct place {
      I row;
      I col;
      std::int64_t entry;
      bool operator<(const place& other) const { return std::pair(row, col) < std::pair(other.row, other.col); }
    };
    std::vector<place> upper;  // mirrored
    for (std::int64_t k = 0; k < total_; ++k) {
      if (rows_[k] < cols_[k]) upper.push_back({cols_[k], rows_[k], k});
    }
    std::stable_sort(upper.begin(), upper.end());
    std::int64_t second = total_;
    for (std::int64_t k = 0; k < total_; ++k) {
      if (rows_[k] <= cols_[k]) continue;
      const place wanted{rows_[k], cols_[k], k};
      const auto found = std::lower_bound(upper.begin(), upper.end(), wanted);
      if (found != upper.end() && !(wanted < *found)) second = std::min(second, std::max(k, found->entry));
    }
    if (second == total_) return;
    const auto row = static_cast<std::int64_t>(rows_[second]) + 1;
    const auto col = static_cast<std::int64_t>(cols_[second]) + 1;
    throw error(error_code::parse, position_of_entry(second),
                fmt::format("entries ({}, {}) and ({}, {}) of a {} matrix are both given (expected one of them)", col,
                            row, row, col, name_of(header_.symmetry)));
  }

  // By reading again: entries do not remember their lines.
  [[nodiscard]] source_position position_of_entry(std::int64_t entry) const {
    if (!source_.can_be_read_again()) return {source_.path()};
    text_source again(ctx_, source_.path());
    [[maybe_unused]] const auto header = parse_matrix_market_header(again);
    for (std::string_view block = again.next(); !block.empty(); block = again.next()) {
      if (const char* const found = find_entry(block, entry); found != nullptr) return again.position_of(found);
      entry -= count_entries(block);
    }
    return {source_.path()};
  }

  const context<host>& ctx_;
  text_source& source_;
  const matrix_market_header header_;
  const matrix_market_tuning tuning_;
  const rules rule_;
  const bool is_array_;

  std::vector<part<V, I>> parts_;
  std::size_t used_ = 0;  // of the parts, by the current block
  std::int64_t total_ = 0;
  bool below_ = false;
  bool above_ = false;
  array<I, host> rows_;
  array<I, host> cols_;
  array<V, host> values_;
};

}  // namespace

template <entry_type V, index_type I>
coo_matrix<V, I, host> read_stored_entries(const context<host>& ctx, const std::string& path,
                                           const read_options& options, const matrix_market_tuning& tuning,
                                           matrix_market_summary& summary) {
  text_source source(ctx, path, options, tuning.input);
  summary = {};
  summary.header = parse_matrix_market_header(source);
  if (real_type<V> && summary.header.field == matrix_market_field::complex) {
    throw error(error_code::unsupported, {path}, "the matrix is complex and was asked for in real numbers");
  }
  constexpr std::int64_t most = std::numeric_limits<I>::max();
  if (summary.header.rows > most || summary.header.cols > most) {
    throw error(error_code::unsupported, {path},
                fmt::format("the matrix is {} x {} (expected at most {} for {}-bit indices)", summary.header.rows,
                            summary.header.cols, most, 8 * sizeof(I)));
  }
  return entry_reader<V, I>(ctx, source, summary.header, tuning).run(summary);
}

}  // namespace detail

template <entry_type V, index_type I>
coo_matrix<V, I, host> read_matrix_market(const context<host>& ctx, const std::string& path,
                                          const read_options& options, matrix_market_summary* summary) {
  try {
    matrix_market_summary met;
    auto stored = detail::read_stored_entries<V, I>(ctx, path, options, {}, met);
    if (summary != nullptr) *summary = met;
    if (met.header.symmetry == symmetry_kind::general) return stored;
    return expand_symmetry(ctx, stored.view(), met.header.symmetry);
  } catch (const std::bad_alloc&) {
    throw error(error_code::out_of_memory, {path}, "host memory ran out while the file was read");
  }
}

#define INSTANTIATE(V, I)                                                                                           \
  template coo_matrix<V, I, host> detail::read_stored_entries(const context<host>&, const std::string&,             \
                                                              const read_options&, const matrix_market_tuning&,     \
                                                              matrix_market_summary&);                              \
  template coo_matrix<V, I, host> read_matrix_market(const context<host>&, const std::string&, const read_options&, \
                                                     matrix_market_summary*);
SPARGO_FOR_EACH_ENTRY_INDEX(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo
