#include "io/generate/spec.hpp"

#include "core/rethrow.hpp"

#include <spargo/core/error.hpp>
#include <spargo/io/generate.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>

namespace spargo {

namespace detail {

namespace {

constexpr std::int64_t max_side = std::int64_t{1} << 40;
constexpr std::int64_t max_entries = std::int64_t{1} << 46;  // 2^46 pairs of int32 are 512 TiB
constexpr std::int64_t max_grid = std::int64_t{1} << 41;     // rows, of up to 27 entries each

struct kind_entry {
  std::string_view name;
  generator_kind kind;
  std::string_view keys;  // comma-separated, for messages and for the check
};

constexpr std::array<kind_entry, 11> kinds = {{
    {"rmat", generator_kind::rmat, "scale,degree,seed,a,b,c"},
    {"uniform", generator_kind::uniform, "rows,cols,degree,seed"},
    {"grid2d", generator_kind::grid2d, "n,m"},
    {"grid3d", generator_kind::grid3d, "n,m,k"},
    {"laplacian2d", generator_kind::laplacian2d, "n,m"},
    {"laplacian3d", generator_kind::laplacian3d, "n,m,k,points"},
    {"banded", generator_kind::banded, "rows,degree,seed"},
    {"powerlaw", generator_kind::powerlaw, "rows,degree,max,alpha,seed"},
    {"path", generator_kind::path, "n"},
    {"star", generator_kind::star, "n"},
    {"complete", generator_kind::complete, "n"},
}};

bool in_list(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    if (list.substr(0, comma) == word) return true;
    list = comma == std::string_view::npos ? std::string_view{} : list.substr(comma + 1);
  }
  return false;
}

// The key=value part of one spec, with typed and range-checked access.
class spec_reader {
 public:
  spec_reader(std::string_view text, const kind_entry& kind, std::string_view rest) : text_(text) {
    while (!rest.empty()) {
      const std::size_t comma = rest.find(',');
      add(kind, rest.substr(0, comma));
      rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
    }
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw error(error_code::parse, fmt::format("{}: {}", text_, what));
  }

  [[nodiscard]] std::int64_t integer(std::string_view key, std::optional<std::int64_t> otherwise, std::int64_t least,
                                     std::int64_t most) const {
    return number<std::int64_t>(key, otherwise, least, most, "an integer");
  }
  [[nodiscard]] std::uint64_t seed() const {
    return number<std::uint64_t>("seed", 1, 0, std::numeric_limits<std::uint64_t>::max(), "an integer");
  }
  [[nodiscard]] double real(std::string_view key, double otherwise, double least, double most) const {
    return number<double>(key, otherwise, least, most, "a number");
  }

 private:
  void add(const kind_entry& kind, std::string_view item) {
    const std::size_t equals = item.find('=');
    const std::string_view key = item.substr(0, equals);
    if (equals == std::string_view::npos) fail(fmt::format("'{}' is not of the form key=value", item));
    if (!in_list(kind.keys, key)) fail(fmt::format("{} has no key '{}' (expected {})", kind.name, key, kind.keys));
    if (!values_.emplace(key, item.substr(equals + 1)).second) fail(fmt::format("'{}' is given twice", key));
  }

  template <class T>
  [[nodiscard]] T number(std::string_view key, std::optional<T> otherwise, T least, T most,
                         std::string_view noun) const {
    const auto found = values_.find(key);
    if (found == values_.end()) {
      if (!otherwise) fail(fmt::format("'{}' is missing", key));
      return *otherwise;
    }
    const std::string_view value = found->second;
    T result{};
    const auto [end, status] = std::from_chars(value.data(), value.data() + value.size(), result);
    const bool whole = end == value.data() + value.size() && status == std::errc{};
    if (!whole || !(result >= least && result <= most)) {
      fail(fmt::format("{}={} (expected {} from {} to {})", key, value, noun, least, most));
    }
    return result;
  }

  std::string_view text_;
  std::map<std::string_view, std::string_view, std::less<>> values_;
};

// The product of `factors`; an error if it exceeds the limit. `noun`: what is counted.
std::int64_t product(const spec_reader& in, std::initializer_list<std::int64_t> factors, std::int64_t limit,
                     std::string_view noun) {
  std::int64_t result = 1;
  for (const std::int64_t factor : factors) {
    if (factor != 0 && result > limit / factor) {
      in.fail(fmt::format("{} {} (expected at most 2^{} = {})", fmt::join(factors, " x "), noun,
                          std::bit_width(static_cast<std::uint64_t>(limit)) - 1, limit));
    }
    result *= factor;
  }
  return result;
}

void read_grid(const spec_reader& in, int dimensions, generator_spec& s) {
  s.n = in.integer("n", std::nullopt, 1, max_side);
  s.m = in.integer("m", s.n, 1, max_side);
  s.k = dimensions == 3 ? in.integer("k", s.n, 1, max_side) : 1;
  s.rows = s.cols =
      dimensions == 2 ? product(in, {s.n, s.m}, max_grid, "rows") : product(in, {s.n, s.m, s.k}, max_grid, "rows");
  s.symmetric = true;
  if (s.kind == generator_kind::laplacian3d) {
    s.points = static_cast<int>(in.integer("points", 7, 7, 27));
    if (s.points != 7 && s.points != 27) in.fail("points must be 7 or 27");
  }
  if (s.points == 27) {
    s.entries = (3 * s.n - 2) * (3 * s.m - 2) * (3 * s.k - 2);
    return;
  }
  const std::int64_t links = (s.n - 1) * s.m * s.k + s.n * (s.m - 1) * s.k + s.n * s.m * (s.k - 1);
  const bool diagonal = s.kind == generator_kind::laplacian2d || s.kind == generator_kind::laplacian3d;
  s.entries = 2 * links + (diagonal ? s.rows : 0);
}

void read_rmat(const spec_reader& in, generator_spec& s) {
  s.scale = static_cast<int>(in.integer("scale", std::nullopt, 0, 40));
  s.degree = in.integer("degree", 16, 1, max_side);
  s.a = in.real("a", s.a, 0.0, 1.0);
  s.b = in.real("b", s.b, 0.0, 1.0);
  s.c = in.real("c", s.c, 0.0, 1.0);
  if (s.a + s.b + s.c > 1.0) in.fail("a + b + c exceeds 1");
  s.rows = s.cols = std::int64_t{1} << s.scale;
  s.entries = product(in, {s.rows, s.degree}, max_entries, "entries");
}

void read_powerlaw(const spec_reader& in, generator_spec& s) {
  s.rows = s.cols = in.integer("rows", std::nullopt, 1, max_side);
  s.degree = in.integer("degree", std::nullopt, 1, std::min(s.cols, max_side));
  s.longest =
      in.integer("max", std::max(s.degree, std::min(std::int64_t{1} << 20, div_up(s.rows, 8))), s.degree, s.cols);
  const double alpha = in.real("alpha", 1.0, 0.25, 4.0);
  s.quarter_alpha = static_cast<int>(std::lround(alpha * 4));
  if (s.quarter_alpha != alpha * 4) in.fail(fmt::format("alpha={} (expected a multiple of 0.25)", alpha));
  s.entries = product(in, {s.rows, s.degree}, max_entries, "entries");
}

void read_graph(const spec_reader& in, generator_spec& s) {
  s.n = in.integer("n", std::nullopt, 1, max_side);
  s.rows = s.cols = s.n;
  s.symmetric = true;
  s.entries = s.kind == generator_kind::complete ? product(in, {s.n, s.n - 1}, max_entries, "entries") : 2 * (s.n - 1);
}

}  // namespace

generator_spec parse_generator_spec(std::string_view text) {
  const std::string_view body = text.substr(std::min<std::size_t>(text.size(), 4));
  const std::size_t colon = body.find(':');
  const std::string_view name = body.substr(0, colon);
  const auto* const kind =
      std::find_if(kinds.begin(), kinds.end(), [&](const kind_entry& e) { return e.name == name; });
  if (!is_generator_spec(text) || kind == kinds.end()) {
    std::string known;
    for (const auto& entry : kinds) known += (known.empty() ? "" : ", ") + std::string(entry.name);
    throw error(
        error_code::parse,
        fmt::format("{}: no generator '{}' (expected gen:NAME:key=value,... with NAME one of {})", text, name, known));
  }
  const spec_reader in(text, *kind, colon == std::string_view::npos ? std::string_view{} : body.substr(colon + 1));
  generator_spec s;
  s.kind = kind->kind;
  switch (s.kind) {
    case generator_kind::grid2d:
    case generator_kind::laplacian2d:
      read_grid(in, 2, s);
      return s;
    case generator_kind::grid3d:
    case generator_kind::laplacian3d:
      read_grid(in, 3, s);
      return s;
    case generator_kind::path:
    case generator_kind::star:
    case generator_kind::complete:
      read_graph(in, s);
      return s;
    case generator_kind::rmat:
      read_rmat(in, s);
      break;
    case generator_kind::powerlaw:
      read_powerlaw(in, s);
      break;
    case generator_kind::uniform:
      s.rows = in.integer("rows", std::nullopt, 1, max_side);
      s.cols = in.integer("cols", s.rows, 1, max_side);
      s.degree = in.integer("degree", std::nullopt, 0, max_side);
      s.entries = product(in, {s.rows, s.degree}, max_entries, "entries");
      break;
    case generator_kind::banded: {
      s.rows = s.cols = in.integer("rows", std::nullopt, 1, max_side);
      s.degree = in.integer("degree", std::nullopt, 1, 2 * s.rows - 1);
      if (s.degree % 2 == 0) in.fail(fmt::format("degree={} (expected an odd number of diagonals)", s.degree));
      const std::int64_t half = s.degree / 2;
      s.entries = product(in, {s.rows, s.degree}, max_entries, "entries") - half * (half + 1);
      break;
    }
  }
  s.seed = in.seed();
  return s;
}

namespace {

// Lower bound for the result of `draws` independent draws that each change it by at most one: McDiarmid's inequality,
// except with probability e^-72, and the rounding error of `expected`.
std::int64_t least_of(double expected, std::int64_t draws) {
  const double least = expected * (1 - 1e-6) - 6 * std::sqrt(static_cast<double>(draws));
  return std::max<std::int64_t>(static_cast<std::int64_t>(least), 0);
}

// Calls f(cells, probability of each) for off-diagonal cells drawn by i times a, j times b, k times c, l times d.
template <class F>
void for_each_rmat_class(const generator_spec& s, F&& f) {
  const double d = std::max(0.0, 1 - s.a - s.b - s.c);
  const auto ways = [](int n) { return std::lgamma(n + 1.0); };
  for (int i = 0; i <= s.scale; ++i) {
    for (int j = 0; i + j <= s.scale; ++j) {
      for (int k = j == 0 ? 1 : 0; i + j + k <= s.scale; ++k) {
        const int l = s.scale - i - j - k;
        f(std::exp(ways(s.scale) - ways(i) - ways(j) - ways(k) - ways(l)),
          std::pow(s.a, i) * std::pow(s.b, j) * std::pow(s.c, k) * std::pow(d, l));
      }
    }
  }
}

// Expected number of distinct places hit by `draws` draws among `cells` of equal probability.
double hit(double cells, double chance, std::int64_t draws) {
  return -cells * std::expm1(static_cast<double>(draws) * std::log1p(-std::min(chance, 1.0)));
}

}  // namespace

std::int64_t least_off_diagonal(const generator_spec& s) {
  const auto entries = static_cast<double>(s.entries);
  double share = 0;
  switch (s.kind) {
    case generator_kind::rmat:
      for_each_rmat_class(s, [&](double cells, double chance) { share += cells * chance; });
      return least_of(entries * share, s.entries);
    case generator_kind::uniform:
    case generator_kind::powerlaw:
      return least_of(entries - entries / static_cast<double>(s.cols), s.entries);
    case generator_kind::laplacian2d:
    case generator_kind::laplacian3d:
    case generator_kind::banded:
      return s.entries - s.rows;
    default:
      return s.entries;
  }
}

std::int64_t least_distinct(const generator_spec& s) {
  const auto rows = static_cast<double>(s.rows);
  const auto cols = static_cast<double>(s.cols);
  const auto entries = static_cast<double>(s.entries);
  double places = 0;
  switch (s.kind) {
    case generator_kind::rmat:
      for_each_rmat_class(s, [&](double cells, double chance) { places += hit(cells, chance, s.entries); });
      return least_of(places, s.entries);
    case generator_kind::uniform:
      return least_of(rows * hit(cols - 1, 1 / cols, s.degree), s.entries);
    // A row of d entries has d (d - 1) / 2 pairs; each pair has equal columns with probability 1 / `cols`.
    case generator_kind::powerlaw:
      return least_of(entries * (1 - (static_cast<double>(s.longest) / 2 + 1) / cols), s.entries);
    default:
      return least_off_diagonal(s);
  }
}

}  // namespace detail

bool is_generator_spec(std::string_view name) { return name.substr(0, 4) == "gen:"; }

generator_info describe_generator(std::string_view spec) try {
  const detail::generator_spec s = detail::parse_generator_spec(spec);
  return {s.rows,
          s.cols,
          s.entries,
          s.symmetric,
          detail::is_made_on_device(s.kind),
          detail::least_off_diagonal(s),
          detail::least_distinct(s)};
} catch (...) {
  detail::rethrow("describe_generator");
}

}  // namespace spargo
