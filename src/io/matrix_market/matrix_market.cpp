// The header of a Matrix Market file: banner, comments, size line, and the rules for their combinations.
#include <spargo/io/matrix_market.hpp>

#include "core/rethrow.hpp"
#include "io/matrix_market/detail.hpp"
#include "io/opened_input.hpp"
#include "io/text/number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <new>

namespace spargo {

template <>
enum_table<matrix_market_layout> enum_rows() noexcept {
  static constexpr std::array<enum_row<matrix_market_layout>, 2> rows{{
      {matrix_market_layout::coordinate, "coordinate"},
      {matrix_market_layout::array, "array"},
  }};
  return rows;
}

template <>
enum_table<matrix_market_field> enum_rows() noexcept {
  static constexpr std::array<enum_row<matrix_market_field>, 4> rows{{
      {matrix_market_field::real, "real", true, true, "double"},
      {matrix_market_field::integer, "integer", true, true, "unsigned-integer"},
      {matrix_market_field::complex, "complex"},
      {matrix_market_field::pattern, "pattern"},
  }};
  return rows;
}

namespace detail {

namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return result;
}

// One line at a time from blocks of any size.
class line_reader {
 public:
  explicit line_reader(text_source& source) : source_(source) {}

  // The next line; false at the end of the file.
  bool next() {
    if (p_ == end_) {
      const std::string_view block = source_.next();
      p_ = block.data();
      end_ = p_ + block.size();
      if (block.empty()) return false;
    }
    line_ = p_;
    p_ = std::find(p_, end_, '\n') + 1;
    return true;
  }

  // Not for comments, which may have any length.
  void expect_short() const {
    if (p_ - 1 - line_ > source_.max_line_bytes()) source_.fail(line_, {});
  }

  [[nodiscard]] const char* begin() const { return line_; }
  [[nodiscard]] const char* end() const { return p_; }
  void stop() { source_.put_back(p_); }

 private:
  text_source& source_;
  const char* line_ = nullptr;
  const char* p_ = nullptr;
  const char* end_ = nullptr;
};

// Reads the tokens of one line, each with an expectation for messages.
class token_reader {
 public:
  token_reader(text_source& source, const char* line) : source_(source), p_(line) {}

  std::string_view next(const std::string& expected) {
    p_ = skip_blanks(p_);
    token_ = token_at(p_);
    if (token_.empty()) source_.fail(p_, fmt::format("the line ends (expected {})", expected));
    p_ += token_.size();
    return token_;
  }

  [[noreturn]] void refuse(const std::string& expected) const {
    source_.fail(token_.data(), fmt::format("unexpected {} (expected {})", quoted(token_), expected));
  }

  [[noreturn]] void fail(const std::string& message) const { source_.fail(token_.data(), message); }

  template <named_enum E>
  E one_of(const std::string& expected) {
    const std::string word = lower(next(expected));
    for (const enum_row<E>& row : enum_rows<E>()) {
      if (row.is_called(word)) return row.value;
    }
    refuse(expected);
  }

  std::int64_t count(const std::string& what) {
    const std::string expected = "the number of " + what;
    next(expected);
    std::int64_t value = 0;
    const number_status status = parse_integer(token_, value);
    if (status == number_status::malformed) refuse(expected);
    if (status == number_status::out_of_range) fail(fmt::format("{} exceeds 2^63-1", quoted(token_)));
    if (value < 0) fail(fmt::format("{} cannot be {} (expected 0 or more)", expected, value));
    return value;
  }

  [[nodiscard]] std::string_view current() const { return token_; }

  void finish() {
    p_ = skip_blanks(p_);
    token_ = token_at(p_);
    if (!token_.empty()) refuse("the end of the line");
  }

 private:
  text_source& source_;
  const char* p_;
  std::string_view token_;
};

constexpr std::string_view unsigned_field = "unsigned-integer";

void parse_banner(text_source& source, const char* line, matrix_market_header& header) {
  using field = matrix_market_field;
  token_reader tokens(source, line);
  if (token_at(line).empty() || lower(tokens.next("the banner")) != "%%matrixmarket") {
    source.fail(line, fmt::format("not a Matrix Market file: it begins with {} (expected the banner %%MatrixMarket)",
                                  quoted(token_at(line))));
  }
  if (lower(tokens.next("matrix")) != "matrix") tokens.refuse("matrix");
  header.layout = tokens.one_of<matrix_market_layout>("coordinate or array");
  header.field = tokens.one_of<field>("real, double, integer, complex or pattern");
  header.is_unsigned = lower(tokens.current()) == unsigned_field;
  if (header.layout == matrix_market_layout::array && header.field == field::pattern) {
    tokens.fail("an array has values and cannot be a pattern (expected real, double, integer or complex)");
  }
  header.symmetry = tokens.one_of<symmetry_kind>("general, symmetric, skew-symmetric or hermitian");
  if (header.field == field::pattern && header.symmetry != symmetry_kind::general &&
      header.symmetry != symmetry_kind::symmetric) {
    tokens.fail("a pattern has no values and cannot be " + std::string(to_string(header.symmetry)) +
                " (expected general or symmetric)");
  }
  if (header.is_unsigned && header.symmetry == symmetry_kind::skew_symmetric) {
    tokens.fail("unsigned integers have no negatives and cannot be skew-symmetric (expected general or symmetric)");
  }
  if (header.symmetry == symmetry_kind::hermitian && header.field != field::complex) {
    tokens.fail("only a complex matrix can be hermitian (expected general, symmetric or skew-symmetric)");
  }
  tokens.finish();
}

void parse_size_line(text_source& source, const char* line, matrix_market_header& header) {
  token_reader tokens(source, line);
  header.rows = tokens.count("rows");
  header.cols = tokens.count("columns");
  if (header.symmetry != symmetry_kind::general && header.rows != header.cols) {
    tokens.fail(fmt::format("a {} matrix cannot be {} x {} (expected a square one)", to_string(header.symmetry),
                            header.rows, header.cols));
  }
  if (header.layout == matrix_market_layout::array) {
    header.entries = array_entries(header.rows, header.cols, header.symmetry);
    if (header.entries < 0) {
      tokens.fail(fmt::format("an array of {} x {} has more than 2^63-1 entries", header.rows, header.cols));
    }
  } else {
    header.entries = tokens.count("entries");
    if (header.entries > 0 && (header.rows == 0 || header.cols == 0)) {
      tokens.fail(fmt::format("a {} x {} matrix cannot have {} entries (expected 0)", header.rows, header.cols,
                              header.entries));
    }
  }
  tokens.finish();
}

}  // namespace

std::string_view field_name(const matrix_market_header& header) noexcept {
  return header.is_unsigned ? unsigned_field : to_string(header.field);
}

std::int64_t array_entries(std::int64_t rows, std::int64_t cols, symmetry_kind symmetry) noexcept {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  std::int64_t a = rows;
  std::int64_t b = cols;
  if (symmetry != symmetry_kind::general) {
    if (rows == most) return -1;
    b = symmetry == symmetry_kind::skew_symmetric ? rows - 1 : rows + 1;  // a * b / 2: halve the even factor first
    (a % 2 == 0 ? a : b) /= 2;
  }
  if (a <= 0 || b <= 0) return 0;
  return a > most / b ? -1 : a * b;
}

matrix_market_header parse_matrix_market_header(text_source& source) try {
  matrix_market_header header;
  source.set_comment_marks("%");
  line_reader lines(source);
  if (!lines.next()) source.fail_at_end("the file is empty (expected the banner %%MatrixMarket)");
  lines.expect_short();
  parse_banner(source, lines.begin(), header);
  while (lines.next()) {
    const char* const p = skip_blanks(lines.begin());
    if (*p == '%') {
      (void)skip_comment(p, lines.end(), source.max_line_bytes() - (p - lines.begin()));
      continue;
    }
    lines.expect_short();
    if (token_at(p).empty()) continue;
    parse_size_line(source, lines.begin(), header);
    lines.stop();
    return header;
  }
  source.fail_at_end("the file ends before the size line");
} catch (const bad_line& bad) {
  source.fail(bad.where, bad.message);
}

namespace {

// With one thread: the entries are not needed yet.
std::unique_ptr<text_source> begin_text(const input_file& file, const input_tuning& tuning,
                                        matrix_market_header& header) {
  auto source = std::make_unique<text_source>(context<host>(host_options{.threads = 1}), file, read_options{}, tuning);
  header = parse_matrix_market_header(*source);
  return source;
}

}  // namespace

std::unique_ptr<text_source> open_matrix_market(const context<host>& ctx, const input_file& file,
                                                const read_options& options, const input_tuning& tuning,
                                                matrix_market_header& header) {
  opened_input& opened = file.opened();
  if (opened.begun == nullptr) {
    auto source = std::make_unique<text_source>(ctx, file, options, tuning);
    header = parse_matrix_market_header(*source);
    return source;
  }
  opened.begun->hand_over(ctx, options);
  header = opened.header;
  return std::move(opened.begun);
}

}  // namespace detail

matrix_market_header read_matrix_market_header(const input_file& file) try {
  detail::opened_input& opened = file.opened();
  if (file.can_be_read_again()) {
    matrix_market_header header;
    (void)detail::begin_text(file, {.block_bytes = std::int64_t{64} << 10}, header);
    return header;
  }
  if (opened.begun == nullptr) opened.begun = detail::begin_text(file, {}, opened.header);
  return opened.header;
} catch (const std::bad_alloc&) {
  detail::throw_out_of_memory(file.name(), "host memory ran out while the header was read");
}

}  // namespace spargo
