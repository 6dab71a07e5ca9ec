#include "commands/spmv/report.hpp"

#include "placement/ranks.hpp"

#include <fmt/format.h>

namespace spargo::apps {

namespace {

json number(const spmv_product& result, const std::complex<double>& v) {
  return result.is_complex() ? json::array({v.real(), v.imag()}) : json(v.real());
}

void report_y(report& out, const spmv_product& result) {
  json first = json::array();
  for (const std::complex<double>& v : result.y_first) first.push_back(number(result, v));
  out.keys()["y"] = {{"sum", number(result, result.y_sum)},
                     {"l2", result.y_norm},
                     {"first", first},
                     {"not_finite", result.not_finite}};
  const std::string imaginary = result.is_complex() ? fmt::format(" {:+.17g}i", result.y_sum.imag()) : std::string();
  out.row("y", fmt::format("sum {:.17g}{}, 2-norm {:.17g}", result.y_sum.real(), imaginary, result.y_norm));
}

std::optional<bool> report_check(report& out, const spmv_product& result) {
  const std::optional<spmv_check>& check = result.check;
  out.keys()["verified"] = check.has_value() ? json(check->valid) : json();
  out.keys()["max_error"] = check.has_value() ? json(check->max_error) : json();
  out.keys()["validate_ms"] = check.has_value() ? json(result.check_ms) : json();
  if (!check.has_value()) {
    out.row("verified", "no (--no-verify)");
    return std::nullopt;
  }
  out.keys()["worst_row"] = check->worst_row + 1;
  const std::string where = check->worst_row < 0
                                ? std::string(result.transposed ? "no columns" : "no rows")
                                : fmt::format("{} {}, where the bound is {:.2g}", result.transposed ? "column" : "row",
                                              check->worst_row + 1, check->bound);
  std::string verdict = check->valid ? "yes" : "NO, WRONG";
  if (check->valid && result.not_finite > 0) {
    const std::string not_finite =
        fmt::format("{} of {} of y {} NaN or infinite", with_commas(result.not_finite),
                    counted(result.elements(), "element"), result.not_finite == 1 ? "is" : "are");
    verdict += ", but " + not_finite + ", as in the reference";
    out.warn(not_finite);
  }
  out.row("verified", fmt::format("{}: largest error {:.2g} of sum |a||x|, {}", verdict, check->max_error, where));
  out.row("check", format_milliseconds(result.check_ms));
  return check->valid;
}

void print_y(report& out, const spmv_flags& flags, const spmv_product& result) {
  std::visit(
      [&]<class V>(const array<V, host>& y) {
        print_lines(out, flags.rows, value_columns<V>(result.transposed ? "column" : "row"), y.size(),
                    [&](std::int64_t k, table_writer& row) {
                      row.number(k + 1);
                      value_cells(row, y[k]);
                    });
      },
      result.y);
}

// A line per format; of a refused one the reason, and no figures.
void print_formats(report& out, const spmv_flags& flags, const json& formats) {
  const column_names columns("format,algorithm,time_ms,gflops,gbytes_per_s,before_ms,verified,refused");
  print_lines(out, flags.rows, columns, std::ssize(formats), [&](std::int64_t k, table_writer& row) {
    const json& each = formats[static_cast<std::size_t>(k)];
    const auto number = [&](const json& value) { value.is_number() ? row.number(value.get<double>()) : row.none(""); };
    const bool ran = !each.contains("refused");
    row.text(each["format"].get<std::string>());
    const auto text = [&](const char* key) {
      each.contains(key) ? row.text(each[key].get<std::string>()) : row.none("");
    };
    text("algorithm");
    number(ran ? each["time_ms"]["median"] : json());
    number(ran ? each["gflops"] : json());
    number(ran ? each["gbytes_per_s"] : json());
    number(ran ? json(each["convert_ms"].get<double>() + each["plan_ms"].get<double>()) : json());
    if (ran && each["verified"].is_boolean()) {
      row.text(each["verified"].get<bool>() ? "true" : "false", attribute_kind::boolean);
    } else {
      row.none("");
    }
    text("refused");
  });
}

}  // namespace

void report_speed(report& out, const spmv_flags& flags, const spmv_product& result) {
  const double seconds = result.times.median * 1e-3;
  const double flops = (result.is_complex() ? 8.0 : 2.0) * static_cast<double>(result.nnz);
  const double rate = static_cast<double>(result.bytes) / seconds;
  out.keys()["time_ms"] = to_json(result.times);
  out.keys()["gflops"] = flops / seconds * 1e-9;
  out.keys()["bytes"] = result.bytes;
  out.keys()["gbytes_per_s"] = rate * 1e-9;
  out.keys()["copy_gbytes_per_s"] = result.copy_rate.has_value() ? json(*result.copy_rate * 1e-9) : json();
  out.keys()["bandwidth_fraction"] = result.copy_rate.has_value() ? json(rate / *result.copy_rate) : json();
  out.row("time", format_times(result.times));
  out.row("speed",
          fmt::format("{:.3g} GFLOP/s, {:.3g} GB/s", flops / seconds * 1e-9, rate * 1e-9) +
              (result.copy_rate.has_value()  ? fmt::format(", {:.0f}% of a copy at {:.3g} GB/s in the same run",
                                                           100 * rate / *result.copy_rate, *result.copy_rate * 1e-9)
               : is_shared_out(flags.common) ? std::string()
                                             : std::string(", no memory for a copy to hold it against")));
}

void report_input(report& out, const input_description& input, const spmv_product& result) {
  json& keys = out.keys();
  keys["file"] = input.path;
  keys["rows"] = result.rows;
  keys["cols"] = result.cols;
  keys["nnz"] = result.nnz;
  keys["transpose"] = result.transposed;
  keys["field"] = to_string(input.field);
  keys["symmetry"] = to_string(input.symmetry);
  keys["stored"] = result.stored;
  keys["rounded_integers"] = result.rounded_integers;
  out.title(fmt::format("spmv {}", input.path));
  out.row("matrix", fmt::format("{} x {}, {} ({}, {}, {}; {} stored)", with_commas(result.rows),
                                with_commas(result.cols), counted(result.nnz, "entry", "entries"), input.format,
                                to_string(input.field), to_string(input.symmetry), with_commas(result.stored)));
  if (result.transposed) {
    out.row("product", fmt::format("y = A^T x, {}", counted(result.cols, "element", "elements")));
  }
  if (result.rounded_integers > 0) {
    const std::string rounded = fmt::format("{} what the values hold exactly, rounded to nearest",
                                            counted(result.rounded_integers, "integer exceeds", "integers exceed"));
    out.row("note", rounded);
    out.warn(input.path + ": " + rounded);
  }
}

void report_choices(report& out, const spmv_flags& flags, const backend& where, const spmv_product& result) {
  const bool single = result.values == value_kind::fp32;
  json& keys = out.keys();
  keys["format"] = to_string(result.format.format);
  keys["format_reason"] = result.format.reason;
  keys["storage"] = to_string(result.storage);
  keys["storage_reason"] = result.storage_reason;
  keys["algorithm"] = to_string(result.algorithm);
  keys["algorithm_reason"] = result.reason;
  report_backend(out, flags.common.device, where);
  keys["precision"] = single ? "fp32" : "fp64";
  keys["index_bits"] = result.index_bits;
  keys["offset_bits"] = result.offset_bits;
  keys["x"] = flags.x;
  keys["parsed_on"] = result.parsed_on_device ? "gpu" : "cpu";
  keys["load_ms"] = result.load_ms;
  keys["convert_ms"] = result.convert_ms;
  keys["upload_ms"] = result.upload_ms;
  keys["plan_ms"] = result.plan_ms;
  keys["workspace_bytes"] = result.workspace_bytes;
  out.row("device", describe(where));
  out.row("format", fmt::format("{}: {}", to_string(result.format.format), result.format.reason));
  out.row("storage", fmt::format("{}: {}", to_string(result.storage), result.storage_reason));
  out.row("algorithm", fmt::format("{}: {}", to_string(result.algorithm), result.reason));
  out.row("numbers", fmt::format("{}{}, {}-bit indices, {}-bit offsets", result.is_complex() ? "complex " : "",
                                 single ? "fp32" : "fp64", result.index_bits, result.offset_bits));
  out.row("before", fmt::format("load {}, convert {}, {}plan {}", format_milliseconds(result.load_ms),
                                format_milliseconds(result.convert_ms),
                                where.gpu.has_value() ? "upload " + format_milliseconds(result.upload_ms) + ", " : "",
                                format_milliseconds(result.plan_ms)));
}

exit_status conclude_product(report& out, const spmv_flags& flags, const spmv_product& result) {
  report_y(out, result);
  const std::optional<bool> valid = report_check(out, result);
  if (!flags.output.empty() && valid != false) {  // a wrong y never replaces a file
    write_y(flags.output, result);
    out.row("written", flags.output);
  }
  if (flags.format != "all" && valid != false) print_y(out, flags, result);
  out.print();
  if (valid == false) {
    print_error(flags.common.called, fmt::format("{}: the result failed validation at {} {}", flags.file,
                                                 result.transposed ? "column" : "row", result.check->worst_row + 1));
  }
  return status_of(valid);
}

const spmv_product& fastest(const std::vector<compared_format>& all) {
  const spmv_product* best = &*all.front().product;
  for (const compared_format& one : all) {
    if (one.product.has_value() && one.product->times.median < best->times.median) best = &*one.product;
  }
  return *best;
}

bool report_formats(report& out, const spmv_flags& flags, const std::vector<compared_format>& all) {
  json list = json::array();
  bool valid = true;
  for (const compared_format& one : all) {
    const std::string name(to_string(one.format));
    if (!one.product.has_value()) {
      list.push_back({{"format", name}, {"refused", one.refusal}});
      out.row(name, "refused: " + one.refusal);
      continue;
    }
    const spmv_product& p = *one.product;
    const double seconds = p.times.median * 1e-3;
    const double gflops = (p.is_complex() ? 8.0 : 2.0) * static_cast<double>(p.nnz) / seconds * 1e-9;
    const double rate = static_cast<double>(p.bytes) / seconds * 1e-9;
    const bool wrong = p.check.has_value() && !p.check->valid;
    valid = valid && !wrong;
    list.push_back({{"format", name},
                    {"algorithm", to_string(p.algorithm)},
                    {"storage", to_string(p.storage)},
                    {"convert_ms", p.convert_ms},
                    {"plan_ms", p.plan_ms},
                    {"time_ms", to_json(p.times)},
                    {"gflops", gflops},
                    {"bytes", p.bytes},
                    {"gbytes_per_s", rate},
                    {"verified", p.check.has_value() ? json(p.check->valid) : json()},
                    {"max_error", p.check.has_value() ? json(p.check->max_error) : json()}});
    out.row(name,
            fmt::format("{:>9} {:>8.3g} GFLOP/s {:>8.3g} GB/s  {:>9} before  {}{}", format_milliseconds(p.times.median),
                        gflops, rate, format_milliseconds(p.convert_ms + p.plan_ms), to_string(p.algorithm),
                        wrong ? "  WRONG" : ""));
  }
  print_formats(out, flags, list);
  out.keys()["formats"] = std::move(list);
  return valid;
}

}  // namespace spargo::apps
