// Folders of the sources and the built programs.
#pragma once

#include <string>

namespace spargo::test {

std::string source_folder();
std::string program_folder();

}  // namespace spargo::test
