// Partitions the rows of a graph into parts of about equal work, on the host.
#pragma once

#include "core/parts.hpp"
#include "core/search.hpp"

#include <spargo/formats/csr.hpp>

#include <algorithm>

namespace spargo::detail {

// Partitions rows into parts of equal vertices plus edges. Unit v + offsets[v] is vertex v; the units after it are its
// edges. So a long row is split over several parts.
template <class I, class O>
class row_parts {
 public:
  row_parts(const csr_pattern_view<I, O, host>& rows, std::int64_t units_a_part)
      : rows_(rows), parts_(chunks_of(std::int64_t{rows.rows} + rows.nnz(), units_a_part)) {}

  [[nodiscard]] std::int64_t count() const { return parts_.count; }

  // Calls body(v, first, last) for edges [first, last) of v. Skips vertices whose edges end before the part.
  template <class Body>
  void for_each(std::int64_t part, Body&& body) const {
    const std::int64_t begin = parts_.first(part);
    const std::int64_t end = parts_.last(part);
    for (std::int64_t v = first_vertex(begin); v < rows_.rows && v + rows_.offsets[v] < end; ++v) {
      const std::int64_t first = std::max<std::int64_t>(rows_.offsets[v], begin - v - 1);
      const std::int64_t last = std::min<std::int64_t>(rows_.offsets[v + 1], end - v - 1);
      body(static_cast<I>(v), first, last);
    }
  }

  // The vertices [first, last) whose own units lie in the part. Over all parts, each vertex occurs once.
  struct vertex_range {
    std::int64_t first;
    std::int64_t last;
  };
  [[nodiscard]] vertex_range vertices(std::int64_t part) const {
    return {vertices_before(parts_.first(part)), vertices_before(parts_.last(part))};
  }

 private:
  [[nodiscard]] std::int64_t vertices_before(std::int64_t unit) const {
    return unit == 0 ? 0 : first_vertex(unit - 1) + 1;
  }

  // The last vertex whose unit is at or before `unit`.
  [[nodiscard]] std::int64_t first_vertex(std::int64_t unit) const {
    return first_where(std::int64_t{1}, std::int64_t{rows_.rows},
                       [&](std::int64_t v) { return v + rows_.offsets[v] > unit; }) -
           1;
  }

  csr_pattern_view<I, O, host> rows_;
  parts parts_;
};

}  // namespace spargo::detail
