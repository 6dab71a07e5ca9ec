// Shared by SpMV and SpMM: checks of a CSR matrix, the choice on the host, parts of executors.
#pragma once

#include "core/checks.hpp"
#include "sparse/merge_path.hpp"

#include <spargo/core/error.hpp>
#include <spargo/core/plan_state.hpp>
#include <spargo/formats/csr.hpp>

#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>

namespace spargo::detail {

inline void expect_size(std::string_view operation, std::string_view what, std::int64_t size, std::int64_t expected) {
  SPARGO_EXPECTS(size == expected, fmt::format("{}: {} has {} elements, expected {}", operation, what, size, expected));
}

template <class V, class I, class O, class Space>
void expect_csr(std::string_view operation, const csr_view<const V, I, O, Space>& m) {
  SPARGO_EXPECTS(m.rows >= 0 && m.cols >= 0, fmt::format("{}: a CSR matrix of {} x {}", operation, m.rows, m.cols));
  expect_size(operation, "CSR offsets", m.offsets.size(), static_cast<std::int64_t>(m.rows) + 1);
  expect_size(operation, "CSR values", m.values.size(), m.nnz());
}

// Whole rows per thread, unless one row is too long for that.
template <class Algorithm, class Profile>
[[nodiscard]] plan_choice<Algorithm> choose_on_host(const Profile& p, Algorithm whole_rows) {
  if (host_cuts_rows(p.rows, p.nnz, p.longest)) {
    return {Algorithm::merge_path,
            fmt::format("the longest row has {} of {} entries, too many for one thread", p.longest, p.nnz)};
  }
  return {whole_rows, fmt::format("whole rows balance: mean {:.1f} entries, longest {}", p.mean(), p.longest)};
}

template <class Executor>
[[nodiscard]] std::int64_t workspace_of(const std::unique_ptr<Executor>& executor) noexcept {
  return executor == nullptr ? 0 : executor->workspace_bytes();
}

}  // namespace spargo::detail
