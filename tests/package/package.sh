#!/usr/bin/env bash
# package.sh STEP SOURCE BUILD WORK CXX: one test of the package; see CMakeLists.txt.
set -euo pipefail
step=$1 source=$2 build=$3 work=$4 cxx=$5
here=$source/tests/package
prefix=$work/prefix
matrix=$source/datasets/laplacian10.mtx

fail() { echo "FAILED: $*" >&2; exit 1; }

# A consumer's world: no CUDA on the path, nothing of this shell's; CMake and its generator from wherever they are.
tools=$work-tools/$step  # its own: another step may be removing $work
mkdir -p "$tools"
for tool in cmake ninja; do
  if command -v "$tool" > /dev/null; then ln -sf "$(command -v "$tool")" "$tools/$tool"; fi
done
clean() { env -i PATH="$tools:/usr/bin:/bin" HOME="${HOME:-/}" LANG=C.UTF-8 ${CCACHE_DIR:+CCACHE_DIR="$CCACHE_DIR"} \
  CCACHE_BASEDIR="$source" CCACHE_NOHASHDIR=1 \
  ${CMAKE_PREFIX_PATH:+CMAKE_PREFIX_PATH="$CMAKE_PREFIX_PATH"} "$@"; }
configure() {
  local generator=(-G "Unix Makefiles")
  if command -v ninja > /dev/null; then generator=(-G Ninja); fi
  local launcher=()
  if command -v ccache > /dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
  clean cmake "${generator[@]}" "${launcher[@]}" -DCMAKE_CXX_COMPILER="$cxx" "$@"
}
shared_library() { find "$prefix" -name 'libspargo.so' -print -quit; }

# The program prints a line of figures; on a machine without a driver it must start all the same.
run_consumer() {
  local out
  out=$(clean "$@" "$matrix") || fail "$* ends with status $?"
  echo "$out"
  grep -q '^spargo 0\.' <<< "$out" || fail "no version in the output of $1"
  grep -q '^A s = A\*1 by cg, [0-9]* iterations: residual [0-9]e-[0-9]*, s begins with 1\.000$' <<< "$out" || fail "the system is not solved"
  grep -q 'A\*1 begins with 2; reached 100 of 100, depth 18; [0-9]* steps of PageRank$' <<< "$out" || fail "the product or the search is wrong"
  # A file that is not there: a line, not a crash.
  local status=0
  clean "$@" "$work/none.mtx" > /dev/null 2>&1 || status=$?
  [ $status -eq 1 ] || fail "$* ends with status $status for a file that is not there"
}

case $step in
  readme)
    # The program of library.md is the consumer that the other steps compile and run; the README quotes lines of it.
    program_of() { awk '/^```cpp$/ {on = 1; next} /^```$/ {on = 0} on' "$source/$1"; }
    program_of apps/docs/library.md | diff - "$here/consumer/main.cpp" \
      || fail "apps/docs/library.md and tests/package/consumer/main.cpp differ"
    program_of README.md | grep -vxFf "$here/consumer/main.cpp" \
      && fail "README.md has C++ that tests/package/consumer/main.cpp has not"
    [ -n "$(program_of README.md)" ] || fail "README.md has no C++"
    # Every path that the documents name in backquotes exists, and so does every file that they link to.
    documents=("$source"/*.md "$source"/apps/docs/*.md "$source"/apps/docs/{tutorials,howto}/*.md)
    grep -ohE '`(apps|datasets|include|src|tests)/[A-Za-z0-9_./-]+`' "${documents[@]}" | tr -d '`' | sort -u | while read -r path; do
      [ -e "$source/$path" ] || fail "the documents name $path, which does not exist"
    done
    for page in "${documents[@]}"; do
      { grep -oE '\]\([^)#: ]+[)#]' "$page" || true; } | tr -d ']()#' | sort -u | while read -r link; do
        [ -e "$(dirname "$page")/$link" ] || fail "$page links to $link, which does not exist"
      done
    done
    if command -v python3 > /dev/null; then
      python3 "$source/apps/bench/scaling.py" --check
      python3 "$source/apps/bench/speed_chart.py" --check
    fi
    ;;
  scripts)
    dir=$work-scripts; rm -rf "$dir"; mkdir -p "$dir/mirror/HB" "$dir/x"
    fetch=$source/datasets/fetch.sh
    export SPARGO_FETCH_FOLDER=$dir/fetched
    # refuses STATUS MESSAGE COMMAND...: one line on standard error, nothing left behind.
    refuses() {
      local status=$1 message=$2 got=0; shift 2
      "$@" > "$dir/out" 2> "$dir/err" || got=$?
      [ $got -eq "$status" ] || fail "$*: status $got instead of $status"
      grep -q -- "$message" "$dir/err" || fail "$*: no '$message' in: $(cat "$dir/err")"
      [ "$status" = 2 ] || [ "$(wc -l < "$dir/err")" = 1 ] || fail "$*: more than a line: $(cat "$dir/err")"
      [ ! -e "$SPARGO_FETCH_FOLDER" ] || [ -z "$(find "$SPARGO_FETCH_FOLDER" -name '.part*')" ] || fail "$*: leaves files"
    }
    for script in "$source/apps/quickstart.sh" "$source/apps/docs/build.sh" "$source/apps/debian/build.sh" "$source/tests/run.sh" "$source/tests/run_gpu.sh"; do
      [ -n "$(bash "$script" --help)" ] || fail "$script has no help"
      refuses 2 "unknown argument '--wrong'" bash "$script" --wrong
    done
    refuses 2 'GROUP/NAME' bash "$fetch"
    refuses 1 "'../x' is neither" bash "$fetch" ../x
    refuses 1 "'--wrong' is neither" bash "$fetch" --wrong
    if command -v curl > /dev/null; then
      export SPARGO_SUITESPARSE_URL=http://127.0.0.1:9/MM SPARGO_SNAP_URL=file://$dir/mirror
      refuses 1 'cannot download http://127.0.0.1:9/MM/HB/none.tar.gz: ' bash "$fetch" HB/none
      [ ! -e "$SPARGO_FETCH_FOLDER" ] || fail "an empty folder is left"
      SPARGO_SUITESPARSE_URL=file://$dir/mirror
      echo '<html>' > "$dir/mirror/HB/page.tar.gz"; echo '<html>' > "$dir/mirror/page.txt.gz"
      refuses 1 'is no archive with page/page.mtx' bash "$fetch" HB/page
      refuses 1 'is not gzip' bash "$fetch" page
      [ ! -e "$SPARGO_FETCH_FOLDER" ] || fail "an empty folder is left"
      mkdir "$dir/x/tiny"; cp "$matrix" "$dir/x/tiny/tiny.mtx"
      tar -czf "$dir/mirror/HB/tiny.tar.gz" -C "$dir/x" tiny
      gzip -c "$source/datasets/karate.el" > "$dir/mirror/club.txt.gz"
      bash "$fetch" HB/tiny club > "$dir/out" 2>&1
      grep -q 'HB/tiny: unverified' "$dir/out" || fail "an unknown file is not called unverified"
      cmp "$SPARGO_FETCH_FOLDER/tiny.mtx" "$matrix"; gzip -t "$SPARGO_FETCH_FOLDER/club.txt.gz"
      # Fetched again after it changed at its origin: refused by the checksum kept from the first time.
      rm "$SPARGO_FETCH_FOLDER"/{tiny.mtx,club.txt.gz}
      echo '1 2' | gzip -c > "$dir/mirror/club.txt.gz"
      [[ $(bash "$fetch" HB/tiny) = *'as downloaded before'* ]] || fail "the same file again is not recognised"
      refuses 1 'club: SHA-256 is ' bash "$fetch" club
      [ ! -e "$SPARGO_FETCH_FOLDER/club.txt.gz" ] || fail "a file with a wrong checksum is kept"
    fi
    # Set-up with this machine's package tools replaced by ones that only keep a record.
    mkdir "$dir/bin"; export RECORD=$dir/record
    printf '#!/bin/sh\necho "apt-get $*" >> "$RECORD"; exit ${APT_STATUS:-0}\n' > "$dir/bin/apt-get"
    printf '#!/bin/sh\n[ "$3" != libfmt-dev ] || { echo installed; exit 0; }; exit 1\n' > "$dir/bin/dpkg-query"
    printf '#!/bin/sh\necho ${USER_ID:-0}\n' > "$dir/bin/id"
    printf '#!/bin/sh\necho "sudo $*" >> "$RECORD"; exit 1\n' > "$dir/bin/sudo"
    chmod +x "$dir"/bin/*
    setup() {  # VARIABLE=VALUE...: installs four packages, of which cmake and libfmt-dev are there
      : > "$RECORD"
      env PATH="$dir/bin:$PATH" "$@" bash -c 'source "$1"; spargo_install cmake libfmt-dev zlib1g-dev libcli11-dev' \
        setup "$source/apps/setup.sh" < /dev/null > "$dir/out" 2> "$dir/err" || fail "set-up with $*: status $?"
      [ ! -s "$dir/out" ] || fail "set-up writes to standard output"
    }
    setup USER_ID=0
    grep -q 'installing with apt-get: zlib1g-dev libcli11-dev$' "$dir/err" || fail "set-up does not say what it does"
    [ "$(cut -d" " -f4- "$RECORD" | tr '\n' ';')" = 'update;install --no-install-recommends zlib1g-dev libcli11-dev;' ] \
      || fail "set-up called: $(cat "$RECORD")"
    setup USER_ID=0 APT_STATUS=1
    grep -q 'going on with what is here' "$dir/err" || fail "a failing apt-get is not reported"
    setup USER_ID=1000
    grep -q 'please run: apt-get install zlib1g-dev libcli11-dev$' "$dir/err" || fail "without rights: $(cat "$dir/err")"
    [ "$(cat "$RECORD")" = 'sudo -n true' ] || fail "without rights it called: $(cat "$RECORD")"
    if command -v shellcheck > /dev/null; then
      (cd "$source" && shellcheck --severity=error -x apps/*.sh apps/*/*.sh tests/*.sh tests/package/*.sh datasets/*.sh .ci/run)
    fi
    ;;
  install)
    rm -rf "$work"
    # Installed in one place, used in another: nothing in it may know where it was built or first put.
    cmake --install "$build" --prefix "$work/first" > /dev/null
    mv "$work/first" "$prefix"
    for file in include/spargo/spargo.hpp include/spargo/core/config.hpp; do
      [ -f "$prefix/$file" ] || fail "$file is not installed"
    done
    ! grep -rIlF -e "$source/include" -e "$source/src" -e "$build" -e "$work/first" "$prefix" || fail "installed files name the source or build folder"
    ! grep -rlE '# *include *[<"](cuda|cub/|thrust/|fmt/)' "$prefix/include" --include='*.hpp' \
      || fail "a public header includes CUDA or fmt"
    ;;
  symbols)
    library=$(shared_library)
    names=$(nm -DC --defined-only "$library" | cut -d' ' -f3-)
    [ "$(wc -l <<< "$names")" -ge 20 ] || fail "$library exports next to nothing"
    grep -q 'spargo::query_devices()' <<< "$names" || fail "query_devices is not exported"
    ! grep -v 'spargo::' <<< "$names" || fail "$library exports names outside of spargo::"
    # std::vector<spargo::x>::f() names spargo too: what the declared entity begins with decides. A function template
    # has its return type first, so the mangled names are asked.
    ! nm -D --defined-only "$library" | cut -d' ' -f3- | grep -vE '^_Z(N|NK|T[VIST]N|GVN|Th[n0-9_]*N|Tv[n0-9_]*N)6spargo' \
      || fail "$library exports entities of other namespaces"
    ! grep -E '(^|[^a-z_])(cub|thrust|fmt|cuda|nlohmann|CLI)::' <<< "$names" || fail "$library exports other libraries' names"
    ! grep '::state::' <<< "$names" || fail "$library exports members of what its classes hide"
    ! readelf -d "$library" | grep NEEDED | grep -E 'libcuda\.so|libcudart|libnv' || fail "$library needs CUDA at start"
    ;;
  every_type)
    # Each operation is there for every type that its declaration admits.
    library=$(dirname "$(shared_library)")
    clean "$cxx" -std=c++20 -Wall -Wextra -Werror -I"$prefix/include" "$here/every_type.cpp" -o "$work/every_type" \
      -L"$library" -lspargo -Wl,-rpath,"$library"
    clean "$work/every_type"
    ;;
  refusals)
    # What the library is not built for ends the compilation with a sentence: CODE and a part of it, line by line.
    compile() { clean "$cxx" -fsyntax-only -I"$prefix/include" "$@" -x c++ - 2>&1; }
    # Compiled once for all lines: g++ takes all.hpp.gch, another compiler reads all.hpp.
    dir=$work/refusals; rm -rf "$dir"; mkdir "$dir"
    printf '%s\n' '#include <spargo/spargo.hpp>' '#include <vector>' > "$dir/all.hpp"
    clean "$cxx" -std=c++20 -I"$prefix/include" -x c++-header "$dir/all.hpp" -o "$dir/all.hpp.gch"
    refuses() {  # CODE MESSAGE
      local out status=0
      out=$(printf '%s\n' 'using namespace spargo;' "void f(const context<host>& ctx) { $1 }" \
            | compile -std=c++20 -include "$dir/all.hpp") || status=$?
      if [ -z "$2" ]; then
        [ $status -eq 0 ] || fail "'$1' does not compile: $out"
      elif [ $status -eq 0 ] || ! grep -qE "error: static(_assert| assertion) failed.*spargo: .*$2" <<< "$out"; then
        fail "'$1': no '$2' in: $out"
      fi
    }
    scalars='std::int32_t, std::int64_t, float and double' reals='for float and double'
    pairs='offsets at least as wide as indices'
    refuses 'std::vector<double> v; (void)reduce(ctx, v);' ''
    refuses 'std::vector<unsigned> v; (void)reduce(ctx, v);' "$scalars"
    refuses 'std::vector<unsigned> v; (void)reduce<unsigned>(ctx, v);' "$scalars"
    refuses 'std::vector<std::size_t> v; exclusive_scan(ctx, v, v);' "$scalars"
    refuses 'std::vector<std::size_t> v; exclusive_scan<std::size_t>(ctx, v, span<std::size_t, host>(v));' "$scalars"
    refuses 'std::vector<int> v; convolve(ctx, v, v, v);' "$reals"
    refuses 'std::vector<int> v; sliding_max(ctx, v, 2, v);' "$reals"
    refuses 'std::vector<short> v; std::vector<int> c; histogram(ctx, v, c);' 'histogram is for keys of'
    refuses 'std::vector<int> v; std::vector<unsigned> c; histogram(ctx, v, c);' 'histograms count in'
    refuses 'std::vector<wchar_t> v; std::vector<int> c; letter_histogram(ctx, v, 1, c);' 'letter_histogram is for'
    narrow='csr_view<const double, std::int64_t, std::int32_t, host>'
    refuses "$narrow a; std::vector<double> x; spmv(ctx, 1.0, a, x, 0.0, x);" "$pairs"
    refuses "coo_matrix<double, std::int64_t, host> a; (void)to_csr<std::int32_t>(ctx, a);" "$pairs"
    refuses "coo_matrix<double, std::int64_t, host> a; (void)build_graph<std::int32_t>(ctx, a);" "$pairs"
    refuses 'graph_view<std::int64_t, std::int32_t, host> g; (void)bfs(ctx, g, 0);' "$pairs"
    refuses 'csr_view<const double, unsigned, unsigned, host> a; (void)a;' 'indices and offsets are'
    refuses 'csr_view<const int, int, int, host> a; (void)a;' 'entries are float, double'
    # C++ before 20 is named first; a macro of <complex.h> changes nothing, and is there afterwards.
    out=$(compile -std=c++17 < "$here/consumer/main.cpp") && fail 'C++17 is accepted'
    grep -m1 'error:' <<< "$out" | grep -q 'spargo needs C++20 (-std=c++20)' || fail "C++17 is refused with: $out"
    cached=(); if command -v ccache > /dev/null; then cached=("$(command -v ccache)"); fi  # which knows objects only
    for header in $(cd "$prefix/include" && find spargo -name '*.hpp' ! -name 'boost.hpp' ! -name 'mpi.hpp' ! -name 'macros_*'); do
      one=$dir/${header//\//_}.cpp
      printf '#include <complex.h>\n#include <%s>\n#ifndef I\n#error lost\n#endif\n' "$header" > "$one"
      clean "${cached[@]}" "$cxx" -std=gnu++20 -I"$prefix/include" -c "$one" -o "$one.o" || fail "$header after <complex.h>"
    done
    ;;
  same_build)
    # What apps/quickstart.sh has compiled, tests/run.sh does not compile again: the same folder, the same commands. Nothing
    # is built here.
    command -v ninja > /dev/null || { echo "no Ninja: skipped"; exit 77; }
    dir=$work-same_build; rm -rf "$dir"; mkdir "$dir"
    commands_after() {  # SCRIPT: of the programs, once its build folder is configured
      local line
      line=$(grep -m1 '^spargo_configure release ' "$source/$1" | sed 's/ > build\.log.*//')
      # shellcheck disable=SC2016
      (cd "$source" && clean bash -c 'source apps/setup.sh; only_apps=(-DSPARGO_TESTS=OFF -DSPARGO_BENCH=OFF) cuda=() with_python=()
        eval "$1 -B \"$2\" -DSPARGO_CUDA=OFF"' configure "$line" "$dir/build") > "$dir/log" || fail "$1: $(tail -n 5 "$dir/log")"
      ninja -C "$dir/build" -t commands apps | sort -u
    }
    commands_after apps/quickstart.sh > "$dir/quickstart"
    [ "$(grep -c ' -c ' "$dir/quickstart")" -ge 200 ] || fail "quickstart.sh compiles next to nothing"
    commands_after tests/run.sh > "$dir/run"
    grep -q '^SPARGO_TESTS:BOOL=ON' "$dir/build/CMakeCache.txt" || fail "tests/run.sh configures no tests"
    more=$(comm -23 "$dir/quickstart" "$dir/run")
    [ -z "$more" ] || fail "tests/run.sh compiles the programs again: $(head -n 2 <<< "$more")"
    # Installed before the benchmarks are built, as they are not by `--target apps`: their helper is left out.
    grep 'file(INSTALL.*spargo-bench")' "$dir/build/apps/cmake_install.cmake" > "$dir/rule.cmake" || fail "the benchmarks are not installed"
    clean cmake -DCMAKE_INSTALL_PREFIX="$dir/prefix" -P "$dir/rule.cmake" > /dev/null \
      || fail "an install needs the benchmarks, which are configured and not built"
    ;;
  build_type)
    # Without one the library is optimised all the same, and the configuration says so.
    dir=$work-build_type; rm -rf "$dir"
    options=(-DSPARGO_SOURCE="$source" -DSPARGO_CUDA=OFF -DCMAKE_EXPORT_COMPILE_COMMANDS=ON)
    configure -S "$here/subproject" -B "$dir/none" "${options[@]}" > "$dir.log"
    grep -q 'Spargo: CMAKE_BUILD_TYPE is empty' "$dir.log" || fail "not a word about the missing build type"
    sources=$(grep '"command"' "$dir/none/compile_commands.json" | grep -v consumer)
    ! grep -v -- ' -O3 -DNDEBUG ' <<< "$sources" || fail "a source is compiled without optimisation"
    configure -S "$here/subproject" -B "$dir/debug" "${options[@]}" -DCMAKE_BUILD_TYPE=Debug > "$dir.log"
    ! grep -e 'BUILD_TYPE is empty' "$dir.log" || fail "a build type is called missing"
    ! grep -e ' -O3' "$dir/debug/compile_commands.json" || fail "a debug build is optimised"
    ;;
  find_package)
    dir=$work/find_package; rm -rf "$dir"
    configure -S "$here/consumer" -B "$dir" -DCMAKE_PREFIX_PATH="$prefix"
    clean cmake --build "$dir"
    grep -q "^spargo_DIR:PATH=$prefix" "$dir/CMakeCache.txt" || fail "another spargo was found"
    ! grep -iE 'cuda|nvcc' "$dir/CMakeCache.txt" || fail "the consumer's configure looked for CUDA"
    if [ -f "$dir/build.ninja" ]; then
      ! ninja -C "$dir" -t deps | grep -iE 'cuda|cub/|thrust/' || fail "a consumer's source includes a CUDA header"
    fi
    run_consumer "$dir/consumer"
    # A minor version may change the interface before 1.0: another one is not taken for this.
    mkdir "$dir/newer"
    printf 'cmake_minimum_required(VERSION 3.22)\nproject(newer LANGUAGES CXX)\nfind_package(spargo 0.999 REQUIRED)\n' \
      > "$dir/newer/CMakeLists.txt"
    ! configure -S "$dir/newer" -B "$dir/newer/build" -DCMAKE_PREFIX_PATH="$prefix" > /dev/null 2>&1 \
      || fail "the installed version satisfies a request for 0.999"
    ;;
  pkg_config)
    command -v pkg-config > /dev/null || { echo "no pkg-config: skipped"; exit 77; }
    PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name spargo.pc)"); export PKG_CONFIG_PATH
    dir=$work/pkg_config; rm -rf "$dir"; mkdir -p "$dir"
    # What a shared library was linked with is nothing that its users have to have.
    PKG_CONFIG_LIBDIR=$PKG_CONFIG_PATH pkg-config --cflags --libs spargo || fail "spargo.pc asks for other packages"
    read -ra flags <<< "$(pkg-config --cflags --libs spargo)"
    clean "$cxx" -std=c++20 "$here/consumer/main.cpp" -o "$dir/consumer" "${flags[@]}" \
      -Wl,-rpath,"$(pkg-config --variable=libdir spargo)"
    version=$(sed -n 's/.*SPARGO_VERSION_STRING "\(.*\)"/\1/p' "$prefix/include/spargo/core/config.hpp")
    [ "$(pkg-config --modversion spargo)" = "$version" ] || fail "spargo.pc and config.hpp differ in version"
    run_consumer "$dir/consumer"
    ;;
  operators)
    # Frontier algorithms of a user's own, compiled against what is installed: the host's with the compiler alone, the
    # device's with nvcc where the build has one.
    dir=$work/operators; rm -rf "$dir"; mkdir -p "$dir"
    examples=$here/../../apps/examples
    library=$(dirname "$(shared_library)")
    printf '1 2\n2 3\n4 5\n6 6\n' > "$dir/edges.txt"
    clean "$cxx" -std=c++20 -Wall -Wextra -Werror -I"$prefix/include" "$examples/label_propagation.cpp" \
      -o "$dir/on_host" -L"$library" -lspargo -Wl,-rpath,"$library"
    [ "$(clean "$dir/on_host" "$dir/edges.txt")" = 'components: 3' ] || fail "on the host: wrong components"
    printf '1 2 3\n1 3 9\n2 3 4\n4 1 1\n' > "$dir/weighted.txt"
    clean "$cxx" -std=c++20 -Wall -Wextra -Werror -I"$prefix/include" "$examples/bellman_ford.cpp" \
      -o "$dir/paths" -L"$library" -lspargo -Wl,-rpath,"$library"
    [ "$(clean "$dir/paths" "$dir/weighted.txt")" = 'reached: 3 of 4, farthest: 7' ] || fail "on the host: wrong distances"
    if [ -n "${SPARGO_NVCC:-}" ]; then
      "$SPARGO_NVCC" -std=c++20 -arch=sm_90 -I"$prefix/include" "$examples/label_propagation.cu" \
        -o "$dir/on_device" -L"$library" -lspargo -Xlinker -rpath -Xlinker "$library"
      status=0; out=$("$dir/on_device" "$dir/edges.txt" 2> "$dir/err") || status=$?
      if [ $status -eq 77 ]; then
        echo "not run on a device: $(cat "$dir/err")"
      elif [ $status -ne 0 ] || [ "$out" != 'components: 3' ]; then
        fail "on the device: status $status, '$out', $(cat "$dir/err")"
      fi
    fi
    ;;
  apps)
    # From the installed tree, not the build tree, and by way of a link.
    before=$(sed -n 's/^SPARGO_APP_PREFIX:STRING=//p' "$build/CMakeCache.txt")
    for app in spargo "${before}spmv" "${before}bfs"; do
      [ -x "$prefix/bin/$app" ] || fail "$app is not installed"
      clean "$prefix/bin/$app" --version
      [ -s "$prefix/share/man/man1/$app.1" ] || fail "$app has no man page"
      bash -n "$prefix/share/bash-completion/completions/$app" || fail "$app has no completion"
      grep -q "^complete -F .* $app\$" "$prefix/share/bash-completion/completions/$app" || fail "$app is not completed"
      grep -q "^#compdef $app\$" "$prefix"/share/zsh/*/_"$app" || fail "$app is not completed by zsh"
      grep -q "^complete -c $app " "$prefix/share/fish/vendor_completions.d/$app.fish" || fail "$app is not completed by fish"
    done
    [ "$(cd "$prefix/bin" && echo *)" = "$(printf '%s\n' "${before}bfs" spargo "${before}spmv" | sort | xargs)" ] \
      || fail "programs that are not to be installed: $(cd "$prefix/bin" && echo *)"
    for command in bfs spmv info convert plan bench help; do
      [ -s "$prefix/share/man/man1/spargo-$command.1" ] || fail "spargo $command has no man page"
    done
    clean "$prefix/bin/spargo" spmv "$matrix" > /dev/null
    clean "$prefix/bin/${before}spmv" "$matrix" > /dev/null
    # The target `apps`, which quickstart.sh builds, has all libraries that are installed.
    if [ -f "$build/build.ninja" ]; then
      inputs=$(ninja -C "$build" -t inputs apps; ninja -C "$build" -t query apps)
      while read -r library; do
        grep -q "/$(basename "$library")\$" <<< "$inputs" || fail "the target apps lacks $(basename "$library")"
      done < <(find "$prefix" -name 'libspargo*.so')
    fi
    if [ -x "$build/bin/spargo-bench" ]; then
      clean "$prefix/bin/spargo" bench --version | grep -q '^spargo bench ' || fail "spargo bench does not run"
    fi
    ;;
  app_names)
    # Names for systems that have another bfs: all that is installed for the programs has them.
    dir=$work-app_names; rm -rf "$dir"
    configure -S "$source" -B "$dir" -DSPARGO_CUDA=OFF -DSPARGO_TESTS=OFF -DSPARGO_BENCH=OFF -DSPARGO_APP_PREFIX=spargo- \
      > "$dir.log"
    installed=$(cat "$dir/cmake_install.cmake" "$dir/apps/cmake_install.cmake")
    for file in bin/spargo bin/spargo-bfs bin/spargo-spmv completions/spargo-bfs man1/spargo-bfs.1 man1/spargo-spmv.1; do
      grep -q "/$file\"" <<< "$installed" || fail "$file is not installed"
    done
    ! grep -oE '/(bin|completions|man1)/(bfs|spmv|info|convert|bench)(\.1)?"' <<< "$installed" || fail "old names are installed"
    ;;
  site)
    # What the documentation site would show of C++ and of the commands, without Sphinx, and that the check finds a gap.
    for tool in doxygen python3; do
      command -v $tool > /dev/null || { echo "no $tool: skipped"; exit 77; }
    done
    ! grep -q 'has_cuda = true' "$build/include/spargo/core/config.hpp" || { echo "built with CUDA: skipped"; exit 77; }
    dir=$work-site
    rm -rf "$dir-own"; mkdir -p "$dir-own/pages"; touch "$dir-own/pages/kept"
    ! bash "$source/apps/docs/build.sh" --build "$build" --names "$dir-own" 2> /dev/null || fail "a folder of other contents is taken"
    [ -e "$dir-own/pages/kept" ] || fail "a folder of other contents was emptied"
    bash "$source/apps/docs/build.sh" --build "$build" --names "$dir" || fail "the site would lack names, or Doxygen warns"
    sed -i '/^\.\. doxygenfile/d' "$dir/pages/reference/cpp/spargo_graph_bfs_hpp.rst"
    sed -i '/option:: .*--undirected/d' "$dir/pages/reference/commands/bfs.rst"
    ! missing=$(cd "$source" && python3 apps/docs/site/check_site.py --pages "$dir" "$build/lib/libspargo.so" "$build/bin/spargo") \
      || fail "the check finds no gap"
    for name in 'bfs\.hpp: bfs$' 'libspargo\.so: spargo::bfs$' 'spargo-bfs\.--undirected$'; do
      grep -q "$name" <<< "$missing" || fail "no '$name' among what is missing: $missing"
    done
    ;;
  debian)
    # apps/debian/build.sh, of what this build has compiled: fields and contents of the packages, and, unpacked in one
    # folder, the programs, a consumer and the Python package. Its --chroot installs them in a bare Debian.
    for tool in dpkg-deb dpkg-shlibdeps file ninja; do
      command -v $tool > /dev/null || { echo "no $tool: skipped"; exit 77; }
    done
    ! grep -q 'has_cuda = true' "$build/include/spargo/core/config.hpp" || { echo "built with CUDA: skipped"; exit 77; }
    dir=$work-debian; rm -rf "$dir"; mkdir -p "$dir"
    python=none
    if grep -q '^SPARGO_PYTHON:BOOL=ON' "$build/CMakeCache.txt"; then
      python=$(sed -n 's/^Python_EXECUTABLE:[A-Z]*=//p' "$build/CMakeCache.txt")
    fi
    bash "$source/apps/debian/build.sh" --fast --build "$dir/build" --from "$build" --python "$python" \
      --maintainer 'Spargo <spargo@packages.debian.org>' > "$dir.log" 2>&1 || fail "$(tail -n 30 "$dir.log")"
    grep -E 'lintian|python3-spargo:' "$dir.log" || true
    (cd "$dir/build" && find src apps -name '*.o' ! -path '*nanobind-static*' ! -path '*_backend.dir*' | sort > objects)
    anew=$(sort "$dir/build/reused" "$dir/build/not_reused" | comm -23 "$dir/build/objects" -)
    [ -z "$anew" ] || fail "compiled anew: $(head -n 3 <<< "$anew")"
    [ "$(wc -l < "$dir/build/not_reused")" -le 8 ] || fail "much is compiled: $(wc -l < "$dir/build/not_reused") objects"
    soname=$(readelf -d "$build/lib/libspargo.so" | sed -n 's/.*SONAME.*\[libspargo\.so\.\(.*\)\]/\1/p')
    version=$(sed -n 's/.*SPARGO_VERSION_STRING "\(.*\)"/\1/p' "$build/include/spargo/core/config.hpp")
    library=libspargo$soname
    package() { echo "$dir/build/$1_${version}_$(dpkg --print-architecture).deb"; }
    field() { dpkg-deb -f "$(package "$1")" "$2"; }
    # has PACKAGE PATH...: files, below /usr, as patterns; none of another kind.
    has() {
      local name=$1 listed path; shift
      listed=$(dpkg-deb -c "$(package "$name")" | awk '{print $6}' | sed -n 's|^\./usr/\(.*[^/]\)$|\1|p' | grep -v '^share/doc/')
      for path; do
        grep -qE "^$path\$" <<< "$listed" || fail "$name has no $path: $listed"
      done
      local IFS='|'
      ! grep -vE "^($*)\$" <<< "$listed" || fail "$name has more than it should"
    }
    triplet='lib/[a-z0-9_]+-linux-gnu'
    has "$library" "$triplet/libspargo\.so\.$soname" "$triplet/libspargo\.so\.$version" "share/lintian/overrides/$library"
    has libspargo-dev 'include/spargo/spargo\.hpp' 'include/spargo/.*' "$triplet/libspargo\.so" "$triplet/cmake/spargo/spargo-config\.cmake" \
      "$triplet/cmake/spargo/.*" "$triplet/pkgconfig/spargo\.pc"
    has spargo-tools bin/spargo bin/spargo-bfs bin/spargo-spmv 'share/man/man1/spargo-bfs\.1\.gz' 'share/man/man1/.*\.gz' \
      'share/bash-completion/completions/spargo(-bfs|-spmv)?' 'share/zsh/vendor-completions/_spargo(-bfs|-spmv)?' \
      'share/fish/vendor_completions\.d/spargo(-bfs|-spmv)?\.fish'
    others=(libspargo-dev spargo-tools)
    if [ -e "$build/lib/libspargo_mpi.so" ]; then
      has "$library-mpi" "$triplet/spargo-$soname/libspargo_mpi\.so"
      [[ $(field "$library-mpi" Depends) = *libopenmpi* ]] || fail "the plug-in depends on no MPI"
      [[ $(field "$library" Depends) != *mpi* ]] || fail "the library depends on MPI"
      others+=("$library-mpi")
    fi
    if [ -e "$(package python3-spargo)" ]; then
      has python3-spargo 'lib/python3/dist-packages/spargo/_(core\.abi3|backend\.cpython-.*)\.so' \
        'lib/python3/dist-packages/spargo/.*\.(py|pyi|typed)' 'lib/python3/dist-packages/spargo-.*\.dist-info/(METADATA|entry_points\.txt)' \
        'lib/python3/dist-packages/_spargo_networkx\.py'
      others+=(python3-spargo)
    elif [ "$python" != none ]; then
      grep -q 'no python3-spargo: .* is not of the version' "$dir.log" || fail "there is no python3-spargo"
    fi
    [[ $(field "$library" Depends) = *libc6*libfmt*libstdc++6* ]] || fail "the library depends on: $(field "$library" Depends)"
    for name in "${others[@]}"; do
      [[ ", $(field "$name" Depends)," = *", $library (= $version),"* ]] || fail "$name depends on: $(field "$name" Depends)"
    done
    [ "$(dpkg-deb --ctrl-tarfile "$(package "$library")" | tar -xO ./shlibs)" = "libspargo $soname $library (>= $version)" ] \
      || fail "other programs would not depend on the library"
    for file in "$dir"/build/*.deb; do
      dpkg-deb -x "$file" "$dir/root"
      name=$(dpkg-deb -f "$file" Package)
      for document in copyright changelog.gz; do
        [ -s "$dir/root/usr/share/doc/$name/$document" ] || fail "$name has no $document"
      done
    done
    lib=$(dirname "$(find "$dir/root" -name 'libspargo.so')")
    ! readelf -d "$dir"/root/usr/bin/* "$lib"/*.so* | grep -E 'RPATH|RUNPATH' || fail "a path of libraries is left in the packages"
    ! grep -rlF -e "$source" -e "$build" -e "$dir" "$dir/root" || fail "packages name folders of the build"
    clean LD_LIBRARY_PATH="$lib" "$dir/root/usr/bin/spargo-bfs" "$source/datasets/karate.el" --undirected | grep -q 'levels *1 16 9 8' \
      || fail "the packed program does not run"
    clean "$cxx" -std=c++20 -I"$dir/root/usr/include" "$here/consumer/main.cpp" -o "$dir/consumer" -L"$lib" -lspargo
    run_consumer env LD_LIBRARY_PATH="$lib" "$dir/consumer"
    if [[ " ${others[*]} " = *' python3-spargo '* ]]; then
      clean LD_LIBRARY_PATH="$lib" PYTHONPATH="$dir/root/usr/lib/python3/dist-packages" "$python" "$source/apps/python/tests/user.py"
    fi
    ;;
  uninstall)
    # Removes what was installed, in another place than the other steps use, and nothing beside it.
    dir=$work/uninstall; rm -rf "$dir"; mkdir -p "$dir/bin" "$dir/share/man/man1"
    echo mine > "$dir/bin/mine"; echo mine > "$dir/share/man/man1/mine.1"
    cmake --install "$build" --prefix "$dir" > /dev/null
    [ -x "$dir/bin/spargo" ] || fail "nothing was installed"
    cmake --build "$build" --target uninstall > "$dir.log" || fail "uninstall: $(cat "$dir.log")"
    left=$(cd "$dir" && find . ! -type d | sort | xargs)
    [ "$left" = './bin/mine ./share/man/man1/mine.1' ] || fail "uninstall leaves or takes too much: $left"
    ! cmake --build "$build" --target uninstall > "$dir.log" 2>&1 || fail "there is nothing left to uninstall"
    grep -q 'nothing to uninstall' "$dir.log" || fail "not a word about the missing manifest: $(cat "$dir.log")"
    ;;
  tutorials)
    # The blocks of code of the pages that need no Python package, run as by a reader who has installed the programs.
    command -v python3 > /dev/null || { echo "no python3: skipped"; exit 77; }
    pages=()
    for page in "$source"/apps/docs/{tutorials,howto}/*.md; do
      ! grep -q '^```python' "$page" || continue  # apps/python/tests/test_tutorials.py
      if grep -q mpirun "$page" && ! { command -v mpirun && find "$prefix" -name libspargo_mpi.so | grep .; } > /dev/null; then
        echo "no MPI: $(basename "$page") is left out"
      elif grep -q -- --spy "$page" && ! "$prefix/bin/spargo" info "$matrix" --spy "$work/spy.svg" --quiet 2> /dev/null; then
        echo "no Cairo: $(basename "$page") is left out"
      else
        pages+=("$page")
      fi
    done
    launcher=$(command -v ccache || true)
    clean PATH="$prefix/bin:$tools:/usr/bin:/bin" CMAKE_PREFIX_PATH="$prefix" CXX="$cxx" \
      ${launcher:+CMAKE_CXX_COMPILER_LAUNCHER="$launcher"} PKG_CONFIG_PATH="$(dirname "$(find "$prefix" -name spargo.pc)")" \
      OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 \
      python3 "$source/apps/docs/site/run_blocks.py" --work "$work/tutorials" "${pages[@]}"
    ;;
  datasets)
    # The facts of datasets/README.md, worked out by hand or by other programs.
    report() { "$build/bin/spargo" "$1" "$source/datasets/$2" "${@:3}" --json - | tr -d ' \n\r\t'; }
    expect() {  # REPORT FRAGMENT...
      local text=$1 fragment; shift
      for fragment in "$@"; do
        [[ $text = *"$fragment"* ]] || fail "no $fragment in $text"
      done
    }
    graph() {  # FILE SOURCE VERTICES EDGES LEVELS
      echo "$1"
      expect "$(report bfs "$1" --undirected --source "$2")" "\"vertices\":$3,\"edges\":$4," "\"levels\":[$5]" '"valid":true'
    }
    graph karate.el 1 34 78 1,16,9,8
    graph florentine.el 1 15 20 1,1,5,5,3
    graph koenigsberg.el 1 4 5 1,2,1
    graph knight8.el 0 64 168 1,2,9,20,21,10,1
    graph grid4.wel 0 16 24 1,2,3,4,3,2,1
    graph tree_sparse_ids.csv 1000000000001 31 30 1,2,4,8,16
    graph hypercube8.txt.gz 255 256 1024 1,8,28,56,70,56,28,8,1
    graph petersen.mtx 1 10 15 1,3,6
    matrix() {  # FILE NNZ FIELD SYMMETRY FRAGMENT...
      echo "$1"
      expect "$(report spmv "$1")" "\"nnz\":$2," "\"field\":\"$3\",\"symmetry\":\"$4\"" '"verified":true' "${@:5}"
    }
    matrix petersen.mtx 30 pattern symmetric '"first":[3.0,3.0,3.0,3.0,3.0]' '"sum":30.0'
    matrix laplacian10.mtx 460 real symmetric '"first":[2.0,1.0,1.0,1.0,1.0]' '"sum":40.0'
    matrix fem1d.mtx 25 real symmetric '"first":[0.0,0.0,0.0,0.0,0.0]' '"l2":0.0'
    matrix arrow.mtx 34 real general '"first":[23.0,15.0,16.0,17.0,18.0]' '"sum":243.0'
    matrix divisors.mtx 35 pattern general '"first":[12.0,6.0,4.0,3.0,2.0]' '"sum":35.0'
    matrix cross.mtx 6 integer skew-symmetric '"first":[-1.0,2.0,-1.0]'
    matrix spins.mtx 12 complex hermitian '"first":[[2.0,-1.0],[2.0,1.0],[0.0,-1.0],[0.0,1.0]]'
    matrix hilbert6.mtx 36 real symmetric '"sum":7.8385281385'
    for file in "$source"/datasets/*.{mtx,el,wel,csv,gz}; do
      grep -q "\`$(basename "$file")\`" "$source/datasets/README.md" || fail "datasets/README.md lacks $(basename "$file")"
    done
    ;;
  subproject)
    dir=$work-subproject; mkdir -p "$dir"
    options=(-DSPARGO_SOURCE="$source" -DSPARGO_CUDA=OFF -DSPARGO_INSTALL=ON -DBUILD_SHARED_LIBS=OFF -DGIVEN_BUILD_SHARED_LIBS=1)
    # What the tested build has compiled by the same commands is taken from it. Else the library is compiled anew:
    # optimisation is not what is tested, and -O0 is several times faster.
    if [ -f "$build/build.ninja" ] && ! grep -q 'has_cuda = true' "$build/include/spargo/core/config.hpp"; then
      rm -rf "$dir/build"
      while IFS= read -r option; do options+=("-D$option"); done \
        < <(grep -E '^(CMAKE_BUILD_TYPE|CMAKE_CXX_FLAGS[A-Z_]*|SPARGO_WERROR|SPARGO_XXHASH_INCLUDE_DIR):' "$build/CMakeCache.txt")
      configure -S "$here/subproject" -B "$dir/build" "${options[@]}" \
        -DCMAKE_CXX_COMPILER_LAUNCHER="bash;$here/reuse.sh;$build;$dir/build/spargo"
      clean cmake --build "$dir/build" --parallel 2
      [ "$(wc -l < "$dir/build/reused")" -eq "$(find "$dir/build/spargo/src" -name '*.o' -o -name '*.gch' | wc -l)" ] \
        || fail "compiled anew: $(find "$dir/build/spargo/src" -name '*.o' | sed "s|^$dir/build/||" | grep -vxFf "$dir/build/reused" | head -n 3)"
    else
      configure -S "$here/subproject" -B "$dir/build" "${options[@]}" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0
      clean cmake --build "$dir/build" --parallel 2
    fi
    run_consumer "$dir/build/consumer"
    # The static package finds what it was linked with.
    rm -rf "$dir/prefix" "$dir/static"
    cmake --install "$dir/build" --prefix "$dir/prefix" > /dev/null
    configure -S "$here/consumer" -B "$dir/static" -DCMAKE_PREFIX_PATH="$dir/prefix"
    clean cmake --build "$dir/static"
    run_consumer "$dir/static/consumer"
    if command -v pkg-config > /dev/null && pkg-config --exists fmt zlib; then
      read -ra flags <<< "$(PKG_CONFIG_PATH=$(dirname "$(find "$dir/prefix" -name spargo.pc)") pkg-config --cflags --libs spargo)"
      clean "$cxx" -std=c++20 "$here/consumer/main.cpp" -o "$dir/with_pkg_config" "${flags[@]}"
      run_consumer "$dir/with_pkg_config"
    fi
    ;;
  *) fail "no step '$step'" ;;
esac
echo "package $step: ok"
