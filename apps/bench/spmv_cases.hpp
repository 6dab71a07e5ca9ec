// Shared by the SpMV benchmarks: matrices, compulsory traffic, and host peers.
#pragma once

#include "bench/bench.hpp"

#include <spargo/formats/convert.hpp>
#include <spargo/io/generate.hpp>
#include <spargo/io/matrix_market.hpp>
#include <spargo/sparse/spmv.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace spargo::bench {

// Compulsory traffic of a CSR product: the matrix, x once, y once. Used for every format, so that their rates compare.
template <class V>
double compulsory_bytes(std::int64_t rows, std::int64_t cols, std::int64_t nnz) {
  return static_cast<double>(rows + 1) * 4 + static_cast<double>(nnz) * (4 + sizeof(V)) +
         static_cast<double>(rows + cols) * sizeof(V);
}

inline void report_rates(benchmark::State& state, double bytes, double seconds, double copy_rate) {
  state.counters[gbytes_per_second] = bytes / seconds * 1e-9;
  if (copy_rate > 0) state.counters[fraction_of_copy] = bytes / seconds / copy_rate;
}

template <class V>
constexpr const char* precision_name = std::same_as<V, float> ? "fp32" : "fp64";

// A matrix to time: its name in cases, and a generator's spec or a Matrix Market file.
struct spmv_case {
  std::string name;
  std::string source;
};

// The user's file if given, otherwise `built_in`. A file's case has the file's name.
inline std::vector<spmv_case> spmv_cases_or_file(std::vector<spmv_case> built_in) {
  const std::string& file = current_settings().file;
  if (file.empty()) return built_in;
  std::string name = file.substr(file.find_last_of('/') + 1);
  std::replace(name.begin(), name.end(), '/', '_');
  return {{name, file}};
}

// The entries of a source; the last ones are cached, since the cases of a matrix follow each other.
inline const coo_matrix<double, std::int32_t, host>& generated(const std::string& spec) {
  static std::string held;
  static coo_matrix<double, std::int32_t, host> matrix;
  if (held != spec) {
    held.clear();
    matrix = {};
    matrix = is_generator_spec(spec) ? generate<double, std::int32_t>(context<host>(), spec)
                                     : read_matrix_market<double, std::int32_t>(context<host>(), spec);
    held = spec;
  }
  return matrix;
}

// The same with values of type V.
template <class V>
coo_matrix<V, std::int32_t, host> generated_as(const context<host>& ctx, const std::string& spec) {
  const auto& from = generated(spec);
  coo_matrix<V, std::int32_t, host> to(from.rows(), from.cols(), clone(ctx, from.row_indices().view()),
                                       clone(ctx, from.col_indices().view()), array<V, host>(ctx, from.nnz()));
  const std::int64_t count = from.nnz();
#pragma omp parallel for num_threads(ctx.threads()) schedule(static)
  for (std::int64_t k = 0; k < count; ++k) to.values()[k] = static_cast<V>(from.values()[k]);
  return to;
}

// Another library's product on the host, prepared for a matrix.
struct host_product {
  std::function<void()> run;      // the timed call
  std::function<void()> fetch{};  // copies the result to y if it is elsewhere
};

// `make` prepares a product with the matrix for `threads` threads. A peer with its own vectors copies x at that time.
template <class V>
struct host_peer {
  std::string name;
  std::function<host_product(const csr_view<const V, std::int32_t, std::int32_t, host>&, const V* x, V* y, int threads)>
      make;
};

template <class V>
std::vector<host_peer<V>>& host_peers() {
  static std::vector<host_peer<V>> all;
  return all;
}

}  // namespace spargo::bench
