// Shared by commands on matrices: flags, reading, rows and keys of every report, plans.
#pragma once

#include "cli/cli.hpp"
#include "cli/exit_status.hpp"
#include "cli/printed_lines.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "cli/timing.hpp"
#include "input/memory_need.hpp"
#include "input/read.hpp"
#include "placement/device_choice.hpp"
#include "placement/plan.hpp"

#include <fmt/format.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace spargo::apps {

struct matrix_flags {
  common_flags common;
  std::string file;
  std::int64_t repeat = 1;
  bool no_validate = false;
  table_flags rows;  // of --print
};

// The CPU.
[[nodiscard]] backend cpu_of(const std::string& command, const common_flags& flags);

// For commands that take a GPU only where --device asks for one, and say so: the backend, and a plan's part.
[[nodiscard]] backend place_as_asked(const std::string& command, const common_flags& flags,
                                     const input_description& input, backend cpu, std::int64_t value_bytes);
void plan_as_asked(work_plan& plan, const common_flags& flags, const input_size& size, std::int64_t device_bytes);

// Throws `error` (invalid_data) for an input that is no matrix.
[[nodiscard]] input_description describe_matrix(const context<host>& ctx, const std::string& path);

void begin_report(report& out, const std::string& command, const matrix_flags& flags, const backend& where);

// In a handler: throws the error again, with the file before what the library says about the matrix alone.
[[noreturn]] void rethrow_with_file(const std::string& operation, const std::string& file);

// Throws `error` (invalid_data) for a matrix that is not square.
void expect_square(const matrix_flags& flags, std::int64_t rows, std::int64_t cols);

// Throws `error` (invalid_data) that names the first entry that is infinite or NaN. `first`: the number of a's first
// row.
template <value_type V, index_type I, index_type O>
void expect_finite(const matrix_flags& flags, const csr_view<const V, I, O, host>& a, std::int64_t first = 0) {
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (O k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
      if (std::isfinite(std::abs(a.values[k]))) continue;
      throw error(
          error_code::invalid_data, source_position{flags.file, 0, 0},
          fmt::format("entry ({}, {}) is infinite or NaN, or a sum of duplicates that is (expected finite ones)",
                      first + i + 1, std::int64_t{a.indices[k]} + 1));
    }
  }
}

// Checks memory, reads, and warns of integers that double does not hold.
template <entry_type V>
[[nodiscard]] any_csr<V> read_factor(report& out, const context<host>& ctx, const common_flags& flags,
                                     const input_description& input) {
  const input_size size = least_size(input);
  const std::int64_t value_bytes = is_pattern<V> ? 0 : sizeof(V);
  expect_host_memory(input, size, least_matrix_bytes(input, size, value_bytes, 0));
  any_csr<V> read = [&] {
    progress_bar bar("reading " + input.path, flags.quiet);
    input_cache cache(cache_mode::off, input, kind_of_values<V>());
    return read_csr<V>(ctx, input, bar.options(), cache);
  }();
  std::visit([&](const auto& from) { warn_of_rounding(out, input.path, from.facts.rounded_integers); }, read);
  return read;
}

// f(csr_input) with the file's matrix, in double or complex<double>.
template <class F>
exit_status on_matrix(report& out, const backend& where, const matrix_flags& flags, const input_description& input,
                      F&& f) {
  const auto& ctx = where.cpu;
  if (input.field != matrix_market_field::complex) {
    return std::visit(f, read_factor<double>(out, ctx, flags.common, input));
  }
  return std::visit(f, read_factor<std::complex<double>>(out, ctx, flags.common, input));
}

// Runs f() --repeat times; `doing` names it in the progress.
template <class F>
[[nodiscard]] time_summary time_runs(const std::string& doing, std::int64_t repeat, F&& f) {
  const busy running(doing);
  std::vector<double> times;
  for (std::int64_t k = 0; k < repeat; ++k) {
    const stopwatch watch;
    f();
    times.push_back(watch.milliseconds());
  }
  return summarize(std::move(times));
}

// Rows, columns, entries, times of reading.
void report_matrix(report& out, std::int64_t rows, std::int64_t cols, std::int64_t nnz, double load_ms,
                   double convert_ms);
template <entry_type V, index_type I, index_type O>
void report_matrix(report& out, const csr_input<V, I, O>& read) {
  report_matrix(out, read.matrix.rows, read.matrix.cols, read.matrix.nnz(), read.load_ms, read.convert_ms);
}
void report_runs(report& out, const time_summary& times);
// `how`: what the check compared, a clause. Nothing: not checked.
void report_validity(report& out, std::optional<bool> valid, const std::string& how, double check_ms);

// Prints the report, then the error of a wrong result, or else of one that has not converged (its reason).
exit_status conclude(const report& out, const matrix_flags& flags, std::optional<bool> valid,
                     const std::string& not_converged = "");

// A plan with all that the input decides, and `size`; `ns`: per entry, on one thread, reading included.
[[nodiscard]] work_plan plan_of(const std::string& command, const matrix_flags& flags, const backend& cpu,
                                const plan_scale& scale, input_description& input, input_size& size, double ns);

}  // namespace spargo::apps
