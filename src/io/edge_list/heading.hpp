// First line and separator of an edge list by style, for both of its writers.
#pragma once

#include <spargo/io/edge_list.hpp>

#include <string_view>

namespace spargo::detail {

[[nodiscard]] inline char separator_of(edge_list_style style) { return style == edge_list_style::commas ? ',' : '\t'; }

[[nodiscard]] inline std::string_view edge_list_heading(edge_list_style style, bool weighted) {
  switch (style) {
    case edge_list_style::commas:
      return weighted ? "source,target,weight\n" : "source,target\n";
    case edge_list_style::named_tabs:
      return weighted ? "source\ttarget\tweight\n" : "source\ttarget\n";
    case edge_list_style::tabs:
      break;
  }
  return weighted ? "# source\ttarget\tweight\n" : "# source\ttarget\n";
}

}  // namespace spargo::detail
