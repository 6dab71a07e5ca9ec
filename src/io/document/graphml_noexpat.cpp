// GraphML in a library without Expat.
#include "io/document/document.hpp"

namespace spargo::detail::document {

void parse_graphml(byte_source& source, extent, graph_collector&) {
  throw error(error_code::unsupported, {source.name()},
              "a GraphML file, which this library was built without (expected one with Expat: libexpat1-dev)");
}

}  // namespace spargo::detail::document
