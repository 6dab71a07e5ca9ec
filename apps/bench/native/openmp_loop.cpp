// The loop that users would write without a library.
#include "bench/native/products.hpp"

namespace spargo::bench::native {

product::~product() = default;

namespace {

template <class V>
class loop final : public product {
 public:
  loop(const csr_arrays<V>& a, const V* x, V* y, int threads) : a_(a), x_(x), y_(y), threads_(threads) {}

  void run() override {
    const std::int32_t* const offsets = a_.offsets;
    const std::int32_t* const indices = a_.indices;
    const V* const values = a_.values;
    const V* const x = x_;
    V* const y = y_;
#pragma omp parallel for num_threads(threads_) schedule(static)
    for (std::int32_t row = 0; row < a_.rows; ++row) {
      V sum = 0;
      for (std::int32_t k = offsets[row]; k < offsets[row + 1]; ++k) sum += values[k] * x[indices[k]];
      y[row] = sum;
    }
  }
  void fetch() override {}

 private:
  csr_arrays<V> a_;
  const V* x_;
  V* y_;
  int threads_;
};

}  // namespace

template <class V>
product* openmp_loop(const csr_arrays<V>& a, const V* x, V* y, int threads) {
  return new loop<V>(a, x, y, threads);
}
template product* openmp_loop<float>(const csr_arrays<float>&, const float*, float*, int);
template product* openmp_loop<double>(const csr_arrays<double>&, const double*, double*, int);

}  // namespace spargo::bench::native
