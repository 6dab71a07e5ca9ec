// Where searches start: --source and --sources turned into vertices.
#pragma once

#include "input/input.hpp"

#include <functional>
#include <string>
#include <vector>

namespace spargo {
class communicator;
}

namespace spargo::apps {

struct source_request {
  std::string source;        // an id, first, max-degree, random[:SEED]; empty: first
  std::int64_t sources = 0;  // K > 0: that many random ones

  [[nodiscard]] bool is_random() const { return sources > 0 || source.starts_with("random"); }
  [[nodiscard]] bool needs_degrees() const { return is_random() || source == "max-degree"; }
};

// Throws usage_error when the two do not go together or make no sense, before anything is read.
void check_source_flags(const source_request& request);

using degree_function = std::function<std::int64_t(std::int64_t vertex)>;

// At least one vertex, in the order in which they are to be searched. Throws `error` (invalid_argument) when there is
// no such vertex. `sources` are drawn without replacement; where there are fewer, they repeat in the same order.
[[nodiscard]] std::vector<std::int64_t> choose_sources(const source_request& request, const input_facts& facts,
                                                       const degree_function& out_degree);

// The same on every rank, chosen by the first. `offsets`: of the rows of this rank's vertices, which begin at `first`.
[[nodiscard]] std::vector<std::int64_t> choose_sources_on_ranks(const communicator& comm, const source_request& request,
                                                                const input_facts& facts, std::int64_t first,
                                                                span<const std::int64_t, host> offsets);

}  // namespace spargo::apps
