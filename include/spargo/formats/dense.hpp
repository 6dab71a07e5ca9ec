// Dense matrices: see core, whose primitives take them.
#pragma once

#include <spargo/core/dense.hpp>
