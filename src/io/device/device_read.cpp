// Matrix Market files into device memory.
//
// Idea: the host reads the header and lets the device parse the lines (text.hpp); the host's own parser handles unusual
// lines. If anything does not fit, the device's result is discarded, and the host reader reads the whole file and
// reports errors.
// Invariant: the result is the host's. Entry k is line k, because the number of lines equals the declared number of
// entries and every line holds an entry.
// Cost: the text is read once, or twice if the device's result is discarded.
#include "io/device/tuning.hpp"

#include "core/backend.hpp"
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "io/matrix_market/parts.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <new>
#include <optional>

namespace spargo {

template <>
enum_table<device_read_algorithm> enum_rows() noexcept {
  static constexpr std::array<enum_row<device_read_algorithm>, 3> rows{{
      {device_read_algorithm::automatic, "automatic"},
      {device_read_algorithm::on_host, "on_host"},
      {device_read_algorithm::on_device, "on_device"},
  }};
  return rows;
}

namespace detail {

void read_at(const file_handle& file, const std::string& path, char* to, std::int64_t bytes, std::int64_t offset) {
  while (bytes > 0) {
    const auto got = ::pread(file.get(), to, static_cast<std::size_t>(bytes), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_system_error(path, "read", errno);
    if (got == 0) throw error(error_code::io, {path}, "the file became shorter while it was read");
    to += got;
    bytes -= got;
    offset += got;
  }
}

bool suits_device(const std::string& path, const device_read_options& options, const device_read_tuning& tuning) {
  if (options.algorithm == device_read_algorithm::on_host) return false;
  std::error_code status;  // queried before opening: a pipe must be opened only once
  if (!std::filesystem::is_regular_file(path, status)) return false;
  const opened_file file = open_for_reading(path);
  constexpr std::int64_t magic_bytes = 2;
  if (file.size < magic_bytes) return false;
  if (options.algorithm == device_read_algorithm::automatic && file.size < tuning.least_bytes) return false;
  std::array<char, magic_bytes> magic{};
  read_at(file.handle, path, magic.data(), magic_bytes, 0);
  return !looks_like_gzip({magic.data(), magic.size()});
}

text_range without_blank_end(const opened_file& file, const std::string& path, std::int64_t first) {
  constexpr std::int64_t looked_at = 4096;
  const std::int64_t from = std::max(first, file.size - looked_at);
  std::string end(static_cast<std::size_t>(std::max<std::int64_t>(file.size - from, 0)), '\0');
  read_at(file.handle, path, end.data(), file.size - from, from);
  const std::size_t last = end.find_last_not_of(" \t\r\n");
  if (last == std::string::npos) return {first, from == first ? first : file.size, end.ends_with('\n')};
  const std::size_t newline = end.find('\n', last);
  if (newline == std::string::npos) return {first, file.size, false};
  return {first, from + static_cast<std::int64_t>(newline) + 1, true};
}

std::string line_at(const opened_file& file, const std::string& path, std::int64_t offset) {
  constexpr std::int64_t chunk_bytes = 4096;
  const auto too_long = [](const std::string& text) { return std::ssize(text) > input_tuning{}.max_line_bytes; };
  std::string line;
  std::size_t newline = std::string::npos;
  for (std::int64_t got = chunk_bytes; newline == std::string::npos && got == chunk_bytes && !too_long(line);) {
    const std::size_t size = line.size();
    line.resize(size + chunk_bytes);
    got = read_up_to(file, path, line.data() + size, chunk_bytes, offset + static_cast<std::int64_t>(size));
    line.resize(size + static_cast<std::size_t>(got));
    newline = line.find('\n', size);
  }
  return line.substr(0, newline) + '\n';
}

std::function<void(std::int64_t)> report_to(const device_read_options& options, std::int64_t file_bytes) {
  if (!options.progress) return {};
  return [report = options.progress, file_bytes](std::int64_t bytes) {
    report({std::min(bytes, file_bytes), file_bytes});
  };
}

namespace {

// An open matrix file that the device can parse according to its header.
struct matrix_file {
  opened_file file;
  matrix_market_header header;
  text_range text;
};

// None if the host must read it. Throws the host reader's errors about the header.
template <class I>
std::optional<matrix_file> open_matrix(const context<host>& ctx, const std::string& path) {
  constexpr input_tuning head{.block_bytes = std::int64_t{64} << 10};
  text_source source(ctx, path, {}, head);
  matrix_file matrix;
  matrix.header = parse_matrix_market_header(source);
  const matrix_market_header& header = matrix.header;
  constexpr std::int64_t most = std::numeric_limits<I>::max();
  if (header.layout != matrix_market_layout::coordinate || header.field == matrix_market_field::complex) return {};
  if (header.rows > most || header.cols > most || header.entries == 0 || !source.has_size()) return {};
  matrix.file = open_for_reading(path);
  matrix.text = without_blank_end(matrix.file, path, matrix.file.size - source.bytes_left());
  const std::int64_t least_bytes = header.field == matrix_market_field::pattern ? 4 : 6;
  if (header.entries > (matrix.text.last - matrix.text.first + 1) / least_bytes) return {};  // too few bytes: an error
  return matrix;
}

// Parses the unusual lines on the host.
template <class V, class I>
class host_lines {
 public:
  host_lines(const matrix_file& matrix, const std::string& path, device_text_outcome& outcome)
      : rule_{matrix.header.rows, matrix.header.cols, matrix.header.symmetry, input_tuning{}.max_line_bytes,
              matrix.header.is_unsigned},
        file_(matrix.file),
        path_(path),
        outcome_(outcome) {}

  // None if a line holds no entry, or an invalid one.
  template <mtx::field_kind F>
  std::optional<std::vector<patched_entry<V, I>>> parse() {
    std::vector<patched_entry<V, I>> entries;
    entries.reserve(outcome_.unusual.size());
    mtx::entry_value<F, typename mtx::real_part<V>::type> value;
    for (const unusual_line& unusual : outcome_.unusual) {
      const std::string line = line_at(file_, path_, unusual.offset);
      const char* start = nullptr;
      std::int64_t row = 0;
      std::int64_t col = 0;
      try {
        (void)mtx::read_any_line<F>(line.data(), line.data() + line.size(), rule_, start, row, col, value);
      } catch (const bad_line&) {
        return {};
      }
      if (start == nullptr) return {};
      outcome_.below |= row > col;
      outcome_.above |= row < col;
      patched_entry<V, I>& entry = entries.emplace_back();
      entry.entry = unusual.entry;
      entry.row = static_cast<I>(row - 1);
      entry.col = static_cast<I>(col - 1);
      value.store(entry.value);
      if constexpr (F == mtx::field_kind::integer) outcome_.rounded += value.rounded;
    }
    return entries;
  }

 private:
  const mtx::rules rule_;
  const opened_file& file_;
  const std::string& path_;
  device_text_outcome& outcome_;
};

template <class V, class I>
bool patch_unusual(const context<device>& ctx, const std::string& path, const matrix_file& matrix,
                   device_text_outcome& outcome, const device_entry_sink<V, I>& to) {
  if (outcome.unusual.empty()) return true;
  host_lines<V, I> lines(matrix, path, outcome);
  std::optional<std::vector<patched_entry<V, I>>> entries;
  switch (matrix.header.field) {
    case matrix_market_field::real:
      entries = lines.template parse<mtx::field_kind::real>();
      break;
    case matrix_market_field::integer:
      entries = lines.template parse<mtx::field_kind::integer>();
      break;
    case matrix_market_field::pattern:
      entries = lines.template parse<mtx::field_kind::pattern>();
      break;
    case matrix_market_field::complex:
      break;
  }
  if (!entries.has_value()) return false;
  patch_entries(ctx, *entries, to);
  return true;
}

// None if the host must read the file.
template <class V, class I>
std::optional<coo_matrix<V, I, device>> parse_on_device(const context<device>& ctx, const context<host>& reading,
                                                        const std::string& path, const device_read_options& options,
                                                        const device_read_tuning& tuning,
                                                        device_read_summary& summary) {
  const std::optional<matrix_file> matrix = open_matrix<I>(reading, path);
  if (!matrix.has_value()) return {};
  const matrix_market_header& header = matrix->header;
  coo_matrix<V, I, device> entries(ctx, static_cast<I>(header.rows), static_cast<I>(header.cols), header.entries);
  const device_entry_sink<V, I> to{entries.row_indices().data(), entries.col_indices().data(), entries.values().data(),
                                   header.entries};
  device_text_outcome outcome;
  {
    const device_text::matrix_line line{header.rows, header.cols, header.field, header.symmetry};
    device_text_parser<device_text::matrix_line, V, I> parser(ctx, line, to, tuning);
    parse_chunks(reading, matrix->file.handle, path, matrix->text, tuning, parser,
                 report_to(options, matrix->file.size));
    outcome = parser.finish();
  }
  if (outcome.lost || outcome.lines != header.entries || outcome.unusual_count > tuning.most_unusual) return {};
  if (!patch_unusual(ctx, path, *matrix, outcome, to)) return {};
  const bool triangle = header.symmetry != symmetry_kind::general;
  if (triangle && outcome.below && outcome.above) return {};  // a place may be listed twice
  summary = {};
  summary.header = header;
  summary.stored = header.entries;
  summary.rounded_integers = is_pattern<V> ? 0 : outcome.rounded;
  summary.parsed = device_read_algorithm::on_device;
  summary.lines_on_host = outcome.unusual_count;
  if (triangle) entries = expand_symmetry<V, I>(ctx, entries.view(), header.symmetry);
  summary.expanded = entries.nnz();
  return entries;
}

}  // namespace

template <entry_type V, index_type I>
coo_matrix<V, I, device> read_matrix_market_with(const context<device>& ctx, const context<host>& reading,
                                                 const std::string& path, const device_read_options& options,
                                                 const device_read_tuning& tuning, device_read_summary& summary) {
  if constexpr (is_built<device>) {
    if constexpr (!complex_type<V>) {
      if (suits_device(path, options, tuning)) {
        if (auto parsed = parse_on_device<V, I>(ctx, reading, path, options, tuning, summary)) {
          return std::move(*parsed);
        }
      }
    }
    summary = {};
    const auto read = read_matrix_market<V, I>(reading, path, options, &summary);
    return to_device<V, I>(ctx, read.view());
  } else {
    no_device("read_matrix_market");
  }
}

}  // namespace detail

device_read_algorithm suggest_device_read(const std::string& path) {
  return detail::suits_device(path, {}, {}) ? device_read_algorithm::on_device : device_read_algorithm::on_host;
}

template <entry_type V, index_type I>
coo_matrix<V, I, device> read_matrix_market(const context<device>& ctx, const context<host>& reading,
                                            const std::string& path, const device_read_options& options,
                                            device_read_summary* summary) {
  try {
    device_read_summary met;
    auto read = detail::read_matrix_market_with<V, I>(ctx, reading, path, options, {}, met);
    if (summary != nullptr) *summary = met;
    return read;
  } catch (const std::bad_alloc&) {
    detail::throw_out_of_memory(path, "host memory ran out while the file was read");
  }
}

#define INSTANTIATE(V, I)                                                                                             \
  template coo_matrix<V, I, device> detail::read_matrix_market_with(const context<device>&, const context<host>&,     \
                                                                    const std::string&, const device_read_options&,   \
                                                                    const device_read_tuning&, device_read_summary&); \
  template coo_matrix<V, I, device> read_matrix_market(const context<device>&, const context<host>&,                  \
                                                       const std::string&, const device_read_options&,                \
                                                       device_read_summary*);
SPARGO_FOR_EACH_ENTRY_INDEX(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo
