// What every kind of copy has in common: an attempt that gives an executor, or says why there is none.
#pragma once

#include "sparse/spmv_executor.hpp"

#include <string>

namespace spargo::detail {

template <class V>
struct copy_attempt {
  spmv_executor_ptr<V> executor;  // null: refused
  std::string reason;             // what is stored how, or why there is no copy
};

enum class copy_demand {
  if_it_pays,  // refused where CSR as it stands is expected to be as fast
  by_name,     // refused only where the matrix cannot be stored that way, or takes too much memory
};

}  // namespace spargo::detail
