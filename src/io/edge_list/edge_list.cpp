// Edge lists, read in parallel.
//
// Idea: as for Matrix Market files, blocks of whole lines are cut into parts, and threads parse each part directly into
// its place in the result, which a chained line count gives. Ids are stored unchanged as long as they fit the result's
// index type. From the first one that does not, all ids are replaced by numbers from a hash table (id_table.hpp). At
// the end ids are renumbered in place in ascending order: not at all if none is missing, by a bitmap with running
// popcounts if the largest id is not much larger than the number of edges, otherwise by the table. Names are numbered
// by a table from the first edge on (name_interner.hpp), and finally by first appearance.
// Invariant: the result, or the first error in file order, does not depend on threads or blocks.
// Cost: one pass over the text, O(edges + ids log ids). Memory: the result, and 4 bytes per edge for the bitmap or 17
// to 26 per id for the table, 43 while it grows.
#include "core/parallel.hpp"
#include "io/edge_list/read.hpp"

#include "core/id_bitmap.hpp"
#include "core/instantiate.hpp"
#include "core/parts.hpp"
#include "core/rethrow.hpp"
#include "io/edge_list/header.hpp"
#include "io/edge_list/line.hpp"
#include "io/edge_list/name_line.hpp"
#include "io/opened_input.hpp"
#include "io/text/id_table.hpp"
#include "io/text/vertex_limit.hpp"
#include "primitives/ordered_parts.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <limits>
#include <new>

namespace spargo {

template <>
enum_table<id_kind> enum_rows() noexcept {
  static constexpr std::array<enum_row<id_kind>, 3> rows{{
      {id_kind::automatic, "automatic"},
      {id_kind::integers, "integers"},
      {id_kind::names, "names"},
  }};
  return rows;
}

template <>
enum_table<edge_direction> enum_rows() noexcept {
  static constexpr std::array<enum_row<edge_direction>, 3> rows{{
      {edge_direction::not_said, "not_said"},
      {edge_direction::directed, "directed"},
      {edge_direction::undirected, "undirected"},
  }};
  return rows;
}

namespace detail {

namespace {

using namespace edge_text;

struct renumbering {
  static constexpr std::int64_t share = std::int64_t{1} << 16;  // minimum edges per thread: some 100 us
  static constexpr std::int64_t round = std::int64_t{1} << 18;  // edges between two checks of the table's size
  static constexpr std::int64_t parts = 64;                     // the same in parts while reading: 8 MiB of text
};

// Estimates the number of edges from the first lines.
struct expecting {
  static constexpr std::int64_t least_bytes = std::int64_t{4} << 20;  // minimum block size for an estimate
  static constexpr std::int64_t sample_bytes = std::int64_t{1} << 20;
  static constexpr double spare = 1.0625;
};

// Stores ids unchanged.
template <class I>
struct plain_ids {
  entry_sink<double, I> to;
  std::int64_t largest = -1;  // so far

  [[nodiscard]] bool put(std::int64_t k, std::int64_t source, std::int64_t target) {
    const std::int64_t larger = std::max(source, target);
    if (larger > std::numeric_limits<I>::max()) return false;
    largest = std::max(largest, larger);
    to.rows[k] = static_cast<I>(source);
    to.cols[k] = static_cast<I>(target);
    return true;
  }
  void finish() const {}
};

// Stores numbers from a table, batch by batch.
template <class I>
class numbered_ids {
 public:
  numbered_ids(id_table<I>& table, const entry_sink<double, I>& to) : table_(table), to_(to) {}

  [[nodiscard]] bool put(std::int64_t, std::int64_t source, std::int64_t target) {
    ids_[static_cast<std::size_t>(waiting_++)] = source;
    ids_[static_cast<std::size_t>(waiting_++)] = target;
    if (waiting_ == id_table<I>::batch) finish();
    return true;
  }
  void finish() {
    table_.number(ids_.data(), waiting_, ids_.data());
    for (std::int64_t k = 0; k < waiting_; k += 2, ++done_) {
      to_.rows[done_] = static_cast<I>(ids_[static_cast<std::size_t>(k)]);
      to_.cols[done_] = static_cast<I>(ids_[static_cast<std::size_t>(k + 1)]);
    }
    waiting_ = 0;
  }

 private:
  id_table<I>& table_;
  entry_sink<double, I> to_;
  std::array<std::int64_t, id_table<I>::batch> ids_;
  std::int64_t waiting_ = 0;
  std::int64_t done_ = 0;
};

template <class I>
class edge_reader {
 public:
  edge_reader(const context<host>& ctx, text_source& source, const edge_list_header& header,
              const edge_list_tuning& tuning, edge_weights weights)
      : ctx_(ctx),
        source_(source),
        header_(header),
        delimiter_(header.delimiter),
        tuning_(tuning),
        header_lines_(header_),
        table_(ctx),
        interner_(ctx, tuning.names) {
    numbered_ = has_names();
    edges_.keeps_values = weights == edge_weights::keep;
  }

  edge_list<I> run() {
    for (std::string_view block = source_.next(); !block.empty(); block = source_.next()) {
      const bool from_the_start = tuning_.input.range.is_all();
      if (from_the_start && seen_bytes_ == 0) refuse_matrix_market(block);
      seen_bytes_ += static_cast<std::int64_t>(block.size());
      if (from_the_start) block = header_lines_.skip(source_, block);
      if (block.empty()) continue;
      expect(block);
      if (delimiter_ == 0) delimiter_ = delimiter_of(block, header_);
      cut(block);
      parse();
      if (!numbered_ && any_stopped()) {
        renumber_stored_edges();
        parse();
      }
      check();
      place();
      mark_rest();
    }
    parts_.clear();
    return finish();
  }

  // The first id with leading zeros, if all of the file was read.
  [[nodiscard]] const padded_id& padded() const { return padded_; }

 private:
  [[nodiscard]] bool has_names() const { return header_.ids == id_kind::names; }

  void refuse_matrix_market(std::string_view block) const {
    if (has_banner(block)) source_.fail(block.data(), "a Matrix Market banner (expected an edge list)");
  }

  void cut(std::string_view block) {
    const auto texts = split_at_lines(block, div_up(static_cast<std::int64_t>(block.size()), tuning_.part_bytes));
    used_ = texts.size();
    if (parts_.size() < used_) parts_.resize(used_);
    for (std::size_t i = 0; i < used_; ++i) {
      parts_[i].text = texts[i];
      parts_[i].offset = cut_bytes_ + (texts[i].data() - block.data());
      parts_[i].header = &header_;
      if (delimiter_ != 0) parts_[i].delimiter = delimiter_;
      parts_[i].own.keeps_values = edges_.keeps_values;
    }
    cut_bytes_ += static_cast<std::int64_t>(block.size());
  }

  // Reserves a large file's estimated edges before reading any, so that each goes to its place; touches this block's.
  void expect(std::string_view block) {
    const auto block_bytes = static_cast<double>(block.size());
    if (block_bytes < expecting::least_bytes || numbered_) return;
    const std::string_view sample = block.substr(0, expecting::sample_bytes);
    const double lines = static_cast<double>(count_newlines(sample)) / static_cast<double>(sample.size());
    const double all = block_bytes + static_cast<double>(source_.expected_bytes_left());
    if (edges_.capacity() == 0) edges_.grow(ctx_, 0, static_cast<std::int64_t>(lines * all * expecting::spare));
    const std::int64_t last = std::min(edges_.capacity(), total_ + static_cast<std::int64_t>(lines * block_bytes));
    edges_.touch(ctx_, total_, last);
  }

  [[nodiscard]] edge_part<I>& part(std::int64_t i) { return parts_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] std::int64_t count_lines(std::int64_t i) { return part(i).lines = count_newlines(part(i).text); }

  // Parses into the result if it has room for all lines of the part; otherwise into the part's own store.
  void parse_part(edge_part<I>& p) {
    p.direct = p.lines <= edges_.capacity() - p.first;
    if (!p.direct) p.own.ensure(ctx_, std::min(p.lines, static_cast<std::int64_t>(p.text.size()) / least_bytes + 1));
    p.to = p.direct ? edges_.from(p.first) : p.own.from(0);
    if (has_names()) {
      interned_names<I> sink(interner_, p.offset, p.to);
      parse_named_edges(p, sink, source_.max_line_bytes());
    } else if (numbered_) {
      numbered_ids<I> sink(table_, p.to);
      parse_edges(p, sink, source_.max_line_bytes());
    } else {
      plain_ids<I> sink{p.to};
      parse_edges(p, sink, source_.max_line_bytes());
      p.largest = sink.largest;
      p.marked = p.largest < present_.limit();
      if (p.marked) mark(p.to.rows, p.to.cols, p.count);  // while they are in cache
    }
  }

  void mark(const I* sources, const I* targets, std::int64_t count) {
    present_.mark(sources, count);
    present_.mark(targets, count);
  }

  void mark_from(std::int64_t first) {
    const parts shares = split(total_ - first, ctx_.threads(), renumbering::share);
    parallel_parts(ctx_.threads(), shares.count, [&](std::int64_t s) {
      const std::int64_t from = first + shares.first(s);
      mark(edges_.rows.data() + from, edges_.cols.data() + from, first + shares.last(s) - from);
    });
  }

  // Marks the ids of the block that ends with edge `total_` that were too large for the bitmap when read.
  void mark_rest() {
    if (numbered_ || !marking_) return;
    std::int64_t first = total_;
    for (std::size_t i = used_; i-- > 0;) {
      if (!parts_[i].marked) first = parts_[i].place;
    }
    if (first == total_) return;
    marking_ = fits_bitmap();
    if (!marking_) return;
    if (largest_ >= present_.limit()) present_.grow(ctx_, largest_ + largest_ / 2 + 1);
    mark_from(first);
  }

  // One word of the bitmap and two of its ranks per four edges cost less than the table.
  [[nodiscard]] bool fits_bitmap() const { return largest_ / 64 <= total_ / 4 + 1024; }

  // With a table, in rounds: then the room reserved for possibly new ids is never much more than for known ones.
  void parse() {
    const auto count = static_cast<std::int64_t>(used_);
    if (!numbered_) {
      parse_range(0, count, total_, [&](std::int64_t i) { return count_lines(i); });
      return;
    }
    std::int64_t first = total_;
    const int threads =
        source_.parsing_context().threads();  // another one would compete for the inflating thread's core
    for (std::int64_t begin = 0; begin < count; begin += renumbering::parts) {
      const std::int64_t end = std::min(count, begin + renumbering::parts);
      std::atomic<std::int64_t> lines{0};
      parallel_parts(threads, end - begin, [&](std::int64_t i) { lines.fetch_add(count_lines(begin + i)); });
      make_room(lines.load());
      parse_range(begin, end, first, [&](std::int64_t i) { return part(i).lines; });
      first += lines;
    }
  }

  void make_room(std::int64_t edges) {
    expect_vertices<I>(source_.path(), std::max(table_.size(), interner_.size()));
    has_names() ? interner_.reserve(2 * edges) : table_.reserve(2 * edges);
  }

  // Parses parts [begin, end); `first` edges precede them if every line has one.
  template <class Count>
  void parse_range(std::int64_t begin, std::int64_t end, std::int64_t first, const Count& count) {
    const auto count_here = [&](std::int64_t i, std::int64_t) { return count(begin + i); };
    const context<host> parsing = source_.parsing_context();
    for_each_part_in_order(parsing, end - begin, first, count_here, [&](std::int64_t i, std::int64_t at, std::int64_t) {
      edge_part<I>& p = part(begin + i);
      p.first = at;
      p.count = 0;
      p.largest = -1;
      p.marked = false;
      p.first_column = nullptr;
      p.padded = nullptr;
      p.stopped = false;
      p.bad.reset();
      try {
        parse_part(p);
      } catch (bad_line& bad) {
        p.bad = std::move(bad);
      } catch (...) {
        p.exception = std::current_exception();
      }
    });
  }

  // Whether an id that did not fit comes before any error.
  [[nodiscard]] bool any_stopped() const {
    for (std::size_t i = 0; i < used_; ++i) {
      if (parts_[i].bad || parts_[i].exception) return false;
      if (parts_[i].stopped) return true;
    }
    return false;
  }

  void check() {
    for (std::size_t i = 0; i < used_; ++i) {
      edge_part<I>& p = parts_[i];
      if (p.exception) std::rethrow_exception(p.exception);
      if (p.first_column != nullptr) {
        if (total_ == 0) weighted_ = p.weighted;
        if (p.weighted != weighted_) {
          const bad_line bad = uneven(p.first_column, p.weighted);
          source_.fail(bad.where, bad.message);
        }
      }
      if (p.bad) source_.fail(p.bad->where, p.bad->message);
      if (p.padded != nullptr && padded_.text.empty() && tuning_.input.range.is_all()) {
        padded_ = padded_at(source_, p.padded);
      }
      p.place = total_;
      total_ += p.count;
      rounded_ += p.rounded;
      largest_ = std::max(largest_, p.largest);
    }
  }

  // Room for what was read and for the rest of the file at the same density, with a margin.
  void reserve(std::int64_t used) {
    if (edges_.capacity() >= total_) return;
    const double rest = static_cast<double>(total_) / static_cast<double>(seen_bytes_) *
                        static_cast<double>(source_.expected_bytes_left());
    const std::int64_t likely = total_ + static_cast<std::int64_t>(rest * expecting::spare);
    edges_.grow(ctx_, used, std::max({total_, 2 * edges_.capacity(), likely}));
  }

  // Moves parts to their places: over gaps of lines without edges, or from a part's own store.
  void place() {
    std::int64_t used = parts_[0].place;
    for (std::size_t i = 0; i < used_ && parts_[i].direct; ++i) {
      if (parts_[i].first != parts_[i].place) edges_.put(parts_[i].to, parts_[i].count, parts_[i].place);
      used += parts_[i].count;
    }
    reserve(used);
    parallel_parts(ctx_.threads(), static_cast<std::int64_t>(used_), [&](std::int64_t i) {
      if (!part(i).direct) edges_.put(part(i).to, part(i).count, part(i).place);
    });
  }

  // Replaces stored ids by numbers of the table.
  void renumber_stored_edges() {
    numbered_ = true;
    for (std::int64_t begin = 0; begin < total_; begin += renumbering::round) {
      const std::int64_t size = std::min(renumbering::round, total_ - begin);
      make_room(size);
      const parts shares = split(size, ctx_.threads(), renumbering::share);
      parallel_parts(ctx_.threads(), shares.count, [&](std::int64_t s) {
        const std::int64_t first = begin + shares.first(s);
        numbered_ids<I> sink(table_, edges_.from(first));
        for (std::int64_t k = first; k < begin + shares.last(s); ++k) {
          (void)sink.put(k, edges_.rows[k], edges_.cols[k]);
        }
        sink.finish();
      });
    }
  }

  edge_list<I> finish() {
    edge_list<I> result;
    if (!numbered_ && !fits_bitmap()) renumber_stored_edges();
    if (has_names()) {
      expect_vertices<I>(source_.path(), interner_.size());
      array<std::int64_t, host> vertices;
      result.names = interner_.finish(vertices);
      renumber([&](I number) { return vertices[number]; });
    } else if (numbered_) {
      expect_vertices<I>(source_.path(), table_.size());
      array<typename id_table<I>::number_type, host> ranks;
      result.ids = table_.ranks(ranks);
      renumber([&](I number) { return ranks[number]; });
    } else {
      if (!marking_) {  // the large ids came when there were too few edges; now there are enough
        present_.grow(ctx_, largest_ + 1);
        mark_from(0);
      }
      result.ids = present_.finish(ctx_);
      const auto vertices = static_cast<std::int64_t>(result.ids.size());
      expect_vertices<I>(source_.path(), vertices);
      if (vertices <= largest_) renumber([&](I id) { return present_.rank(id); });
    }
    if (edges_.capacity() == 0) edges_.grow(ctx_, 0, 0);
    if (!weighted_ && edges_.keeps_values) fill_with_ones();
    const auto vertices = static_cast<I>(std::max(std::ssize(result.ids), result.names.size()));
    result.edges = edges_.release(vertices, vertices, total_);
    result.weighted = weighted_;
    result.rounded_integers = rounded_;
    result.header = header_;
    result.first_vertex = total_ == 0 ? -1 : static_cast<std::int64_t>(result.edges.row_indices()[0]);
    return result;
  }

  // At the end, each thread for its own range: threads parsing neighbouring parts would fault on the same untouched
  // huge page, and the kernel would clear it twice.
  void fill_with_ones() {
    parallel_for(ctx_.threads(), total_, grain::elements, [&](std::int64_t k) { edges_.values[k] = 1; });
  }

  template <class Rank>
  void renumber(const Rank& rank) {
    parallel_for(ctx_.threads(), total_, grain::elements, [&](std::int64_t k) {
      edges_.rows[k] = static_cast<I>(rank(edges_.rows[k]));
      edges_.cols[k] = static_cast<I>(rank(edges_.cols[k]));
    });
  }

  const context<host>& ctx_;
  text_source& source_;
  const edge_list_header header_;
  char delimiter_;  // 0: not yet known
  const edge_list_tuning tuning_;
  header_lines header_lines_;
  std::vector<edge_part<I>> parts_;
  std::size_t used_ = 0;  // parts in use by the current block
  entry_store<double, I> edges_;
  id_bitmap<I> present_;  // ids of the edges, until they are numbered
  bool marking_ = true;   // all ids so far are in `present_`
  id_table<I> table_;
  name_interner interner_;
  bool numbered_ = false;      // edges hold the table's numbers instead of ids
  std::int64_t largest_ = -1;  // largest id, until they are numbered
  std::int64_t total_ = 0;
  std::int64_t rounded_ = 0;
  std::int64_t seen_bytes_ = 0;
  std::int64_t cut_bytes_ = 0;  // bytes in earlier parts
  bool weighted_ = false;
  padded_id padded_;
};

}  // namespace

std::int64_t find_edges(const input_file& file, const edge_list_header& header) {
  text_source source(context<host>({.threads = 1}), file, {}, {.block_bytes = std::int64_t{64} << 10});
  source.set_comment_marks(edge_text::comment_marks);
  header_lines lines(header);
  for (std::string_view block; !lines.are_passed() && !(block = source.next()).empty();) {
    const std::string_view rest = lines.skip(source, block);
    if (lines.are_passed()) source.put_back(rest.data());
  }
  return source.offset();
}

template <index_type I>
edge_list<I> read_edge_list_with(const context<host>& ctx, const input_file& file, const edge_list_options& options,
                                 const edge_list_tuning& tuning, edge_weights weights) {
  try {
    const edge_list_header header = read_edge_list_header(file, options.columns, options.ids);
    text_source source(ctx, file, options, tuning.input);
    source.set_comment_marks(edge_text::comment_marks);
    edge_reader<I> reader(ctx, source, header, tuning, weights);
    edge_list<I> list = reader.run();
    file.opened().padded = reader.padded();
    return list;
  } catch (const std::bad_alloc&) {
    detail::throw_out_of_memory(file.name(), "host memory ran out while the file was read");
  }
}

}  // namespace detail

template <index_type I>
edge_list<I> read_edge_list(const context<host>& ctx, const input_file& file, const edge_list_options& options) {
  return detail::read_edge_list_with<I>(ctx, file, options, {});
}

template <index_type I>
edge_pattern<I> read_edge_pattern(const context<host>& ctx, const input_file& file, const edge_list_options& options) {
  edge_list<I> read = detail::read_edge_list_with<I>(ctx, file, options, {}, detail::edge_weights::drop);
  coo_matrix<double, I, host>& edges = read.edges;
  return {{edges.rows(), edges.cols(), std::move(edges.row_indices()), std::move(edges.col_indices()), {}},
          read.weighted,
          std::move(read.ids),
          read.first_vertex,
          std::move(read.header),
          std::move(read.names)};
}

#define INSTANTIATE(I)                                                                                              \
  template edge_list<I> detail::read_edge_list_with<I>(                                                             \
      const context<host>&, const input_file&, const edge_list_options&, const edge_list_tuning&, edge_weights);    \
  template edge_pattern<I> read_edge_pattern<I>(const context<host>&, const input_file&, const edge_list_options&); \
  template edge_list<I> read_edge_list<I>(const context<host>&, const input_file&, const edge_list_options&);
SPARGO_FOR_EACH_INDEX(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo
