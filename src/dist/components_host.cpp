// Components' steps on the host: union-find over a rank's edges, on one thread.
#include "core/instantiate.hpp"
#include "dist/components_executor.hpp"

#include <numeric>
#include <optional>

namespace spargo::detail::dist {

namespace {

template <class I>
class host_components final : public components_executor<I, host> {
 public:
  host_components(const communicator& comm, const context<host>& ctx, const distributed_graph<I>& g,
                  local_columns&& columns)
      : out_(g.out()), first_(g.parts().first(comm.rank())), columns_(std::move(columns)) {
    comm.agree_on([&] {
      root_.resize(static_cast<std::size_t>(columns_.size()));
      labels_.resize(root_.size());
    });
    halo_.emplace(comm, ctx, g.parts(), columns_.ghosts, sizeof(I));
  }

  void start() override {
    std::iota(root_.begin(), root_.end(), 0);
    for (std::int64_t u = 0; u < out_.rows; ++u) {
      for (std::int64_t e = out_.offsets[u]; e < out_.offsets[u + 1]; ++e) {
        const std::int32_t a = root_of(static_cast<std::int32_t>(u));
        const std::int32_t b = root_of(columns_.indices[e]);
        root_[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
      }
    }
    for (std::size_t v = 0; v < root_.size(); ++v) root_[v] = root_of(static_cast<std::int32_t>(v));
    for (std::size_t v = 0; v < root_.size(); ++v) {
      labels_[v] = static_cast<I>(static_cast<std::int64_t>(v) < columns_.own
                                      ? first_ + static_cast<std::int64_t>(v)
                                      : columns_.ghosts[v - static_cast<std::size_t>(columns_.own)]);
    }
  }
  bool spread() override {
    for (std::size_t v = 0; v < root_.size(); ++v) {  // the tree's least, at its root
      I& least = labels_[static_cast<std::size_t>(root_[v])];
      least = std::min(least, labels_[v]);
    }
    bool changes = false;
    for (std::size_t v = 0; v < root_.size(); ++v) {
      const I least = labels_[static_cast<std::size_t>(root_[v])];
      changes = changes || labels_[v] != least;
      labels_[v] = least;
    }
    halo_->start(labels());
    halo_->finish(span<I, host>(labels_.data() + columns_.own, std::ssize(columns_.ghosts)));
    return changes;
  }
  [[nodiscard]] std::int64_t count() override {
    std::int64_t count = 0;
    for (std::int64_t v = 0; v < columns_.own; ++v) count += labels()[v] == first_ + v ? 1 : 0;
    return count;
  }
  [[nodiscard]] span<const I, host> labels() const noexcept override { return {labels_.data(), columns_.own}; }
  [[nodiscard]] std::string_view how() const noexcept override { return halo_->how(); }

 private:
  std::int32_t root_of(std::int32_t v) {
    while (root_[static_cast<std::size_t>(v)] != v) {
      std::int32_t& above = root_[static_cast<std::size_t>(v)];
      v = above = root_[static_cast<std::size_t>(above)];
    }
    return v;
  }

  csr_pattern_view<I, std::int64_t, host> out_;
  std::int64_t first_;
  local_columns columns_;
  std::vector<std::int32_t> root_;  // [own, then ghosts]
  std::vector<I> labels_;
  std::optional<exchange<host>> halo_;
};

}  // namespace

template <class I>
std::unique_ptr<components_executor<I, host>> make_components_executor(const communicator& comm,
                                                                       const context<host>& ctx,
                                                                       const distributed_graph<I>& g,
                                                                       local_columns columns, const exchange_options&) {
  return std::make_unique<host_components<I>>(comm, ctx, g, std::move(columns));
}

#define INSTANTIATE(I)                                                             \
  template std::unique_ptr<components_executor<I, host>> make_components_executor( \
      const communicator&, const context<host>&, const distributed_graph<I>&, local_columns, const exchange_options&);
SPARGO_FOR_EACH_INDEX(INSTANTIATE)

}  // namespace spargo::detail::dist
