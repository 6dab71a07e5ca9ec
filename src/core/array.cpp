#include <spargo/core/array.hpp>

namespace spargo::detail {

template <class Space>
array_memory<Space>::array_memory(const context<Space>& ctx, std::int64_t size, std::size_t element_bytes)
    : ctx_(ctx), size_(size), bytes_(checked_bytes(size, element_bytes)) {
  data_ = ctx.allocate(bytes_);
}

template <class Space>
array_memory<Space>::array_memory(array_memory&& other) noexcept {
  swap(other);
}

template <class Space>
array_memory<Space>& array_memory<Space>::operator=(array_memory&& other) noexcept {
  array_memory moved(std::move(other));
  swap(moved);
  return *this;
}

template <class Space>
array_memory<Space>::~array_memory() {
  if (data_ != nullptr) ctx_->deallocate(data_, bytes_);
}

template <class Space>
void array_memory<Space>::swap(array_memory& other) noexcept {
  std::swap(ctx_, other.ctx_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(bytes_, other.bytes_);
}

template <class Space>
void array_memory<Space>::truncate(std::int64_t size) {
  SPARGO_EXPECTS(size >= 0 && size <= size_, "array::truncate: the new size exceeds the old one");
  size_ = size;
}

template class array_memory<host>;
template class array_memory<device>;

}  // namespace spargo::detail
