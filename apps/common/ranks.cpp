#include "common/ranks.hpp"

#include "common/extent.hpp"
#include "common/memory_limit.hpp"
#include "common/progress.hpp"

#include <spargo/io/generate.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

namespace spargo::apps {

namespace {

// Ended by end_ranks alone: an exception on its way must not wait for the others.
std::unique_ptr<communicator> all;

// What rank 0 knows of an input.
struct input_head {
  input_kind kind;
  matrix_market_field field;
  symmetry_kind symmetry;
  bool directed, again;
  std::int64_t rows, cols;
};

struct facts_head {
  std::int64_t stored, expanded, rounded_integers, first_vertex, vertices;
  bool weighted;
  vertex_naming naming;
};

input_description describe_on_ranks(const communicator& comm, const context<host>& cpu, const std::string& path) {
  input_description input;
  on_first(comm, [&] { input = describe_input(cpu, path); });
  const input_head told = comm.all_gather(input_head{input.kind, input.field, input.symmetry, input.directed,
                                                     input.can_be_read_again(), input.rows, input.cols})
                              .front();
  if (comm.rank() != 0) {
    input.path = path;
    input.kind = told.kind;
    input.field = told.field;
    input.symmetry = told.symmetry;
    input.directed = told.directed;
    input.rows = told.rows;
    input.cols = told.cols;
  }
  const bool maps = told.kind == input_kind::snapshot && told.again;
  together(comm, [&] {
    if (maps && comm.rank() != 0) input = describe_input(cpu, path);
  });
  return input;
}

// Rows [first, last) as entries.
template <entry_type V, index_type I, index_type O>
coo_matrix<V, std::int64_t, host> list_rows(const context<host>& ctx, const csr_view<const V, I, O, host>& a,
                                            std::int64_t first, std::int64_t last) {
  const std::int64_t begin = first < last ? std::int64_t{a.offsets[first]} : 0;
  const std::int64_t end = first < last ? std::int64_t{a.offsets[last]} : 0;
  coo_matrix<V, std::int64_t, host> made(ctx, a.rows, a.cols, end - begin);
  for (std::int64_t row = first; row < last; ++row) {
    for (std::int64_t e = a.offsets[row]; e < a.offsets[row + 1]; ++e) {
      made.row_indices()[e - begin] = row;
      made.col_indices()[e - begin] = a.indices[e];
      if constexpr (!is_pattern<V>) made.values()[e - begin] = a.values[e];
    }
  }
  return made;
}

// By the readers of one process: a snapshot's rows are each rank's, of all else rank 0 has everything.
template <entry_type V>
void read_alone(const communicator& comm, const context<host>& cpu, const read_options& options,
                ranked_input<V>& read) {
  const input_description& input = read.from.input;
  const bool maps = input.mapped.has_value() && (comm.rank() != 0 || input.can_be_read_again());
  together(comm, [&] {
    if (!maps && comm.rank() != 0) {
      read.share = {cpu, input.rows, input.cols, 0};
      return;
    }
    any_csr<V> matrix = read_csr<V>(cpu, input, options, read.from.cache);
    std::visit(
        [&](auto& held) {
          const partition rows = even_partition(held.matrix.rows, comm.size());
          read.share = maps ? list_rows(cpu, held.matrix, rows.first(comm.rank()), rows.last(comm.rank()))
                            : list_rows(cpu, held.matrix, 0, held.matrix.rows);
          read.from.facts = std::move(held.facts);
        },
        matrix);
  });
  const std::int64_t n = comm.all_gather(read.share.rows()).front();
  const std::int64_t cols = comm.all_gather(read.share.cols()).front();
  read.share = {n, cols, std::move(read.share.row_indices()), std::move(read.share.col_indices()),
                std::move(read.share.values())};
  read.triangle = symmetry_kind::general;
}

template <entry_type V>
void generate_on_ranks(const communicator& comm, const context<host>& cpu, ranked_input<V>& read) {
  const input_description& input = read.from.input;
  together(comm, [&] {
    if (input.field == matrix_market_field::pattern && !is_pattern<V>) {
      auto edges = generate_part<pattern, std::int64_t>(cpu, input.path, comm.rank(), comm.size());
      array<V, host> ones = convert_values<V, pattern>(cpu, {}, edges.nnz());
      read.share = {edges.rows(), edges.cols(), std::move(edges.row_indices()), std::move(edges.col_indices()),
                    std::move(ones)};
    } else {
      read.share = generate_part<V, std::int64_t>(cpu, input.path, comm.rank(), comm.size());
    }
  });
  input_facts& facts = read.from.facts;
  facts.stored = facts.expanded = comm.all_reduce(read.share.nnz(), reduction::sum);
  facts.names.naming = vertex_naming::from_zero;
}

template <entry_type V>
void read_matrix_on_ranks(const communicator& comm, const context<host>& cpu, const read_options& options,
                          ranked_input<V>& read) {
  matrix_market_summary summary;
  read.share = read_matrix_market_stored<V>(comm, cpu, read.from.input.path, options, &summary);
  read.triangle = summary.header.symmetry;
  input_facts& facts = read.from.facts;
  facts.stored = summary.stored;
  facts.expanded = summary.expanded;
  facts.rounded_integers = summary.rounded_integers;
}

// The first vertex named: the first row of the first rank that has any.
std::int64_t first_row(const communicator& comm, span<const std::int64_t, host> rows) {
  for (const std::int64_t first : comm.all_gather(rows.empty() ? std::int64_t{-1} : rows[0])) {
    if (first >= 0) return first;
  }
  return -1;
}

}  // namespace

bool on_several_ranks() {
  static const bool several = query_launcher().size > 1;
  return several;
}

bool is_first_rank() { return query_launcher().rank == 0; }

const communicator& all_ranks() {
  if (all == nullptr) {
    try {
      all = std::make_unique<communicator>(communicator::world());
    } catch (const error& e) {
      throw agreed_error(e.code(), e.what());
    }
    host_memory().set_limit(host_memory().limit() / all->local_size());
    if (all->rank() != 0) silence_progress();
  }
  return *all;
}

void end_ranks() { all.reset(); }

void abort_ranks(exit_status status) {
  if (all != nullptr) all->abort(static_cast<int>(status));
}

namespace {

backend choose_for_processes(const communicator& comm, const common_flags& flags) {
  if (!flags.devices.empty()) {
    throw usage_error(fmt::format("--devices {}: several processes compute on their CPUs", flags.devices));
  }
  if (flags.device != "auto" && flags.device != "cpu") {
    throw usage_error(
        fmt::format("--device {}: several processes compute on their CPUs (expected auto or cpu)", flags.device));
  }
  const int usual = std::max(1, context<host>().threads() / comm.local_size());
  backend where = choose_cpu("cpu", flags.threads > 0 ? flags.threads : usual);
  where.reason = fmt::format("{} processes", comm.size());
  return where;
}

// What --devices names; all of it is usable.
std::vector<int> find_devices(const std::string& text) {
  const device_status status = query_devices();
  if (!status.usable()) {
    throw error(error_code::device_unavailable, fmt::format("--devices {}: no usable GPU: {}", text, status.reason));
  }
  std::vector<int> named;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    std::int64_t n = 0;
    (void)parse_integer(std::string_view(text).substr(at, end - at), n);
    named.push_back(static_cast<int>(n));
    at = end + 1;
  }
  if (text.find(',') == std::string::npos) {
    if (named.front() > status.count) {
      throw error(error_code::device_unavailable, fmt::format("--devices {}: {} GPU{} usable (expected no more)", text,
                                                              status.count, status.count == 1 ? " is" : "s are"));
    }
    return {status.ordinals.begin(), status.ordinals.begin() + named.front()};
  }
  for (const int ordinal : named) {
    if (std::count(status.ordinals.begin(), status.ordinals.end(), ordinal) == 0) {
      throw error(error_code::device_unavailable, fmt::format("--devices {}: no usable GPU {} (expected {})", text,
                                                              ordinal, fmt::join(status.ordinals, ", ")));
    }
  }
  return named;
}

exit_status run_on_devices(const common_flags& flags, const std::vector<int>& ordinals, const ranked_body& body) {
  const int ranks = static_cast<int>(ordinals.size());
  const int usual = std::max(1, context<host>().threads() / ranks);
  exit_status status = exit_status::success;
  run_team(ranks, [&](const communicator& comm) {
    backend where = choose_cpu("cpu", flags.threads > 0 ? flags.threads : usual);
    together(comm, [&] {
      device_options options;
      options.ordinal = ordinals[static_cast<std::size_t>(comm.rank())];
      where.gpu.emplace(options);
    });
    where.ordinals = ordinals;
    where.name = fmt::format("cuda:{}", fmt::join(ordinals, ","));
    where.reason = fmt::format("{}, as asked for", where.gpu->properties().name);
    const exit_status mine = body(comm, where);
    if (comm.rank() == 0) status = mine;
  });
  return status;
}

}  // namespace

exit_status run_ranks(const common_flags& flags, const std::function<void()>& prepare, const ranked_body& body) {
  if (on_several_ranks()) {
    const communicator& comm = all_ranks();
    const backend where = choose_for_processes(comm, flags);
    together(comm, prepare);
    return body(comm, where);
  }
  if (flags.device != "auto" && flags.device != "cuda") {
    throw usage_error(fmt::format("--device {}: not beside --devices (expected one of them)", flags.device));
  }
  const std::vector<int> ordinals = find_devices(flags.devices);
  prepare();
  return run_on_devices(flags, ordinals, body);
}

template <entry_type V>
ranked_input<V> read_on_ranks(const communicator& comm, const context<host>& cpu, const std::string& path,
                              const common_flags& flags, cache_mode cache) {
  if (cache != cache_mode::off) throw usage_error("--cache: not on several processes (convert FILE to .spg instead)");
  const stopwatch loading;
  input_description input = describe_on_ranks(comm, cpu, path);
  input_cache none(cache_mode::off, input, kind_of_values<V>());
  ranked_input<V> read{{}, symmetry_kind::general, {std::move(input), std::move(none), {}, 0, 0, false}};
  loaded_input& from = read.from;
  const bool again = comm.all_gather<int>(from.input.can_be_read_again() ? 1 : 0).front() != 0;
  together(comm, [&] {
    if constexpr (is_pattern<V>) return expect_square(from.input);
    expect_matrix(from.input);
    if (from.input.field == matrix_market_field::complex) {
      throw error(error_code::unsupported, source_position{path, 0, 0},
                  "the matrix is complex (expected a real one: several processes multiply no others)");
    }
  });
  {
    progress_bar bar("reading " + path, flags.quiet || comm.rank() != 0);
    input_facts& facts = from.facts;
    if (from.input.kind == input_kind::generator) {
      generate_on_ranks(comm, cpu, read);
    } else if (again && from.input.kind == input_kind::matrix_market) {
      read_matrix_on_ranks(comm, cpu, bar.options(), read);
    } else if (is_pattern<V> && again && from.input.kind == input_kind::edge_list) {
      distributed_edge_list list = read_edge_list(comm, cpu, path, bar.options());
      if constexpr (is_pattern<V>) {
        read.share = {list.edges.rows(),
                      list.edges.cols(),
                      std::move(list.edges.row_indices()),
                      std::move(list.edges.col_indices()),
                      {}};
      }
      facts.weighted = list.weighted;
      facts.stored = facts.expanded = list.stored;
      facts.names.naming = vertex_naming::listed;
      facts.names.ids = comm.all_gather(span<const std::int64_t, host>(list.ids));
      facts.first_vertex = list.first_vertex;
    } else {
      read_alone(comm, cpu, bar.options(), read);
      facts.names.ids = comm.all_gather(
          span<const std::int64_t, host>(facts.names.ids.data(), comm.rank() == 0 ? std::ssize(facts.names.ids) : 0));
    }
    facts.names.vertices = read.share.rows();
    if (from.input.kind == input_kind::generator || from.input.kind == input_kind::matrix_market) {
      facts.first_vertex = first_row(comm, read.share.row_indices());
    }
    const facts_head told =
        comm.all_gather(facts_head{facts.stored, facts.expanded, facts.rounded_integers, facts.first_vertex,
                                   facts.names.vertices, facts.weighted, facts.names.naming})
            .front();
    facts.stored = told.stored;
    facts.expanded = told.expanded;
    facts.rounded_integers = told.rounded_integers;
    facts.first_vertex = told.first_vertex;
    facts.weighted = told.weighted;
    facts.names.naming = told.naming;
  }
  if (from.input.kind != input_kind::generator && from.input.kind != input_kind::snapshot) {
    together(comm, [&] { expect_reasonable_extent(path, read.share.rows(), read.share.cols(), from.facts.stored); });
  }
  from.ignores_weights = has_weights(from.input, from.facts);
  from.load_ms = loading.milliseconds();
  return read;
}

template ranked_input<pattern> read_on_ranks(const communicator&, const context<host>&, const std::string&,
                                             const common_flags&, cache_mode);
template ranked_input<double> read_on_ranks(const communicator&, const context<host>&, const std::string&,
                                            const common_flags&, cache_mode);

any_ranked_graph build_on_ranks(const communicator& comm, const context<host>& cpu, ranked_input<pattern>& read,
                                const graph_options& options) {
  const stopwatch building;
  if (options.direction == direction_kind::directed && read.triangle != symmetry_kind::general) {
    together(comm, [&] {
      read.share = expand_symmetry<pattern, std::int64_t>(cpu, std::as_const(read.share).view(), read.triangle);
    });
    read.triangle = symmetry_kind::general;
  }
  const auto build = [&]<class I>(type_tag<I>) -> any_ranked_graph {
    const busy at_work("building the graph");
    return distributed_graph<I>(comm, cpu, std::as_const(read.share).view(), options);
  };
  const bool narrow = read.share.rows() <= std::numeric_limits<std::int32_t>::max();
  any_ranked_graph g = narrow ? build(type_tag<std::int32_t>{}) : build(type_tag<std::int64_t>{});
  read.from.build_ms += building.milliseconds();
  return g;
}

ranked_runs time_on_ranks(const communicator& comm, std::int64_t warmup, std::int64_t runs,
                          const stopwatch& since_start, const std::function<void()>& run) {
  ranked_runs result;
  for (std::int64_t k = 0; k < std::max<std::int64_t>(warmup, 1); ++k) {
    run();
    comm.barrier();
    if (k == 0) result.timed.total_ms = since_start.milliseconds();
  }
  std::vector<double> samples;
  const traffic before = comm.sent();
  traffic mine;
  for (std::int64_t k = 0; k < runs; ++k) {
    const stopwatch watch;
    run();
    mine = comm.sent();
    comm.barrier();
    samples.push_back(watch.milliseconds());
  }
  result.timed.times = summarize(std::move(samples));
  const auto count = std::max<std::int64_t>(runs, 1);
  result.exchanged_bytes = comm.all_reduce(mine.bytes - before.bytes, reduction::sum) / count;
  result.exchange_ms =
      comm.all_reduce((mine.seconds - before.seconds) * 1e3, reduction::max) / static_cast<double>(count);
  return result;
}

void report_ranks(report& out, const communicator& comm, const backend& where, std::string_view how,
                  const ranked_runs& runs) {
  out.keys()["ranks"] = comm.size();
  out.keys()["devices"] = where.ordinals;
  out.keys()["links"] = how;
  out.keys()["exchanged_bytes"] = runs.exchanged_bytes;
  out.keys()["exchange_ms"] = runs.exchange_ms;
  const std::size_t gpus = std::set<int>(where.ordinals.begin(), where.ordinals.end()).size();
  const std::string who = gpus == 0 ? fmt::format("{} processes by {}", comm.size(), comm.name())
                                    : fmt::format("{} on {} GPU{} by {}", comm.size(), gpus, gpus == 1 ? "" : "s", how);
  out.row("ranks",
          fmt::format("{}; they send {} a run, and spend {} of it sending and waiting", who,
                      format_bytes(static_cast<double>(runs.exchanged_bytes)), format_milliseconds(runs.exchange_ms)));
}

}  // namespace spargo::apps
