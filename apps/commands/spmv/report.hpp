// The report of `spargo spmv`: rows and JSON keys.
#pragma once

#include "cli/cli.hpp"
#include "cli/printed_lines.hpp"
#include "cli/report.hpp"
#include "commands/spmv/product.hpp"
#include "input/cache.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace spargo::apps {

struct spmv_flags {
  common_flags common;
  std::string file;
  std::string format = "auto";
  std::string algorithm = "auto";
  std::string storage = "auto";
  std::string precision = "fp64";
  std::string x = "ones";
  std::string output;
  std::string parse = "auto";
  cache_mode cache = cache_mode::off;
  std::int64_t repeat = 10;
  std::int64_t warmup = 2;
  bool no_verify = false;
  bool transpose = false;
  table_flags rows;  // of --print
};

void report_input(report& out, const input_description& input, const spmv_product& result);
void report_choices(report& out, const spmv_flags& flags, const backend& where, const spmv_product& result);
void report_speed(report& out, const spmv_flags& flags, const spmv_product& result);

// Reports the result and its check, writes y unless it is wrong, and prints.
[[nodiscard]] exit_status conclude_product(report& out, const spmv_flags& flags, const spmv_product& result);

// --format all: the product in each format, or why it is refused; of these the fastest is reported in full.
struct compared_format {
  sparse_format format;
  std::optional<spmv_product> product{};
  std::string refusal{};
};

[[nodiscard]] const spmv_product& fastest(const std::vector<compared_format>& all);

// The table, "formats" of JSON, and the lines of --print. False: a product is wrong.
[[nodiscard]] bool report_formats(report& out, const spmv_flags& flags, const std::vector<compared_format>& all);

}  // namespace spargo::apps
