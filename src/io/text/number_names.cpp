// Names and ids as numbers, by the tables that the readers use.
#include <spargo/io/edge_table.hpp>

#include "core/parallel.hpp"
#include "core/parts.hpp"
#include "core/rethrow.hpp"
#include "io/text/id_table.hpp"
#include "io/text/name_interner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace spargo {

vertex_name_table number_names(const context<host>& ctx, span<const std::string_view, host> names,
                               span<std::int64_t, host> numbers) try {
  SPARGO_EXPECTS(names.size() == numbers.size(),
                 fmt::format("number_names: {} names, and room for {} numbers", names.size(), numbers.size()));
  for (const std::string_view name : names) {
    if (name.size() > std::numeric_limits<std::uint32_t>::max()) {
      throw error(error_code::unsupported, fmt::format("number_names: a name of {} bytes", name.size()));
    }
  }
  detail::name_interner interner(ctx);
  interner.number_all(names, numbers);
  array<std::int64_t, host> vertices;
  vertex_name_table table = interner.finish(vertices);
  detail::parallel_for(ctx.threads(), numbers.size(), detail::grain::elements,
                       [&](std::int64_t k) { numbers[k] = vertices[numbers[k]]; });
  return table;
} catch (...) {
  detail::rethrow("number_names");
}

std::vector<std::int64_t> number_ids(const context<host>& ctx, span<const std::int64_t, host> ids,
                                     span<std::int64_t, host> numbers) try {
  using table_type = detail::id_table<std::int64_t>;
  SPARGO_EXPECTS(ids.size() == numbers.size(),
                 fmt::format("number_ids: {} ids, and room for {} numbers", ids.size(), numbers.size()));
  SPARGO_EXPECTS(std::all_of(ids.begin(), ids.end(), [](std::int64_t id) { return id >= 0; }),
                 "number_ids: a negative id (expected 0 to 2^63-1)");
  table_type table(ctx);
  constexpr std::int64_t round = std::int64_t{1} << 20;  // ids between two checks of the table's size
  for (std::int64_t begin = 0; begin < ids.size(); begin += round) {
    const std::int64_t count = std::min(round, ids.size() - begin);
    table.reserve(count);
    const detail::parts shares = detail::split(count, ctx.threads(), std::int64_t{1} << 14);
    detail::parallel_parts(ctx.threads(), shares.count, [&](std::int64_t s) {
      for (std::int64_t k = begin + shares.first(s), last = begin + shares.last(s); k < last; k += table_type::batch) {
        table.number(ids.data() + k, std::min(table_type::batch, last - k), numbers.data() + k);
      }
    });
  }
  array<table_type::number_type, host> ranks;
  std::vector<std::int64_t> distinct = table.ranks(ranks);
  detail::parallel_for(ctx.threads(), numbers.size(), detail::grain::elements,
                       [&](std::int64_t k) { numbers[k] = static_cast<std::int64_t>(ranks[numbers[k]]); });
  return distinct;
} catch (...) {
  detail::rethrow("number_ids");
}

}  // namespace spargo
