// The sources of searches: --source and --sources as vertices.
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
  std::string file{};        // for messages

  [[nodiscard]] bool is_random() const { return sources > 0 || source.starts_with("random"); }
  [[nodiscard]] bool needs_degrees() const { return is_random() || source == "max-degree"; }
};

// Throws usage_error if the two are inconsistent or invalid, before anything is read.
void check_source_flags(const source_request& request);

using degree_function = std::function<std::int64_t(std::int64_t vertex)>;

// At least one vertex, in search order. Throws `error` (invalid_argument) for a vertex that does not exist. `sources`
// are drawn without replacement; if there are fewer, they repeat in the same order.
[[nodiscard]] std::vector<std::int64_t> choose_sources(const source_request& request, const input_facts& facts,
                                                       const degree_function& out_degree);

// The same on every rank, chosen by rank 0. `offsets`: of this rank's rows, which begin at vertex `first`.
[[nodiscard]] std::vector<std::int64_t> choose_sources_on_ranks(const communicator& comm, const source_request& request,
                                                                const input_facts& facts, std::int64_t first,
                                                                span<const std::int64_t, host> offsets);

}  // namespace spargo::apps
