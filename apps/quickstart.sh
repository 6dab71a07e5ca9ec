#!/usr/bin/env bash
# From a fresh clone to first results: installs what is missing (Debian, Ubuntu), builds the apps, multiplies a
# matrix and traverses a graph. With an NVIDIA GPU and the CUDA toolkit it uses them; it needs neither.
#   --cuda         build the CUDA code even where there is no usable GPU (four times the time)
#   --no-install   leave the system's packages alone
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=apps/setup.sh
source apps/setup.sh

install=yes cuda=()
for argument in "$@"; do
  case $argument in
    --cuda) cuda=(-DSPARGO_CUDA=ON) ;;
    --no-install) install=no ;;
    -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
    *) echo "quickstart.sh: unknown argument '$argument' (there are --cuda and --no-install)" >&2; exit 2 ;;
  esac
done

if [ $install = yes ]; then spargo_install "${spargo_packages_for_apps[@]}"; fi
spargo_check_tools

# A build folder that also builds the tests stays so; a new one needs only what the apps need.
only_apps=(-DSPARGO_TESTS=OFF -DSPARGO_BENCH=OFF)
if grep -qs '^SPARGO_TESTS:BOOL=ON' build/CMakeCache.txt; then only_apps=(); fi
spargo_say "configuring in build/"
spargo_configure release "${only_apps[@]}" "${cuda[@]}" > build.log 2>&1 || { cat build.log >&2; rm -f build.log; exit 1; }
mv build.log build/configure.log
sed -n 's/^-- Spargo: //p' build/configure.log >&2  # what was found, and what was not
spargo_say "building the apps (minutes the first time)"
cmake --build build --target apps --parallel "$(spargo_jobs)"

run() {
  printf '\n$ %s\n' "$*"
  "$@"
}
run build/bin/spargo spmv datasets/laplacian10.mtx
run build/bin/spargo bfs datasets/karate.el --undirected
run build/bin/spargo spmv gen:laplacian2d:n=1000
run build/bin/spargo bfs gen:rmat:scale=16,degree=16 --undirected --source max-degree

cat << 'END'

`build/bin/spargo` lists the commands, `build/bin/spargo help COMMAND` explains one. Try some on a file of your own:
  build/bin/spargo info FILE.mtx
  build/bin/spargo spmv FILE.mtx
  build/bin/spargo bfs EDGES.txt
END
