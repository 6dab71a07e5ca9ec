#include <spargo/spargo.hpp>

#include <cstdio>

int main() {
  const spargo::context<spargo::host> ctx({.threads = 2});
  const spargo::array<double, spargo::host> x(ctx, 100);
  std::printf("spargo %d.%d, GPU: %s\n", SPARGO_VERSION_MAJOR, SPARGO_VERSION_MINOR,
              spargo::query_devices().reason.c_str());
  return x.size() == 100 ? 0 : 1;
}
