#!/usr/bin/env bash
# Builds everything and runs every test; the last line is ctest's summary (of the run that failed, if one did).
#   --quick           only the release build and its tests
#   --no-sanitizers   without the second build, under AddressSanitizer and UBSan
#   --fuzz            besides, fuzz the readers for a minute each (with clang)
#   --no-python       without the Python package's tests, which take packages from PyPI into build/python-env
#   --no-install      leave the system's packages alone
#   -- ARGUMENTS      for ctest: bash tests/run.sh --quick -- -R spmv
# Steps: packages, format check (with clang-format 14), release build, CUDA files compiled for other GPUs (with nvcc),
# sanitizer build and tests, tests with the Python package's beside them. Device tests skip without a GPU;
# SPARGO_REQUIRE_GPU=1 makes that a failure. Real inputs are taken from SPARGO_DATA.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=apps/common/setup.sh
source apps/common/setup.sh

install=yes format=yes architectures=yes sanitizers=yes python=yes fuzz=no ctest_arguments=()
while [ $# -gt 0 ]; do
  case $1 in
    --quick) format=no architectures=no sanitizers=no python=no ;;
    --no-sanitizers) sanitizers=no ;;
    --no-python) python=no ;;
    --fuzz) fuzz=yes ;;
    --no-install) install=no ;;
    --) shift; ctest_arguments=("$@"); break ;;
    -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
    *) echo "run.sh: unknown argument '$1' (see --help)" >&2; exit 2 ;;
  esac
  shift
done

step() { spargo_say "$(printf '[%4d s] ' "$SECONDS")$*"; }

check_format() {
  local version
  version=$(clang-format --version 2> /dev/null | sed -n 's/.*version \([0-9]*\).*/\1/p' || true)
  if [ "$version" != 14 ]; then
    step "format check left out: it needs clang-format 14, here is ${version:-none}"
    return 0
  fi
  step "format check"
  find include src apps tests \( -name '*.hpp' -o -name '*.cpp' -o -name '*.cuh' -o -name '*.cu' \) -print0 \
    | xargs -0 -n 40 -P "$(spargo_jobs)" clang-format --dry-run --Werror
}

# run_ctest FOLDER: streams ctest's output, then counts the cases inside the test programs. One entry more at a time
# than there are processors, since some wait for signals, pipes and children.
run_ctest() {
  local folder=$1 status=0
  ctest --test-dir "$folder" --output-on-failure --parallel $(($(spargo_jobs) + 1)) "${ctest_arguments[@]}" \
    | tee "$folder/ctest.log" || status=$?
  awk '/^\[  PASSED  \]/ {passed += $4} /^\[  SKIPPED \] [0-9]+ test/ {skipped += $4} /^\[  FAILED  \] [0-9]+ test/ {failed += $4}
       END {printf "\nCases in them: %d passed, %d skipped, %d failed.\n", passed, skipped, failed}' \
    "$folder/Testing/Temporary/LastTest.log"
  grep -hE 'no GPU: |no real inputs: ' "$folder/Testing/Temporary/LastTest.log" | sort | uniq -c | sort -rn | head -n 4 || true
  return $status
}

if [ $install = yes ]; then spargo_install "${spargo_packages_for_apps[@]}" "${spargo_packages_for_tests[@]}"; fi
spargo_check_tools
failed=() last=build
if [ $format = yes ]; then check_format || failed+=("the format check"); fi

with_python=()
if [ $python = yes ]; then
  if bash apps/python/tests/run.sh --prepare; then
    with_python=(-DSPARGO_PYTHON=ON "-DPython_EXECUTABLE=$PWD/build/python-env/bin/python")
  else
    step "the Python package's tests left out: no environment for them (python3 with venv, PyPI)"
    python=no
  fi
fi
step "release build, in build/"
spargo_configure release -DSPARGO_APPS=ON -DSPARGO_TESTS=ON -DSPARGO_BENCH=ON "${with_python[@]}"
cmake --build build --parallel "$(spargo_jobs)"

if [ $architectures = yes ]; then
  step "CUDA files for compute capabilities 7.5 and 8.0"
  bash tests/architectures.sh --jobs "$(spargo_jobs)" || failed+=("compiling for other GPUs")
fi

if [ $sanitizers = yes ]; then
  step "build under AddressSanitizer and UBSan, in build/asan-ubsan/"
  spargo_configure asan-ubsan
  cmake --build build/asan-ubsan --parallel "$(spargo_jobs)"
  step "tests under AddressSanitizer and UBSan"
  # Tests ask for more memory than there is: that is to fail as it does without the sanitizer.
  ASAN_OPTIONS=allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 \
    run_ctest build/asan-ubsan || { failed+=("the tests under AddressSanitizer and UBSan"); last=build/asan-ubsan; }
fi

if [ $fuzz = yes ]; then
  step "fuzzing the readers"
  bash tests/io/fuzz/run.sh 60 || failed+=("fuzzing")
fi

if [ $python = yes ]; then  # one process, beside the others
  bash apps/python/tests/run.sh --build build > build/python-tests.log 2>&1 &
  python_tests=$!
fi
step "tests"
run_ctest build || { failed+=("the tests"); last=build; }
if [ $python = yes ]; then
  step "the Python package's tests, which ran beside these"
  wait "$python_tests" || failed+=("the Python package's tests")
  cat build/python-tests.log
fi
step "done"
for what in "${failed[@]}"; do spargo_say "FAILED: $what"; done
grep -E 'tests passed, [0-9]+ tests? failed|No tests were found' "$last/ctest.log"  # the failed run's, if one failed
[ ${#failed[@]} -eq 0 ]
