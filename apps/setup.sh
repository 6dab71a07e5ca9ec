# Set-up shared by apps/quickstart.sh and tests/run.sh: sourced, not run.
# Installs missing packages on Debian and Ubuntu, and configures a build.
# shellcheck shell=bash

# What changes how a file is compiled (ccache, MPI, ...) is installed for the apps already, so that the tests' build
# compiles nothing of theirs again.
spargo_packages_for_apps=(cmake ninja-build g++ ccache libfmt-dev libcli11-dev nlohmann-json3-dev zlib1g-dev
  libxxhash-dev libexpat1-dev libcairo2-dev pkg-config libopenmpi-dev openmpi-bin)
spargo_packages_for_tests=(libgtest-dev libgmock-dev libbenchmark-dev libboost-graph-dev libeigen3-dev libopenblas-dev
  python3-dev python3-venv)

spargo_say() { printf '==> %s\n' "$*" >&2; }
spargo_die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

spargo_jobs() { nproc 2> /dev/null || getconf _NPROCESSORS_ONLN; }

# The CUDA compiler's path; empty: there is none.
spargo_nvcc() {
  command -v nvcc || { [ -x /usr/local/cuda/bin/nvcc ] && echo /usr/local/cuda/bin/nvcc; } || true
}

# True on Debian, Ubuntu and what derives from them.
spargo_is_debian() {
  command -v apt-get > /dev/null && command -v dpkg-query > /dev/null
}

# Prints those of the named packages that are not installed. A tool of the same name counts, whoever brought it.
spargo_missing_packages() {
  local package tool
  for package in "$@"; do
    case $package in
      ninja-build) tool=ninja ;;
      cmake | g++ | pkg-config | ccache) tool=$package ;;
      *) tool= ;;
    esac
    if [ -n "$tool" ] && command -v "$tool" > /dev/null; then continue; fi
    if [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2> /dev/null)" = installed ]; then continue; fi
    printf '%s\n' "$package"
  done
}

# spargo_install PACKAGE...: installs what is missing, with root's rights or sudo; elsewhere says what is needed.
# Never fatal: the configure step that follows knows better whether something is really absent.
spargo_install() {
  if ! spargo_is_debian; then
    spargo_say "not Debian or Ubuntu: going on with what is here. Needed, by Debian's names: $*"
    return 0
  fi
  local missing=()
  mapfile -t missing < <(spargo_missing_packages "$@")
  if [ ${#missing[@]} -eq 0 ]; then return 0; fi

  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    if command -v sudo > /dev/null && { [ -t 0 ] || sudo -n true 2> /dev/null; }; then
      as_root=(sudo)
    else
      spargo_say "neither root nor able to use sudo; please run: apt-get install ${missing[*]}"
      return 0
    fi
  fi
  spargo_say "installing with ${as_root[*]:+sudo }apt-get: ${missing[*]}"
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y)
  { "${apt[@]}" update && "${apt[@]}" install --no-install-recommends "${missing[@]}"; } >&2 \
    || spargo_say "apt-get did not finish; going on with what is here"
}

# spargo_check_tools: the compiler and CMake are there and new enough.
spargo_check_tools() {
  command -v cmake > /dev/null || spargo_die "CMake 3.22 or newer is needed, and there is none"
  local version
  version=$(cmake --version | sed -n '1s/[^0-9]*\([0-9]*\.[0-9]*\).*/\1/p')
  if [ "$(printf '%s\n3.22\n' "$version" | sort -V | head -n 1)" != 3.22 ]; then
    spargo_die "CMake 3.22 or newer is needed, and this is $version"
  fi
  if [ -z "${CXX:-}" ] && ! command -v c++ > /dev/null && ! command -v g++ > /dev/null && ! command -v clang++ > /dev/null; then
    spargo_die "a C++20 compiler is needed (g++ 12 or clang 14, or newer, are known to do), and there is none"
  fi
}

# spargo_configure PRESET [CMake arguments]: incremental; uses ccache (one cache for all checkouts) and Ninja where they
# are. The launcher carries ccache's settings, so a build started by hand uses the cache in the same way.
spargo_configure() {
  local preset=$1
  shift
  if command -v ccache > /dev/null; then
    local launcher="env;CCACHE_BASEDIR=${CCACHE_BASEDIR:-$PWD};CCACHE_NOHASHDIR=1;CCACHE_SLOPPINESS=pch_defines,time_macros;ccache"
    export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER:-$launcher}
    export CMAKE_CUDA_COMPILER_LAUNCHER=${CMAKE_CUDA_COMPILER_LAUNCHER:-$launcher}
  fi
  local generator=()
  if ! command -v ninja > /dev/null; then generator=(-G "Unix Makefiles"); fi
  cmake --preset "$preset" "${generator[@]}" "$@"
}
