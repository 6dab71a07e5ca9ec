#!/usr/bin/env bash
# Builds Debian packages for the CPU, libspargo0.1, libspargo-dev, libspargo0.1-mpi (with MPI), spargo-tools and
# python3-spargo, for the Debian or Ubuntu that it runs on, and checks them by lintian where that is installed.
#   --build FOLDER     where they are built and left (build/debian)
#   --from FOLDER      a build tree without CUDA: what it has compiled by the same commands is copied (with Ninja)
#   --python PROGRAM   the Python with nanobind, of /usr/bin/python3's version, that the module is compiled for; without it,
#                      build/python-env's (apps/python/tests/run.sh --prepare); without both there is no python3-spargo
#   --fast             compressed by gzip, not by xz, in a third of the time
#   --maintainer NAME  'Name <address>'; else from DEBFULLNAME and DEBEMAIL; without, a made-up one, which lintian is not
#                      asked about
#   --chroot FOLDER    besides, install, run and remove them in a bare Debian in this folder, made by debootstrap as root
# With CUDA the packages would depend on nothing more: its runtime is linked statically, and libcuda.so.1 of the driver is
# loaded where there is one (Debian: libcuda1, as a suggestion).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=apps/setup.sh
source apps/setup.sh

compression=xz build=build/debian from='' python=build/python-env/bin/python chroot='' maintainer=''
while [ $# -gt 0 ]; do
  case $1 in
    --build) build=$2; shift ;;
    --from) from=$(realpath "$2"); shift ;;
    --python) python=$2; shift ;;
    --fast) compression=gzip ;;
    --maintainer) maintainer=$2; shift ;;
    --chroot) chroot=$(realpath -m "$2"); shift ;;
    -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
    *) echo "build.sh: unknown argument '$1' (see --help)" >&2; exit 2 ;;
  esac
  shift
done
for tool in dpkg-deb dpkg-shlibdeps file; do  # dpkg-shlibdeps is in dpkg-dev
  command -v $tool > /dev/null || spargo_die "$tool is needed, and there is none (Debian: dpkg-dev, file)"
done
version_of() { "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])'; }

with_python=(-DSPARGO_PYTHON=OFF) targets=(apps)
if ! "$python" -c 'import nanobind' 2> /dev/null; then
  spargo_say "no python3-spargo: no nanobind for '$python'"
elif [ "$(version_of "$python")" != "$(version_of /usr/bin/python3)" ]; then
  spargo_say "no python3-spargo: '$python' is not of the version of /usr/bin/python3"
else
  with_python=(-DSPARGO_PYTHON=ON "-DPython_EXECUTABLE=$(realpath -s "$python")") targets+=(spargo_python _backend)
fi
build=$(realpath -m "$build")
mkdir -p "$build"
rm -f "$build"/*.deb
launcher=()
if [ -n "$from" ]; then launcher=("-DCMAKE_CXX_COMPILER_LAUNCHER=bash;$PWD/tests/package/reuse.sh;$from;$build"); fi
made_up=()
if [ -z "$maintainer${DEBEMAIL:-}" ]; then
  made_up=(--suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog,root-in-contact)
fi
: "${maintainer:="${DEBFULLNAME:-Spargo} <${DEBEMAIL:-$(id -un)@$(hostname -f 2> /dev/null || echo localhost)}>"}"
seconds=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2> /dev/null || date +%s)}

spargo_say "configuring in $build"
spargo_configure release -B "$build" -DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_SKIP_INSTALL_RPATH=ON -DSPARGO_APP_PREFIX=spargo- \
  -DSPARGO_CUDA=OFF -DSPARGO_TESTS=OFF -DSPARGO_BENCH=OFF -DSPARGO_DEBIAN=ON "-DSPARGO_DEBIAN_MAINTAINER=$maintainer" \
  "-DCPACK_DEBIAN_COMPRESSION_TYPE=$compression" "-DSPARGO_DEBIAN_DATE=$(LC_ALL=C date -R -u -d "@$seconds")" "${with_python[@]}" "${launcher[@]}" > "$build/configure.log" 2>&1 \
  || { cat "$build/configure.log" >&2; exit 1; }
# The same command makes another object where a header that CMake writes differs: those are compiled.
: > "$build/not_reused"
if [ -n "$from" ]; then
  { diff -rq "$from/include" "$build/include" || true; diff -rq "$from/apps/include" "$build/apps/include" || true; } \
    | sed -n "s|^Files $from/\\(.*\\) and .* differ$|\\1|p" > "$build/differ"
  ninja -C "$from" -t deps | awk -v list="$build/differ" 'BEGIN {while ((getline line < list) > 0) other[line]}
    /^[^ ]/ {object = $1; sub(/:$/, "", object)} /^    / && ($1 in other) && object !~ /^tests\// {print object}' | sort -u > "$build/not_reused"
fi
spargo_say "building"
cmake --build "$build" --target "${targets[@]}" --parallel "$(spargo_jobs)" > "$build/build.log" 2>&1 || { tail -n 40 "$build/build.log" >&2; exit 1; }
spargo_say "packing"
(cd "$build" && SOURCE_DATE_EPOCH=$seconds cpack) > "$build/pack.log" 2>&1 || { cat "$build/pack.log" >&2; exit 1; }
! grep -i 'warning' "$build/pack.log" >&2 || spargo_die "CPack warns"
ls -l "$build"/*.deb

if command -v lintian > /dev/null; then
  spargo_say "lintian"
  as_user=(); if [ "$(id -u)" -eq 0 ]; then as_user=(--allow-root); fi
  lintian "${as_user[@]}" "${made_up[@]}" --fail-on error,warning --tag-display-limit 0 "$build"/*.deb
else
  spargo_say "not checked: no lintian"
fi
[ -z "$chroot" ] || bash apps/debian/try.sh "$chroot" "$build"/*.deb
