#include "core/rows_from_one.hpp"

#include <spargo/core/rows_from_one.hpp>

#include <atomic>

namespace spargo {

namespace {

std::atomic<int> alive{0};

}  // namespace

rows_from_one::rows_from_one() noexcept { alive.fetch_add(1, std::memory_order_relaxed); }
rows_from_one::~rows_from_one() { alive.fetch_sub(1, std::memory_order_relaxed); }

namespace detail {

std::int64_t shown_row(std::int64_t row) noexcept { return row + (alive.load(std::memory_order_relaxed) > 0 ? 1 : 0); }

std::string_view counted_from() noexcept { return alive.load(std::memory_order_relaxed) > 0 ? "" : " (from 0)"; }

}  // namespace detail

}  // namespace spargo
