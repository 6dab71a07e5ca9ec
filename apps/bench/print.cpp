#include "bench/print.hpp"

#include "cli/vertex_table.hpp"

namespace spargo::bench {

void print_cases(const std::vector<measured_case>& cases, const std::string& form) {
  const apps::column_names columns(
      "group,algorithm,peer,median_ms,threads,gbytes_per_s,gflops,mteps,ceiling_fraction,ceiling,times_best_peer,"
      "not_measured");
  const auto fill = [&](apps::table_writer& row) {
    const auto words = [&](const std::string& text) { text.empty() ? row.none("") : row.text(text); };
    const auto rate = [&](double value) { value > 0 ? row.number(value) : row.none(""); };
    for (const measured_case& c : cases) {
      words(c.group);
      row.text(c.rung);
      row.text(c.peer ? "true" : "false", attribute_kind::boolean);
      rate(c.failed.empty() ? c.milliseconds : 0);
      rate(c.threads);
      rate(c.gbytes_per_s);
      rate(c.gflops);
      rate(c.mteps);
      rate(c.fraction);
      words(c.ceiling);
      rate(c.times_peer);
      words(c.failed);
      row.end_row();
    }
  };
  apps::table_flags flags;
  flags.print = form;
  const apps::table_format format = apps::table_format_of(flags);
  apps::table_writer measured(columns);
  if (format == apps::table_format::aligned) fill(measured);
  apps::table_writer lines("-", columns, format, measured.layout());
  fill(lines);
  lines.commit();
}

}  // namespace spargo::bench
