// The entries of a Matrix Market file, read in parallel.
//
// Idea: a block of whole lines is cut into parts at line ends. A thread takes a part and counts its lines, which brings
// the text into cache; with the counts of earlier parts it knows the place of its entries if every line so far holds
// one, and parses straight into the result. Then errors are checked in file order, and parts after comments and blank
// lines are moved up; a part for which the result has no room waits in its own arrays. The result's capacity is bounded
// by the bytes left in the file and by the declared count, whichever is less: the count alone allocates nothing.
// Invariant: the exception depends only on the text. It is the first error in file order; an entry beyond the declared
// count precedes any other error on its line.
// Cost: one pass over the text; memory is the result, whose pages are first touched by the thread that fills them.
#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "core/parts.hpp"
#include "core/rethrow.hpp"
#include "io/matrix_market/detail.hpp"
#include "io/matrix_market/parts.hpp"
#include "primitives/ordered_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <utility>

namespace spargo {

namespace detail {

const char* skip_comment(const char* p, const char* end, std::int64_t looked_at) {
  const char* const newline = std::find(p, end, '\n');
  const auto bytes = static_cast<std::size_t>(std::clamp<std::int64_t>(looked_at, 0, newline - p));
  if (const void* nul = std::memchr(p, '\0', bytes); nul != nullptr) {
    throw bad_line{static_cast<const char*>(nul), "unexpected NUL byte"};
  }
  return newline + 1;
}

const char* finish_line(const char* p, const char* line, std::int64_t max_line_bytes) {
  p = skip_blanks(p);
  if (*p == '\r' && p[1] == '\n') ++p;
  if (*p != '\n') throw bad_line{p, fmt::format("unexpected {} (expected the end of the line)", quoted(token_at(p)))};
  if (p - line > max_line_bytes) throw bad_line{line, {}};  // `text_source::fail` supplies the message
  return p + 1;
}

namespace {

using namespace mtx;

// The first entry whose place was listed before in the other triangle; `count`: none.
template <class I>
std::int64_t first_given_twice(const I* rows, const I* cols, std::int64_t count) {
  struct place {
    I row;
    I col;
    std::int64_t entry;
  };
  const auto is_before = [](const place& a, const place& b) {
    return std::pair(a.row, a.col) < std::pair(b.row, b.col);
  };
  std::vector<place> upper;  // mirrored; for duplicates the first entry comes first
  for (std::int64_t k = 0; k < count; ++k) {
    if (rows[k] < cols[k]) upper.push_back({cols[k], rows[k], k});
  }
  std::sort(upper.begin(), upper.end(),
            [&](const place& a, const place& b) { return is_before(a, b) || (!is_before(b, a) && a.entry < b.entry); });
  std::int64_t second = count;
  for (std::int64_t k = 0; k < count; ++k) {
    if (rows[k] <= cols[k]) continue;
    const place wanted{rows[k], cols[k], k};
    const auto found = std::lower_bound(upper.begin(), upper.end(), wanted, is_before);
    if (found != upper.end() && !is_before(wanted, *found)) second = std::min(second, std::max(k, found->entry));
  }
  return second;
}

template <class V, class I>
class entry_reader {
 public:
  entry_reader(const context<host>& ctx, text_source& source, const matrix_market_header& header,
               const matrix_market_tuning& tuning, triangles wanted)
      : ctx_(ctx),
        source_(source),
        header_(header),
        tuning_(tuning),
        rule_{header.rows, header.cols, header.symmetry, source.max_line_bytes(), header.is_unsigned},
        is_array_(header.layout == matrix_market_layout::array),
        triangles_(wanted == triangles::both && header.symmetry != symmetry_kind::general ? 2 : 1) {}

  coo_matrix<V, I, host> run(matrix_market_summary& summary) {
    for (std::string_view block = source_.next(); !block.empty(); block = source_.next()) {
      cut(block);
      if (entries_.capacity() == 0) reserve(0, static_cast<std::int64_t>(block.size()) + source_.bytes_left());
      parse_parts();
      check_parts(summary);
      seen_bytes_ += static_cast<std::int64_t>(block.size());
      place_parts();
    }
    if (!tuning_.input.range.is_all()) {
      return entries_.release(static_cast<I>(header_.rows), static_cast<I>(header_.cols), total_);
    }
    if (total_ < header_.entries) {
      source_.fail_at_end(fmt::format("the file ends after {} {} (expected {})", total_,
                                      total_ == 1 ? "entry" : "entries", header_.entries));
    }
    summary.stored = total_;
    summary.expanded = expanded();
    if (below_ && above_ && header_.symmetry != symmetry_kind::general) refuse_both_triangles();
    parts_.clear();
    if (triangles_ == 2) add_mirrored();
    return entries_.release(static_cast<I>(header_.rows), static_cast<I>(header_.cols), total_);
  }

  // Summarises what `run` has read.
  [[nodiscard]] range_summary summary_of_range(const matrix_market_summary& met) const {
    return {met.rounded_integers, diagonal_, below_, above_};
  }

 private:
  // The shortest line with an entry: digits, blanks and a '\n'.
  [[nodiscard]] std::int64_t least_bytes() const {
    const int numbers = header_.field == field_kind::complex ? 2 : header_.field == field_kind::pattern ? 0 : 1;
    return 2 * (numbers + (is_array_ ? 0 : 2));
  }

  // A symmetric array includes the whole diagonal, a skew-symmetric one none of it.
  [[nodiscard]] std::int64_t expanded() const {
    if (header_.symmetry == symmetry_kind::general) return total_;
    const std::int64_t implied = header_.symmetry == symmetry_kind::skew_symmetric ? 0 : header_.rows;
    return 2 * total_ - (is_array_ ? implied : diagonal_);
  }

  void cut(std::string_view block) {
    std::int64_t chunks = div_up(static_cast<std::int64_t>(block.size()), tuning_.part_bytes);
    if (is_array_ && header_.symmetry == symmetry_kind::hermitian) chunks = 1;  // its parser needs the position
    const auto texts = split_at_lines(block, chunks);
    used_ = texts.size();
    if (parts_.size() < used_) parts_.resize(used_);
    for (std::size_t i = 0; i < used_; ++i) {
      part<V, I>& next = parts_[i];
      next.text = texts[i];
      next.count = next.rounded = next.diagonal = 0;
      next.below = next.above = false;
    }
  }

  template <field_kind F>
  void parse_field(part<V, I>& p) const {
    if constexpr (F == field_kind::complex && real_type<V>) {
      return;  // rejected earlier
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

  // Parses into the result if it has room for all lines of the part; otherwise into the part's own store.
  void choose_sink(part<V, I>& p) {
    p.direct = p.lines <= entries_.capacity() - p.first;
    if (!p.direct) {
      p.own.ensure(ctx_, std::min(p.lines, static_cast<std::int64_t>(p.text.size()) / least_bytes()));
    }
    p.to = p.direct ? entries_.from(p.first) : p.own.from(0);
  }

  void parse_parts() {
    const auto part_of = [&](std::int64_t i) -> part<V, I>& { return parts_[static_cast<std::size_t>(i)]; };
    const auto count = [&](std::int64_t i, std::int64_t) { return part_of(i).lines = count_newlines(part_of(i).text); };
    for_each_part_in_order(source_.parsing_context(), static_cast<std::int64_t>(used_), total_, count,
                           [&](std::int64_t i, std::int64_t at, std::int64_t) {
                             part<V, I>& p = part_of(i);
                             p.first = at;
                             try {
                               choose_sink(p);
                               parse_part(p);
                             } catch (bad_line& bad) {
                               p.bad = std::move(bad);
                             } catch (...) {
                               p.exception = std::current_exception();
                             }
                           });
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
      p.place = total_;
      total_ += p.count;
      summary.rounded_integers += p.rounded;
      below_ |= p.below;
      above_ |= p.above;
      diagonal_ += p.diagonal;
    }
  }

  // Capacity for what was read (the first `used` in place) and for the rest: a bound for a file, else extrapolated.
  void reserve(std::int64_t used, std::int64_t unread_bytes) {
    if (entries_.capacity() >= total_ && total_ > 0) return;
    std::int64_t wanted = std::max(total_, 2 * entries_.capacity());
    if (source_.has_size()) {
      wanted = total_ + unread_bytes / least_bytes() + 1;
    } else if (seen_bytes_ > 0) {
      const double rest = static_cast<double>(total_) / static_cast<double>(seen_bytes_) *
                          static_cast<double>(source_.expected_bytes_left());
      wanted = std::max(wanted, total_ + static_cast<std::int64_t>(rest * 1.0625));
    }
    entries_.grow(ctx_, used, triangles_ * std::min(header_.entries, wanted));
  }

  // Moves parts to their places: over gaps of lines without entries, or from a part's own arrays.
  void place_parts() {
    std::int64_t used = parts_[0].place;
    for (std::size_t i = 0; i < used_ && parts_[i].direct; ++i) {
      if (parts_[i].first != parts_[i].place) entries_.put(parts_[i].to, parts_[i].count, parts_[i].place);
      used += parts_[i].count;
    }
    reserve(used, source_.bytes_left());
    for (std::size_t i = 0; i < used_; ++i) {
      if (!parts_[i].direct) entries_.put(parts_[i].to, parts_[i].count, parts_[i].place);
    }
    if (is_array_) number_places();
  }

  // Rows and columns of an array's entries follow from their index.
  void number_places() {
    const auto count = static_cast<std::int64_t>(used_);
    parallel_parts(ctx_.threads(), count, [&](std::int64_t i) {
      const part<V, I>& p = parts_[static_cast<std::size_t>(i)];
      array_position position(rule_, p.place);
      for (std::int64_t k = p.place; k < p.place + p.count; ++k, position.advance()) {
        entries_.rows[k] = static_cast<I>(position.row());
        entries_.cols[k] = static_cast<I>(position.col());
      }
    });
  }

  static V mirrored(const V& value, symmetry_kind kind) {
    if (kind == symmetry_kind::skew_symmetric) return -value;
    if constexpr (complex_type<V>) {
      if (kind == symmetry_kind::hermitian) return std::conj(value);
    }
    return value;
  }

  // Like `expand_symmetry`, in place: appends the mirrored off-diagonal entries in order.
  void add_mirrored() {
    const parts shares = split(total_, ctx_.threads(), tuning_.mirror_share);
    std::vector<std::int64_t> next(static_cast<std::size_t>(shares.count));
    parallel_parts(ctx_.threads(), shares.count, [&](std::int64_t s) {
      std::int64_t count = 0;
      for (std::int64_t k = shares.first(s), last = shares.last(s); k < last; ++k)
        count += entries_.rows[k] != entries_.cols[k];
      next[static_cast<std::size_t>(s)] = count;
    });
    std::int64_t all = total_;
    for (std::int64_t& start : next) all += std::exchange(start, all);
    if (entries_.capacity() < all) entries_.grow(ctx_, total_, all);
    parallel_parts(ctx_.threads(), shares.count, [&](std::int64_t s) {
      std::int64_t to = next[static_cast<std::size_t>(s)];
      for (std::int64_t k = shares.first(s), last = shares.last(s); k < last; ++k) {
        if (entries_.rows[k] == entries_.cols[k]) continue;
        entries_.rows[to] = entries_.cols[k];
        entries_.cols[to] = entries_.rows[k];
        if constexpr (!is_pattern<V>) entries_.values[to] = mirrored(entries_.values[k], header_.symmetry);
        ++to;
      }
    });
    total_ = all;
  }

  // Called if both triangles hold entries. Either triangle is accepted, but a place listed in both would count twice
  // once mirrored, and the file does not say whether that is intended.
  void refuse_both_triangles() const {
    const std::int64_t second = first_given_twice(entries_.rows.data(), entries_.cols.data(), total_);
    if (second == total_) return;
    const auto row = static_cast<std::int64_t>(entries_.rows[second]) + 1;
    const auto col = static_cast<std::int64_t>(entries_.cols[second]) + 1;
    throw error(error_code::parse, position_of_entry(second),
                fmt::format("entries ({}, {}) and ({}, {}) of a {} matrix are both given (expected one of them)", col,
                            row, row, col, to_string(header_.symmetry)));
  }

  // Reads the file again: entries do not store their lines.
  [[nodiscard]] source_position position_of_entry(std::int64_t entry) const {
    const std::unique_ptr<text_source> again = source_.again();
    if (again == nullptr) return {source_.path()};
    [[maybe_unused]] const auto header = parse_matrix_market_header(*again);
    for (std::string_view block = again->next(); !block.empty(); block = again->next()) {
      if (const char* const found = find_entry(block, entry); found != nullptr) return again->position_of(found);
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
  const std::int64_t triangles_;  // 2 if mirrored entries are to follow

  std::vector<part<V, I>> parts_;
  std::size_t used_ = 0;  // parts in use by the current block
  std::int64_t total_ = 0;
  std::int64_t seen_bytes_ = 0;
  bool below_ = false;
  bool above_ = false;
  std::int64_t diagonal_ = 0;  // diagonal entries, for coordinates
  entry_store<V, I> entries_;
};

}  // namespace

template <entry_type V>
coo_matrix<V, std::int64_t, host> read_entries_in(const context<host>& ctx, const input_file& file,
                                                  const read_options& options, const matrix_market_tuning& tuning,
                                                  matrix_market_header header, range_summary& summary) {
  header.entries = std::numeric_limits<std::int64_t>::max() / 2;  // leaves room for mirrored entries
  text_source source(ctx, file, options, tuning.input);
  source.set_comment_marks("%");
  entry_reader<V, std::int64_t> reader(ctx, source, header, tuning, triangles::stored);
  matrix_market_summary met;
  auto entries = reader.run(met);
  summary = reader.summary_of_range(met);
  return entries;
}

#define INSTANTIATE(V)                                                                                         \
  template coo_matrix<V, std::int64_t, host> read_entries_in(const context<host>&, const input_file&,          \
                                                             const read_options&, const matrix_market_tuning&, \
                                                             matrix_market_header, range_summary&);
SPARGO_FOR_EACH_ENTRY(INSTANTIATE)
#undef INSTANTIATE

template <entry_type V, index_type I>
coo_matrix<V, I, host> read_entries(const context<host>& ctx, const input_file& file, const read_options& options,
                                    const matrix_market_tuning& tuning, triangles wanted,
                                    matrix_market_summary& summary) {
  summary = {};
  const auto source = open_matrix_market(ctx, file, options, tuning.input, summary.header);
  if (real_type<V> && summary.header.field == matrix_market_field::complex) {
    throw error(error_code::unsupported, {file.name()}, "the matrix is complex, but real numbers were requested");
  }
  constexpr std::int64_t most = std::numeric_limits<I>::max();
  if (summary.header.rows > most || summary.header.cols > most) {
    throw error(error_code::unsupported, {file.name()},
                fmt::format("the matrix is {} x {} (expected at most {} for {}-bit indices)", summary.header.rows,
                            summary.header.cols, most, 8 * sizeof(I)));
  }
  return entry_reader<V, I>(ctx, *source, summary.header, tuning, wanted).run(summary);
}

}  // namespace detail

namespace {

template <entry_type V, index_type I>
coo_matrix<V, I, host> read_triangles(const context<host>& ctx, const input_file& file, const read_options& options,
                                      detail::triangles wanted, matrix_market_summary* summary) {
  try {
    matrix_market_summary met;
    auto read = detail::read_entries<V, I>(ctx, file, options, {}, wanted, met);
    if (summary != nullptr) *summary = met;
    return read;
  } catch (const std::bad_alloc&) {
    detail::throw_out_of_memory(file.name(), "host memory ran out while the file was read");
  }
}

}  // namespace

template <entry_type V, index_type I>
coo_matrix<V, I, host> read_matrix_market(const context<host>& ctx, const input_file& file, const read_options& options,
                                          matrix_market_summary* summary) {
  return read_triangles<V, I>(ctx, file, options, detail::triangles::both, summary);
}

template <entry_type V, index_type I>
coo_matrix<V, I, host> read_matrix_market_stored(const context<host>& ctx, const input_file& file,
                                                 const read_options& options, matrix_market_summary* summary) {
  return read_triangles<V, I>(ctx, file, options, detail::triangles::stored, summary);
}

#define INSTANTIATE(V, I)                                                                                            \
  template coo_matrix<V, I, host> detail::read_entries(const context<host>&, const input_file&, const read_options&, \
                                                       const matrix_market_tuning&, triangles,                       \
                                                       matrix_market_summary&);                                      \
  template coo_matrix<V, I, host> read_matrix_market(const context<host>&, const input_file&, const read_options&,   \
                                                     matrix_market_summary*);                                        \
  template coo_matrix<V, I, host> read_matrix_market_stored(const context<host>&, const input_file&,                 \
                                                            const read_options&, matrix_market_summary*);
SPARGO_FOR_EACH_ENTRY_INDEX(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo
