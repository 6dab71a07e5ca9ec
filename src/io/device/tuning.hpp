// Inside the readers into device memory: their tuning open to tests, and what they share.
#pragma once

#include "io/device/chunks.hpp"

#include <spargo/io/device_read.hpp>

namespace spargo::detail {

// As the public functions.
template <entry_type V, index_type I>
[[nodiscard]] coo_matrix<V, I, device> read_matrix_market_with(const context<device>& ctx, const context<host>& reading,
                                                               const std::string& path,
                                                               const device_read_options& options,
                                                               const device_read_tuning& tuning,
                                                               device_read_summary& summary);
template <index_type I>
[[nodiscard]] device_edge_list<I> read_edge_list_with(const context<device>& ctx, const context<host>& reading,
                                                      const std::string& path, const device_read_options& options,
                                                      const device_read_tuning& tuning);

// Whether the device should try: a regular file, not compressed, and large enough if that matters.
[[nodiscard]] bool suits_device(const std::string& path, const device_read_options& options,
                                const device_read_tuning& tuning);

// The text from byte `first` on without the blank lines at its end; empty where there is nothing else.
[[nodiscard]] text_range without_blank_end(const opened_file& file, const std::string& path, std::int64_t first);

// The line at a byte of the file, with a '\n' at its end; of one beyond the limit a part that is.
[[nodiscard]] std::string line_at(const opened_file& file, const std::string& path, std::int64_t offset);

[[nodiscard]] std::function<void(std::int64_t)> report_to(const device_read_options& options, std::int64_t file_bytes);

}  // namespace spargo::detail
