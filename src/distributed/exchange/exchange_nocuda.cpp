// A library without CUDA has no device context, so none of these can be called.
#include "core/backend.hpp"

#include <spargo/distributed/exchange.hpp>

namespace spargo {

struct exchange<device>::state {};

exchange<device>::exchange(const communicator&, const context<device>&, const partition&,
                           span<const std::int64_t, host>, std::size_t, const exchange_options&) {
  detail::no_device("exchange");
}
void exchange<device>::own_are_at(span<const std::int32_t, device>) {}
void exchange<device>::start_bytes(const void*, std::int64_t, std::size_t) {}
void exchange<device>::finish_bytes(void*, std::int64_t, std::size_t) {}
const void* exchange<device>::finish_in_place(std::int64_t&) { return nullptr; }
stream_handle exchange<device>::finish_bytes_aside(void*, std::int64_t, std::size_t) { return nullptr; }
void exchange<device>::join() {}
std::int64_t exchange<device>::sent() const noexcept { return 0; }
device_link exchange<device>::link() const noexcept { return device_link::automatic; }
std::string_view exchange<device>::how() const noexcept { return ""; }

}  // namespace spargo
