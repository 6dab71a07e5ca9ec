// The products of native/ as peers of host cases.
#pragma once

#include "bench/native/products.hpp"
#include "bench/spmv_cases.hpp"

#include <memory>

namespace spargo::bench {

template <class V>
native::csr_arrays<V> native_arrays(const csr_view<const V, std::int32_t, std::int32_t, host>& m) {
  return {m.rows, m.cols, static_cast<std::int32_t>(m.nnz()), m.offsets.data(), m.indices.data(), m.values.data()};
}

// A peer for spmv_bench, prepared by `make`.
template <class V>
auto native_peer(native::product* (*make)(const native::csr_arrays<V>&, const V*, V*, int)) {
  return [make](const csr_view<const V, std::int32_t, std::int32_t, host>& m, const V* x, V* y, int threads) {
    const std::shared_ptr<native::product> p(make(native_arrays(m), x, y, threads));
    return host_product{[p] { p->run(); }, [p] { p->fetch(); }};
  };
}

}  // namespace spargo::bench
