// Components' steps on the host: local trees by the single-process algorithm on all threads, then labels.
#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "distributed/components/executor.hpp"

#include <optional>

namespace spargo::detail::distributed {

namespace {

template <class I>
class host_components final : public components_executor<I, host> {
 public:
  host_components(const communicator& comm, const context<host>& ctx, const distributed_graph<I>& g,
                  local_columns&& columns)
      : threads_(ctx.threads()), first_(g.parts().first(comm.rank())), columns_(std::move(columns)) {
    comm.agree_on([&] {
      offsets_ = offsets_with_ghosts(g.out(), columns_);
      put_own_first(threads_, offsets_, columns_);
      labels_.resize(static_cast<std::size_t>(columns_.size()));
      trees_ = make_trees<host>(ctx, offsets_, std::as_const(columns_.indices).view());
    });
    halo_.emplace(comm, ctx, g.parts(), columns_.ghosts, sizeof(I));
  }

  void start() override {
    trees_->run();
    take_trees();
  }
  void start_with_all() override {
    trees_->join_skipped();
    take_trees();
  }
  bool spread() override {
    const span<I, host> ghosts(labels_.data() + columns_.own, std::ssize(columns_.ghosts));
    halo_->start(labels());
    halo_->finish(ghosts);
    const std::int32_t* const root = trees_->labels().data();
    bool changes = false;
    for (std::int64_t v = columns_.own; v < columns_.size(); ++v) {
      if (label(v) >= label(root[v])) continue;
      label(root[v]) = label(v);
      changes = true;
    }
    if (!changes) return false;
    parallel_for(threads_, columns_.own, grain::elements, [&](std::int64_t v) {
      if (root[v] != v) label(v) = label(root[v]);  // others read a root's label
    });
    return true;
  }
  [[nodiscard]] components_summary summary() override {
    components_summary found;
    for (std::int64_t v = 0; v < columns_.own; ++v) found.count += label(v) == first_ + v ? 1 : 0;
    if (columns_.ghosts.empty()) return found;
    if (const std::int64_t v = trees_->skipped(); v >= 0) found.skipped = label(v);
    const std::int32_t* const root = trees_->labels().data();
    for (std::int64_t v = columns_.own; v < columns_.size(); ++v) found.larger += label(v) > label(root[v]) ? 1 : 0;
    return found;
  }
  [[nodiscard]] span<const I, host> labels() const noexcept override { return {labels_.data(), columns_.own}; }
  [[nodiscard]] std::string_view how() const noexcept override { return halo_->how(); }

 private:
  I& label(std::int64_t v) { return labels_[static_cast<std::size_t>(v)]; }

  void take_trees() {
    parallel_for(threads_, columns_.own, grain::elements,
                 [&, root = trees_->labels().data()](std::int64_t v) { label(v) = static_cast<I>(first_ + root[v]); });
  }

  int threads_;
  std::int64_t first_;
  local_columns columns_;
  std::vector<std::int64_t> offsets_;
  std::vector<I> labels_;  // [own, then ghosts]
  std::unique_ptr<components::executor<std::int32_t, host>> trees_;
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

}  // namespace spargo::detail::distributed
