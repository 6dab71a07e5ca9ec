// Dense matrices are defined in core, whose primitives use them.
#pragma once

#include <spargo/core/dense.hpp>
