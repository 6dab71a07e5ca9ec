#include "commands/info/figures.hpp"

namespace spargo::apps {

void add_counts(report& out, const char* key, const std::vector<std::int64_t>& values) {
  if (!out.writes_page()) return;
  const degree_counts counted = count_degrees(values);
  json& pairs = out.figures()[key] = json::array();
  for (std::size_t k = 0; k < counted.degrees.size(); ++k) pairs.push_back({counted.degrees[k], counted.counts[k]});
}

void add_density(report& out, const char* key, const density_map& map) {
  out.figures()[key] = {{"rows", map.matrix_rows}, {"cols", map.matrix_cols}, {"side", map.side},
                        {"cell_rows", map.rows},   {"cell_cols", map.cols},   {"counts", map.counts}};
}

}  // namespace spargo::apps
