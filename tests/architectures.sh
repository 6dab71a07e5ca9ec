#!/usr/bin/env bash
# Compiles, for other GPUs than this machine's, the CUDA files that depend on the chip: those that reach
# spargo/core/device_features.cuh through their includes, and tests of headers for nvcc users. Nothing is linked and no
# GPU is needed; ptxas checks every instruction.
#   bash tests/architectures.sh [options] [ARCHITECTURE...]   default: 75 80
#   --all             every CUDA file of the library and the tests
#   --build FOLDER    a configured build, for its config.hpp (default build)
#   --jobs N          compilers at a time (default: all processors)
# Exit status 0: all compiled without a warning, or there is no nvcc to ask.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

all=no build=build jobs=$(nproc) architectures=()
while [ $# -gt 0 ]; do
  case $1 in
    --all) all=yes ;;
    --build) build=${2:?--build needs a folder}; shift ;;
    --jobs) jobs=${2:?--jobs needs a number}; shift ;;
    -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
    [0-9]*) architectures+=("$1") ;;
    *) echo "architectures.sh: unknown argument '$1' (see --help)" >&2; exit 2 ;;
  esac
  shift
done
[ ${#architectures[@]} -gt 0 ] || architectures=(75 80)
PATH=$PATH:/usr/local/cuda/bin
if ! command -v nvcc > /dev/null; then
  echo "architectures.sh: skipped, no nvcc"
  exit 0
fi
if [ ! -f "$build/include/spargo/core/config.hpp" ]; then
  echo "architectures.sh: $build is no configured build (expected $build/include/spargo/core/config.hpp)" >&2
  exit 2
fi

# CUDA files that include $1, directly or through others; all are named as they are included, tests from the top folder.
depend_on() {
  local found=$1 before=""
  while [ "$found" != "$before" ]; do
    before=$found
    found=$({
      echo "$before"
      sed 's|.*|#include "&"\n#include <&>|' <<< "$before" \
        | grep -rlFf - include src tests --include='*.cuh' --include='*.cu' | sed -E 's,^(src|include)/,,'
    } | sort -u)
  done
  echo "$found"
}

# Those of one chip have a file of their own.
if [ $all = yes ]; then
  mapfile -t files < <(find src tests -name '*.cu' ! -name '*_sm90a.cu' | sort)
else
  mapfile -t files < <(depend_on spargo/core/device_features.cuh | grep '\.cu$' | grep -v '_sm90a\.cu$' | sed '/^tests/!s|^|src/|')
fi
[ ${#files[@]} -gt 0 ] || { echo "architectures.sh: no files found" >&2; exit 1; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# One call for all architectures, so that a file is parsed once for the host. ccache knows objects, not cubins: the
# host's half is compiled too, with -O0, and files that are as they were cost nothing.
launcher=$(command -v ccache || true)
export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$PWD} CCACHE_NOHASHDIR=${CCACHE_NOHASHDIR:-1}
code=$(printf -- '-gencode arch=compute_%s,code=sm_%s ' $(for arch in "${architectures[@]}"; do echo "$arch" "$arch"; done))
compile() {
  local file=$1 log
  # shellcheck disable=SC2086
  if ! log=$($launcher nvcc -Iinclude -I"$build/include" -Isrc -Itests -O0 -DNDEBUG $code -c -Xptxas -O0 -Xcicc -O0 \
    --Werror=all-warnings -std=c++20 --extended-lambda --expt-relaxed-constexpr -o "$scratch/${file//\//_}.o" "$file" 2>&1); then
    printf '%s does not compile (for %s):\n%s\n' "$file" "$architectures_named" "$(head -n 20 <<< "$log")"
    return 1
  fi
}
architectures_named=${architectures[*]}
export -f compile
export build scratch launcher code architectures_named

status=0
printf '%s\n' "${files[@]}" | xargs -P "$jobs" -L 1 bash -c 'compile "$0"' || status=1
echo "architectures.sh: ${#files[@]} files for ${architectures[*]} in $SECONDS s: $([ $status = 0 ] && echo ok || echo FAILED)"
exit $status
