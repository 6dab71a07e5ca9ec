#!/usr/bin/env bash
# Builds the fuzz targets with clang's libFuzzer under AddressSanitizer and UBSan and runs each one for a while.
#   bash tests/io/fuzz/run.sh [SECONDS [TARGET...]]   default: 60 seconds each, all targets
# Seeds are the files of tests/io/corpus; for gzip, those compressed. What is found is left in build/fuzz/TARGET/ as
# crash-*, and the exit code is 1.
set -euo pipefail
shopt -s nullglob
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
seconds=${1:-60}
shift || true
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(matrix_market edge_list gzip snapshot)
command -v clang++ > /dev/null || { echo "fuzz: clang++ is missing (Debian: apt-get install clang)" >&2; exit 1; }

# The configured header; fuzzing needs nothing of CUDA.
mkdir -p build/fuzz/objects
[ -f build/fuzz/cmake/include/spargo/core/config.hpp ] \
  || cmake -S . -B build/fuzz/cmake -DSPARGO_CUDA=OFF -DSPARGO_APPS=OFF -DSPARGO_TESTS=OFF -DSPARGO_BENCH=OFF \
    > build/fuzz/cmake.log 2>&1 || { cat build/fuzz/cmake.log >&2; exit 1; }

flags=(-std=c++20 -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined
  -Wno-unknown-pragmas -Iinclude -Ibuild/fuzz/cmake/include -Isrc -Itests)
sources=(src/io/*.cpp src/core/*_host.cpp src/core/error.cpp src/core/*_nocuda.cpp src/formats/*.cpp
  src/primitives/{scan,histogram,reduce,operation}*.cpp src/primitives/simd/portable/*.cpp)
sources=(${sources[@]/*_noxxhash.cpp/})  # the other of the two files
objects=()
for source in "${sources[@]}"; do objects+=("build/fuzz/objects/${source//\//_}.o"); done
{
  printf 'build/fuzz/library.a: %s\n\trm -f $@ && ar rc $@ $^\n' "${objects[*]}"
  for source in "${sources[@]}"; do
    printf '%s: %s\n\tclang++ %s -fsanitize=fuzzer-no-link -MMD -c $< -o $@\n' \
      "build/fuzz/objects/${source//\//_}.o" "$source" "${flags[*]}"
  done
  printf -- '-include %s\n' "${objects[*]/%.o/.d}"
} > build/fuzz/Makefile
make -s -j "$(nproc)" -f build/fuzz/Makefile

seed() {  # TARGET: fills its folder of seeds
  local to=build/fuzz/$1/seeds file
  mkdir -p "$to" "build/fuzz/$1/corpus"
  case $1 in
    matrix_market) cp tests/io/corpus/*/*.mtx "$to" ;;
    edge_list) cp tests/io/corpus/*/*.el "$to" ;;
    snapshot) cp tests/io/corpus/*/*.spg "$to" ;;
    gzip)
      for file in tests/io/corpus/valid/*; do gzip -c "$file" > "$to/$(basename "$file").gz"; done
      cat "$to"/*.gz > "$to/members"
      ;;
  esac
}

failed=()
for target in "${targets[@]}"; do
  program=build/fuzz/$target/fuzz
  seed "$target"
  clang++ "${flags[@]}" -fsanitize=fuzzer "tests/io/fuzz/$target.cpp" build/fuzz/library.a -lfmt -lz -lpthread -o "$program"
  echo "fuzz: $target for $seconds s"
  "$program" -max_total_time="$seconds" -max_len=4096 -rss_limit_mb=2048 -timeout=10 -verbosity=0 -print_final_stats=1 \
    -artifact_prefix="build/fuzz/$target/" "build/fuzz/$target/corpus" "build/fuzz/$target/seeds" 2>&1 \
    | { grep -vE 'INFO|NEW_FUNC|stat::(new|slow|peak)|Uses:|ecommended dictionary' || true; } || failed+=("$target")
done
[ ${#failed[@]} -eq 0 ] || { echo "fuzz: found something in: ${failed[*]} (see build/fuzz/)" >&2; exit 1; }
