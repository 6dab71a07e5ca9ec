#include "commands/convert/restructure.hpp"

#include "cli/exit_status.hpp"
#include "cli/progress.hpp"
#include "commands/convert/conversion.hpp"
#include "commands/subgraph/selection.hpp"
#include "input/read.hpp"

#include <spargo/sparse/algebra.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace spargo::apps {

void add_structure_flags(flag_set app, structure_flags& flags) {
  app.add_option("--rows", flags.rows,
                 "keep the rows A to B of a matrix, counted from 1 (A: to the last, :B from the first); --columns A:B "
                 "keeps columns likewise")
      ->type_name("A:B");
  app.add_option("--permute", flags.permute,
                 "reorder the rows and columns of a square matrix: line k of this file is the row that becomes row k")
      ->type_name("FILE");
  app.add_option("--drop-below", flags.drop_below, "drop entries whose magnitude is below X")->type_name("X");
  app.add_flag("--transpose", flags.transpose, "write the transpose of a matrix (complex: without conjugation)");
  app.add_flag("--symmetrize", flags.symmetrize,
               "write A + A^T of a square matrix A (complex: without conjugation). The order of these changes: rows "
               "and columns, --permute, --drop-below, --transpose, --symmetrize");
}

bool is_range(const std::string& text) {
  return text.find(':') != std::string::npos && text.find_first_not_of("0123456789:") == std::string::npos;
}

std::pair<std::int64_t, std::int64_t> parse_range(const std::string& flag, const std::string& text, std::int64_t size) {
  const std::size_t colon = text.find(':');
  std::int64_t first = 1;
  std::int64_t last = size;
  const bool right = colon != std::string::npos && (colon == 0 || parse_integer(text.substr(0, colon), first)) &&
                     (colon + 1 == text.size() || parse_integer(text.substr(colon + 1), last));
  if (!right) throw usage_error(fmt::format("{}: {} is no range (expected A:B, such as 1:100)", flag, text));
  SPARGO_EXPECTS(first >= 1 && first <= last + 1 && last <= size,
                 fmt::format("{} {}: outside the matrix (expected a range within 1:{})", flag, text, size));
  return {first - 1, last};
}

namespace {

// The matrix as it changes: borrowed until the first change.
template <class V, class I, class O>
class changing {
 public:
  changing(const conversion& c, const csr_view<const V, I, O, host>& m) : c_(c), now_(m) {}

  [[nodiscard]] const csr_view<const V, I, O, host>& view() const { return now_; }

  void apply(const structure_flags& flags) {
    if (!flags.rows.empty() || !flags.columns.empty()) slice(flags);
    if (!flags.permute.empty()) reorder(flags.permute);
    if constexpr (!is_pattern<V>) {
      if (flags.drop_below.has_value()) replace(drop_below(c_.ctx, now_, *flags.drop_below));
    }
    if (flags.transpose) replace(transpose(c_.ctx, now_));
    if (flags.symmetrize) {
      expect_square("--symmetrize");
      replace(symmetrize(c_.ctx, now_));
    }
  }

 private:
  void replace(csr_matrix<V, I, O, host> made) {
    owned_ = std::move(made);
    now_ = std::as_const(owned_).view();
  }
  void expect_square(const char* flag) const {
    if (now_.rows != now_.cols) {
      c_.refuse(fmt::format("{}: a {} x {} matrix (expected a square one)", flag, now_.rows, now_.cols));
    }
  }
  void slice(const structure_flags& flags) {
    const auto selected = [](const char* flag, const std::string& text, I size) {
      if (text.empty()) return index_selection<I>{};
      const auto [first, last] = parse_range(flag, text, size);
      return index_selection<I>::range(static_cast<I>(first), static_cast<I>(last));
    };
    replace(extract(c_.ctx, now_, selected("--rows", flags.rows, now_.rows),
                    selected("--columns", flags.columns, now_.cols)));
  }
  void reorder(const std::string& file) {
    expect_square("--permute");
    vertex_names rows;
    rows.vertices = now_.rows;
    const std::vector<std::int64_t> listed = read_listed_ids(file, rows, "row of the matrix");
    const std::vector<I> order(listed.begin(), listed.end());
    if (std::ssize(order) != now_.rows) {
      throw error(error_code::invalid_data, source_position{file, 0, 0},
                  fmt::format("{} listed (expected each of {} once)", counted(std::ssize(order), "row"), now_.rows));
    }
    replace(permute(c_.ctx, now_, order, order));
  }

  const conversion& c_;
  csr_matrix<V, I, O, host> owned_;
  csr_view<const V, I, O, host> now_;
};

template <class V, class I, class O>
written change_and_write(const conversion& c, const csr_view<const V, I, O, host>& m, std::int64_t rounded_integers) {
  const structure_flags& flags = c.flags.structure;
  changing<V, I, O> matrix(c, m);
  matrix.apply(flags);
  if (flags.symmetrize) {
    c.input.symmetry = symmetry_kind::symmetric;
    c.input.directed = false;
  } else if (!flags.rows.empty() || !flags.columns.empty()) {
    c.input.symmetry = symmetry_kind::general;
    c.input.directed = true;
  }
  const csr_view<const V, I, O, host>& made = matrix.view();
  input_facts facts;
  facts.rounded_integers = rounded_integers;
  facts.names.vertices = made.rows;
  facts.expanded = made.nnz();
  facts.first_vertex = 0;
  while (facts.first_vertex < made.rows && made.offsets[facts.first_vertex + 1] == 0) ++facts.first_vertex;
  if (facts.first_vertex == made.rows) facts.first_vertex = -1;
  return write_canonical<V, I, O>(c, made, facts);
}

// Entries of 1. Sums of those listed more than once, and of both halves, are integers.
written convert_pattern(const conversion& c, const read_options& options) {
  if (c.flags.structure.drop_below.has_value()) c.refuse("--drop-below: the matrix has no values");
  input_cache cache(c.flags.cache, c.input, kind_of_values<double>());
  return std::visit(
      [&]<class I, class O>(const csr_input<double, I, O>& from) {
        if (!c.flags.structure.symmetrize && from.facts.expanded == from.matrix.nnz()) {
          return change_and_write<pattern, I, O>(c, {from.matrix, {}}, 0);
        }
        c.input.field = matrix_market_field::integer;
        return change_and_write<double, I, O>(c, from.matrix, 0);
      },
      read_csr<double>(c.ctx, c.input, options, cache));
}

}  // namespace

written convert_restructured(const conversion& c) {
  expect_matrix(c.input);
  if (c.flags.undirected) c.refuse("--undirected is for graphs (expected --symmetrize for a matrix)");
  progress_bar bar("reading " + c.input.path, c.flags.common.quiet);
  if (c.input.field == matrix_market_field::pattern) return convert_pattern(c, bar.options());
  const auto read = read_matrix(c.ctx, c.input, bar.options(), c.flags.cache);
  return std::visit(
      [&]<class V, class I, class O>(const csr_input<V, I, O>& from) -> written {
        if constexpr (is_pattern<V>) {
          c.refuse("a matrix without values");  // not reached: its field is pattern
        } else {
          return change_and_write<V, I, O>(c, from.matrix, from.facts.rounded_integers);
        }
      },
      read.read);
}

}  // namespace spargo::apps
