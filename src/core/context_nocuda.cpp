// Device contexts of a library built without CUDA: construction throws.
#include <spargo/core/context.hpp>

namespace spargo {

namespace {

constexpr const char* no_cuda = "this library was built without CUDA";

[[noreturn]] void refuse() { throw error(error_code::device_unavailable, std::string("device: ") + no_cuda); }

class refusing_resource final : public memory_resource<host> {
 public:
  void* allocate(std::size_t, stream_handle) override { refuse(); }
  void deallocate(void*, std::size_t, stream_handle) noexcept override {}
};

}  // namespace

memory_resource<host>& pinned_host_resource() {
  static refusing_resource resource;
  return resource;
}

device_status query_devices() { return {0, no_cuda, {}}; }

// Never instantiated: the constructor throws, so nothing below it runs.
struct context<device>::state {
  device_properties properties;
};

context<device>::context(const device_options&) { refuse(); }
int context<device>::ordinal() const noexcept { return -1; }
stream_handle context<device>::stream() const noexcept { return nullptr; }
const device_properties& context<device>::properties() const noexcept { return state_->properties; }
memory_resource<device>& context<device>::resource() const noexcept { std::terminate(); }
device_memory context<device>::memory() const { refuse(); }
void context<device>::synchronize() const { refuse(); }
void* context<device>::allocate(std::size_t) const { refuse(); }
void context<device>::deallocate(void*, std::size_t) const noexcept {}

namespace detail {
void copy_to_device(const context<device>&, const void*, void*, std::size_t) { refuse(); }
void copy_to_host(const context<device>&, const void*, void*, std::size_t) { refuse(); }
void copy_on_device(const context<device>&, const void*, void*, std::size_t) { refuse(); }
void fill_bytes(const context<device>&, void*, int, std::size_t) { refuse(); }
}  // namespace detail

}  // namespace spargo
