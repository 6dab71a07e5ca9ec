#include "support/folders.hpp"

namespace spargo::test {

std::string source_folder() { return SPARGO_SOURCE_DIR; }
std::string program_folder() { return SPARGO_BIN_DIR; }

}  // namespace spargo::test
