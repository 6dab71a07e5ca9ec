#include "placement/ranks.hpp"

#include "cli/outputs.hpp"
#include "cli/progress.hpp"
#include "input/columns.hpp"
#include "input/extent.hpp"
#include "input/memory_limit.hpp"
#include "input/memory_need.hpp"

#include <spargo/io/edge_table.hpp>
#include <spargo/io/generate.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <utility>

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

// The first rank's, on all.
vertex_name_table names_of_first(const communicator& comm, const context<host>& cpu, const vertex_name_table& mine) {
  const bool first = comm.rank() == 0;
  const std::vector<char> characters = comm.all_gather(first ? mine.characters() : span<const char, host>());
  const std::vector<std::int64_t> offsets = comm.all_gather(first ? mine.offsets() : span<const std::int64_t, host>());
  vertex_name_table named;
  together(comm, [&] {
    if (offsets.empty()) return;
    named = {cpu, clone(cpu, span<const char, host>(characters)), clone(cpu, span<const std::int64_t, host>(offsets))};
  });
  return named;
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

template <entry_type V>
constexpr std::int64_t value_bytes_of = is_pattern<V> ? 0 : static_cast<std::int64_t>(sizeof(V));

// Before anything is generated or read in shares: those of all ranks that are in this process.
void expect_shares(const communicator& comm, const input_description& input, bool in_shares, std::int64_t value_bytes) {
  if (!in_shares) return;
  on_first(comm, [&] {
    const input_size size = least_size(input);
    expect_host_memory(input, size, least_share_bytes(size, on_several_ranks() ? comm.size() : 1, value_bytes));
  });
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
    host_memory().divide(all->local_size(), (all->size() + all->local_size() - 1) / all->local_size());
    if (all->rank() != 0) silence_progress();
  }
  return *all;
}

void end_ranks() { all.reset(); }

void abort_ranks(exit_status status) {
  if (all != nullptr) all->abort(static_cast<int>(status));
}

namespace {

// Of all ranks, from 0 in the order in which they come: what `key` calls the same is the same.
template <class Key>
std::vector<int> number_distinct(const std::vector<Key>& keys) {
  std::vector<int> numbers;
  std::map<Key, int> known;
  for (const Key& key : keys) numbers.push_back(known.emplace(key, static_cast<int>(known.size())).first->second);
  return numbers;
}

void name_devices(backend& where, std::vector<int> ordinals, std::vector<int> gpus) {
  where.name = fmt::format("cuda:{}", fmt::join(ordinals, ","));
  where.reason = fmt::format("{}, as asked for", where.gpu->properties().name);
  where.ordinals = std::move(ordinals);
  where.gpus = std::move(gpus);
}

void open_device(const communicator& comm, backend& where, int ordinal) {
  together(comm, [&] {
    device_options options;
    options.ordinal = ordinal;
    where.gpu.emplace(options);
  });
}

backend choose_for_processes(const communicator& comm, const common_flags& flags) {
  const int usual = std::max(1, context<host>().threads() / comm.local_size());
  backend where = choose_cpu("cpu", flags.threads > 0 ? flags.threads : usual);
  where.reason = counted(comm.size(), "process", "processes");
  if (!are_on_gpus(flags)) return where;
  int ordinal = 0;
  together(comm, [&] { ordinal = device_of_process(flags.device, flags.devices, query_devices(), comm.local_rank()); });
  open_device(comm, where, ordinal);
  std::array<char, 256> name{};
  (void)::gethostname(name.data(), name.size() - 1);
  std::vector<int> ordinals = comm.all_gather(ordinal);
  const auto hosts = comm.all_gather(name);
  std::vector<std::pair<std::array<char, 256>, int>> keys;
  for (std::size_t r = 0; r < hosts.size(); ++r) keys.emplace_back(hosts[r], ordinals[r]);
  name_devices(where, std::move(ordinals), number_distinct(keys));
  return where;
}

exit_status run_on_devices(const common_flags& flags, const std::vector<int>& ordinals, const ranked_body& body) {
  const int ranks = static_cast<int>(ordinals.size());
  const int usual = std::max(1, context<host>().threads() / ranks);
  exit_status status = exit_status::success;
  run_team(ranks, [&](const communicator& comm) {
    backend where = choose_cpu("cpu", flags.threads > 0 ? flags.threads : usual);
    open_device(comm, where, ordinals[static_cast<std::size_t>(comm.rank())]);
    name_devices(where, ordinals, number_distinct(ordinals));
    const exit_status mine = body(comm, where);
    if (comm.rank() == 0) status = mine;
  });
  return status;
}

}  // namespace

exit_status run_ranks(const common_flags& flags, const std::function<void()>& prepare, const ranked_body& body) {
  if (!flags.devices.empty() && flags.device != "auto" && flags.device != "cuda") {
    throw usage_error(fmt::format("--device {}: not beside --devices (expected one of them)", flags.device));
  }
  if (on_several_ranks()) {
    const communicator& comm = all_ranks();
    const backend where = choose_for_processes(comm, flags);
    together(comm, prepare);
    return body(comm, where);
  }
  const std::vector<int> ordinals = find_devices(flags.devices, query_devices());
  prepare();
  return run_on_devices(flags, ordinals, body);
}

void expect_parsing_on_cpu(const std::string& parse) {
  if (parse != "gpu") return;
  throw usage_error("--parse gpu: several processes or GPUs parse on the CPU (expected auto or cpu)");
}

void expect_no_cache(cache_mode cache) {
  if (cache != cache_mode::off) throw usage_error("--cache: not on several processes (convert FILE to .spg instead)");
}

exit_status run_graph_ranks(graph_flags& flags, const ranked_body& body) {
  expect_parsing_on_cpu(flags.parse);
  return run_ranks(
      flags.common,
      [&] {
        prepare_outputs(flags.common, {flags.file, flags.join}, {{"--output", flags.output}});
        read_joined_file(flags);
      },
      body);
}

void expect_room(const communicator& comm, const backend& where, std::int64_t most,
                 const std::function<std::int64_t()>& needed) {
  if (!where.gpu.has_value() || most == 0) return;
  std::int64_t mine = 0;
  together(comm, [&] { mine = needed(); });
  const std::string why = reason_against_ranks(comm.all_gather(mine), where.gpus, most);
  if (!why.empty()) throw agreed_error(error_code::out_of_memory, why);
}

input_description describe_on_ranks(const communicator& comm, const context<host>& cpu, const std::string& path,
                                    const common_flags& flags) {
  input_description input;
  on_first(comm, [&] { input = describe_input(cpu, path, flags.columns, ids_of(flags)); });
  const input_head received = comm.all_gather(input_head{input.kind, input.field, input.symmetry, input.directed,
                                                         input.can_be_read_again(), input.rows, input.cols})
                                  .front();
  if (comm.rank() != 0) {
    input.path = path;
    input.wanted_columns = flags.columns;
    input.wanted_ids = ids_of(flags);
    input.kind = received.kind;
    input.field = received.field;
    input.symmetry = received.symmetry;
    input.directed = received.directed;
    input.rows = received.rows;
    input.cols = received.cols;
  }
  const bool maps = received.kind == input_kind::snapshot && received.again;
  together(comm, [&] {
    if (maps && comm.rank() != 0) input = describe_input(cpu, path);
  });
  return input;
}

namespace {

// Before anything is read.
template <entry_type V>
loaded_input from_description(input_description input) {
  input_cache none(cache_mode::off, input, kind_of_values<V>());
  return {std::move(input), std::move(none), {}, 0, 0, false};
}

}  // namespace

bool is_made_on_gpus(const communicator& comm, const backend& where, const graph_flags& flags) {
  if (!where.gpu.has_value() || flags.device_bytes() > 0 || !is_generator_spec(flags.file)) return false;
  bool made = false;
  together(comm, [&] {
    const generator_info info = describe_generator(flags.file);
    made = info.on_device && info.rows <= std::numeric_limits<std::int32_t>::max();
  });
  return made;
}

loaded_input describe_made(const communicator& comm, const context<host>& cpu, const std::string& spec,
                           cache_mode cache) {
  expect_no_cache(cache);
  loaded_input from = from_description<pattern>(describe_on_ranks(comm, cpu, spec, {}));
  together(comm, [&] {
    expect_square(from.input);
    const generator_info info = describe_generator(spec);
    input_facts& facts = from.facts;
    facts.stored = facts.expanded = info.entries;
    facts.names.naming = vertex_naming::from_zero;
    facts.names.vertices = info.rows;
    facts.first_vertex = -1;
    facts.parsed_on_device = from.built_on_device = true;
    if (info.entries == 0) return;
    facts.first_vertex = generate_part<pattern, std::int64_t>(cpu, spec, 0, info.entries).row_indices()[0];
  });
  return from;
}

// Each rank searches its part; the first one that finds an id tells all.
padded_id padded_id_on_ranks(const communicator& comm, const context<host>& cpu, const std::string& path,
                             const edge_list_header& header) {
  padded_id found;
  together(comm, [&] { found = scan_padded_id(cpu, path, header, comm.rank(), comm.size()); });
  const std::vector<std::int64_t> lines = comm.all_gather(found.line);
  const auto first = std::find_if(lines.begin(), lines.end(), [](std::int64_t line) { return line > 0; });
  if (first == lines.end()) return {};
  const std::int64_t bytes = first - lines.begin() == comm.rank() ? std::ssize(found.text) : 0;
  const std::vector<char> text = comm.all_gather(span<const char, host>(found.text.data(), bytes));
  return {std::string(text.begin(), text.end()), *first};
}

template <entry_type V>
ranked_input<V> read_on_ranks(const communicator& comm, const context<host>& cpu, input_description input,
                              const common_flags& flags) {
  const stopwatch loading;
  const std::string path = input.path;
  ranked_input<V> read{{}, symmetry_kind::general, from_description<V>(std::move(input))};
  loaded_input& from = read.from;
  const bool again = comm.all_gather<int>(from.input.can_be_read_again() ? 1 : 0).front() != 0;
  together(comm, [&] { is_pattern<V> ? expect_square(from.input) : expect_matrix(from.input); });
  const input_kind kind = from.input.kind;
  expect_shares(comm, from.input,
                kind == input_kind::generator ||
                    (again && (kind == input_kind::matrix_market || (is_pattern<V> && kind == input_kind::edge_list))),
                value_bytes_of<V>);
  {
    progress_bar bar("reading " + path, flags.quiet || comm.rank() != 0);
    input_facts& facts = from.facts;
    if (from.input.kind == input_kind::generator) {
      generate_on_ranks(comm, cpu, read);
    } else if (again && from.input.kind == input_kind::matrix_market) {
      read_matrix_on_ranks(comm, cpu, bar.options(), read);
    } else if (is_pattern<V> && again && from.input.kind == input_kind::edge_list) {
      distributed_edge_list list = read_edge_list(comm, cpu, path, from.input.reading(bar.options()));
      if constexpr (is_pattern<V>) {
        read.share = {list.edges.rows(),
                      list.edges.cols(),
                      std::move(list.edges.row_indices()),
                      std::move(list.edges.col_indices()),
                      {}};
      }
      facts.weighted = list.weighted;
      facts.stored = facts.expanded = list.stored;
      facts.names.naming = list.names.empty() ? vertex_naming::listed : vertex_naming::names;
      facts.names.ids = comm.all_gather(span<const std::int64_t, host>(list.ids));
      if (list.names.empty()) facts.warnings = warnings_of(padded_id_on_ranks(comm, cpu, path, list.header));
      facts.names.table = std::move(list.names);
      facts.first_vertex = list.first_vertex;
    } else {
      read_alone(comm, cpu, bar.options(), read);
      facts.names.ids = comm.all_gather(
          span<const std::int64_t, host>(facts.names.ids.data(), comm.rank() == 0 ? std::ssize(facts.names.ids) : 0));
      facts.names.table = names_of_first(comm, cpu, facts.names.table);
    }
    facts.names.vertices = read.share.rows();
    if (from.input.kind == input_kind::generator || from.input.kind == input_kind::matrix_market) {
      facts.first_vertex = first_row(comm, read.share.row_indices());
    }
    const facts_head received =
        comm.all_gather(facts_head{facts.stored, facts.expanded, facts.rounded_integers, facts.first_vertex,
                                   facts.names.vertices, facts.weighted, facts.names.naming})
            .front();
    facts.stored = received.stored;
    facts.expanded = received.expanded;
    facts.rounded_integers = received.rounded_integers;
    facts.first_vertex = received.first_vertex;
    facts.weighted = received.weighted;
    facts.names.naming = received.naming;
  }
  if (from.input.kind != input_kind::generator && from.input.kind != input_kind::snapshot) {
    together(comm, [&] { expect_reasonable_extent(path, read.share.rows(), read.share.cols(), from.facts.stored); });
  }
  from.ignores_weights = has_weights(from.input, from.facts);
  from.load_ms = loading.milliseconds();
  return read;
}

#define INSTANTIATE(V)                                                                                 \
  template ranked_input<V> read_on_ranks(const communicator&, const context<host>&, input_description, \
                                         const common_flags&);
INSTANTIATE(pattern)
INSTANTIATE(float)
INSTANTIATE(double)
INSTANTIATE(std::complex<double>)
#undef INSTANTIATE

any_ranked_graph build_on_ranks(const communicator& comm, const context<host>& cpu, ranked_input<pattern>& read,
                                const graph_options& options) {
  const stopwatch building;
  const symmetry_kind symmetry = mirrored_as(read.from.input, read.triangle);
  if (options.direction == direction_kind::directed && symmetry != symmetry_kind::general) {
    together(comm, [&] {
      read.share = expand_symmetry<pattern, std::int64_t>(cpu, std::as_const(read.share).view(), symmetry);
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
  const int gpus = where.gpus.empty() ? 0 : 1 + *std::max_element(where.gpus.begin(), where.gpus.end());
  const std::string who = gpus == 0 ? fmt::format("{} by {}", counted(comm.size(), "process", "processes"), comm.name())
                                    : fmt::format("{} on {} by {}", comm.size(), counted(gpus, "GPU"), how);
  out.row("ranks",
          fmt::format("{}; they send {} a run, and spend {} of it sending and waiting", who,
                      format_bytes(static_cast<double>(runs.exchanged_bytes)), format_milliseconds(runs.exchange_ms)));
}

}  // namespace spargo::apps
