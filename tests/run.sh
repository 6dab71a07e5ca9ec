#!/usr/bin/env bash
# Builds Spargo and runs every test. The last line says what passed, what was skipped and why.
#   --full            also: format check, all CUDA code (other GPUs' too), AddressSanitizer and UBSan, the Python package
#   --cuda            build with CUDA even where there is no usable GPU
#   --no-sanitizers   of --full, leave out the build under AddressSanitizer and UBSan
#   --no-python       of --full, leave out the Python package, whose tests take packages from PyPI
#   --site            also build the documentation site (apps/docs/build.sh), where Doxygen is installed
#   --fuzz            also fuzz the readers for a minute each (with clang)
#   --no-install      leave the system's packages alone
#   -- ARGUMENTS      for ctest: bash tests/run.sh -- -R spmv
# Steps: packages, release build and tests in build/, the library's CUDA code compiled in build/cuda-check/ (where there is a
# CUDA compiler but no usable GPU). Device tests skip without a GPU; SPARGO_REQUIRE_GPU=1 makes that a failure. Real
# inputs are taken from SPARGO_DATA.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=apps/setup.sh
source apps/setup.sh

full=no install=yes sanitizers=yes python=yes fuzz=no site=no cuda=() ctest_arguments=()
while [ $# -gt 0 ]; do
  case $1 in
    --full) full=yes ;;
    --cuda) cuda=(-DSPARGO_CUDA=ON) ;;
    --no-sanitizers) sanitizers=no ;;
    --no-python) python=no ;;
    --fuzz) fuzz=yes ;;
    --site) site=yes ;;
    --no-install) install=no ;;
    --) shift; ctest_arguments=("$@"); break ;;
    -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
    *) echo "run.sh: unknown argument '$1' (see --help)" >&2; exit 2 ;;
  esac
  shift
done
[ $full = yes ] || sanitizers=no python=no

passed=() skipped=() failed=()
step() { spargo_say "$(printf '[%4d s] ' "$SECONDS")$*"; }
# check NAME COMMAND...: runs the command and notes how it ended.
check() {
  local name=$1
  shift
  if "$@"; then passed+=("$name"); else failed+=("$name"); fi
}

check_format() {
  find include src apps tests \( -name '*.hpp' -o -name '*.cpp' -o -name '*.cuh' -o -name '*.cu' \) -print0 \
    | xargs -0 -n 40 -P "$(spargo_jobs)" clang-format --dry-run --Werror
}

# run_ctest NAME FOLDER [ctest arguments]: streams ctest's output and counts the cases inside the test programs. One
# entry more at a time than there are processors, since some wait for signals, pipes and children.
run_ctest() {
  local name=$1 folder=$2 status=0 log cases entries reasons
  shift 2
  ctest --test-dir "$folder" --output-on-failure --parallel $(($(spargo_jobs) + 1)) "$@" "${ctest_arguments[@]}" \
    | tee "$folder/ctest.log" || status=$?
  log=$folder/Testing/Temporary/LastTest.log
  cases=$(awk '/^\[  PASSED  \]/ {passed += $4} /^\[  SKIPPED \] [0-9]+ test/ {skipped += $4} /^\[  FAILED  \] [0-9]+ test/ {failed += $4}
       END {printf "%d cases passed, %d skipped, %d failed", passed, skipped, failed}' "$log")
  printf '\n%s: %s\n' "$name" "$cases"
  if [ $status -eq 0 ]; then
    passed+=("$name ($cases)")
  else
    entries=$(sed -n '/^The following tests FAILED:/,$s/^[[:space:]]*[0-9]* - //p' "$folder/ctest.log" | paste -sd, | sed 's/,/, /g')
    failed+=("$name ($cases): $entries")
  fi
  reasons=$(awk -f tests/skip_reasons.awk "$log" | sort | uniq -c | sort -rn | head -n 4 \
    | awk '{n = $1; $1 = ""; printf "%s%d times%s", sep, n, $0; sep = ", "}')
  [ -z "$reasons" ] || skipped+=("cases of $name:$(printf ' %s' "$reasons")")
}

if [ $install = yes ]; then spargo_install "${spargo_packages_for_apps[@]}" "${spargo_packages_for_tests[@]}"; fi
spargo_check_tools

if [ $full = yes ]; then
  version=$(clang-format --version 2> /dev/null | sed -n 's/.*version \([0-9]*\).*/\1/p' || true)
  step "format check"
  if [ "$version" = 14 ]; then
    check "format" check_format
  else
    skipped+=("format check: clang-format 14 is needed, here is ${version:-none}")
  fi
fi

with_python=()
if [ $python = yes ]; then
  if bash apps/python/tests/run.sh --prepare; then
    with_python=(-DSPARGO_PYTHON=ON "-DPython_EXECUTABLE=$PWD/build/python-env/bin/python")
  else
    skipped+=("the Python package's tests: no environment for them (python3 with venv, PyPI)")
    python=no
  fi
fi
step "release build, in build/"
spargo_configure release -DSPARGO_APPS=ON -DSPARGO_TESTS=ON -DSPARGO_BENCH=ON "${cuda[@]}" "${with_python[@]}"
cmake --build build --parallel "$(spargo_jobs)"
passed+=("build")

# CUDA code where this machine cannot run it: compiled, so that it stays correct C++. --full links it into the commands
# and into tests of what must work without a usable GPU, and compiles the benchmarks' CUDA code; other device tests are
# compiled by tests/run_gpu.sh.
without_gpu_tests='(core/(array|calls|device_guard|device_list|one_definition|pinned|stream_order|thrust)'
without_gpu_tests+='|apps/(device_choice|limits|messages|placed_input|spargo))_test'
cuda_folder=build
if ! grep -q 'has_cuda = true' build/include/spargo/core/config.hpp; then
  cuda_folder=build/cuda-check
  if [ -n "$(spargo_nvcc)" ]; then
    targets=(--target spargo_cuda_objects)
    [ $full = no ] || targets=(--target apps tests spargo_bench_cuda_check)
    step "CUDA code, in build/cuda-check/"
    spargo_configure cuda-check -DSPARGO_APPS=ON -DSPARGO_TESTS=ON -DSPARGO_BENCH=ON "-DSPARGO_TEST_FILES=/${without_gpu_tests}[.]"
    check "CUDA build" cmake --build build/cuda-check --parallel "$(spargo_jobs)" "${targets[@]}"
    skipped+=("device tests: no usable GPU (CUDA code is compiled, not run)")
  else
    skipped+=("CUDA: no compiler (nvcc) and no usable GPU")
    cuda_folder=
  fi
fi
if [ $full = yes ] && [ -n "$cuda_folder" ]; then
  step "CUDA files for compute capabilities 7.5 and 8.0"
  check "CUDA code for other GPUs" bash tests/architectures.sh --build "$cuda_folder" --jobs "$(spargo_jobs)"
fi

if [ $sanitizers = yes ]; then
  step "build under AddressSanitizer and UBSan, in build/asan-ubsan/"
  spargo_configure asan-ubsan
  cmake --build build/asan-ubsan --parallel "$(spargo_jobs)"
  step "tests under AddressSanitizer and UBSan"
  # Tests ask for more memory than there is: that is to fail as it does without the sanitizer.
  ASAN_OPTIONS=allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 run_ctest "sanitized tests" build/asan-ubsan
fi

if [ $fuzz = yes ]; then
  step "fuzzing the readers"
  check "fuzzing" bash tests/io/fuzz/run.sh 60
fi

if [ $python = yes ]; then  # one process, beside the others
  bash apps/python/tests/run.sh --build build > build/python-tests.log 2>&1 &
  python_tests=$!
fi
if [ $full = yes ] && [ "$cuda_folder" = build/cuda-check ]; then
  step "tests of a library with CUDA on a machine without a usable GPU"
  run_ctest "tests with CUDA" build/cuda-check -R "^${without_gpu_tests//\//_}$"
fi
step "tests"
run_ctest "tests" build
if [ $python = yes ]; then
  step "the Python package's tests, which ran beside these"
  check "Python package" wait "$python_tests"
  cat build/python-tests.log
fi
if [ $site = yes ]; then
  step "documentation site"
  if ! command -v doxygen > /dev/null; then
    skipped+=("documentation site: no Doxygen")
  elif [ $python = no ]; then
    skipped+=("documentation site: it shows the Python package (--full)")
  else
    check "documentation site" bash apps/docs/build.sh
  fi
fi
# Closing lines: ctest's summary, of a run that failed if one did, and what passed, was skipped and failed.
last=build
for folder in build/asan-ubsan build/cuda-check; do
  if grep -qs ' [1-9][0-9]* tests* failed out of' "$folder/ctest.log"; then last=$folder; fi
done
grep -E 'tests passed, [0-9]+ tests? failed|No tests were found' "$last/ctest.log"
list() { local IFS=';' all; all="$*"; echo "${all//;/; }"; }
printf 'run.sh: %d s; passed: %s; skipped: %s%s\n' "$SECONDS" "$(list "${passed[@]:-nothing}")" \
  "$(list "${skipped[@]:-nothing}")" "${failed[*]:+; FAILED: $(list "${failed[@]}")}"
[ ${#failed[@]} -eq 0 ]
