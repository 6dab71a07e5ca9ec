// Random entries on the device, one thread per entry, with places and values of entries.hpp.
// Cost: O(entries), 30 to 40 integer operations per R-MAT level; no memory besides the result.
#include "core/device/launch.cuh"
#include "core/instantiate.hpp"
#include "io/generate/device.hpp"
#include "io/generate/entries.hpp"

namespace spargo::detail {

namespace {

// Generates entry e.
template <class V, class I, class Places>
struct entry_maker {
  Places place;
  counter_random re;
  counter_random im;
  I* rows;
  I* cols;
  V* values;

  __device__ void operator()(std::int64_t e) const {
    const entry_place at = place(e);
    rows[e] = static_cast<I>(at.row);
    cols[e] = static_cast<I>(at.col);
    const auto counter = static_cast<std::uint64_t>(e);
    if constexpr (complex_type<V>) {
      using real = typename V::value_type;
      values[e] = V(static_cast<real>(re.unit(counter)), static_cast<real>(im.unit(counter)));
    } else if constexpr (!is_pattern<V>) {
      values[e] = static_cast<V>(re.unit(counter));
    }
  }
};

template <class V, class I, class Places>
coo_matrix<V, I, device> make(const context<device>& ctx, const generator_spec& s, const Places& place) {
  coo_matrix<V, I, device> to(ctx, static_cast<I>(s.rows), static_cast<I>(s.cols), s.entries);
  const entry_maker<V, I, Places> maker{place,
                                        {s.seed, stream_values},
                                        {s.seed, stream_imaginary},
                                        to.row_indices().data(),
                                        to.col_indices().data(),
                                        to.values().data()};
  for_each(ctx, s.entries, maker);
  return to;
}

}  // namespace

template <entry_type V, index_type I>
coo_matrix<V, I, device> generate_on_device(const context<device>& ctx, const generator_spec& spec) {
  if (spec.kind == generator_kind::rmat) return make<V, I>(ctx, spec, rmat_entries(spec));
  return make<V, I>(ctx, spec, uniform_entries(spec));
}

#define INSTANTIATE(V, I) \
  template coo_matrix<V, I, device> generate_on_device<V, I>(const context<device>&, const generator_spec&);
SPARGO_FOR_EACH_ENTRY_INDEX(INSTANTIATE)

}  // namespace spargo::detail
