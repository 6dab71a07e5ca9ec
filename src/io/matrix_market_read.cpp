// The entries of a Matrix Market file, read in parallel.
//
// Idea: a block of whole lines is cut into parts at line ends. Threads parse parts into buffers of their own; then, in
// file order, counts are added up and errors looked for; then threads copy the buffers to their places in the result.
// A buffer is bounded by the bytes of its part (an entry has at least two), the result by the bytes that are left in
// the file and by the declared count, whichever is less: the count alone allocates nothing.
// Invariant: what is thrown depends on the text only: of all parts the first error in file order, and an entry past
// the declared count counts as one before anything else that is wrong with its line.
// Cost: one pass over the text; memory is the result and, for each thread, some buffers of the size of a part.
#include "core/instantiate.hpp"
#include "io/matrix_market_detail.hpp"
#include "io/matrix_market_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
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

using namespace mtx;

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
