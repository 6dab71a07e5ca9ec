// The dense product: checks, and the choice of backend.
#include "primitives/matmul/algorithms.hpp"
#include "primitives/matmul/backend.hpp"

#include "core/rethrow.hpp"
#include "primitives/backend.hpp"

#include <fmt/format.h>

namespace spargo {

std::string_view to_string(matmul_algorithm algorithm) noexcept {
  return detail::name_in(detail::matmul_algorithms, algorithm);
}

namespace {

// One past the last element that a matrix touches.
template <class View>
std::int64_t reach(const View& x) {
  return x.rows == 0 || x.cols == 0 ? 0 : (x.rows - 1) * x.stride + x.cols;
}

template <class View>
void check_matrix(const View& x, const char* name) {
  SPARGO_EXPECTS(x.rows >= 0 && x.cols >= 0,
                 fmt::format("matmul: {} is {} x {} (expected sizes of 0 or more)", name, x.rows, x.cols));
  SPARGO_EXPECTS(x.stride >= x.cols, fmt::format("matmul: {} has {} columns and a stride of {} (expected at least {})",
                                                 name, x.cols, x.stride, x.cols));
  SPARGO_EXPECTS(x.stride == 0 || x.rows <= INT64_MAX / 16 / x.stride,
                 fmt::format("matmul: {} is {} x {} with a stride of {}: too large", name, x.rows, x.cols, x.stride));
  SPARGO_EXPECTS(x.data.size() >= reach(x),
                 fmt::format("matmul: {} has {} elements (expected at least {})", name, x.data.size(), reach(x)));
  SPARGO_EXPECTS(reach(x) == 0 || x.data.data() != nullptr, fmt::format("matmul: {} is null", name));
}

template <class Left, class Right>
bool overlap(const Left& x, const Right& y) {
  const auto begin = [](const auto& e) { return reinterpret_cast<std::uintptr_t>(e.data.data()); };
  const auto end = [&](const auto& e) {
    return begin(e) + static_cast<std::uintptr_t>(reach(e)) * sizeof(*e.data.data());
  };
  return reach(x) != 0 && reach(y) != 0 && begin(x) < end(y) && begin(y) < end(x);
}

template <class V, class Space>
void check_algorithm(matmul_algorithm algorithm) {
  SPARGO_EXPECTS(detail::is_in(detail::matmul_algorithms, algorithm),
                 fmt::format("matmul: no algorithm has the number {}", static_cast<int>(algorithm)));
  SPARGO_EXPECTS(detail::runs_on<Space>(detail::matmul_algorithms, algorithm),
                 fmt::format("matmul: algorithm {} runs on the {} only", to_string(algorithm),
                             std::same_as<Space, host> ? "device" : "host"));
  SPARGO_EXPECTS(algorithm != matmul_algorithm::tensor_core || (std::same_as<V, double>),
                 "matmul: tensor_core is for double; on float it would round the inputs (matmul_tensor does)");
}

}  // namespace

template <real_type V, class Space>
void matmul(const context<Space>& ctx, std::type_identity_t<V> alpha,
            const std::type_identity_t<dense_view<const V, Space>>& a,
            const std::type_identity_t<dense_view<const V, Space>>& b, std::type_identity_t<V> beta,
            const dense_view<V, Space>& c, const matmul_options& options) try {
  check_matrix(a, "A");
  check_matrix(b, "B");
  check_matrix(c, "C");
  const bool transposed = options.op_b == transpose_kind::transpose;
  const std::int64_t k = transposed ? b.cols : b.rows;
  const std::int64_t n = transposed ? b.rows : b.cols;
  SPARGO_EXPECTS(a.cols == k && a.rows == c.rows && n == c.cols,
                 fmt::format("matmul: A is {} x {}, op(B) {} x {}, C {} x {} (expected m x k, k x n, m x n)", a.rows,
                             a.cols, k, n, c.rows, c.cols));
  SPARGO_EXPECTS(!overlap(c, a) && !overlap(c, b), "matmul: C overlaps A or B");
  check_algorithm<V, Space>(options.algorithm);
  if constexpr (detail::is_built<Space>) {
    if (c.rows == 0 || c.cols == 0) return;
    const detail::matmul_job<V> job{.m = c.rows,
                                    .n = c.cols,
                                    .k = alpha == V{0} ? 0 : k,
                                    .alpha = alpha,
                                    .beta = beta,
                                    .a = a.data.data(),
                                    .b = b.data.data(),
                                    .c = c.data.data(),
                                    .lda = a.stride,
                                    .ldb = b.stride,
                                    .ldc = c.stride,
                                    .op_b = options.op_b};
    if constexpr (std::same_as<Space, host>) {
      detail::matmul_host(ctx, job);
    } else {
      detail::matmul_device(ctx, job, options.algorithm);
    }
  } else {
    detail::no_device("matmul");
  }
} catch (...) {
  detail::rethrow("matmul");
}

#define INSTANTIATE(V, Space)                                                                                      \
  template void matmul<V, Space>(const context<Space>&, std::type_identity_t<V>,                                   \
                                 const std::type_identity_t<dense_view<const V, Space>>&,                          \
                                 const std::type_identity_t<dense_view<const V, Space>>&, std::type_identity_t<V>, \
                                 const dense_view<V, Space>&, const matmul_options&);
INSTANTIATE(float, host)
INSTANTIATE(double, host)
INSTANTIATE(float, device)
INSTANTIATE(double, device)
#undef INSTANTIATE

}  // namespace spargo
