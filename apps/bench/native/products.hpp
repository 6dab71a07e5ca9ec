// Peers compiled for this machine (-march=native), as their users do; our library selects vector code at run time.
//
// No inline functions of Spargo or standard containers here: the linker might keep copies with wider vectors.
#pragma once

#include <cstdint>

namespace spargo::bench::native {

// A borrowed CSR matrix.
template <class V>
struct csr_arrays {
  std::int32_t rows, cols, nnz;
  const std::int32_t* offsets;
  const std::int32_t* indices;
  const V* values;
};

// A product prepared for a matrix; owned by the caller.
class product {
 public:
  product() = default;
  product(const product&) = delete;
  product& operator=(const product&) = delete;
  virtual ~product();
  virtual void run() = 0;
  virtual void fetch() = 0;  // copies the result to y if it is elsewhere
};

// y = A x; V: float, double.
template <class V>
product* openmp_loop(const csr_arrays<V>& a, const V* x, V* y, int threads);
template <class V>
product* eigen_own(const csr_arrays<V>& a, const V* x, V* y, int threads);  // Eigen's own matrix and vectors
template <class V>
product* eigen_mapped(const csr_arrays<V>& a, const V* x, V* y, int threads);  // the caller's arrays

// Y = A X for row-major X and Y of k columns.
template <class V>
product* eigen_multiple(const csr_arrays<V>& a, const V* x, V* y, std::int64_t k, int threads);

}  // namespace spargo::bench::native
