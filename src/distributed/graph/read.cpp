// Files read by all ranks.
//
// An uncompressed file is cut at line ends into one range per rank, which the single-process readers parse like a whole
// file. Properties of the whole file are then checked from summaries of the ranges: the number of entries, both
// triangles present, weights on only some lines. On any fault rank 0 reads the file alone, so the error is that of one
// process for any number of ranks; if the file is valid after all, rank 0's share has all entries.
//
// Ids of an edge list are numbered in ascending order: each rank owns an equal range of ids, receives the ids that
// other ranks have seen, and replies with their numbers. Names are gathered by all ranks.
#include "io/edge_list/read.hpp"
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "io/matrix_market/detail.hpp"
#include "io/opened_input.hpp"
#include "io/text/name_interner.hpp"

#include "core/parallel.hpp"

#include <spargo/distributed/matrix.hpp>

#include <functional>

namespace spargo {

namespace {

using detail::file_range;

// The rank's range of lines after byte `first`.
file_range range_of(const communicator& comm, const input_file& file, std::int64_t first) {
  const detail::opened_file& opened = *file.opened().file;
  const detail::parts shares{opened.size - first, comm.size()};
  const auto begin = [&](int r) {
    return r == 0 ? first : detail::find_line(opened, file.name(), first + shares.first(r), opened.size);
  };
  return {begin(comm.rank()), begin(comm.rank() + 1)};
}

// The result of `parse` if it succeeds on all ranks, else nothing; `wrong` is this rank's error.
template <class Parse>
auto parse_on_all_ranks(const communicator& comm, std::optional<error>& wrong, const Parse& parse)
    -> std::optional<std::invoke_result_t<Parse>> {
  std::optional<std::invoke_result_t<Parse>> made;
  try {
    made.emplace(parse());
  } catch (const error& e) {
    wrong.emplace(e);
  } catch (const std::bad_alloc&) {
    wrong.emplace(error_code::out_of_memory, "host memory ran out while the file was read");
  }
  if (comm.all_reduce<std::int32_t>(made.has_value() ? 1 : 0, reduction::min) == 0) made.reset();
  return made;
}

// Rank 0 reads, others return nothing. Throws rank 0's error, or, if that is memory, a fault found by another rank.
template <class Read>
auto read_on_first_rank(const communicator& comm, const std::optional<error>& wrong, const Read& read) {
  std::invoke_result_t<Read> made;
  std::optional<error> mine;
  if (comm.rank() == 0) {
    try {
      made = read();
    } catch (const error& e) {
      mine.emplace(e);
    } catch (const std::bad_alloc&) {
      mine.emplace(error_code::out_of_memory, "host memory ran out while the file was read");
    }
  }
  const bool no_memory =
      comm.all_reduce<std::int32_t>(mine.has_value() && mine->code() == error_code::out_of_memory ? 1 : 0,
                                    reduction::max) != 0;
  if (no_memory) comm.agree(wrong.has_value() ? &*wrong : nullptr);
  comm.agree(mine.has_value() ? &*mine : nullptr);
  return made;
}

// Opened by all ranks if it is a regular file, otherwise by rank 0 alone.
std::optional<input_file> open_on_all_ranks(const communicator& comm, const std::string& path) {
  std::optional<input_file> file;
  comm.agree_on([&] {
    if (comm.rank() == 0) file.emplace(path);
  });
  const bool again =
      comm.all_reduce<std::int32_t>(comm.rank() != 0 || file->can_be_read_again() ? 1 : 0, reduction::min) != 0;
  comm.agree_on([&] {
    if (again && comm.rank() != 0) file.emplace(path);
  });
  return file;
}

bool is_plain_everywhere(const communicator& comm, const std::optional<input_file>& file) {
  const bool plain = file.has_value() && file->opened().is_plain();
  return comm.all_reduce<std::int32_t>(plain ? 1 : 0, reduction::min) != 0;
}

// --- Matrix Market ---------------------------------------------------------------------------------------------------

template <class V>
struct entries_range {
  coo_matrix<V, std::int64_t, host> entries;
  detail::range_summary met;
};

// Broadcast from rank 0.
template <class T>
T broadcast(const communicator& comm, const T& by_first) {
  return comm.all_gather(by_first).front();
}

}  // namespace

template <entry_type V>
coo_matrix<V, std::int64_t, host> read_matrix_market_stored(const communicator& comm, const context<host>& ctx,
                                                            const std::string& path, const read_options& options,
                                                            matrix_market_summary* summary) {
  const std::optional<input_file> file = open_on_all_ranks(comm, path);
  std::optional<error> wrong;
  matrix_market_summary met;
  const bool plain = is_plain_everywhere(comm, file);
  if (plain) {
    std::int64_t first = 0;
    comm.agree_on([&] {
      detail::text_source source(context<host>({.threads = 1}), *file, {}, {.block_bytes = std::int64_t{64} << 10});
      met.header = detail::parse_matrix_market_header(source);
      first = source.offset();
    });
    if (met.header.layout == matrix_market_layout::coordinate &&
        (complex_type<V> || is_pattern<V> || met.header.field != matrix_market_field::complex)) {
      auto part = parse_on_all_ranks(comm, wrong, [&] {
        entries_range<V> range;
        detail::matrix_market_tuning tuning;
        tuning.input.range = range_of(comm, *file, first);
        range.entries = detail::read_entries_in<V>(ctx, *file, options, tuning, met.header, range.met);
        return range;
      });
      if (part.has_value()) {
        std::array<std::int64_t, 5> sums{part->entries.nnz(), part->met.diagonal, part->met.rounded_integers,
                                         part->met.below ? 1 : 0, part->met.above ? 1 : 0};
        comm.reduce_in_place(span<std::int64_t, host>(sums), reduction::sum);
        const bool general = met.header.symmetry == symmetry_kind::general;
        if (sums[0] == met.header.entries && (general || sums[3] == 0 || sums[4] == 0)) {
          met.stored = sums[0];
          met.expanded = general ? sums[0] : 2 * sums[0] - sums[1];
          met.rounded_integers = sums[2];
          if (summary != nullptr) *summary = met;
          return std::move(part->entries);
        }
      }
    }
  }
  auto share = read_on_first_rank(
      comm, wrong, [&] { return read_matrix_market_stored<V, std::int64_t>(ctx, *file, options, &met); });
  met = broadcast(comm, met);
  if (summary != nullptr) *summary = met;
  if (comm.rank() != 0) share = {ctx, met.header.rows, met.header.cols, 0};
  return share;
}

#define INSTANTIATE(V)                                                  \
  template coo_matrix<V, std::int64_t, host> read_matrix_market_stored( \
      const communicator&, const context<host>&, const std::string&, const read_options&, matrix_market_summary*);
SPARGO_FOR_EACH_ENTRY(INSTANTIATE)
#undef INSTANTIATE

// --- Edge lists ------------------------------------------------------------------------------------------------------

namespace {

// A rank's part of all ids: equal ranges of [0, largest].
class id_owners {
 public:
  id_owners(const communicator& comm, std::int64_t largest) : ranges_{largest, comm.size()} {}
  // Number of the ascending ids that each rank owns.
  [[nodiscard]] std::vector<std::int64_t> counts(const std::vector<std::int64_t>& ids) const {
    std::vector<std::int64_t> made;
    auto at = ids.begin();
    for (std::int64_t r = 0; r < ranges_.count; ++r) {
      const auto end = r + 1 == ranges_.count ? ids.end() : std::lower_bound(at, ids.end(), ranges_.last(r));
      made.push_back(end - at);
      at = end;
    }
    return made;
  }

 private:
  detail::parts ranges_;
};

// Replaces this share's local numbers by global ones.
void number_globally(const communicator& comm, const context<host>& ctx, distributed_edge_list& list,
                     const std::vector<std::int64_t>& ids) {
  const std::int64_t largest = comm.all_reduce(ids.empty() ? std::int64_t{-1} : ids.back(), reduction::max);
  const std::vector<std::int64_t> counts = id_owners(comm, std::max<std::int64_t>(largest, 0)).counts(ids);
  std::vector<std::int64_t> asked;
  const array<std::int64_t, host> received_ids = comm.all_to_all<std::int64_t>(ctx, ids, counts, asked);
  array<std::int64_t, host> replies;
  comm.agree_on([&] {
    list.ids.assign(received_ids.begin(), received_ids.end());
    std::sort(list.ids.begin(), list.ids.end());
    list.ids.erase(std::unique(list.ids.begin(), list.ids.end()), list.ids.end());
    replies = {ctx, received_ids.size()};
  });
  const std::vector<std::int64_t> sizes = comm.all_gather(std::ssize(list.ids));
  const std::vector<std::int64_t> firsts = communicator::offsets_of(sizes);
  list.ids_first = firsts[static_cast<std::size_t>(comm.rank())];
  detail::parallel_for(ctx.threads(), replies.size(), detail::grain::rows, [&](std::int64_t k) {
    replies[k] =
        list.ids_first + (std::lower_bound(list.ids.begin(), list.ids.end(), received_ids[k]) - list.ids.begin());
  });
  std::vector<std::int64_t> received;
  const array<std::int64_t, host> numbers = comm.all_to_all<std::int64_t>(ctx, replies.view(), asked, received);
  const auto renumber = [&](array<std::int64_t, host>& ends) {
    detail::parallel_for(ctx.threads(), ends.size(), detail::grain::elements,
                         [&](std::int64_t k) { ends[k] = numbers[ends[k]]; });
  };
  coo_matrix<double, std::int64_t, host>& edges = list.edges;
  renumber(edges.row_indices());
  renumber(edges.col_indices());
  edges = {firsts.back(), firsts.back(), std::move(edges.row_indices()), std::move(edges.col_indices()),
           std::move(edges.values())};
}

// The same for names: every rank receives all of them and numbers them by first appearance, as one process does.
void name_globally(const communicator& comm, const context<host>& ctx, distributed_edge_list& list,
                   const vertex_name_table& mine) {
  std::vector<std::int64_t> lengths;
  comm.agree_on([&] {
    lengths.resize(static_cast<std::size_t>(mine.size()));
    for (std::int64_t v = 0; v < mine.size(); ++v) lengths[static_cast<std::size_t>(v)] = std::ssize(mine.name(v));
  });
  const std::vector<std::int64_t> counts = communicator::offsets_of(comm.all_gather(mine.size()));
  const std::vector<std::int64_t> all_lengths = comm.all_gather(span<const std::int64_t, host>(lengths));
  const std::vector<char> characters = comm.all_gather(mine.characters());
  comm.agree_on([&] {
    std::vector<std::string_view> names;
    names.reserve(all_lengths.size());
    std::size_t at = 0;
    for (const std::int64_t length : all_lengths) {
      names.emplace_back(characters.data() + at, static_cast<std::size_t>(length));
      at += static_cast<std::size_t>(length);
    }
    detail::name_interner interner(ctx);
    std::vector<std::int64_t> numbers(names.size());
    interner.number_all(names, numbers);
    array<std::int64_t, host> vertices;
    list.names = interner.finish(vertices);
    const std::int64_t* const own = numbers.data() + counts[static_cast<std::size_t>(comm.rank())];
    const auto renumber = [&](array<std::int64_t, host>& ends) {
      detail::parallel_for(ctx.threads(), ends.size(), detail::grain::elements,
                           [&](std::int64_t k) { ends[k] = vertices[own[ends[k]]]; });
    };
    coo_matrix<double, std::int64_t, host>& edges = list.edges;
    renumber(edges.row_indices());
    renumber(edges.col_indices());
    const std::int64_t size = list.names.size();
    edges = {size, size, std::move(edges.row_indices()), std::move(edges.col_indices()), std::move(edges.values())};
  });
}

}  // namespace

distributed_edge_list read_edge_list(const communicator& comm, const context<host>& ctx, const std::string& path,
                                     const edge_list_options& options) {
  const std::optional<input_file> file = open_on_all_ranks(comm, path);
  std::optional<error> wrong;
  std::optional<edge_list<std::int64_t>> part;
  if (is_plain_everywhere(comm, file)) {
    part = parse_on_all_ranks(comm, wrong, [&] {
      detail::edge_list_tuning tuning;
      tuning.input.range =
          range_of(comm, *file, detail::find_edges(*file, read_edge_list_header(*file, options.columns, options.ids)));
      return detail::read_edge_list_with<std::int64_t>(ctx, *file, options, tuning);
    });
  }
  if (part.has_value()) {  // weights on all lines or on none
    const bool has_edges = part->edges.nnz() > 0;
    const std::int32_t weighted = part->weighted ? 1 : 0;
    if (comm.all_reduce(has_edges ? weighted : 1, reduction::min) <
        comm.all_reduce(has_edges ? weighted : 0, reduction::max)) {
      part.reset();
    }
  }
  if (!part.has_value()) {
    part = read_on_first_rank(comm, wrong, [&] { return read_edge_list<std::int64_t>(ctx, *file, options); });
    if (comm.rank() != 0) part->edges = {ctx, 0, 0, 0};
  }
  distributed_edge_list list;
  const std::int64_t edges = part->edges.nnz();
  list.weighted = comm.all_reduce<std::int32_t>(edges > 0 && part->weighted ? 1 : 0, reduction::max) != 0;
  list.stored = comm.all_reduce(edges, reduction::sum);
  list.rounded_integers = comm.all_reduce(part->rounded_integers, reduction::sum);
  list.header = part->header;
  list.edges = std::move(part->edges);
  const bool named = comm.all_reduce<std::int32_t>(part->header.ids == id_kind::names ? 1 : 0, reduction::max) != 0;
  named ? name_globally(comm, ctx, list, part->names) : number_globally(comm, ctx, list, part->ids);
  for (const std::int64_t first : comm.all_gather(edges > 0 ? list.edges.row_indices()[0] : std::int64_t{-1})) {
    if (list.first_vertex < 0) list.first_vertex = first;
  }
  return list;
}

}  // namespace spargo
