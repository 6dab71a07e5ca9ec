#!/usr/bin/env bash
# Compiles, for other GPUs than this machine's, the CUDA files whose code depends on the chip. Nothing is linked and no
# GPU is needed; ptxas checks every instruction.
# Which ones: of a header that asks for the chip's features or has PTX of its own, the .cu files of its folder that
# include it; where there are none (core/device, public headers), of those that include it most directly one in src/ and
# one in tests/, which calls every path. What includes such a header from elsewhere has no code of its own for a chip.
#   bash tests/architectures.sh [options] [ARCHITECTURE...]   default: 75 80
#   --all             every CUDA file of the library and the tests
#   --list            print the files' names, compile nothing
#   --build FOLDER    a configured build, for its config.hpp (default build)
#   --jobs N          compilers at a time (default: all processors)
# Exit status 0: all compiled without a warning, or there is no nvcc to ask.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

all=no list=no build=build jobs=$(nproc) architectures=()
while [ $# -gt 0 ]; do
  case $1 in
    --all) all=yes ;;
    --list) list=yes ;;
    --build) build=${2:?--build needs a folder}; shift ;;
    --jobs) jobs=${2:?--jobs needs a number}; shift ;;
    -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
    [0-9]*) architectures+=("$1") ;;
    *) echo "architectures.sh: unknown argument '$1' (see --help)" >&2; exit 2 ;;
  esac
  shift
done
[ ${#architectures[@]} -gt 0 ] || architectures=(75 80)
# Input: FILE:asks for each file whose code asks for a chip, FILE:#include "NAME" for each that includes another.
select_files() {
  awk -F: '
    function folder(file) { sub("/[^/]*$", "", file); return file }
    # The .cu files nearest to `seed`, in found; with `own`, all of its folder that reach it through its folder.
    function users_of(seed, own, top,   queue, seen, n, level, next_level, at, k, parts, file) {
      split("", found)
      queue[n = 1] = seed
      for (at = level = 1; at <= n; level = next_level) {
        next_level = n + 1
        for (; at < next_level; ++at) {
          split(users[queue[at]], parts, " ")
          for (k in parts) {
            file = parts[k]
            if (file in seen || (own && folder(file) != folder(seed))) continue
            seen[queue[++n] = file]
            if (file ~ /[.]cu$/ && file !~ /_sm90a[.]cu$/ && (own || index(file, top) == 1)) found[file]
          }
        }
        if (!own && length(found)) return
      }
    }
    $2 == "asks" { seeds[$1]; next }
    {
      sub(/^#include [<"]/, "", $2)
      for (k = split("include/ src/ tests/", tops, " "); k > 0; --k) users[tops[k] $2] = users[tops[k] $2] " " $1
    }
    END {
      for (seed in seeds) {
        if (seed ~ /[.]cu$/) { if (seed !~ /_sm90a[.]cu$/) chosen[seed]; continue }
        users_of(seed, 1)
        if (length(found)) for (file in found) chosen[file]
        else shared[seed]
      }
      for (seed in shared) {
        for (k = split("src/ tests/", tops, " "); k > 0; --k) {
          users_of(seed, 0, tops[k])
          best = ""
          for (file in found) if (best == "" || file < best) best = file
          if (best != "") chosen[best]
        }
      }
      for (file in chosen) print file
    }' | sort
}
# Registers and PTX differ among chips, and so do resident threads: where several blocks are asked for, "(threads, 2".
chip='device_features[.]cuh|__launch_bounds__\([^)]*,( [^1]|$)|\<(asm|__CUDA_ARCH__|__reduce_[a-z]+_sync'
chip+='|has_(async_copies|warp_reductions|tensor_rounding|hopper_blocks|wide_atomics)|(resident_blocks|code_capability)\>)'

# Those of one chip have a file of their own.
if [ $all = yes ]; then
  mapfile -t files < <(find src tests -name '*.cu' ! -name '*_sm90a.cu' | sort)
else
  cuda_files=(include src tests --include='*.cuh' --include='*.cu')
  mapfile -t files < <({ grep -rlE "$chip" "${cuda_files[@]}" | sed 's/$/:asks/'
                         grep -roE '^#include [<"][^>"]+[.]cuh' "${cuda_files[@]}"; } | select_files)
fi
[ ${#files[@]} -gt 0 ] || { echo "architectures.sh: no files found" >&2; exit 1; }
if [ $list = yes ]; then
  printf '%s\n' "${files[@]}"
  exit 0
fi
PATH=$PATH:/usr/local/cuda/bin
if ! command -v nvcc > /dev/null; then
  echo "architectures.sh: skipped, no nvcc"
  exit 0
fi
if [ ! -f "$build/include/spargo/core/config.hpp" ]; then
  echo "architectures.sh: $build is no configured build (expected $build/include/spargo/core/config.hpp)" >&2
  exit 2
fi

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
