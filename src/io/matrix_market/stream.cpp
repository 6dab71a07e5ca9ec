// Matrix Market to Matrix Market or edge list, entry by entry. The driver is io/text/block_stream.hpp. The header's
// number of entries is written first and checked against what follows.
#include "core/rethrow.hpp"
#include "io/edge_list/heading.hpp"
#include "io/matrix_market/parts.hpp"
#include "io/text/block_stream.hpp"
#include "io/text/line_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <new>

namespace spargo {

namespace {

using namespace detail;
using field_kind = matrix_market_field;

template <class V>
constexpr std::int64_t longest_line = 2 * 19 +
                                      (is_pattern<V>     ? 0
                                       : complex_type<V> ? 50
                                                         : 25) +
                                      2;

template <class V>
char* put_value(char* to, char separator, const V& value) {
  if constexpr (is_pattern<V>) return to;
  *to++ = separator;
  if constexpr (complex_type<V>) {
    to = put_number(to, value.real());
    *to++ = separator;
    to = put_number(to, value.imag());
  } else if constexpr (!is_pattern<V>) {
    to = put_number(to, value);
  }
  return to;
}

// V: type of the written values.
template <class V>
class matrix_stream {
 public:
  using part_type = mtx::part<V, std::int64_t>;

  matrix_stream(const context<host>& ctx, text_source& source, const matrix_market_header& header,
                const std::string& to, const stream_options& options, const stream_tuning& tuning)
      : ctx_(ctx),
        source_(source),
        header_(header),
        tuning_(tuning),
        rule_{header.rows, header.cols, header.symmetry, source.max_line_bytes(), header.is_unsigned},
        edges_(options.to == text_format::edge_list),
        values_(!is_pattern<V> && !(edges_ && options.weights == edge_weights::left_out)),
        ones_(is_pattern<V> && edges_ && options.weights == edge_weights::ones_if_none),
        integers_(!edges_ && header.field == field_kind::integer),
        mirrored_(edges_ && header.symmetry != symmetry_kind::general),
        separator_(edges_ ? separator_of(options.style) : ' '),
        style_(options.style),
        seen_(ctx, edges_ ? div_up(header.rows, std::int64_t{64}) : 0),
        out_(to) {
    std::fill(seen_.begin(), seen_.end(), std::uint64_t{0});
  }

  std::optional<stream_result> run() {
    write_heading();
    std::vector<part_type> parts;
    std::vector<streamed_text> texts;
    for (std::string_view block = source_.next(); !block.empty(); block = source_.next()) {
      make_texts(ctx_, block, tuning_, parts, texts, [&](auto& part, auto& text) { make(part, text); });
      for (std::size_t i = 0; i < parts.size(); ++i) {
        if (!check_and_write(parts[i], texts[i])) return std::nullopt;
      }
    }
    if (read_ < header_.entries) {
      source_.fail_at_end(fmt::format("the file ends after {} {} (expected {})", read_,
                                      read_ == 1 ? "entry" : "entries", header_.entries));
    }
    out_.commit();
    result_.rows = header_.rows;
    result_.cols = header_.cols;
    result_.weighted = !is_pattern<V>;
    if (edges_) result_.isolated = header_.rows - marked();
    return result_;
  }

 private:
  void write_heading() {
    if (edges_) return out_.write(edge_list_heading(style_, values_ || ones_));
    out_.write(fmt::format("%%MatrixMarket matrix coordinate {} {}\n{} {} {}\n", field_name(header_),
                           to_string(header_.symmetry), header_.rows, header_.cols, header_.entries));
  }

  void parse(part_type& part) const {
    switch (header_.field) {
      case field_kind::real:
        if constexpr (real_type<V>) mtx::parse_coordinates<field_kind::real>(part, rule_);
        return;
      case field_kind::integer:
        if constexpr (real_type<V>) mtx::parse_coordinates<field_kind::integer>(part, rule_);
        return;
      case field_kind::complex:
        if constexpr (complex_type<V>) mtx::parse_coordinates<field_kind::complex>(part, rule_);
        return;
      case field_kind::pattern:
        if constexpr (is_pattern<V>) mtx::parse_coordinates<field_kind::pattern>(part, rule_);
        return;
    }
  }

  char* put_entry(char* to, std::int64_t row, std::int64_t col, const V& value) const {
    to = put_number(to, row + 1);
    *to++ = separator_;
    to = put_number(to, col + 1);
    if (integers_) {
      if constexpr (real_type<V>) {
        *to++ = separator_;
        to = header_.is_unsigned ? put_unsigned(to, value) : put_integer(to, value);
      }
    } else if (values_) {
      to = put_value(to, separator_, value);
    }
    if (ones_) {
      *to++ = separator_;
      *to++ = '1';
    }
    *to++ = '\n';
    return to;
  }

  void make(part_type& part, streamed_text& text) const {
    part.count = part.rounded = part.diagonal = 0;
    part.below = part.above = false;
    part.own.ensure(ctx_, count_newlines(part.text));
    part.to = part.own.from(0);
    parse(part);
    char* const first = text.ensure(ctx_, part.count * (longest_line<V> + 2) * (mirrored_ ? 2 : 1));
    char* to = first;
    for (std::int64_t k = 0; k < part.count; ++k) {
      const std::int64_t row = part.to.rows[k];
      const std::int64_t col = part.to.cols[k];
      V value{};
      if constexpr (!is_pattern<V>) value = part.to.values[k];
      to = put_entry(to, row, col, value);
      if (!mirrored_ || row == col) continue;
      if constexpr (!is_pattern<V>) {
        if (header_.symmetry == symmetry_kind::skew_symmetric) value = -value;
      }
      to = put_entry(to, col, row, value);
    }
    text.bytes = to - first;
  }

  // False if the triangle has entries on both sides of the diagonal.
  [[nodiscard]] bool check_and_write(const part_type& part, const streamed_text& text) {
    if (text.exception) std::rethrow_exception(text.exception);
    const std::int64_t room = header_.entries - read_;
    if (part.count > room || (text.bad && part.count == room)) {
      const char* const extra = mtx::find_entry(part.text, room);
      if (extra != nullptr && (part.count > room || extra <= text.bad->where)) {
        source_.fail(extra, fmt::format("an entry too many (expected {})", header_.entries));
      }
    }
    if (text.bad) source_.fail(text.bad->where, text.bad->message);
    below_ |= part.below;
    above_ |= part.above;
    if (below_ && above_ && header_.symmetry != symmetry_kind::general) return false;
    write_text(out_, text);
    read_ += part.count;
    result_.entries += part.count + (mirrored_ ? part.count - part.diagonal : 0);
    result_.rounded_integers += part.rounded;
    if (edges_) mark(part);
    return true;
  }

  void mark(const part_type& part) {
    for (std::int64_t k = 0; k < part.count; ++k) {
      for (const std::int64_t v : {part.to.rows[k], part.to.cols[k]}) seen_[v / 64] |= std::uint64_t{1} << (v % 64);
    }
  }
  [[nodiscard]] std::int64_t marked() const {
    std::int64_t count = 0;
    for (const std::uint64_t word : seen_) count += std::popcount(word);
    return count;
  }

  const context<host>& ctx_;
  text_source& source_;
  const matrix_market_header header_;
  const stream_tuning tuning_;
  const mtx::rules rule_;
  const bool edges_;
  const bool values_;
  const bool ones_;
  const bool integers_;
  const bool mirrored_;
  const char separator_;
  const edge_list_style style_;
  array<std::uint64_t, host> seen_;
  std::int64_t read_ = 0;  // entries
  bool below_ = false;     // some entry is below the diagonal
  bool above_ = false;
  output_file out_;
  stream_result result_;
};

[[noreturn]] void refuse(const std::string& path, const std::string& message) {
  throw error(error_code::unsupported, {path}, message);
}

}  // namespace

std::optional<stream_result> stream_matrix_market(const context<host>& ctx, const input_file& from,
                                                  const std::string& to, const stream_options& options) {
  try {
    const stream_tuning tuning;
    matrix_market_header header;
    const auto text = open_matrix_market(ctx, from, options.reading, streamed_input(ctx, tuning), header);
    text_source& source = *text;
    if (header.layout != matrix_market_layout::coordinate) {
      refuse(from.name(), "an array cannot be rewritten as it is read (expected a coordinate file)");
    }
    if (options.to == text_format::edge_list && header.rows != header.cols) {
      refuse(from.name(), fmt::format("a {} x {} matrix is not a graph (expected a square one for an edge list)",
                                      header.rows, header.cols));
    }
    if (header.field == field_kind::complex) {
      if (options.to == text_format::edge_list) {
        refuse(from.name(), "complex values do not fit an edge list (expected real values or none)");
      }
      return matrix_stream<std::complex<double>>(ctx, source, header, to, options, tuning).run();
    }
    if (header.field == field_kind::pattern) {
      return matrix_stream<pattern>(ctx, source, header, to, options, tuning).run();
    }
    return matrix_stream<double>(ctx, source, header, to, options, tuning).run();
  } catch (const std::bad_alloc&) {
    detail::throw_out_of_memory(from.name(), "host memory ran out while the file was rewritten");
  }
}

}  // namespace spargo
