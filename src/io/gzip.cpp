#include "io/gzip.hpp"

#include "io/text/input_format.hpp"

#include <zlib.h>

#include <algorithm>
#include <new>

namespace spargo::detail {

namespace {

struct tuning {
  static constexpr std::size_t file_buffer = std::size_t{256} << 10;  // bytes per read: no gain beyond 128 KiB
  static constexpr std::size_t chunk = std::size_t{64} << 10;         // compressed bytes per deflate call
  static constexpr int level = 6;                                     // zlib's default trade of time for size
};

constexpr int gzip_only = 16 + MAX_WBITS;  // zlib: a gzip header, the largest window

}  // namespace

bool looks_like_gzip(std::string_view bytes) noexcept { return bytes.substr(0, 2) == "\x1f\x8b"; }

struct byte_stream::inflater {
  z_stream z{};
  bool in_member = true;

  inflater() {
    if (::inflateInit2(&z, gzip_only) != Z_OK) throw std::bad_alloc();
  }
  inflater(const inflater&) = delete;
  inflater& operator=(const inflater&) = delete;
  ~inflater() { ::inflateEnd(&z); }
};

byte_stream::byte_stream(std::shared_ptr<const opened_file> file, std::string path)
    : file_(std::move(file)), path_(std::move(path)), buffer_(tuning::file_buffer) {
  while (pending_.size() < 2 && refill()) {
  }
  if (looks_like_gzip(pending_)) inflater_ = std::make_unique<inflater>();
  if (has_byte_order_mark(look_ahead(byte_order_mark.size()))) ahead_used_ = byte_order_mark.size();
}

byte_stream::~byte_stream() = default;

// Appends bytes to the pending ones, which move to the front.
bool byte_stream::refill() {
  if (at_end_) return false;
  std::copy(pending_.begin(), pending_.end(), buffer_.begin());
  const auto room = static_cast<std::int64_t>(buffer_.size() - pending_.size());
  const std::int64_t got = read_some(*file_, path_, buffer_.data() + pending_.size(), room, offset_);
  offset_ += got;
  at_end_ = got == 0;
  pending_ = {buffer_.data(), pending_.size() + static_cast<std::size_t>(got)};
  return !at_end_;
}

std::string_view byte_stream::look_ahead(std::int64_t bytes) {
  ahead_.erase(0, ahead_used_);
  ahead_used_ = 0;
  auto size = static_cast<std::int64_t>(ahead_.size());
  if (size < bytes) ahead_.resize(static_cast<std::size_t>(bytes));
  while (size < bytes) {
    const std::int64_t got = read_next(ahead_.data() + size, bytes - size);
    if (got == 0) break;
    size += got;
  }
  ahead_.resize(static_cast<std::size_t>(size));
  return std::string_view(ahead_).substr(0, static_cast<std::size_t>(bytes));
}

std::int64_t byte_stream::read(char* to, std::int64_t bytes) {
  if (ahead_used_ == ahead_.size()) return read_next(to, bytes);
  const std::size_t n = std::min(ahead_.size() - ahead_used_, static_cast<std::size_t>(bytes));
  std::copy_n(ahead_.data() + ahead_used_, n, to);
  ahead_used_ += n;
  return static_cast<std::int64_t>(n);
}

std::int64_t byte_stream::read_next(char* to, std::int64_t bytes) {
  if (!failure_.empty()) return 0;
  return inflater_ ? read_gzip(to, bytes) : read_plain(to, bytes);
}

std::int64_t byte_stream::read_plain(char* to, std::int64_t bytes) {
  if (pending_.empty()) {
    const std::int64_t got = at_end_ ? 0 : read_some(*file_, path_, to, bytes, offset_);
    offset_ += got;
    at_end_ = got == 0;
    consumed_ += got;
    return got;
  }
  const std::size_t n = std::min(pending_.size(), static_cast<std::size_t>(bytes));
  std::copy_n(pending_.data(), n, to);
  pending_.remove_prefix(n);
  consumed_ += static_cast<std::int64_t>(n);
  return static_cast<std::int64_t>(n);
}

// After a member: another member, zero padding to the end, or the end.
bool byte_stream::begin_next_member() {
  while (pending_.size() < 2 && refill()) {
  }
  if (pending_.empty()) return false;
  if (looks_like_gzip(pending_)) {
    ::inflateReset2(&inflater_->z, gzip_only);
    return inflater_->in_member = true;
  }
  do {
    if (pending_.find_first_not_of('\0') != std::string_view::npos) {
      failure_ = "the gzip stream is followed by bytes that are not gzip";
      return false;
    }
    consumed_ += static_cast<std::int64_t>(pending_.size());
    pending_ = {};
  } while (refill());
  return false;
}

std::int64_t byte_stream::read_gzip(char* to, std::int64_t bytes) {
  z_stream& z = inflater_->z;
  const auto room = static_cast<uInt>(std::min<std::int64_t>(bytes, std::int64_t{1} << 30));
  z.next_out = reinterpret_cast<Bytef*>(to);
  z.avail_out = room;
  while (z.avail_out != 0) {
    if (!inflater_->in_member && !begin_next_member()) break;
    const bool more = !pending_.empty() || refill();
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(pending_.data()));
    z.avail_in = static_cast<uInt>(pending_.size());
    const uInt room_before = z.avail_out;
    const int result = ::inflate(&z, Z_NO_FLUSH);
    const std::size_t used = pending_.size() - z.avail_in;
    consumed_ += static_cast<std::int64_t>(used);
    pending_.remove_prefix(used);
    if (result == Z_STREAM_END) {
      inflater_->in_member = false;
    } else if (result == Z_MEM_ERROR) {
      throw std::bad_alloc();
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      failure_ = std::string("the gzip stream is corrupt (") + (z.msg != nullptr ? z.msg : "no reason given") + ")";
      break;
    } else if (!more && z.avail_out == room_before) {  // zlib had input left before; now it has none
      failure_ = "the gzip stream is truncated";
      break;
    }
  }
  return static_cast<std::int64_t>(room - z.avail_out);
}

struct gzip_writer::deflater {
  z_stream z{};

  deflater() {
    if (::deflateInit2(&z, tuning::level, Z_DEFLATED, gzip_only, 8, Z_DEFAULT_STRATEGY) != Z_OK) throw std::bad_alloc();
  }
  deflater(const deflater&) = delete;
  deflater& operator=(const deflater&) = delete;
  ~deflater() { ::deflateEnd(&z); }
};

gzip_writer::gzip_writer() : deflater_(std::make_unique<deflater>()) {}
gzip_writer::~gzip_writer() = default;

void gzip_writer::run(std::string_view bytes, int flush, std::string& to) {
  z_stream& z = deflater_->z;
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  z.avail_in = static_cast<uInt>(bytes.size());
  do {
    const std::size_t before = to.size();
    to.resize(before + tuning::chunk);
    z.next_out = reinterpret_cast<Bytef*>(to.data() + before);
    z.avail_out = static_cast<uInt>(tuning::chunk);
    ::deflate(&z, flush);
    to.resize(before + tuning::chunk - z.avail_out);
  } while (z.avail_out == 0);
}

void gzip_writer::compress(std::string_view bytes, std::string& to) {
  constexpr std::size_t most = std::size_t{1} << 30;  // zlib counts in 32 bits
  for (; !bytes.empty(); bytes.remove_prefix(std::min(most, bytes.size()))) {
    run(bytes.substr(0, most), Z_NO_FLUSH, to);
  }
}

void gzip_writer::finish(std::string& to) { run({}, Z_FINISH, to); }

}  // namespace spargo::detail
