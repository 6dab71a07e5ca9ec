// What `convert` writes: the format, by the file's name or as asked for.
#pragma once

#include <spargo/io/edge_list.hpp>
#include <spargo/io/graph_document.hpp>
#include <spargo/io/stream.hpp>

#include <string>

namespace spargo::apps {

enum class target_kind { matrix_market, edge_list, snapshot, metis, document };

struct target {
  target_kind kind = target_kind::matrix_market;
  std::string format;  // for reports
  edge_weights weights = edge_weights::as_read;
  edge_list_style style = edge_list_style::tabs;
  document_format document = document_format::graphml;
};

// `format`: mtx, el, wel, csv, tsv, spg, metis, gml or graphml, or empty: by the name's ending. Throws usage_error, and
// `error` (unsupported) for a snapshot in a build that writes none.
[[nodiscard]] target choose_target(const std::string& path, const std::string& format);

}  // namespace spargo::apps
