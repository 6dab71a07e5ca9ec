#include "commands/convert/target.hpp"

#include "cli/cli.hpp"

#include <spargo/io/snapshot.hpp>

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <string_view>

namespace spargo::apps {

namespace {

struct known_target {
  std::string_view ending;
  target result;
};

const std::array<known_target, 14>& known_targets() {
  using kind = target_kind;
  static const std::array<known_target, 14> all = {{
      {"mtx", {kind::matrix_market, "Matrix Market"}},
      {"mm", {kind::matrix_market, "Matrix Market"}},
      {"spg", {kind::snapshot, "snapshot"}},
      {"el", {kind::edge_list, "edge list", edge_weights::left_out}},
      {"wel", {kind::edge_list, "edge list", edge_weights::ones_if_none}},
      {"csv", {kind::edge_list, "edge list", edge_weights::as_read, edge_list_style::commas}},
      {"txt", {kind::edge_list, "edge list"}},
      {"tsv", {kind::edge_list, "edge list", edge_weights::as_read, edge_list_style::named_tabs}},
      {"edges", {kind::edge_list, "edge list"}},
      {"snap", {kind::edge_list, "edge list"}},
      {"graph", {kind::metis, "METIS"}},
      {"metis", {kind::metis, "METIS"}},
      {"gml", {kind::document, "GML", edge_weights::as_read, edge_list_style::tabs, document_format::gml}},
      {"graphml", {kind::document, "GraphML", edge_weights::as_read, edge_list_style::tabs, document_format::graphml}},
  }};
  return all;
}

}  // namespace

target choose_target(const std::string& path, const std::string& format) {
  std::filesystem::path name = std::filesystem::path(path).filename();
  const bool compressed = name.extension() == ".gz";
  if (compressed) name = name.stem();
  const std::string extension = name.extension().string();
  const std::string_view wanted =
      format.empty() ? std::string_view(extension).substr(extension.empty() ? 0 : 1) : format;
  for (const known_target& known : known_targets()) {
    if (known.ending != wanted) continue;
    if (compressed && known.result.kind == target_kind::snapshot) {
      throw usage_error(fmt::format("{}: a snapshot is mapped, not compressed (expected .spg)", path));
    }
    if (known.result.kind == target_kind::snapshot) check_snapshots(path);
    return known.result;
  }
  throw usage_error(
      fmt::format("{}: the name does not say which format to write (expected .mtx, .spg, .el, .wel, .csv, .txt, .tsv, "
                  ".edges, .snap, .graph, .metis, .gml or .graphml; .gz after any but .spg; or --to)",
                  path));
}

}  // namespace spargo::apps
