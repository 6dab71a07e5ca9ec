// The binary snapshot, `.spg`: a CSR matrix ready to be memory-mapped. Little-endian, versioned, checksummed.
//
// A 128-byte header (magic, version, byte-order mark, kinds, counts, checksums, its own checksum), then 64-byte aligned
// sections: offsets, indices, values, vertex ids or names, notes. src/io/snapshot/snapshot.cpp has the table. Version
// 2, with XXH3 checksums, is written; version 1 (XXH64) can be read as well.
#pragma once

#include <spargo/core/enum_names.hpp>
#include <spargo/core/state_pointer.hpp>
#include <spargo/formats/convert.hpp>
#include <spargo/io/input.hpp>
#include <spargo/io/options.hpp>
#include <spargo/io/output.hpp>
#include <spargo/io/vertex_names.hpp>

#include <string>
#include <string_view>
#include <vector>

#include <spargo/core/macros_push.hpp>

namespace spargo {

enum class value_kind { pattern, fp32, fp64, complex_fp32, complex_fp64 };

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<value_kind> enum_rows() noexcept;

// Values are numbers; integers, if the source's field was; or counts, if duplicates of a pattern were summed.
enum class value_origin { numbers, integers, counts };

struct SPARGO_EXPORT snapshot_header {
  value_kind values = value_kind::fp64;
  int index_bytes = 4;
  int offset_bytes = 4;
  symmetry_kind symmetry = symmetry_kind::general;  // of the source; entries are always expanded
  bool directed = true;                             // if it is a graph
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  bool has_ids = false;
  value_origin origin = value_origin::numbers;
  std::int64_t first_vertex = -1;  // first vertex named in the source; -1: unknown
  bool has_names = false;
};

// Throws `unsupported` if built without xxHash, as the constructor and `write_snapshot` do: call it before the work.
SPARGO_EXPORT void check_snapshots(const std::string& path);

// Whether the file begins like a snapshot. False if it cannot be read, or only once.
[[nodiscard]] SPARGO_EXPORT bool is_snapshot(const std::string& path);

// A verified snapshot, memory-mapped, or in memory if it comes from a pipe or is gzipped. The views borrow from it. A
// mapped file must not change: truncating it in place kills readers by SIGBUS, as with any mmap (the apps report an
// error instead); `write_snapshot` and mv replace it safely.
class SPARGO_EXPORT snapshot {
 public:
  // Opens `file` and checks sizes, checksums and every index in one pass. Throws with the file's name: `io`, `parse`
  // for a damaged file or no snapshot, `invalid_data` for a matrix or ids that break their type's rules.
  explicit snapshot(const context<host>& ctx, const input_file& file);

  [[nodiscard]] const snapshot_header& header() const noexcept;
  [[nodiscard]] span<const std::int64_t, host> ids() const noexcept;  // empty: none
  [[nodiscard]] const vertex_name_table& names() const noexcept;      // empty: none; a copy
  [[nodiscard]] std::string_view notes() const noexcept;              // empty: none

  // The types must equal the stored ones (else `unsupported`); see `header`.
  template <entry_type V, index_type I, index_type O>
  [[nodiscard]] csr_view<const V, I, O, host> matrix() const;

 private:
  struct [[gnu::visibility("hidden")]] state;
  detail::state_pointer<state> state_;
};

struct SPARGO_EXPORT snapshot_options {
  symmetry_kind symmetry = symmetry_kind::general;
  bool directed = true;
  span<const std::int64_t, host> ids{};         // one per row, nonnegative and ascending; or none
  value_origin origin = value_origin::numbers;  // others need real values
  std::int64_t first_vertex = -1;               // a row; -1: unknown
  std::string_view notes{};                     // free text of any size, or none
  output_options output{};
  vertex_name_table names{};  // one per row, instead of ids; or none
};

// The file appears complete or not at all, with the same bytes for any number of threads. Throws `invalid_data` for a
// matrix or ids that a reader would reject, `invalid_argument` for a name that ends in .gz, a wrong number of ids, an
// origin that does not fit the values, or a first vertex that is not a row. O(rows + nnz).
template <entry_type V, index_type I, index_type O>
SPARGO_EXPORT void write_snapshot(const context<host>& ctx, const std::string& path,
                                  const csr_view<const V, I, O, host>& matrix, const snapshot_options& options = {});
template <detail::viewable Matrix>
void write_snapshot(const context<host>& ctx, const std::string& path, const Matrix& matrix,
                    const snapshot_options& options = {}) {
  write_snapshot(ctx, path, detail::view_of(matrix), options);
}

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
