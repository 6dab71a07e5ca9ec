// What a solver tells people of its end.
#pragma once

#include <spargo/solvers/krylov.hpp>

#include <cstdint>
#include <string>

namespace spargo::detail::krylov {

// `iterations`: those done; `detail`: the number that ended them; `is_hermitian`: of the matrix, or unknown.
[[nodiscard]] std::string sentence_of(krylov_outcome outcome, krylov_method method, std::int64_t iterations,
                                      const std::string& detail, bool is_hermitian);

}  // namespace spargo::detail::krylov
