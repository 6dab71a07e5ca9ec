#include "common/input.hpp"

#include <spargo/core/error.hpp>

#include <fmt/format.h>
#include <zlib.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>

namespace spargo::apps {

namespace {

[[noreturn]] void fail(error_code code, const std::string& path, const std::string& message) {
  throw error(code, source_position{path, 0, 0}, message);
}

// The first bytes of a file, unpacked when it is gzip; empty for what cannot be looked at twice (a pipe).
std::string peek(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) fail(error_code::io, path, fmt::format("cannot open: {}", std::strerror(errno)));
  struct stat status {};
  const bool known = ::fstat(descriptor, &status) == 0;
  if (!known || !S_ISREG(status.st_mode)) {
    ::close(descriptor);
    if (known && S_ISDIR(status.st_mode)) fail(error_code::io, path, "is a directory (expected a file)");
    return {};
  }
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(::gzdopen(descriptor, "rb"), &::gzclose);
  if (file == nullptr) {
    ::close(descriptor);
    throw std::bad_alloc();
  }
  std::array<char, 64> head{};
  const int got = ::gzread(file.get(), head.data(), static_cast<unsigned>(head.size()));
  return {head.data(), static_cast<std::size_t>(std::max(got, 0))};  // a corrupt stream: the reader says so
}

bool starts_with_ignoring_case(std::string_view text, std::string_view lower) {
  if (text.size() < lower.size()) return false;
  return std::equal(lower.begin(), lower.end(), text.begin(),
                    [](char l, char c) { return l == (c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c); });
}

bool named_matrix_market(std::string_view path) {
  if (path.ends_with(".gz")) path.remove_suffix(3);
  return path.ends_with(".mtx") || path.ends_with(".mm");
}

// A wrong banner in a file called .mtx is the Matrix Market reader's to explain.
bool is_matrix_market(const std::string& head, const std::string& path) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  std::string_view text = head;
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  return starts_with_ignoring_case(text, "%%matrixmarket") || named_matrix_market(path);
}

void describe_snapshot(const context<host>& ctx, input_description& input) {
  input.kind = input_kind::snapshot;
  input.format = "snapshot";
  const snapshot_header& header = input.mapped.emplace(ctx, input.path).header();
  using kind = value_kind;
  input.field = header.values == kind::pattern ? matrix_market_field::pattern
                : header.values == kind::complex_fp32 || header.values == kind::complex_fp64
                    ? matrix_market_field::complex
                    : matrix_market_field::real;
  input.single_precision = header.values == kind::fp32 || header.values == kind::complex_fp32;
  input.symmetry = header.symmetry;
  input.directed = header.directed;
  input.rows = header.rows;
  input.cols = header.cols;
}

void describe_matrix_market(input_description& input) {
  input.kind = input_kind::matrix_market;
  const matrix_market_header header = read_matrix_market_header(input.path);
  input.format = header.layout == matrix_market_layout::array ? "Matrix Market array" : "Matrix Market coordinate";
  input.field = header.field;
  input.symmetry = header.symmetry;
  input.directed = header.symmetry == symmetry_kind::general;
  input.rows = header.rows;
  input.cols = header.cols;
}

// Generated graphs have no values worth keeping; generated matrices do.
bool is_generated_graph(std::string_view spec) {
  constexpr std::string_view graphs[] = {"rmat", "grid2d", "grid3d", "path", "star", "complete"};
  spec.remove_prefix(std::min(spec.size(), std::string_view("gen:").size()));
  const std::string_view name = spec.substr(0, spec.find(':'));
  return std::find(std::begin(graphs), std::end(graphs), name) != std::end(graphs);
}

void describe_generated(input_description& input) {
  input.kind = input_kind::generator;
  input.format = "generated";
  if (is_generated_graph(input.path)) input.field = matrix_market_field::pattern;
  const generator_info info = describe_generator(input.path);
  input.directed = !info.symmetric;
  input.rows = info.rows;
  input.cols = info.cols;
}

}  // namespace

input_description describe_input(const context<host>& ctx, const std::string& path) {
  input_description input;
  input.path = path;
  if (is_generator_spec(path)) {
    describe_generated(input);
    return input;
  }
  const std::string head = peek(path);
  if (is_snapshot(path)) {
    describe_snapshot(ctx, input);
  } else if (head.starts_with("SPARGO\r\n")) {
    fail(error_code::unsupported, path, "a compressed snapshot cannot be mapped (expected it unpacked: gunzip it)");
  } else if (is_matrix_market(head, path)) {
    describe_matrix_market(input);
  } else {
    input.kind = input_kind::edge_list;
    input.format = "edge list";
  }
  return input;
}

std::string to_string(matrix_market_field field) {
  switch (field) {
    case matrix_market_field::real:
      return "real";
    case matrix_market_field::integer:
      return "integer";
    case matrix_market_field::complex:
      return "complex";
    case matrix_market_field::pattern:
      return "pattern";
  }
  return {};
}

std::string to_string(symmetry_kind symmetry) {
  switch (symmetry) {
    case symmetry_kind::general:
      return "general";
    case symmetry_kind::symmetric:
      return "symmetric";
    case symmetry_kind::skew_symmetric:
      return "skew-symmetric";
    case symmetry_kind::hermitian:
      return "hermitian";
  }
  return {};
}

std::int64_t vertex_names::id(std::int64_t vertex) const {
  switch (naming) {
    case vertex_naming::listed:
      return ids[static_cast<std::size_t>(vertex)];
    case vertex_naming::rows_from_one:
      return vertex + 1;
    case vertex_naming::from_zero:
      break;
  }
  return vertex;
}

std::optional<std::int64_t> vertex_names::vertex(std::int64_t wanted) const {
  if (naming == vertex_naming::listed) {
    const auto at = std::lower_bound(ids.begin(), ids.end(), wanted);
    if (at == ids.end() || *at != wanted) return std::nullopt;
    return at - ids.begin();
  }
  const std::int64_t first = naming == vertex_naming::rows_from_one ? 1 : 0;
  if (wanted < first || wanted - first >= vertices) return std::nullopt;
  return wanted - first;
}

std::vector<std::int64_t> vertex_names::all() const {
  if (naming == vertex_naming::listed) return ids;
  std::vector<std::int64_t> named(static_cast<std::size_t>(vertices));
  for (std::int64_t v = 0; v < vertices; ++v) named[static_cast<std::size_t>(v)] = id(v);
  return named;
}

}  // namespace spargo::apps
