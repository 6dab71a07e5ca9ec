// The binary snapshot: a header of 128 bytes and up to five sections, each at the next multiple of 64 bytes.
//
//   byte   size  meaning (integers are little-endian)
//      0      8  "SPARGO\r\n": reveals transfers that change line ends
//      8      4  version: 2; 1 in older files, which are read as well
//     12      4  0x01020304: reveals another byte order
//     16      1  values: 0 pattern, 1 float32, 2 float64, 3 complex float32, 4 complex float64
//     17      1  bytes of an index (I): 4 or 8
//     18      1  bytes of an offset (O): 4 or 8, not less than an index
//     19      1  symmetry of the source: 0 general, 1 symmetric, 2 skew-symmetric, 3 hermitian
//     20      1  1 for a directed graph, 0 for an undirected one
//     21      1  vertices: 0 rows, 1 ids follow, 2 names follow
//     22      1  origin of the values: 0 numbers, 1 integers, 2 counts of a pattern's entries
//     23      1  0
//     24     24  rows, cols, nnz
//     48     32  checksums of the sections: offsets, indices, values, ids (see hash.hpp; 0 bytes have one too)
//     80      8  bytes of the whole file
//     88      8  bytes of the notes
//     96      8  their checksum, 0 when there are none
//    104      8  the first vertex named in the source plus 1, or 0: unknown
//    112      8  bytes of the names' characters
//    120      8  hash of the bytes before
// Checksums and hash are XXH3's of 64 bits in version 2, XXH64's in version 1; nothing else differs.
// Sections: rows + 1 offsets; nnz indices; nnz values (none for a pattern); ids: rows of them, int64, ascending, or
// none, or for names rows + 1 offsets, int64, and the characters; notes, bytes of the writer's own (or none). Bytes 22,
// 104 to 119 and names came later: 0 in older files, and older readers refuse names. The bytes between sections are 0.
// Readers reject any deviation, so damage is detected. Cost of opening: one pass over the file to check sums and
// indices; of a mapped file only the offsets are copied.
#include <spargo/io/snapshot.hpp>

#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "io/file.hpp"
#include "io/opened_input.hpp"
#include "io/snapshot/hash.hpp"
#include "io/text/input_format.hpp"

#include <spargo/formats/validate.hpp>
#include <spargo/io/output.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <filesystem>
#include <limits>
#include <new>
#include <string_view>
#include <type_traits>

namespace spargo {

template <>
enum_table<value_kind> enum_rows() noexcept {
  static constexpr std::array<enum_row<value_kind>, 5> rows{{
      {value_kind::pattern, "pattern"},
      {value_kind::fp32, "fp32"},
      {value_kind::fp64, "fp64"},
      {value_kind::complex_fp32, "complex-fp32"},
      {value_kind::complex_fp64, "complex-fp64"},
  }};
  return rows;
}

namespace {

static_assert(std::endian::native == std::endian::little, "the snapshot is mapped as it lies");

using detail::snapshot_magic;
constexpr std::uint32_t newest_version = 2;
constexpr std::uint32_t byte_order = 0x01020304;
constexpr std::int64_t section_alignment = 64;

struct raw_header {
  char magic[8];
  std::uint32_t version;
  std::uint32_t byte_order;
  std::uint8_t values;
  std::uint8_t index_bytes;
  std::uint8_t offset_bytes;
  std::uint8_t symmetry;
  std::uint8_t directed;
  std::uint8_t vertices;
  std::uint8_t origin;
  std::uint8_t zero;
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t nnz;
  std::uint64_t checksums[4];
  std::int64_t file_bytes;
  std::int64_t notes_bytes;
  std::uint64_t notes_checksum;
  std::int64_t first_vertex;
  std::int64_t name_bytes;
  std::uint64_t own_checksum;
};
static_assert(sizeof(raw_header) == 128 && offsetof(raw_header, own_checksum) == 120);

constexpr std::uint8_t vertices_have_ids = 1;
constexpr std::uint8_t vertices_have_names = 2;

constexpr std::array<std::string_view, 5> section_names = {"offsets", "indices", "values", "ids", "notes"};

struct section {
  std::int64_t begin = 0;
  std::int64_t bytes = 0;
};
using section_list = std::array<section, section_names.size()>;

std::int64_t value_bytes(value_kind kind) {
  constexpr std::array<std::int64_t, 5> sizes = {0, 4, 8, 8, 16};
  return sizes[static_cast<std::size_t>(kind)];
}

std::int64_t id_bytes(const raw_header& h) {
  if (h.vertices == vertices_have_names) return (h.rows + 1) * 8 + h.name_bytes;
  return h.vertices == vertices_have_ids ? h.rows * 8 : 0;
}

// Offsets of the sections. check_header has made sure that nothing overflows.
section_list layout(const raw_header& h) {
  const std::array<std::int64_t, section_names.size()> bytes = {(h.rows + 1) * h.offset_bytes, h.nnz * h.index_bytes,
                                                                h.nnz * value_bytes(static_cast<value_kind>(h.values)),
                                                                id_bytes(h), h.notes_bytes};
  section_list sections;
  std::int64_t at = sizeof(raw_header);
  for (std::size_t k = 0; k < sections.size(); ++k) {
    sections[k] = {at, bytes[k]};
    at = div_up(at + bytes[k], section_alignment) * section_alignment;
  }
  return sections;
}

std::int64_t end_of(const section_list& sections) {
  return div_up(sections.back().begin + sections.back().bytes, section_alignment) * section_alignment;
}

detail::hash_kind hash_kind_of(const raw_header& h) {
  return h.version == 1 ? detail::hash_kind::xxh64 : detail::hash_kind::xxh3;
}

std::uint64_t own_hash(const raw_header& h) {
  return detail::hash_of(hash_kind_of(h), &h, offsetof(raw_header, own_checksum));
}

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw error(error_code::parse, {path}, what);
}

// Checks a header against the size of its file, trusting no count.
raw_header check_header(const std::string& path, std::string_view file) {
  raw_header h;
  if (file.size() < sizeof(h)) {
    refuse(path, fmt::format("{} bytes (expected a snapshot's header of {})", file.size(), sizeof(h)));
  }
  std::memcpy(&h, file.data(), sizeof(h));
  if (std::string_view(h.magic, sizeof(h.magic)) != snapshot_magic) {
    refuse(path, "not a snapshot (expected SPARGO at its start)");
  }
  if (h.byte_order == 0x04030201) refuse(path, "a snapshot of another byte order (expected little-endian)");
  if (h.byte_order != byte_order) refuse(path, "the snapshot's header is damaged (its byte-order mark)");
  if (h.version < 1 || h.version > newest_version) {
    refuse(path, fmt::format("a snapshot of version {} (expected 1 to {})", h.version, newest_version));
  }
  if (own_hash(h) != h.own_checksum) {
    refuse(path, "the snapshot's header is damaged (its checksum differs)");
  }
  const bool widths = (h.index_bytes == 4 || h.index_bytes == 8) && (h.offset_bytes == 4 || h.offset_bytes == 8) &&
                      h.index_bytes <= h.offset_bytes;
  const std::int64_t most = h.index_bytes == 4 ? std::numeric_limits<std::int32_t>::max() : INT64_MAX;
  // No array is larger than the file, so the products below cannot overflow.
  const auto size = static_cast<std::int64_t>(file.size());
  const bool counts = h.rows >= 0 && h.cols >= 0 && h.nnz >= 0 && h.rows < size && h.nnz < size && h.rows <= most &&
                      h.cols <= most && (h.offset_bytes == 8 || h.nnz <= std::numeric_limits<std::int32_t>::max()) &&
                      h.notes_bytes >= 0 && h.notes_bytes < size && h.name_bytes >= 0 && h.name_bytes < size &&
                      (h.name_bytes == 0 || h.vertices == vertices_have_names);
  const bool origin = h.origin == 0 || (h.origin <= 2 && (h.values == 1 || h.values == 2));
  const bool first = h.first_vertex >= 0 && h.first_vertex <= h.rows;
  if (h.values > 4 || h.symmetry > 3 || h.directed > 1 || h.vertices > vertices_have_names || !widths || !counts ||
      h.zero != 0 || !origin || !first) {
    refuse(path, "the snapshot's header is inconsistent with itself or the file's size");
  }
  const std::int64_t expected = end_of(layout(h));
  if (h.file_bytes != size || expected != size) {
    refuse(path, fmt::format("{} bytes (expected {}: the snapshot is truncated or has something after its end)", size,
                             expected));
  }
  return h;
}

// Sections. Offsets of a mapped file are copied: if the file changes, indexing still stays within the arrays.
using section_data = std::array<const char*, section_names.size()>;

template <class I, class O>
csr_pattern_view<I, O, host> pattern_of(const raw_header& h, const section_data& data) {
  return {static_cast<I>(h.rows),
          static_cast<I>(h.cols),
          {reinterpret_cast<const O*>(data[0]), h.rows + 1},
          {reinterpret_cast<const I*>(data[1]), h.nnz}};
}

std::uint64_t& checksum(raw_header& h, std::size_t section) {
  return section < std::size(h.checksums) ? h.checksums[section] : h.notes_checksum;
}

// Checksum of a section's bytes; 0 for absent notes. `look`: see hash.hpp.
template <class Look>
std::uint64_t sum_of(const context<host>& ctx, const raw_header& h, std::size_t section, const void* data,
                     std::int64_t bytes, const Look& look) {
  const bool absent = section >= std::size(h.checksums) && bytes == 0;
  return absent ? 0 : detail::chunked_hash(ctx, hash_kind_of(h), data, static_cast<std::size_t>(bytes), look);
}

// A range of a section: `count` elements from number `first`. The loops below always scan all of them, so that they
// vectorise; check_contents then finds the faulty element.
template <class T>
struct part {
  const T* data;
  std::size_t first;
  std::size_t count;

  part(const char* section, std::size_t first_byte, std::size_t bytes)
      : data(reinterpret_cast<const T*>(section)), first(first_byte / sizeof(T)), count(bytes / sizeof(T)) {}
};

template <class T>
bool has_outside(const part<T>& p, std::int64_t bound) {
  using bits = std::make_unsigned_t<T>;
  bits outside = 0;
  for (std::size_t i = p.first; i < p.first + p.count; ++i) {
    outside |= static_cast<bits>(static_cast<bits>(p.data[i]) >= static_cast<bits>(bound) ? 1 : 0);
  }
  return outside != 0;
}

// Whether an element is less than its predecessor (which may be in the previous part) plus `step`.
template <class T>
bool has_descent(const part<T>& p, T step) {
  using bits = std::make_unsigned_t<T>;
  bits descents = 0;
  for (std::size_t i = std::max<std::size_t>(p.first, 1); i < p.first + p.count; ++i) {
    const auto rise = static_cast<bits>(static_cast<bits>(p.data[i]) - static_cast<bits>(p.data[i - 1]));
    descents |= static_cast<bits>((p.data[i] < p.data[i - 1] ? 1 : 0) | (rise < static_cast<bits>(step) ? 1 : 0));
  }
  return descents != 0;
}

// False for a part that may break a rule of the matrix; check_contents decides.
bool looks_right(const raw_header& h, std::size_t k, const char* section, std::size_t first, std::size_t bytes) {
  using i32 = std::int32_t;
  using i64 = std::int64_t;
  switch (k) {
    case 0:
      return h.offset_bytes == 4 ? !has_descent<i32>({section, first, bytes}, 0)
                                 : !has_descent<i64>({section, first, bytes}, 0);
    case 1:
      return h.index_bytes == 4 ? !has_outside<i32>({section, first, bytes}, h.cols)
                                : !has_outside<i64>({section, first, bytes}, h.cols);
    case 3:
      return h.vertices != vertices_have_ids || !has_descent<i64>({section, first, bytes}, 1);
    default:
      return true;
  }
}

// Checks the first and last offset and the first id.
bool ends_look_right(const raw_header& h, const section_data& data) {
  const auto offset = [&](std::int64_t row) {
    const char* const at = data[0] + row * h.offset_bytes;
    return h.offset_bytes == 4 ? std::int64_t{*reinterpret_cast<const std::int32_t*>(at)}
                               : *reinterpret_cast<const std::int64_t*>(at);
  };
  const auto* const ids = reinterpret_cast<const std::int64_t*>(data[3]);
  return offset(0) == 0 && offset(h.rows) == h.nnz && (h.vertices != vertices_have_ids || h.rows == 0 || ids[0] >= 0);
}

// Throws if a checksum differs. Returns whether the contents look right as well.
bool check_sums(const context<host>& ctx, const std::string& path, raw_header h, const char* file,
                const section_data& data) {
  const auto sections = layout(h);
  std::atomic<bool> right = true;
  for (std::size_t k = 0; k < sections.size(); ++k) {
    const section& s = sections[k];
    const std::uint64_t sum = sum_of(ctx, h, k, data[k], s.bytes, [&](std::size_t first, std::size_t bytes) noexcept {
      if (!looks_right(h, k, data[k], first, bytes)) right = false;
    });
    if (sum != checksum(h, k)) {
      refuse(path, fmt::format("the snapshot's {} are damaged (their checksum differs)", section_names[k]));
    }
    const std::int64_t next = k + 1 < sections.size() ? sections[k + 1].begin : end_of(sections);
    if (std::any_of(file + s.begin + s.bytes, file + next, [](char c) { return c != 0; })) {
      refuse(path, fmt::format("the bytes after the snapshot's {} are not 0", section_names[k]));
    }
  }
  return right && ends_look_right(h, data);
}

void check_ids(const std::string& path, span<const std::int64_t, host> ids) {
  for (std::int64_t v = 0; v < ids.size(); ++v) {
    if (ids[v] >= 0 && (v == 0 || ids[v] > ids[v - 1])) continue;
    throw error(error_code::invalid_data, {path},
                fmt::format("vertex {} has id {} (expected ascending ids of 0 or more)", v, ids[v]));
  }
}

void check_contents(const context<host>& ctx, const std::string& path, const raw_header& h, const section_data& data) {
  try {
    if (h.offset_bytes == 4) {
      validate(ctx, pattern_of<std::int32_t, std::int32_t>(h, data));
    } else if (h.index_bytes == 4) {
      validate(ctx, pattern_of<std::int32_t, std::int64_t>(h, data));
    } else {
      validate(ctx, pattern_of<std::int64_t, std::int64_t>(h, data));
    }
  } catch (const error& e) {
    if (e.code() != error_code::invalid_data) throw;
    throw error(error_code::invalid_data, {path}, e.what());
  }
  if (h.vertices == vertices_have_ids) check_ids(path, {reinterpret_cast<const std::int64_t*>(data[3]), h.rows});
}

// Copies the names, so that their offsets cannot change after they are checked.
vertex_name_table copy_names(const context<host>& ctx, const std::string& path, const raw_header& h,
                             const char* section) {
  if (h.vertices != vertices_have_names) return {};
  array<std::int64_t, host> offsets(ctx, h.rows + 1);
  std::memcpy(offsets.data(), section, static_cast<std::size_t>(offsets.size()) * sizeof(std::int64_t));
  if (offsets[0] != 0 || offsets[h.rows] != h.name_bytes || !std::is_sorted(offsets.begin(), offsets.end())) {
    throw error(error_code::invalid_data, {path}, "the names of the snapshot's vertices do not fit their characters");
  }
  array<char, host> characters(ctx, h.name_bytes);
  std::copy_n(section + offsets.size() * 8, h.name_bytes, characters.data());
  return {ctx, std::move(characters), std::move(offsets)};
}

// Reads a stream to its end. Capacity follows the header's size, but is never more than twice what has arrived.
std::string_view read_whole(const context<host>& ctx, detail::byte_stream& stream, const std::string& path,
                            array<char, host>& copy) {
  constexpr std::int64_t least = std::int64_t{1} << 20;
  std::int64_t size = 0;
  copy = array<char, host>(ctx, least);
  while (true) {
    const std::int64_t got = stream.read(copy.data() + size, copy.size() - size);
    if (got == 0) break;
    size += got;
    if (size < copy.size()) continue;
    if (stream.look_ahead(1).empty()) break;
    raw_header stated;
    std::memcpy(&stated, copy.data(), sizeof(stated));
    const std::int64_t wanted = stated.file_bytes > size ? std::min(stated.file_bytes, 2 * size) : 2 * size;
    array<char, host> larger(ctx, wanted);
    std::copy_n(copy.data(), size, larger.data());
    copy = std::move(larger);
  }
  if (!stream.failure().empty()) throw error(error_code::io, {path}, stream.failure());
  return {copy.data(), static_cast<std::size_t>(size)};
}

template <class V>
constexpr value_kind kind_of() {
  if constexpr (is_pattern<V>) return value_kind::pattern;
  if constexpr (std::same_as<V, float>) return value_kind::fp32;
  if constexpr (std::same_as<V, double>) return value_kind::fp64;
  if constexpr (std::same_as<V, std::complex<float>>) return value_kind::complex_fp32;
  return value_kind::complex_fp64;
}

}  // namespace

bool is_snapshot(const std::string& path) {
  std::error_code failure;
  if (!std::filesystem::is_regular_file(path, failure)) return false;
  try {
    const detail::opened_file file = detail::open_for_reading(path);
    char begin[snapshot_magic.size()];
    const std::int64_t got = detail::read_up_to(file, path, begin, sizeof(begin), 0);
    return std::string_view(begin, static_cast<std::size_t>(got)) == snapshot_magic;
  } catch (const error&) {
    return false;
  }
}

struct snapshot::state {
  std::string path;
  detail::mapped_file map;
  array<char, host> copy;     // of what cannot be mapped
  array<char, host> offsets;  // copy, for a mapped file
  section_data data{};
  raw_header raw{};
  snapshot_header header;
  vertex_name_table names;
};

snapshot::snapshot(const context<host>& ctx, const input_file& input) try : state_(detail::new_state<state>()) {
  detail::opened_input& opened = input.opened();
  const std::string& path = state_->path = input.name();
  check_snapshots(path);
  std::string_view bytes;
  if (opened.is_plain()) {
    state_->map = detail::mapped_file(*opened.file, path);
    bytes = state_->map.bytes();
  } else {
    bytes = read_whole(ctx, *opened.take_stream(), path, state_->copy);
  }
  const raw_header h = check_header(path, bytes);
  const section_list sections = layout(h);
  for (std::size_t k = 0; k < sections.size(); ++k) state_->data[k] = bytes.data() + sections[k].begin;
  if (opened.is_plain()) {
    state_->offsets = array<char, host>(ctx, sections[0].bytes);
    std::copy_n(state_->data[0], sections[0].bytes, state_->offsets.data());
    state_->data[0] = state_->offsets.data();
  }
  if (!check_sums(ctx, path, h, bytes.data(), state_->data)) check_contents(ctx, path, h, state_->data);
  state_->raw = h;
  state_->header = {.values = static_cast<value_kind>(h.values),
                    .index_bytes = h.index_bytes,
                    .offset_bytes = h.offset_bytes,
                    .symmetry = static_cast<symmetry_kind>(h.symmetry),
                    .directed = h.directed != 0,
                    .rows = h.rows,
                    .cols = h.cols,
                    .nnz = h.nnz,
                    .has_ids = h.vertices == vertices_have_ids,
                    .origin = static_cast<value_origin>(h.origin),
                    .first_vertex = h.first_vertex - 1,
                    .has_names = h.vertices == vertices_have_names};
  state_->names = copy_names(ctx, path, h, state_->data[3]);
} catch (const std::bad_alloc&) {
  detail::throw_out_of_memory(input.name(), "host memory ran out while the snapshot was opened");
}

const snapshot_header& snapshot::header() const noexcept { return state_->header; }

span<const std::int64_t, host> snapshot::ids() const noexcept {
  if (!state_->header.has_ids) return {};
  return {reinterpret_cast<const std::int64_t*>(state_->data[3]), state_->raw.rows};
}

const vertex_name_table& snapshot::names() const noexcept { return state_->names; }

std::string_view snapshot::notes() const noexcept {
  return {state_->data[4], static_cast<std::size_t>(state_->raw.notes_bytes)};
}

template <entry_type V, index_type I, index_type O>
csr_view<const V, I, O, host> snapshot::matrix() const {
  const raw_header& h = state_->raw;
  if (static_cast<value_kind>(h.values) != kind_of<V>() || h.index_bytes != sizeof(I) || h.offset_bytes != sizeof(O)) {
    throw error(
        error_code::unsupported, {state_->path},
        fmt::format("the snapshot holds values of kind {} with {}-byte indices and {}-byte offsets (asked for "
                    "kind {}, {} and {})",
                    h.values, h.index_bytes, h.offset_bytes, static_cast<int>(kind_of<V>()), sizeof(I), sizeof(O)));
  }
  return {pattern_of<I, O>(h, state_->data), {reinterpret_cast<const V*>(state_->data[2]), is_pattern<V> ? 0 : h.nnz}};
}

template <entry_type V, index_type I, index_type O>
void write_snapshot(const context<host>& ctx, const std::string& path, const csr_view<const V, I, O, host>& matrix,
                    const snapshot_options& options) try {
  SPARGO_EXPECTS(!path.ends_with(".gz"), fmt::format("write_snapshot: {}: a snapshot is mapped, not compressed", path));
  SPARGO_EXPECTS(options.ids.empty() || options.ids.size() == matrix.rows,
                 fmt::format("write_snapshot: {} ids for {} rows", options.ids.size(), matrix.rows));
  SPARGO_EXPECTS(options.names.empty() || (options.ids.empty() && options.names.size() == matrix.rows),
                 fmt::format("write_snapshot: {} names for {} rows, and {} ids (expected either)", options.names.size(),
                             matrix.rows, options.ids.size()));
  SPARGO_EXPECTS(options.origin == value_origin::numbers || real_type<V>,
                 "write_snapshot: integers or counts without real values (expected fp32 or fp64)");
  SPARGO_EXPECTS(options.first_vertex >= -1 && options.first_vertex < matrix.rows,
                 fmt::format("write_snapshot: first vertex {} of {} rows", options.first_vertex, matrix.rows));
  check_snapshots(path);
  validate(ctx, matrix);
  check_ids(path, options.ids);
  raw_header h{};
  std::copy(snapshot_magic.begin(), snapshot_magic.end(), h.magic);
  h.version = newest_version;
  h.byte_order = byte_order;
  h.values = static_cast<std::uint8_t>(kind_of<V>());
  h.index_bytes = sizeof(I);
  h.offset_bytes = sizeof(O);
  h.symmetry = static_cast<std::uint8_t>(options.symmetry);
  h.directed = options.directed ? 1 : 0;
  h.vertices = !options.names.empty() ? vertices_have_names : !options.ids.empty() ? vertices_have_ids : 0;
  h.name_bytes = options.names.characters().size();
  h.origin = static_cast<std::uint8_t>(options.origin);
  h.first_vertex = options.first_vertex + 1;
  h.rows = matrix.rows;
  h.cols = matrix.cols;
  h.nnz = matrix.nnz();
  h.notes_bytes = static_cast<std::int64_t>(options.notes.size());
  const auto sections = layout(h);
  array<char, host> names;  // in section format
  if (!options.names.empty()) {
    names = array<char, host>(ctx, id_bytes(h));
    const span<const std::int64_t, host> offsets = options.names.offsets();
    std::memcpy(names.data(), offsets.data(), static_cast<std::size_t>(offsets.size()) * sizeof(std::int64_t));
    std::copy_n(options.names.characters().data(), h.name_bytes, names.data() + offsets.size() * 8);
  }
  const std::array<const void*, section_names.size()> data = {
      matrix.offsets.data(), matrix.indices.data(), matrix.values.data(),
      names.empty() ? static_cast<const void*>(options.ids.data()) : names.data(), options.notes.data()};
  for (std::size_t k = 0; k < sections.size(); ++k) {
    checksum(h, k) = sum_of(ctx, h, k, data[k], sections[k].bytes, [](std::size_t, std::size_t) {});
  }
  h.file_bytes = end_of(sections);
  h.own_checksum = own_hash(h);

  output_file out(path, options.output);
  out.write({reinterpret_cast<const char*>(&h), sizeof(h)});
  constexpr char padding[section_alignment] = {};
  for (std::size_t k = 0; k < sections.size(); ++k) {
    const std::int64_t next = k + 1 < sections.size() ? sections[k + 1].begin : h.file_bytes;
    out.write({static_cast<const char*>(data[k]), static_cast<std::size_t>(sections[k].bytes)});
    out.write({padding, static_cast<std::size_t>(next - sections[k].begin - sections[k].bytes)});
  }
  out.commit();
} catch (const std::bad_alloc&) {
  detail::throw_out_of_memory(path, "host memory ran out while the snapshot was written");
}

#define INSTANTIATE(V, I, O)                                                      \
  template csr_view<const V, I, O, host> snapshot::matrix<V, I, O>() const;       \
  template void write_snapshot<V, I, O>(const context<host>&, const std::string&, \
                                        const csr_view<const V, I, O, host>&, const snapshot_options&);
SPARGO_FOR_EACH_ENTRY_INDEX_OFFSET(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo
