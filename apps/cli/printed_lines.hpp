// --print and --top K of commands whose output is no table of vertices: lines on standard output in place of the
// report, the first K of them. An --output may be written at the same time.
#pragma once

#include "cli/vertex_table.hpp"

#include <complex>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace spargo::apps {

// `lines`: what has one, and its columns. Returns --print.
declared_flag add_print_flags(flag_set app, table_flags& flags, std::string_view lines);

[[nodiscard]] inline bool prints_lines(const table_flags& flags) { return flags.print != "report"; }
[[nodiscard]] std::int64_t printed_lines(const table_flags& flags, std::int64_t count);

// Lines 0 to count - 1, or the first of --top. Nothing without --print.
void print_lines(report& out, const table_flags& flags, const column_names& columns, std::int64_t count,
                 const cell_writer& cells);

// A value in one cell, or its real and imaginary parts in two.
inline void value_cells(table_writer& row, double value) { row.number(value); }
void value_cells(table_writer& row, float value);  // in the fewest digits that tell it from other floats
inline void value_cells(table_writer& row, const std::complex<double>& value) {
  row.number(value.real());
  row.number(value.imag());
}
template <class V>
[[nodiscard]] column_names value_columns(const std::string& before) {
  return std::string_view(before + (std::is_same_v<V, std::complex<double>> ? ",real,imaginary" : ",value"));
}

}  // namespace spargo::apps
