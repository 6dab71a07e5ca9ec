// The executor of compressed matrices: builds the copy, updates its values, multiplies with it.
#include "core/instantiate.hpp"
#include "sparse/spmv/copies/compressed/build.cuh"
#include "sparse/spmv/copies/compressed/kernel.cuh"

#include <utility>

namespace spargo::detail::spmv {

namespace {

template <class V>
using word_of =
    std::conditional_t<sizeof(V) == 4, std::uint32_t, std::conditional_t<sizeof(V) == 8, std::uint64_t, ulonglong2>>;

template <class V>
const word_of<V>* words(const V* values) {
  return reinterpret_cast<const word_of<V>*>(values);
}

template <class V>
class device_compressed final : public executor<V> {
  using D = device_value_t<V>;
  using word = word_of<V>;

 public:
  device_compressed(const context<device>& ctx, compressed_pattern pattern, const V* values, value_names names)
      : ctx_(ctx), pattern_(std::move(pattern)) {
    values_ = compress_values<word>(ctx_, pattern_, words(values), std::move(names));
  }

  void run(V alpha, const V* x, V beta, V* y) const override {
    const device_guard guard(ctx_);
    const product_arguments<D> product{device_cast(x), to_device_value(alpha), to_device_value(beta), device_cast(y)};
    if (values_.encoding == value_encoding::plain) {
      run_with<value_encoding::plain>(product);
    } else if constexpr (can_be_named<word>) {
      if (values_.encoding == value_encoding::paired) {
        run_paired(product);
      } else {
        run_with<value_encoding::named>(product);
      }
    }
  }
  [[nodiscard]] spmv_storage storage() const noexcept override { return spmv_storage::copied; }
  void update_values(const V* values) override {
    restore_columns(ctx_, pattern_, values_);
    values_ = compress_values<word>(ctx_, pattern_, words(values), name_values(ctx_, words(values), pattern_.nnz));
  }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override { return pattern_.bytes() + values_.bytes(); }

  [[nodiscard]] compressed_storage how() const {
    const auto slots = static_cast<double>(pattern_.groups * slice_rows);
    return {pattern_.encoding == column_encoding::named ? pattern_.named : 0,
            static_cast<double>(pattern_.columns.size()) / slots,
            values_.encoding == value_encoding::named ? values_.named : 0,
            values_.encoding == value_encoding::paired ? values_.named : 0};
  }

 private:
  [[nodiscard]] compressed_arguments slices() const {
    return {pattern_.slices.data(), pattern_.lengths.data(), pattern_.rows};
  }

  void run_paired(const product_arguments<D>& product) const {
    launch_kernel(ctx_, one_thread_each(pattern_.slices.size() * warp_size, paired_threads), paired_kernel<D>, slices(),
                  values_.names.data(), reinterpret_cast<const named_pair<D>*>(values_.pairs.data()), values_.named,
                  product);
  }
  template <value_encoding Values>
  void run_with(const product_arguments<D>& product) const {
    const column_arguments columns{pattern_.columns.data(), pattern_.differences.data(), pattern_.named};
    const value_arguments<D> values{reinterpret_cast<const D*>(values_.plain.data()), values_.names.data(),
                                    values_.table.data(), values_.named};
    if (pattern_.encoding == column_encoding::named) {
      launch_kernel(ctx_, a_warp_each(pattern_.slices.size()), separate_kernel<D, column_encoding::named, Values>,
                    slices(), columns, values, product);
    } else {
      launch_kernel(ctx_, a_warp_each(pattern_.slices.size()), separate_kernel<D, column_encoding::offsets, Values>,
                    slices(), columns, values, product);
    }
  }

  context<device> ctx_;
  compressed_pattern pattern_;
  compressed_values<word> values_;
};

}  // namespace

template <class V, class I, class O>
copy_attempt<V> compress(const context<device>& ctx, const csr_view<const V, I, O, device>& matrix,
                         copy_demand demand) {
  auto names = name_values(ctx, words(matrix.values.data()), matrix.nnz());
  pattern_attempt attempt =
      compress_pattern<I, O>(ctx, matrix, {demand, names.count <= most_names, static_cast<int>(sizeof(V))});
  if (!attempt.refusal.empty()) return {nullptr, std::move(attempt.refusal)};
  auto executor =
      std::make_unique<device_compressed<V>>(ctx, std::move(attempt.pattern), matrix.values.data(), std::move(names));
  std::string reason = description_of(executor->how());
  return {std::move(executor), std::move(reason)};
}

#define INSTANTIATE(V, I, O) \
  template copy_attempt<V> compress(const context<device>&, const csr_view<const V, I, O, device>&, copy_demand);
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::spmv
