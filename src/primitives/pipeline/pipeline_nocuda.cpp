// The pipeline's device half in a library built without CUDA, where no device context can exist.
#include "primitives/backend.hpp"

#include <spargo/primitives/pipeline.hpp>

namespace spargo::detail {

template <>
struct pipeline_engine<device>::state {};

template <>
pipeline_engine<device>::pipeline_engine(const context<device>&, element_sizes, const pipeline_options&) {
  no_device("pipeline");
}
template <>
pipeline_engine<device>::pipeline_engine(pipeline_engine&&) noexcept = default;
template <>
pipeline_engine<device>& pipeline_engine<device>::operator=(pipeline_engine&&) noexcept = default;
template <>
pipeline_engine<device>::~pipeline_engine() = default;
template <>
std::int64_t pipeline_engine<device>::chunk() const noexcept {
  return 0;
}
template <>
int pipeline_engine<device>::streams() const noexcept {
  return 0;
}
template <>
void pipeline_engine<device>::run(const pipeline_ranges&, const chunk_function<device>&) {
  no_device("pipeline");
}

}  // namespace spargo::detail
