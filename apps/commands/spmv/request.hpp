// What a product is asked for on the command line: format, algorithm and storage, each named or left to choose.
#pragma once

#include <spargo/sparse/spmv.hpp>

#include <optional>
#include <string>

namespace spargo::apps {

struct spmv_request {
  spmv_algorithm algorithm = spmv_algorithm::automatic;
  std::optional<sparse_format> format;  // none: choose
  std::string format_reason;            // for one
  std::optional<spmv_storage> storage;  // none: whichever pays for the products
};

// From --format, --algorithm and --storage, `auto` among their values. Throws usage_error where they contradict each
// other.
[[nodiscard]] spmv_request parse_spmv_request(const std::string& format, const std::string& algorithm,
                                              const std::string& storage);

// Throws usage_error for an algorithm that only GPUs have.
void expect_on_cpu(const context<host>& cpu, const spmv_request& wanted);

}  // namespace spargo::apps
