#!/usr/bin/env bash
# Builds the fuzz targets with clang's libFuzzer under AddressSanitizer and UBSan and runs each one for a while.
#   bash tests/io/fuzz/run.sh [SECONDS [TARGET...]]   default: 60 seconds each, all targets
# Seeds are the files of tests/io/corpus; for gzip, those compressed. What is found is left in build/fuzz/found/TARGET/
# as crash-*, and the exit code is 1.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
# shellcheck source=apps/setup.sh
source apps/setup.sh
seconds=${1:-60}
shift || true
command -v clang++ > /dev/null || spargo_die "clang++ is missing (Debian: apt-get install clang)"
spargo_configure fuzz
cmake --build build/fuzz --target fuzzers --parallel "$(spargo_jobs)"
targets=("$@")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(cd build/fuzz/bin/tests && printf '%s\n' fuzz_* | sed 's/^fuzz_//')

seeds=(tests/io/corpus/valid tests/io/corpus/invalid)
failed=()
for target in "${targets[@]}"; do
  folder=build/fuzz/found/$target
  mkdir -p "$folder/corpus" "$folder/seeds"
  if [ "$target" = gzip ]; then
    for file in tests/io/corpus/valid/*; do gzip -c "$file" > "$folder/seeds/${file##*/}.gz"; done
    cat "$folder"/seeds/*.gz > "$folder/seeds/members"
  fi
  spargo_say "fuzz: $target for $seconds s"
  "build/fuzz/bin/tests/fuzz_$target" -max_total_time="$seconds" -max_len=4096 -rss_limit_mb=2048 -timeout=10 -verbosity=0 \
    -print_final_stats=1 -artifact_prefix="$folder/" "$folder/corpus" "$folder/seeds" "${seeds[@]}" 2>&1 \
    | { grep -vE 'INFO|NEW_FUNC|stat::(new|slow|peak)|Uses:|ecommended dictionary' || true; } || failed+=("$target")
done
[ ${#failed[@]} -eq 0 ] || spargo_die "found something in: ${failed[*]} (see build/fuzz/found/)"
