// Names as numbers, by the table that the readers use.
#include <spargo/io/edge_table.hpp>

#include "core/parallel.hpp"
#include "core/rethrow.hpp"
#include "io/text/name_interner.hpp"

#include <fmt/format.h>

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

}  // namespace spargo
