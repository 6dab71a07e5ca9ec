// Names of the stencil benchmarks' types. Inputs and checks are in references.hpp.
#pragma once

#include "bench/bench.hpp"
#include "bench/references.hpp"

#include <spargo/primitives/jacobi.hpp>
#include <spargo/primitives/sliding_max.hpp>
#include <spargo/primitives/stencil.hpp>

#include <string>

namespace spargo::bench {

template <class T>
constexpr const char* stencil_type = std::same_as<T, float> ? "float" : "double";

}  // namespace spargo::bench
