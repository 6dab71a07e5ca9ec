// Edge lists, read in parallel.
//
// Idea: blocks of whole lines are cut into parts that threads parse into buffers of their own; in file order the parts
// are checked and copied together. Then ids are renumbered in ascending order: where the largest is not far above the
// number of edges, by a bitmap and its running popcount, else by sorting pieces and merging what is distinct in them.
// Invariant: the result, or the first error in file order, does not depend on threads or blocks.
// Cost: one pass over the text, O(edges), or O(edges log edges) for sparse ids. Besides the result 24
// bytes an edge; with sparse ids 32 more while they are sorted.
#include "io/edge_list_read.hpp"

#include "core/instantiate.hpp"
#include "io/matrix_market_detail.hpp"
#include "io/number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <exception>
#include <limits>
#include <new>
#include <optional>

namespace spargo {

namespace detail {

namespace {

constexpr std::int64_t least_bytes = 4;  // the shortest line with an edge: "1 2\n"

bool is_separator(char c) { return is_blank(c) || c == ',' || c == ';'; }
bool ends_line(const char* p) { return *p == '\n' || (*p == '\r' && p[1] == '\n'); }

std::string_view field_at(const char* p) {
  const char* end = p;
  while (!is_separator(*end) && !ends_line(end)) ++end;
  return {p, static_cast<std::size_t>(end - p)};
}

// Past blanks and at most one comma or semicolon.
const char* skip_separator(const char* p) {
  p = skip_blanks(p);
  if (*p == ',' || *p == ';') p = skip_blanks(p + 1);
  return p;
}

[[noreturn, gnu::noinline]] void refuse_id(const char* p, const char* what) {
  const std::string_view token = field_at(p);
  if (token.empty()) throw bad_line{p, fmt::format("the {} vertex is missing (expected an id, 0 to 2^63-1)", what)};
  std::int64_t integer = 0;
  double real = 0;
  if (parse_integer(token, integer) != number_status::malformed) {
    if (token[0] == '-')
      throw bad_line{p, fmt::format("vertex id {} is negative (expected 0 to 2^63-1)", quoted(token))};
    if (token[0] != '+')
      throw bad_line{p, fmt::format("vertex id {} is too large (expected 0 to 2^63-1)", quoted(token))};
    throw bad_line{p, fmt::format("{} is not a vertex id (expected digits alone, 0 to 2^63-1)", quoted(token))};
  }
  if (parse_real(token, real) != number_status::malformed) {
    throw bad_line{p, fmt::format("vertex id {} is not an integer (expected 0 to 2^63-1)", quoted(token))};
  }
  throw bad_line{p, fmt::format("{} is not a vertex id (expected 0 to 2^63-1)", quoted(token))};
}

const char* read_id(const char* p, const char* what, std::int64_t& id) {
  const char* const first = p;
  std::uint64_t value = 0;
  for (; is_digit(*p); ++p) value = value * 10 + static_cast<std::uint64_t>(*p - '0');
  const bool whole = p != first && (is_separator(*p) || ends_line(p));
  if (whole && p - first <= 18) {
    id = static_cast<std::int64_t>(value);
    return p;
  }
  const std::string_view token = field_at(first);
  if (!whole || parse_integer(token, id) != number_status::ok) refuse_id(first, what);
  return first + token.size();
}

double read_weight(const char* p) {
  decimal common;
  double exact = 0;
  if (scan_real(p, common) != nullptr && to_real(common, exact)) return exact;
  const std::string_view token = field_at(p);
  double weight = 0;
  const number_status status = parse_real(token, weight);
  if (status == number_status::ok) return weight;
  throw bad_line{p, status == number_status::malformed
                        ? fmt::format("{} is not a weight (expected a real number)", quoted(token))
                        : fmt::format("weight {} is beyond the range of float64", quoted(token))};
}

// The edges of a part of the text.
struct edge_part {
  std::string_view text;
  array<std::int64_t, host> sources;
  array<std::int64_t, host> targets;
  array<double, host> weights;
  std::int64_t count = 0;
  bool weighted = false;               // of the first edge, and so of all
  const char* first_column = nullptr;  // the first edge's third column, or where it would be; null without an edge
  std::optional<bad_line> bad;
  std::exception_ptr exception;
  std::int64_t at = 0;  // where its edges go
};

bad_line uneven(const char* where, bool has_weight) {
  return {where, has_weight ? "a weight (expected none, as on the first edge)"
                            : "an edge without a weight (expected one, as on the first edge)"};
}

void parse_edges(edge_part& part, std::int64_t max_line_bytes) {
  const char* p = part.text.data();
  const char* const end = p + part.text.size();
  while (p != end) {
    const char* const line = p;
    p = skip_blanks(p);
    if (!ends_line(p) && *p != '#' && *p != '%') {
      std::int64_t source = 0;
      std::int64_t target = 0;
      p = skip_separator(read_id(p, "source", source));
      p = skip_separator(read_id(p, "target", target));
      const bool weighted = !ends_line(p);
      if (part.first_column == nullptr) {
        part.weighted = weighted;
        part.first_column = p;
      } else if (weighted != part.weighted) {
        throw uneven(p, weighted);
      }
      part.sources[part.count] = source;
      part.targets[part.count] = target;
      if (weighted) part.weights[part.count] = read_weight(p);
      ++part.count;
    }
    p = static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p)));
    if (p - line > max_line_bytes) throw bad_line{line, {}};  // `text_source::fail` knows what to say
    ++p;
  }
}

// --- Renumbering -----------------------------------------------------------------------------------------------------

// Bit k of the bitmap: id k occurs. rank(k) is its number.
class id_bitmap {
 public:
  id_bitmap(const context<host>& ctx, std::int64_t size)
      : words_(ctx, div_up(size, 64)), ranks_(ctx, words_.size() + 1) {
    fill_zero(ctx, words_.view());
  }

  void mark(const context<host>& ctx, span<const std::int64_t, host> ids) {
    std::uint64_t* const words = words_.data();
#pragma omp parallel for num_threads(ctx.threads()) schedule(static)
    for (std::int64_t k = 0; k < ids.size(); ++k) {
      const std::uint64_t bit = std::uint64_t{1} << (ids[k] & 63);
      std::uint64_t* const word = words + (ids[k] >> 6);
      if ((__atomic_load_n(word, __ATOMIC_RELAXED) & bit) == 0) __atomic_fetch_or(word, bit, __ATOMIC_RELAXED);
    }
  }

  [[nodiscard]] std::int64_t count() {
    ranks_[0] = 0;
    for (std::int64_t w = 0; w < words_.size(); ++w) ranks_[w + 1] = ranks_[w] + std::popcount(words_[w]);
    return ranks_[words_.size()];
  }
  [[nodiscard]] std::int64_t rank(std::int64_t id) const {
    const std::uint64_t below = words_[id >> 6] & ((std::uint64_t{1} << (id & 63)) - 1);
    return ranks_[id >> 6] + std::popcount(below);
  }
  void list(std::vector<std::int64_t>& ids) const {
    for (std::int64_t w = 0; w < words_.size(); ++w) {
      for (std::uint64_t word = words_[w]; word != 0; word &= word - 1) ids.push_back(w * 64 + std::countr_zero(word));
    }
  }

 private:
  array<std::uint64_t, host> words_;
  array<std::int64_t, host> ranks_;
};

// The distinct ids of the edges, ascending. Every piece of the edges has its place in `ids`, twice its length.
class id_sorter {
 public:
  id_sorter(const context<host>& ctx, span<const std::int64_t, host> sources, span<const std::int64_t, host> targets)
      : ctx_(ctx),
        ids_(ctx, 2 * sources.size()),
        edges_(sources.size()),
        pieces_(std::clamp<std::int64_t>(sources.size() / edges_a_piece, 1, ctx.threads())),
        sizes_(static_cast<std::size_t>(pieces_)) {
#pragma omp parallel for num_threads(ctx.threads()) schedule(static) if (pieces_ > 1)
    for (std::int64_t i = 0; i < pieces_; ++i) {
      std::int64_t* const to = place(ids_, i);
      std::int64_t* end = std::copy(sources.data() + edge_of(i), sources.data() + edge_of(i + 1), to);
      end = std::copy(targets.data() + edge_of(i), targets.data() + edge_of(i + 1), end);
      std::sort(to, end);
      size(i) = std::unique(to, end) - to;
    }
  }

  // Merges neighbours until one piece is left.
  [[nodiscard]] std::vector<std::int64_t> merge() {
    array<std::int64_t, host> merged(ctx_, pieces_ > 1 ? ids_.size() : 0);
    for (std::int64_t step = 1; step < pieces_; step *= 2) {
#pragma omp parallel for num_threads(ctx_.threads()) schedule(dynamic)
      for (std::int64_t i = 0; i < pieces_; i += 2 * step) {
        const std::int64_t* const left = place(ids_, i);
        std::int64_t* const to = place(merged, i);
        if (i + step < pieces_) {
          const std::int64_t* const right = place(ids_, i + step);
          size(i) = std::set_union(left, left + size(i), right, right + size(i + step), to) - to;
        } else {
          std::copy_n(left, size(i), to);
        }
      }
      ids_.swap(merged);
    }
    return {ids_.data(), ids_.data() + size(0)};
  }

 private:
  // Below this, sorting takes no longer than starting threads.
  static constexpr std::int64_t edges_a_piece = std::int64_t{1} << 12;

  [[nodiscard]] std::int64_t edge_of(std::int64_t piece) const {
    return piece * (edges_ / pieces_) + std::min(piece, edges_ % pieces_);
  }
  [[nodiscard]] std::int64_t* place(array<std::int64_t, host>& in, std::int64_t piece) const {
    return in.data() + 2 * edge_of(piece);
  }
  [[nodiscard]] std::int64_t& size(std::int64_t piece) { return sizes_[static_cast<std::size_t>(piece)]; }

  const context<host>& ctx_;
  array<std::int64_t, host> ids_;
  const std::int64_t edges_;
  const std::int64_t pieces_;
  std::vector<std::int64_t> sizes_;
};

// --- The reader ------------------------------------------------------------------------------------------------------

template <class I>
class edge_reader {
 public:
  edge_reader(const context<host>& ctx, text_source& source, const edge_list_tuning& tuning)
      : ctx_(ctx), source_(source), tuning_(tuning) {}

  edge_list<I> run() {
    for (std::string_view block = source_.next(); !block.empty(); block = source_.next()) {
      if (seen_bytes_ == 0) refuse_matrix_market(block);
      seen_bytes_ += static_cast<std::int64_t>(block.size());
      cut(block);
      parse();
      check();
      collect();
    }
    return renumber();
  }

 private:
  void refuse_matrix_market(std::string_view block) const {
    constexpr std::string_view banner = "%%matrixmarket";
    const auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; };
    if (block.size() >= banner.size() &&
        std::equal(banner.begin(), banner.end(), block.begin(), [&](char b, char a) { return same(a, b); })) {
      source_.fail(block.data(), "a Matrix Market banner (expected an edge list)");
    }
  }

  template <class T>
  void ensure(array<T, host>& buffer, std::int64_t size) {
    if (buffer.size() < size) buffer = array<T, host>(ctx_, size);
  }

  void cut(std::string_view block) {
    const std::int64_t wanted = div_up(static_cast<std::int64_t>(block.size()), tuning_.part_bytes);
    const auto texts =
        split_at_lines(block, std::clamp<std::int64_t>(wanted, 1, tuning_.parts_per_thread * ctx_.threads()));
    used_ = texts.size();
    if (parts_.size() < used_) parts_.resize(used_);
    for (std::size_t i = 0; i < used_; ++i) {
      edge_part& part = parts_[i];
      part.text = texts[i];
      part.count = 0;
      part.first_column = nullptr;
      part.bad.reset();
      const std::int64_t most = static_cast<std::int64_t>(texts[i].size()) / least_bytes + 1;
      ensure(part.sources, most);
      ensure(part.targets, most);
      ensure(part.weights, most);
    }
  }

  void parse() {
    const auto count = static_cast<std::int64_t>(used_);
#pragma omp parallel for num_threads(ctx_.threads()) schedule(dynamic) if (count > 1)
    for (std::int64_t i = 0; i < count; ++i) {
      edge_part& part = parts_[static_cast<std::size_t>(i)];
      try {
        parse_edges(part, source_.max_line_bytes());
      } catch (bad_line& bad) {
        part.bad = std::move(bad);
      } catch (...) {
        part.exception = std::current_exception();
      }
    }
  }

  void check() {
    for (std::size_t i = 0; i < used_; ++i) {
      edge_part& part = parts_[i];
      if (part.exception) std::rethrow_exception(part.exception);
      if (part.first_column != nullptr) {
        if (total_ == 0) weighted_ = part.weighted;
        if (part.weighted != weighted_) {
          const bad_line bad = uneven(part.first_column, part.weighted);
          source_.fail(bad.where, bad.message);
        }
      }
      if (part.bad) source_.fail(part.bad->where, part.bad->message);
      part.at = total_;
      total_ += part.count;
    }
  }

  template <class T>
  void grow(array<T, host>& to, std::int64_t used, std::int64_t capacity) {
    array<T, host> larger(ctx_, capacity);
    if (used > 0) copy<T>(ctx_, std::as_const(to).view().subspan(0, used), larger.view().subspan(0, used));
    to = std::move(larger);
  }

  // Room for `total_` edges and, for a mapped file, for what the rest of it holds if it is as dense, and some more.
  [[nodiscard]] std::int64_t capacity() const {
    const std::int64_t doubled = std::max(total_, 2 * sources_.size());
    const std::int64_t left = source_.bytes_left();
    if (left < 0) return doubled;
    const double rest = static_cast<double>(total_) / static_cast<double>(seen_bytes_) * static_cast<double>(left);
    const std::int64_t most = total_ + left / least_bytes + 1;
    return std::min(most, std::max(doubled, total_ + static_cast<std::int64_t>(rest * 1.0625)));
  }

  void collect() {
    const std::int64_t used = parts_[0].at;
    if (sources_.size() < total_) {
      const std::int64_t next = capacity();
      grow(sources_, used, next);
      grow(targets_, used, next);
      if (weighted_) grow(weights_, used, next);
    }
    const auto count = static_cast<std::int64_t>(used_);
#pragma omp parallel for num_threads(ctx_.threads()) schedule(dynamic) if (count > 1)
    for (std::int64_t i = 0; i < count; ++i) {
      const edge_part& part = parts_[static_cast<std::size_t>(i)];
      std::copy_n(part.sources.data(), part.count, sources_.data() + part.at);
      std::copy_n(part.targets.data(), part.count, targets_.data() + part.at);
      if (weighted_) std::copy_n(part.weights.data(), part.count, weights_.data() + part.at);
    }
  }

  [[nodiscard]] span<const std::int64_t, host> used(const array<std::int64_t, host>& ids) const {
    return ids.view().subspan(0, total_);
  }

  [[nodiscard]] std::int64_t largest_id() const {
    std::int64_t largest = -1;
#pragma omp parallel for num_threads(ctx_.threads()) schedule(static) reduction(max : largest)
    for (std::int64_t k = 0; k < total_; ++k) largest = std::max({largest, sources_[k], targets_[k]});
    return largest;
  }

  edge_list<I> renumber() {
    parts_.clear();
    // A bitmap of 64 bits an edge costs less than sorting two ids of it.
    const std::int64_t largest = largest_id();
    if (largest / 64 <= total_ + 1024) return renumber_dense(largest);
    return renumber_sparse();
  }

  edge_list<I> renumber_dense(std::int64_t largest) {
    id_bitmap present(ctx_, largest + 1);
    present.mark(ctx_, used(sources_));
    present.mark(ctx_, used(targets_));
    edge_list<I> result;
    const std::int64_t vertices = present.count();
    expect_vertices(vertices);
    result.ids.reserve(static_cast<std::size_t>(vertices));
    present.list(result.ids);
    finish(result, [&](std::int64_t id) { return present.rank(id); });
    return result;
  }

  edge_list<I> renumber_sparse() {
    edge_list<I> result;
    result.ids = id_sorter(ctx_, used(sources_), used(targets_)).merge();
    expect_vertices(static_cast<std::int64_t>(result.ids.size()));
    finish(result, [&](std::int64_t id) {
      return std::lower_bound(result.ids.begin(), result.ids.end(), id) - result.ids.begin();
    });
    return result;
  }

  void expect_vertices(std::int64_t vertices) const {
    if (vertices <= std::numeric_limits<I>::max()) return;
    throw error(error_code::unsupported, {source_.path()},
                fmt::format("{} vertices (expected at most {} for {}-bit indices)", vertices,
                            std::numeric_limits<I>::max(), 8 * sizeof(I)));
  }

  template <class Number>
  void finish(edge_list<I>& result, const Number& number) {
    const auto vertices = static_cast<I>(result.ids.size());
    result.edges = coo_matrix<double, I, host>(ctx_, vertices, vertices, total_);
    I* const rows = result.edges.row_indices().data();
    I* const cols = result.edges.col_indices().data();
    double* const values = result.edges.values().data();
#pragma omp parallel for num_threads(ctx_.threads()) schedule(static)
    for (std::int64_t k = 0; k < total_; ++k) {
      rows[k] = static_cast<I>(number(sources_[k]));
      cols[k] = static_cast<I>(number(targets_[k]));
      values[k] = weighted_ ? weights_[k] : 1.0;
    }
    result.weighted = weighted_;
    result.first_vertex = total_ == 0 ? -1 : static_cast<std::int64_t>(rows[0]);
  }

  const context<host>& ctx_;
  text_source& source_;
  const edge_list_tuning tuning_;
  std::vector<edge_part> parts_;
  std::size_t used_ = 0;
  std::int64_t total_ = 0;
  std::int64_t seen_bytes_ = 0;
  bool weighted_ = false;
  array<std::int64_t, host> sources_;
  array<std::int64_t, host> targets_;
  array<double, host> weights_;
};

}  // namespace

template <index_type I>
edge_list<I> read_edge_list_with(const context<host>& ctx, const std::string& path, const read_options& options,
                                 const edge_list_tuning& tuning) {
  try {
    text_source source(ctx, path, options, tuning.input);
    return edge_reader<I>(ctx, source, tuning).run();
  } catch (const std::bad_alloc&) {
    throw error(error_code::out_of_memory, {path}, "host memory ran out while the file was read");
  }
}

}  // namespace detail

template <index_type I>
edge_list<I> read_edge_list(const context<host>& ctx, const std::string& path, const read_options& options) {
  return detail::read_edge_list_with<I>(ctx, path, options, {});
}

#define INSTANTIATE(I)                                                                                                \
  template edge_list<I> detail::read_edge_list_with<I>(const context<host>&, const std::string&, const read_options&, \
                                                       const edge_list_tuning&);                                      \
  template edge_list<I> read_edge_list<I>(const context<host>&, const std::string&, const read_options&);
SPARGO_FOR_EACH_INDEX(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo
