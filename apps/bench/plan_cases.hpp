// Cases of a graph algorithm's plans on both backends, one file per algorithm:
//
//   template <class Space>
//   double measure(benchmark::State& state, const bench_graph<Space>& g, cores_algorithm algorithm) {
//     cores_plan<bfs_index, bfs_index, Space> plan(g.ctx(), g.view(), {.algorithm = algorithm});
//     const double seconds = g.median_run([&] { plan.run(); });
//     expect_no_fault(check_cores(g.cpu(), g.host_view(), g.fetch(plan.cores())));
//     return report_plan(state, g, plan, seconds);
//   }
//   const registration here{[] {
//     add_plan_cases<cores_algorithm>("cores", [](auto&... arguments) { return measure(arguments...); });
//   }};
//
// The cases are named GROUP/GRAPH/cpu/ALGORITHM and .../cuda/ALGORITHM, after the rows of the algorithm's table.
#pragma once

#include "bench/sssp_cases.hpp"

#include <spargo/core/enum_names.hpp>

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace spargo::bench {

// A graph of the benchmarks in memory of a space, in its context.
template <class Space>
class bench_graph {
 public:
  static constexpr bool on_host = std::same_as<Space, host>;

  explicit bench_graph(const bfs_spec& spec) : spec_(spec), p_(bfs_problem::of(spec)) {}

  [[nodiscard]] const context<host>& cpu() const { return p_.ctx; }
  [[nodiscard]] const context<Space>& ctx() const {
    if constexpr (on_host) {
      return p_.ctx;
    } else {
      static const context<device> ctx;
      return ctx;
    }
  }
  [[nodiscard]] bfs_problem& problem() const { return p_; }
  [[nodiscard]] bfs_view host_view() const { return p_.graph.view(); }
  [[nodiscard]] graph_view<bfs_index, bfs_index, Space> view() const {
    if constexpr (on_host) {
      return p_.graph.view();
    } else {
      return p_.device_graph->view();
    }
  }
  // With the weights of the shortest paths benchmarks.
  [[nodiscard]] const sssp_problem& weighted_problem() const { return sssp_problem::of(spec_); }
  [[nodiscard]] sssp_view host_weighted() const { return weighted_problem().view(); }
  [[nodiscard]] weighted_graph_view<sssp_weight, bfs_index, bfs_index, Space> weighted() const {
    if constexpr (on_host) {
      return host_weighted();
    } else {
      return weighted_problem().device_view();
    }
  }
  // A plan's result on the host.
  template <class T>
  [[nodiscard]] array<T, host> fetch(span<const T, Space> values) const {
    if constexpr (on_host) {
      return clone(p_.ctx, values);
    } else {
      return to_host(ctx(), values);
    }
  }
  // A plan's argument, from the host.
  template <class T>
  [[nodiscard]] array<T, Space> place(const array<T, host>& values) const {
    if constexpr (on_host) {
      return clone(p_.ctx, values.view());
    } else {
      return to_device(ctx(), values.view());
    }
  }
  // Median seconds of `run` by the host clock, which includes waiting for the device.
  template <class Run>
  [[nodiscard]] double median_run(Run&& run, int runs = 5, int warmups = 1) const {
    const auto finished = [&] {
      run();
      ctx().synchronize();
    };
    return median_seconds(finished, runs, warmups);
  }
  // The same of a run that never waits for the device: there by its events, each time with a cold L2 cache.
  template <class Run>
  [[nodiscard]] double median_stream_run(Run&& run, int runs = 5, int warmups = 1) const {
    if constexpr (!on_host && config::has_cuda) {
      return stream_seconds(ctx(), run);
    } else {
      return median_run(run, runs, warmups);
    }
  }

 private:
  bfs_spec spec_;
  bfs_problem& p_;
};

// Fails the case; `fault` is what a check returns.
inline void expect_no_fault(const std::string& fault) {
  if (!fault.empty()) throw wrong_result("wrong result: " + fault);
}

// Million stored edges per second, each counted once, and the workspace. Returns the seconds.
template <class Space, class Plan>
double report_plan(benchmark::State& state, const bench_graph<Space>& g, const Plan& plan, double seconds) {
  state.counters[mteps] = static_cast<double>(g.host_view().out.nnz()) / seconds * 1e-6;
  state.counters["workspace_MB"] = static_cast<double>(plan.workspace_bytes()) * 1e-6;
  return seconds;
}

// The graphs of each backend, or the user's file.
struct plan_graphs {
  std::vector<bfs_case> on_host = bfs_cases_or_file({{"rmat_20_16", {"gen:rmat:scale=20,degree=16"}},
                                                     {"uniform_1m_16", {"gen:uniform:rows=1048576,degree=16"}},
                                                     {"grid_2000", {"gen:grid2d:n=2000"}}});
  std::vector<bfs_case> on_device = device_graphs_or_file();

  // For algorithms of undirected graphs, without the directed ones; a user's file is taken as undirected.
  [[nodiscard]] plan_graphs undirected() && {
    for (std::vector<bfs_case>* cases : {&on_host, &on_device}) {
      const auto is_directed = [](const bfs_case& c) { return c.spec.direction == direction_kind::directed; };
      if (cases->size() > 1) std::erase_if(*cases, is_directed);
      for (bfs_case& c : *cases) c.spec.direction = direction_kind::undirected;
    }
    return std::move(*this);
  }
};

// `measure(state, bench_graph<Space>, argument)` for each graph of the space.
template <class Space, class Argument, class Measure>
void add_plan_case(const bfs_case& c, const std::string& group, std::string_view name, const Argument& argument,
                   const Measure& measure) {
  constexpr bool on_host = std::same_as<Space, host>;
  add_case(group + "/" + c.name + (on_host ? "/cpu/" : "/cuda/") + std::string(name),
           [=](benchmark::State& state) { return measure(state, bench_graph<Space>(c.spec), argument); });
}

// Cases for each of several arguments, by their names, on both backends.
template <class Argument, class Measure>
void add_plan_cases(const std::string& group, const std::vector<std::pair<std::string, Argument>>& arguments,
                    const Measure& measure, const plan_graphs& graphs = {}) {
  const auto add = [&]<class Space>(std::type_identity<Space>, const std::vector<bfs_case>& cases) {
    for (const bfs_case& c : cases) {
      for (const auto& [name, argument] : arguments) add_plan_case<Space>(c, group, name, argument, measure);
    }
  };
  if (current_settings().host) add(std::type_identity<host>{}, graphs.on_host);
  if (current_settings().device) add(std::type_identity<device>{}, graphs.on_device);
}

// Cases for each algorithm of an enumeration but `automatic`, on each backend that has it.
template <named_enum E, class Measure>
void add_plan_cases(const std::string& group, const Measure& measure, const plan_graphs& graphs = {}) {
  const auto add = [&]<class Space>(std::type_identity<Space>, const std::vector<bfs_case>& cases) {
    for (const bfs_case& c : cases) {
      for (const enum_row<E>& row : enum_rows<E>()) {
        const bool exists = std::same_as<Space, host> ? row.on_host : row.on_device;
        if (exists && row.name != "automatic") add_plan_case<Space>(c, group, row.name, row.value, measure);
      }
    }
  };
  if (current_settings().host) add(std::type_identity<host>{}, graphs.on_host);
  if (current_settings().device) add(std::type_identity<device>{}, graphs.on_device);
}

}  // namespace spargo::bench
