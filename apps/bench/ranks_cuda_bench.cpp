// Distributed operations with one GPU per rank, beside the single-GPU plan.
//
// Groups ranks/OPERATION/INPUT. Rungs: `one_plan`; then `1_rank`, `2_ranks` and so on up to the number of GPUs, as
// threads of one process. With one GPU, `2_ranks_of_one_gpu` shows the overhead of distribution, not its gain. The time
// of a run is the slowest rank's, from a barrier until its GPU is done. Results are gathered and checked like those of
// one process.
//
// These cases run only if the filter names `ranks`.
#include "bench/components_cases.hpp"
#include "bench/pagerank_cases.hpp"
#include "bench/plan_cases.hpp"
#include "bench/spmv_device.hpp"

#include <spargo/distributed/bfs.hpp>
#include <spargo/distributed/communities.hpp>
#include <spargo/distributed/components.hpp>
#include <spargo/distributed/krylov.hpp>
#include <spargo/distributed/pagerank.hpp>
#include <spargo/distributed/spmv.hpp>

#include <thread>

namespace spargo::bench {

namespace {

struct team {
  int ranks;
  std::string name;
};

const std::vector<int>& gpus() {
  static const std::vector<int> usable = query_devices().ordinals;
  return usable;
}

const std::vector<team>& teams() {
  static const std::vector<team> all = [] {
    std::vector<team> made{{1, "1_rank"}};
    if (gpus().size() < 2) made.push_back({2, "2_ranks_of_one_gpu"});
    for (int ranks = 2; ranks <= std::ssize(gpus()); ranks *= 2)
      made.push_back({ranks, fmt::format("{}_ranks", ranks)});
    return made;
  }();
  return all;
}

struct member {
  communicator comm;
  context<device> gpu;
  context<host> cpu;

  [[nodiscard]] bool is_first() const { return comm.rank() == 0; }
  template <class T>
  [[nodiscard]] std::vector<T> gathered(span<const T, device> mine) const {
    return comm.all_gather(span<const T, host>(to_host(gpu, mine)));
  }

  // Times `runs` calls after warm-up, each with `times` runs. Collective.
  template <class Run>
  [[nodiscard]] std::vector<double> seconds(Run&& run, int runs = 21, int times = 1) const {
    constexpr int warmups = 3;
    std::vector<double> all;
    for (int k = -warmups; k < runs; ++k) {
      comm.barrier();
      const auto start = std::chrono::steady_clock::now();
      for (int t = 0; t < times; ++t) run(std::max(k, 0));
      gpu.synchronize();
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
      if (k >= 0) all.push_back(taken.count() / times);
    }
    comm.reduce_in_place<double>(all, reduction::max);
    return all;
  }
};

// measure(member) on every rank; it returns the same seconds on all.
template <class Measure>
double on_team(int ranks, Measure&& measure) {
  double seconds = 0;
  run_team(ranks, [&](const communicator& comm) {
    const int threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / ranks);
    const int gpu = gpus()[static_cast<std::size_t>(comm.rank()) % gpus().size()];
    const member mine{comm, context<device>({.ordinal = gpu}), context<host>({.threads = threads})};
    const double found = measure(mine);
    if (mine.is_first()) seconds = found;
  });
  return seconds;
}

// This rank's entries [first, last) of `all`.
struct share {
  std::int64_t first;
  std::int64_t last;
  share(const communicator& comm, std::int64_t size)
      : first(size * comm.rank() / comm.size()), last(size * (comm.rank() + 1) / comm.size()) {}
};

// --- Graphs ---------------------------------------------------------------

using ranked_graph = distributed_graph<bfs_index>;

ranked_graph share_out(const member& mine, const bfs_problem& p) {
  const auto rows = p.graph.view().out;
  const share vertices(mine.comm, rows.rows);
  const std::int64_t begin = rows.offsets[vertices.first];
  coo_matrix<pattern, std::int64_t, host> pairs(mine.cpu, rows.rows, rows.rows, rows.offsets[vertices.last] - begin);
  for (std::int64_t v = vertices.first; v < vertices.last; ++v) {
    for (std::int64_t e = rows.offsets[v]; e < rows.offsets[v + 1]; ++e) {
      pairs.row_indices()[e - begin] = v;
      pairs.col_indices()[e - begin] = rows.indices[e];
    }
  }
  return {mine.comm, mine.cpu, pairs.view(), {.direction = direction_kind::undirected}};
}

constexpr int searches = 32;

double search_alone(benchmark::State& state, const bfs_spec& spec) {
  bfs_problem& p = bfs_problem::of(spec);
  const context<device>& ctx = device_context();
  bfs_plan<bfs_index, bfs_index, device> plan(ctx, p.device_graph->view(), {.output = bfs_output::levels_and_parents});
  const member mine{communicator(), ctx, p.ctx};
  const auto seconds = mine.seconds([&](int k) { plan.run(p.sources[static_cast<std::size_t>(k)]); }, searches);
  for (std::size_t k = 0; k < searches; ++k) {
    plan.run(p.sources[k]);
    validate(p, k, to_host(ctx, plan.levels()).view(), to_host(ctx, plan.parents()).view());
  }
  note_searches(state, p, seconds);
  return median(seconds);
}

double search(benchmark::State& state, const bfs_spec& spec, int ranks) {
  bfs_problem& p = bfs_problem::of(spec);
  return on_team(ranks, [&](const member& mine) {
    const ranked_graph g = share_out(mine, p);
    distributed_bfs_plan<bfs_index, device> plan(mine.comm, mine.gpu, g);
    const auto seconds = mine.seconds([&](int k) { plan.run(p.sources[static_cast<std::size_t>(k)]); }, searches);
    for (std::size_t k = 0; k < searches; ++k) {
      plan.run(p.sources[k]);
      const auto levels = mine.gathered(plan.levels());
      const auto parents = mine.gathered(plan.parents());
      if (mine.is_first()) validate(p, k, levels, parents);
    }
    if (mine.is_first()) note_searches(state, p, seconds);
    return median(seconds);
  });
}

double rank_alone(benchmark::State& state, const bfs_spec& spec) {
  bfs_problem& p = bfs_problem::of(spec);
  const context<device>& ctx = device_context();
  pagerank_plan<double, bfs_index, bfs_index, device> plan(ctx, p.device_graph->view(), pagerank_steps_options());
  const member mine{communicator(), ctx, p.ctx};
  const double step = median(mine.seconds([&](int) { plan.run(); })) / static_cast<double>(pagerank_steps);
  expect_ranks<double>(p, to_host(ctx, plan.ranks()), pagerank_steps_options());
  report_step<double>(state, p, step);
  return step;
}

double rank(benchmark::State& state, const bfs_spec& spec, int ranks) {
  bfs_problem& p = bfs_problem::of(spec);
  const double step = on_team(ranks, [&](const member& mine) {
    const ranked_graph g = share_out(mine, p);
    distributed_pagerank_plan<bfs_index, device> plan(mine.comm, mine.gpu, g, pagerank_steps_options());
    const double seconds = median(mine.seconds([&](int) { plan.run(); }));
    const auto found = mine.gathered(plan.ranks());
    if (mine.is_first()) expect_ranks<double>(p, found, pagerank_steps_options());
    return seconds / static_cast<double>(pagerank_steps);
  });
  report_step<double>(state, p, step);
  return step;
}

double label_alone(benchmark::State& state, const bfs_spec& spec) {
  bfs_problem& p = bfs_problem::of(spec);
  const context<device>& ctx = device_context();
  components_plan<bfs_index, bfs_index, device> plan(ctx, p.device_graph->view());
  const member mine{communicator(), ctx, p.ctx};
  const double seconds = median(mine.seconds([&](int) { plan.run(); }));
  expect_components(p, to_host(ctx, plan.labels()), components_connection::weak);
  report_components(state, p, seconds);
  return seconds;
}

double label(benchmark::State& state, const bfs_spec& spec, int ranks) {
  bfs_problem& p = bfs_problem::of(spec);
  const double seconds = on_team(ranks, [&](const member& mine) {
    const ranked_graph g = share_out(mine, p);
    distributed_components_plan<bfs_index, device> plan(mine.comm, mine.gpu, g);
    const double taken = median(mine.seconds([&](int) { plan.run(); }));
    const auto found = mine.gathered(plan.labels());
    if (mine.is_first()) expect_components(p, found, components_connection::weak);
    return taken;
  });
  report_components(state, p, seconds);
  return seconds;
}

constexpr communities_options ten_rounds{.iterations = 10};

double propagate_alone(benchmark::State& state, const bfs_spec& spec) {
  bfs_problem& p = bfs_problem::of(spec);
  const context<device>& ctx = device_context();
  communities_plan<bfs_index, bfs_index, device> plan(ctx, p.device_graph->view(), ten_rounds);
  const member mine{communicator(), ctx, p.ctx};
  const double seconds = median(mine.seconds([&](int) { plan.run(); }));
  expect_no_fault(check_communities(p.ctx, p.graph.view(), to_host(ctx, plan.labels()), ten_rounds));
  state.counters["rounds"] = static_cast<double>(plan.rounds());
  return seconds;
}

double propagate(benchmark::State& state, const bfs_spec& spec, int ranks) {
  bfs_problem& p = bfs_problem::of(spec);
  std::int64_t sent = 0;
  const double seconds = on_team(ranks, [&](const member& mine) {
    const ranked_graph g = share_out(mine, p);
    distributed_communities_plan<bfs_index, device> plan(mine.comm, mine.gpu, g, ten_rounds);
    const double taken = median(mine.seconds([&](int) { plan.run(); }));
    const traffic before = mine.comm.sent();
    plan.run();
    const std::int64_t bytes = mine.comm.all_reduce(mine.comm.sent().bytes - before.bytes, reduction::sum);
    const auto found = mine.gathered(plan.labels());
    if (mine.is_first()) {
      expect_no_fault(check_communities(p.ctx, p.graph.view(), span<const bfs_index, host>(found), ten_rounds));
      sent = bytes;
    }
    return taken;
  });
  state.counters["MB_sent"] = static_cast<double>(sent) * 1e-6;
  return seconds;
}

// --- Matrices -------------------------------------------------------------

distributed_matrix<double> share_matrix(const member& mine, const std::string& source) {
  const auto& all = generated(source);  // read earlier by one thread
  const share entries(mine.comm, all.nnz());
  coo_matrix<double, std::int64_t, host> part(mine.cpu, all.rows(), all.cols(), entries.last - entries.first);
  for (std::int64_t k = entries.first; k < entries.last; ++k) {
    part.row_indices()[k - entries.first] = all.row_indices()[k];
    part.col_indices()[k - entries.first] = all.col_indices()[k];
    part.values()[k - entries.first] = all.values()[k];
  }
  return {mine.comm, mine.cpu, part.view()};
}

constexpr int products = 20;  // back to back

double report_products(benchmark::State& state, const spmv_problem<double>& p, double seconds) {
  report_rates(state, compulsory_bytes<double>(p.matrix.rows(), p.matrix.cols(), p.matrix.nnz()), seconds, 0);
  return seconds;
}

double multiply_alone(benchmark::State& state, const std::string& source, spmv_storage storage) {
  auto& p = cached<spmv_problem<double>>(source);
  const spmv_plan plan(p.ctx, p.matrix, {.storage = storage});
  const member mine{communicator(), p.ctx, context<host>({.threads = 1})};
  p.forget();
  const double seconds = median(mine.seconds([&](int) { plan.run(1.0, p.x.view(), 0.0, p.y.view()); }, 21, products));
  p.validate();
  return report_products(state, p, seconds);
}

double multiply(benchmark::State& state, const std::string& source, int ranks, product_split split, device_link link) {
  auto& p = cached<spmv_problem<double>>(source);
  (void)generated(source);
  const double seconds = on_team(ranks, [&](const member& mine) {
    const auto a = share_matrix(mine, source);
    const distributed_spmv_plan<double, device> plan(mine.comm, mine.gpu, a, {.link = link}, split);
    array<double, device> x(mine.gpu, plan.local_columns());
    array<double, device> y(mine.gpu, plan.own_rows());
    std::vector<double> own(static_cast<std::size_t>(plan.own_columns()));
    for (std::size_t i = 0; i < own.size(); ++i) {
      own[i] = p.x_of(a.column_parts().first(mine.comm.rank()) + static_cast<std::int64_t>(i));
    }
    copy<double>(mine.gpu, span<const double, host>(own), x.view().subspan(0, plan.own_columns()));
    mine.gpu.synchronize();
    const double taken = median(mine.seconds([&](int) { plan.run(1.0, x.view(), 0.0, y.view()); }, 21, products));
    const auto found = mine.gathered(std::as_const(y).view());
    if (mine.is_first()) {
      expect_all("y: element", span<const double, host>(found),
                 [&](std::int64_t row) { return p.expected[static_cast<std::size_t>(row)]; });
    }
    return taken;
  });
  return report_products(state, p, seconds);
}

// Conjugate gradients, time per iteration, from 0 with b = 1.
double solve(const std::string& source, int ranks) {
  (void)generated(source);
  return on_team(ranks, [&](const member& mine) {
    const auto a = share_matrix(mine, source);
    const krylov_options options{.method = krylov_method::cg,
                                 .preconditioner = krylov_preconditioner::none,
                                 .tolerance = 0,
                                 .max_iterations = 50};
    const distributed_krylov_plan<double, device> plan(mine.comm, mine.gpu, a, options);
    const distributed_spmv_plan<double, device> multiplied(mine.comm, mine.gpu, a);
    const std::int64_t n = multiplied.own_rows();
    const auto b = to_device(mine.gpu, std::vector<double>(static_cast<std::size_t>(n), 1.0));
    array<double, device> x(mine.gpu, multiplied.local_columns());
    const span<double, device> own = x.view().subspan(0, n);
    krylov_result found;
    const double taken = median(mine.seconds([&](int) {
      fill_zero(mine.gpu, x.view());
      found = plan.run(b.view(), own);
    }));
    array<double, device> product(mine.gpu, n);  // A x, for the residual
    multiplied.run(1.0, x.view(), 0.0, product.view());
    double square = 0;
    for (const double v : to_host(mine.gpu, product)) square += (1.0 - v) * (1.0 - v);
    const double residual = std::sqrt(mine.comm.all_reduce(square, reduction::sum) / static_cast<double>(a.rows()));
    if (!(std::abs(residual - found.relative_residual) <= 1e-9 * (1 + residual))) {
      throw wrong_result(
          fmt::format("wrong result: a residual of {}, said to be {}", residual, found.relative_residual));
    }
    return taken / static_cast<double>(found.iterations);
  });
}

// 128 elements of 8 bytes from each rank to each other; one round of many.
double exchange_round(int ranks, device_link link) {
  constexpr std::int64_t per = 128;
  return on_team(ranks, [&](const member& mine) {
    const partition owners = even_partition(per * mine.comm.size(), mine.comm.size());
    std::vector<std::int64_t> ghosts;
    for (std::int64_t e = 0; e < owners.size(); ++e) {
      if (owners.owner(e) != mine.comm.rank()) ghosts.push_back(e);
    }
    std::vector<double> values;
    for (std::int64_t e = 0; e < per; ++e) values.push_back(static_cast<double>(owners.first(mine.comm.rank()) + e));
    exchange<device> halo(mine.comm, mine.gpu, owners, ghosts, sizeof(double), {.link = link});
    const auto own = to_device(mine.gpu, values);
    array<double, device> arrived(mine.gpu, std::ssize(ghosts));
    const double taken = median(mine.seconds(
        [&](int) {
          halo.start(own.view());
          halo.finish(arrived.view());
        },
        21, 100));
    expect_all("ghost", span<const double, host>(to_host(mine.gpu, arrived)),
               [&](std::int64_t k) { return static_cast<double>(ghosts[static_cast<std::size_t>(k)]); });
    return taken;
  });
}

// --- Cases ----------------------------------------------------------------

template <class Alone, class Shared>
void add_graph_cases(const std::string& operation, const bfs_case& c, Alone alone, Shared shared) {
  const std::string group = "ranks/" + operation + "/" + c.name + "/";
  add_case(group + "one_plan", [=](benchmark::State& state) { return alone(state, c.spec); });
  for (const team& t : teams()) {
    add_case(group + t.name, [=](benchmark::State& state) { return shared(state, c.spec, t.ranks); });
  }
}

void add_products(const spmv_case& c) {
  const std::string group = "ranks/spmv/" + c.name + "/";
  for (const auto storage : {spmv_storage::borrowed, spmv_storage::copied}) {
    add_case(group + (storage == spmv_storage::copied ? "one_plan_copied" : "one_plan"),
             [=](benchmark::State& state) { return multiply_alone(state, c.source, storage); });
  }
  for (const team& t : teams()) {
    const auto add = [&](const std::string& rung, product_split split, device_link link) {
      add_case(group + t.name + rung,
               [=](benchmark::State& state) { return multiply(state, c.source, t.ranks, split, link); });
    };
    add("", product_split::automatic, device_link::automatic);
    add(":rows", product_split::rows, device_link::automatic);
    add(":columns", product_split::columns, device_link::automatic);
    if (t.ranks > 1) add(":host_memory", product_split::automatic, device_link::host_memory);
  }
}

const registration here{[] {
  const std::string& filter = current_settings().filter;
  if (!current_settings().device || (!filter.empty() && filter.find("ranks") == std::string::npos)) return;
  for (bfs_case c : bfs_cases_or_file({{"rmat_22_16", {"gen:rmat:scale=22,degree=16"}},
                                       {"uniform_4m_16", {"gen:uniform:rows=4194304,degree=16"}},
                                       {"grid_2048", {"gen:grid2d:n=2048"}}})) {
    c.spec.direction = direction_kind::undirected;
    add_graph_cases("bfs", c, search_alone, search);
    add_graph_cases("pagerank", c, rank_alone, rank);
    add_graph_cases("components", c, label_alone, label);
    add_graph_cases("communities", c, propagate_alone, propagate);
  }
  for (const spmv_case& c : spmv_cases_or_file({{"laplacian2d_4096", "gen:laplacian2d:n=4096"},
                                                {"laplacian3d27_128", "gen:laplacian3d:n=128,points=27"},
                                                {"uniform_1m_16", "gen:uniform:rows=1000000,degree=16"},
                                                {"uniform_8m_16", "gen:uniform:rows=8388608,degree=16"},
                                                {"rmat_20_16", "gen:rmat:scale=20,degree=16"}})) {
    add_products(c);
  }
  if (!current_settings().file.empty()) return;
  for (const team& t : teams()) {
    add_case("ranks/cg/laplacian2d_4096/" + t.name,
             [=](benchmark::State&) { return solve("gen:laplacian2d:n=4096", t.ranks); });
    if (t.ranks == 1) continue;
    for (const auto link : {device_link::peer, device_link::nccl, device_link::host_memory}) {
      add_case("ranks/exchange/128_doubles/" + t.name + ":" + std::string(to_string(link)),
               [=](benchmark::State&) { return exchange_round(t.ranks, link); });
    }
  }
}};

}  // namespace

}  // namespace spargo::bench
