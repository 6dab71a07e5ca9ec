// Internals of the readers into device memory, with the tuning exposed to tests.
#pragma once

#include "io/device/chunks.hpp"

#include <spargo/io/device_read.hpp>

namespace spargo::detail {

// Like the public functions.
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

// Whether to try the device: an uncompressed regular file, large enough where that matters.
[[nodiscard]] bool suits_device(const std::string& path, const device_read_options& options,
                                const device_read_tuning& tuning);

// The text from byte `first` on without trailing blank lines; empty if nothing else is there.
[[nodiscard]] text_range without_blank_end(const opened_file& file, const std::string& path, std::int64_t first);

// The line at a byte of the file, ending in '\n'; of an overlong line a part that is still too long.
[[nodiscard]] std::string line_at(const opened_file& file, const std::string& path, std::int64_t offset);

[[nodiscard]] std::function<void(std::int64_t)> report_to(const device_read_options& options, std::int64_t file_bytes);

}  // namespace spargo::detail
