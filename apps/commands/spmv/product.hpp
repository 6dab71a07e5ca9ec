// y = A x or A^T x as `spargo spmv` does it: converted and planned as asked for or as pays, timed, checked. The
// matrix's types are known here alone; what comes back is plain facts.
#pragma once

#include "cli/timing.hpp"
#include "commands/spmv/check.hpp"
#include "commands/spmv/request.hpp"
#include "input/read.hpp"
#include "input/vector_file.hpp"
#include "placement/device_choice.hpp"

#include <spargo/sparse/spmv.hpp>

#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace spargo::apps {

// Where x comes from.
struct spmv_x {
  enum kind { ones, reciprocal, random } values = ones;
  std::uint64_t seed = 0;
  std::string file;  // empty: from `values`
};

struct spmv_job {
  spmv_request wanted;
  spmv_x x;
  std::int64_t repeat = 10, warmup = 2;
  bool verify = true;
  bool transposes = false;
};

// What one backend measured; y is on the host again.
struct spmv_product {
  std::int64_t rows = 0, cols = 0, nnz = 0;  // of A
  bool transposed = false;
  std::int64_t stored = 0, rounded_integers = 0;
  bool parsed_on_device = false;
  value_kind values = value_kind::fp64;
  std::int64_t index_bits = 0, offset_bits = 0;
  format_choice format;
  spmv_algorithm algorithm = spmv_algorithm::automatic;
  std::string reason;
  spmv_storage storage = spmv_storage::borrowed;
  std::string storage_reason;
  double load_ms = 0, upload_ms = 0, convert_ms = 0, plan_ms = 0;
  std::int64_t workspace_bytes = 0;
  std::int64_t bytes = 0;  // that any product in this format must move
  time_summary times;
  std::optional<double> copy_rate;  // bytes per second
  std::variant<array<float, host>, array<double, host>, array<std::complex<double>, host>> y;
  std::complex<double> y_sum;
  double y_norm = 0;
  std::int64_t not_finite = 0;                // elements of y: NaN or infinite
  std::vector<std::complex<double>> y_first;  // up to five
  std::optional<spmv_check> check;            // none: not asked for
  double check_ms = 0;

  [[nodiscard]] bool is_complex() const { return values == value_kind::complex_fp64; }
  [[nodiscard]] std::int64_t elements() const { return transposed ? cols : rows; }  // of y
};

// For the combinations of types that `read_csr` gives.
template <value_type V, index_type I, index_type O>
[[nodiscard]] spmv_product multiply(const backend& where, const csr_input<V, I, O>& read, const spmv_job& job);

// The requested x, with an element for each of the matrix's columns, or rows. `use`: for messages about a file.
template <value_type V>
[[nodiscard]] array<V, host> make_x(const context<host>& ctx, const spmv_x& wanted, std::int64_t size,
                                    const vector_use& use = {"--x", "columns"});

// The sums and first elements of result.y.
void summarise_y(spmv_product& result);

// As a Matrix Market array.
void write_y(const std::string& path, const spmv_product& result);

}  // namespace spargo::apps
