// SpMV on the host: algorithms and formats beside peers, and `automatic` on 1 to 16 threads. Products are checked.
#include "bench/check.hpp"
#include "bench/host_timing.hpp"
#include "bench/native_products.hpp"
#include "bench/spmv_cases.hpp"

#include <fmt/format.h>

#include <cmath>
#include <memory>

namespace spargo::bench {

namespace {

struct host_case {
  spmv_case matrix;
  symmetry_kind symmetry = symmetry_kind::general;  // `symmetric`: entries count in both directions
};

// A matrix with its vectors; the last one is cached, one over both precisions.
template <class V>
struct problem {
  context<host> ctx = context<host>({.threads = current_settings().threads});
  csr_matrix<V, std::int32_t, std::int32_t, host> matrix;
  array<V, host> x;
  array<V, host> y;
  std::vector<bounded> expected;  // A x in double precision

  explicit problem(const host_case& c) {
    auto entries = generated_as<V>(ctx, c.matrix.source);
    if (c.symmetry != symmetry_kind::general) entries = expand_symmetry(ctx, entries.view(), c.symmetry);
    matrix = to_csr<std::int32_t>(ctx, std::as_const(entries).view());
    x = {ctx, matrix.cols()};
    y = {ctx, matrix.rows()};
    for (std::int64_t i = 0; i < x.size(); ++i) x[i] = static_cast<V>(1) / static_cast<V>(1 + i % 1000);
    set_expected();
  }

  static problem& of(const host_case& c) {
    static std::string held;
    static std::unique_ptr<problem> kept;
    if (held != c.matrix.name || kept == nullptr) {
      if (drop_held()) drop_held()();
      kept = std::make_unique<problem>(c);
      held = c.matrix.name;
      drop_held() = [] { kept.reset(); };
    }
    return *kept;
  }

  // Throws unless y is A x within rounding.
  void validate() const {
    expect_all("y: element", y.view(), [&](std::int64_t row) { return expected[static_cast<std::size_t>(row)]; });
  }

 private:
  static std::function<void()>& drop_held();

  void set_expected() {
    expected.resize(static_cast<std::size_t>(matrix.rows()));
    for (std::int32_t row = 0; row < matrix.rows(); ++row) {
      double sum = 0;
      double size = 0;
      for (std::int32_t k = matrix.offsets()[row]; k < matrix.offsets()[row + 1]; ++k) {
        const double product = static_cast<double>(matrix.values()[k]) * static_cast<double>(x[matrix.indices()[k]]);
        sum += product;
        size += std::abs(product);
      }
      const double length = matrix.offsets()[row + 1] - matrix.offsets()[row];
      expected[static_cast<std::size_t>(row)] = {sum, rounding_bound<V>(length, size)};
    }
  }
};

std::function<void()>& drop_any() {
  static std::function<void()> drop;
  return drop;
}
template <class V>
std::function<void()>& problem<V>::drop_held() {
  return drop_any();
}

template <class V>
double measure(benchmark::State& state, problem<V>& p, const host_product& product) {
  poison(p.y.view());
  const double seconds = median_seconds(product.run);
  if (product.fetch) product.fetch();
  p.validate();
  const double bytes = compulsory_bytes<V>(p.matrix.rows(), p.matrix.cols(), p.matrix.nnz());
  state.counters[gbytes_per_second] = bytes / seconds * 1e-9;
  state.counters[fraction_of_triad] = bytes / seconds / host_triad_rate(host_threads());
  return seconds;
}

template <class V, class Matrix>
double measure_plan(benchmark::State& state, problem<V>& p, const Matrix& matrix, const spmv_options& options,
                    int threads = 0) {
  const context<host> ctx({.threads = threads == 0 ? p.ctx.threads() : threads});
  const auto start = std::chrono::steady_clock::now();
  const spmv_plan<V, std::int32_t, std::int32_t, host> plan(ctx, matrix.view(), options);
  const double analysis = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const double seconds = measure(state, p, {[&] { plan.run(V{1}, std::as_const(p.x).view(), V{0}, p.y.view()); }});
  state.counters["plan_products"] = analysis / seconds;
  state.counters["plan_MB"] = static_cast<double>(plan.workspace_bytes()) * 1e-6;
  return seconds;
}

template <class V>
void add_formats(const std::string& group, const host_case& c) {
  add_case(group + "ell", [=](benchmark::State& state) {
    auto& p = problem<V>::of(c);
    return measure_plan(state, p, to_ell(p.ctx, p.matrix.view()), {.algorithm = spmv_algorithm::ell});
  });
  for (const std::int32_t height : {8, 32}) {
    add_case(group + "sell:" + std::to_string(height), [=](benchmark::State& state) {
      auto& p = problem<V>::of(c);
      return measure_plan(state, p, to_sell(p.ctx, p.matrix.view(), {.slice_height = height}),
                          {.algorithm = spmv_algorithm::sell});
    });
  }
  add_case(group + "coo:segmented", [=](benchmark::State& state) {
    auto& p = problem<V>::of(c);
    return measure_plan(state, p, to_coo(p.ctx, p.matrix.view()), {.algorithm = spmv_algorithm::coo_segmented});
  });
}

template <class V>
void add_matrix(const host_case& c) {
  const std::string group = "spmv/" + c.matrix.name + "/" + precision_name<V> + "/cpu/";
  const auto add_csr = [&](const std::string& rung, const spmv_options& options) {
    add_case(group + rung, [=](benchmark::State& state) {
      auto& p = problem<V>::of(c);
      return measure_plan(state, p, p.matrix, options);
    });
  };
  add_csr("csr:row_per_thread", {.algorithm = spmv_algorithm::row_per_thread});
  add_csr("csr:merge_path", {.algorithm = spmv_algorithm::merge_path});
  add_csr("csr:automatic", {});
  add_csr("csr:automatic_copied", {.storage = spmv_storage::copied});
  add_formats<V>(group, c);
  auto peers = host_peers<V>();
  peers.push_back({"openmp_loop", native_peer<V>(native::openmp_loop<V>)});
  for (const auto& peer : peers) {
    add_peer(group + peer.name, [=](benchmark::State& state) {
      auto& p = problem<V>::of(c);
      return measure(state, p, peer.make(std::as_const(p.matrix).view(), p.x.data(), p.y.data(), p.ctx.threads()));
    });
  }
}

// From one thread to sixteen, up to the number of processors.
void add_scaling(const host_case& c) {
  const std::string group = "spmv_scaling/" + c.matrix.name + "/fp64/cpu/";
  for (int threads = 1; threads <= std::min(16, host_threads()); threads *= 2) {
    for (const auto storage : {spmv_storage::borrowed, spmv_storage::copied}) {
      add_case(fmt::format("{}{}:threads:{}", group, to_string(storage), threads), [=](benchmark::State& state) {
        auto& p = problem<double>::of(c);
        state.counters[host_threads_used] = threads;
        return measure_plan(state, p, p.matrix, {.storage = storage}, threads);
      });
    }
  }
}

void add_all() {
  if (!current_settings().host) return;
  const std::vector<spmv_case> built_in{{"laplacian2d_2000", "gen:laplacian2d:n=2000"},
                                        {"rmat_20_16_symmetric", "gen:rmat:scale=20,degree=16"},
                                        {"uniform_1m_20", "gen:uniform:rows=1000000,degree=20"},
                                        {"banded_1m_21", "gen:banded:rows=1000000,degree=21"}};
  std::vector<host_case> cases;
  for (const spmv_case& c : spmv_cases_or_file(built_in)) {
    const bool both_ways = c.name == "rmat_20_16_symmetric";
    cases.push_back({c, both_ways ? symmetry_kind::symmetric : symmetry_kind::general});
  }
  for (const host_case& c : cases) {
    add_matrix<double>(c);
    add_matrix<float>(c);
  }
  for (const host_case& c : cases) add_scaling(c);
}

const registration here{add_all};

}  // namespace

}  // namespace spargo::bench
