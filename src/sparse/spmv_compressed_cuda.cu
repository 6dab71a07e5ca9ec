// The executor of compressed matrices: builds the copy, keeps it up to date, multiplies with it.
#include "core/instantiate.hpp"
#include "sparse/spmv_compressed_build.cuh"
#include "sparse/spmv_compressed_kernel.cuh"

#include <utility>

namespace spargo::detail {

namespace {

template <class V>
using word_of =
    std::conditional_t<sizeof(V) == 4, std::uint32_t, std::conditional_t<sizeof(V) == 8, std::uint64_t, ulonglong2>>;

template <class V>
class device_compressed final : public spmv_executor<V> {
  using D = device_value_t<V>;
  using word = word_of<V>;

 public:
  device_compressed(const context<device>& ctx, compressed_pattern pattern, const V* values)
      : ctx_(ctx), pattern_(std::move(pattern)) {
    store(values);
  }

  void run(V alpha, const V* x, V beta, V* y) const override {
    const device_guard guard(ctx_);
    const product_arguments<D> product{device_cast(x), to_device_value(alpha), to_device_value(beta), device_cast(y)};
    const compressed_arguments matrix{pattern_.slices.data(), pattern_.lengths.data(), pattern_.columns.data(),
                                      pattern_.rows};
    const unsigned grid = compressed_grid(pattern_.slices.size());
    plain_kernel<D><<<grid, compressed_threads, 0, ctx_.stream()>>>(matrix, device_cast(values_.data()), product);
    SPARGO_CUDA_TRY(cudaGetLastError());
  }
  [[nodiscard]] spmv_storage storage() const noexcept override { return spmv_storage::copied; }
  void update_values(const V* values) override { store(values); }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return pattern_.bytes() + values_.size() * static_cast<std::int64_t>(sizeof(V));
  }

 private:
  void store(const V* values) {
    array<V, device> arranged(ctx_, pattern_.groups * slice_rows);
    arrange_values(ctx_, pattern_, reinterpret_cast<const word*>(values), reinterpret_cast<word*>(arranged.data()));
    values_ = std::move(arranged);
  }

  context<device> ctx_;
  compressed_pattern pattern_;
  array<V, device> values_;
};

}  // namespace

template <class V, class I, class O>
compression<V> compress(const context<device>& ctx, const csr_view<const V, I, O, device>& matrix,
                        compression_demand demand) {
  pattern_attempt attempt = compress_pattern<I, O>(ctx, matrix, demand);
  if (!attempt.refusal.empty()) return {nullptr, std::move(attempt.refusal)};
  auto executor = std::make_unique<device_compressed<V>>(ctx, std::move(attempt.pattern), matrix.values.data());
  if (demand == compression_demand::by_name) return {std::move(executor), "as asked for"};
  const std::int64_t csr_bytes = matrix.nnz() * static_cast<std::int64_t>(sizeof(V) + sizeof(I)) +
                                 matrix.offsets.size() * static_cast<std::int64_t>(sizeof(O));
  auto refused = why_not_compressed(csr_bytes, executor->workspace_bytes());
  if (!refused.empty()) return {nullptr, std::move(refused)};
  return {std::move(executor), "compressed"};
}

#define INSTANTIATE(V, I, O) \
  template compression<V> compress(const context<device>&, const csr_view<const V, I, O, device>&, compression_demand);
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail
