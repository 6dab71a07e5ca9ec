// Names of formats, algorithms and storage, and which of them go together.
#include "commands/spmv/request.hpp"

#include "cli/cli.hpp"

#include <spargo/formats/convert.hpp>

#include <fmt/format.h>

namespace spargo::apps {

namespace {

// The one format that an algorithm works on; none for `automatic`.
std::optional<sparse_format> format_of(spmv_algorithm algorithm) {
  switch (algorithm) {
    case spmv_algorithm::automatic:
      return std::nullopt;
    case spmv_algorithm::ell:
      return sparse_format::ell;
    case spmv_algorithm::sell:
      return sparse_format::sell;
    case spmv_algorithm::coo_atomic:
    case spmv_algorithm::coo_segmented:
      return sparse_format::coo;
    default:
      return sparse_format::csr;  // all others
  }
}

bool keeps_a_copy(spmv_algorithm algorithm) {
  return algorithm == spmv_algorithm::compressed || algorithm == spmv_algorithm::blocked ||
         algorithm == spmv_algorithm::binned;
}

spmv_algorithm parse_algorithm(const std::string& name) {
  try {
    return parse_spmv_algorithm(name);
  } catch (const error& e) {
    throw usage_error(fmt::format("--algorithm: {}", e.what()));
  }
}

}  // namespace

spmv_request parse_spmv_request(const std::string& format, const std::string& algorithm, const std::string& storage) {
  spmv_request wanted;
  wanted.algorithm = parse_algorithm(algorithm);
  wanted.format = format_of(wanted.algorithm);
  wanted.format_reason = fmt::format("the format of --algorithm {}", algorithm);
  if (format != "auto") {
    const sparse_format named = parse_enum<sparse_format>("--format: unknown format", format);
    if (wanted.format.has_value() && *wanted.format != named) {
      throw usage_error(
          fmt::format("--algorithm {} works on {}, not on --format {}", algorithm, to_string(*wanted.format), format));
    }
    wanted.format = named;
    wanted.format_reason = "as asked for";
  }
  if (storage == "auto") return wanted;
  const bool copied = storage == "copied";
  wanted.storage = parse_enum<spmv_storage>("--storage: unknown storage", storage);
  if (wanted.algorithm != spmv_algorithm::automatic && copied != keeps_a_copy(wanted.algorithm)) {
    throw usage_error(
        fmt::format("--storage {}: --algorithm {} {}", storage, algorithm, copied ? "keeps no copy" : "keeps a copy"));
  }
  if (copied && wanted.format.has_value() && *wanted.format != sparse_format::csr) {
    throw usage_error(fmt::format("--storage copied works on csr, not on --format {}", format));
  }
  return wanted;
}

void expect_on_cpu(const context<host>& cpu, const spmv_request& wanted) {
  if (wanted.algorithm == spmv_algorithm::automatic) return;
  using index = std::int32_t;
  const coo_matrix<double, index, host> none(cpu, 0, 0, 0);
  try {
    if (wanted.format == sparse_format::csr) {
      const auto csr = to_csr<index>(cpu, none.view());
      const spmv_plan<double, index, index, host> plan(cpu, csr.view(), {.algorithm = wanted.algorithm});
    } else if (wanted.format == sparse_format::coo) {
      const spmv_plan<double, index, index, host> plan(cpu, none.view(), {.algorithm = wanted.algorithm});
    }
  } catch (const error& e) {
    if (e.code() != error_code::unsupported) throw;
    throw usage_error(fmt::format("--algorithm {} runs on a GPU only (expected one in use: --device cuda)",
                                  to_string(wanted.algorithm)));
  }
}

}  // namespace spargo::apps
