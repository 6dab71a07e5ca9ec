#!/usr/bin/env bash
# try.sh FOLDER PACKAGE.deb...: installs packages of build.sh in a bare Debian in FOLDER, which debootstrap makes there (as
# root, from the mirror of this machine's apt) unless it is there already, runs what they have, and removes them: nothing
# of theirs may be left.
set -euo pipefail
root=$1
shift
die() { echo "try.sh: $*" >&2; exit 1; }
say() { printf '==> %s\n' "$*" >&2; }
[ "$(id -u)" -eq 0 ] || die "debootstrap and chroot need root"

# shellcheck source=/dev/null
codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
if [ ! -e "$root/etc/debian_version" ]; then
  command -v debootstrap > /dev/null || die "debootstrap is needed, and there is none"
  mirror=$(apt-get indextargets --format '$(REPO_URI)' | head -n 1)
  say "$codename in $root"
  debootstrap --variant=minbase "$codename" "$root" "${mirror:-http://deb.debian.org/debian}" > /dev/null
fi
cp /etc/resolv.conf "$root/etc/resolv.conf"
mount -t proc proc "$root/proc"
trap 'umount "$root/proc"' EXIT
rm -f "$root/etc/apt/sources.list"
cp -r /etc/apt/sources.list* /etc/apt/apt.conf.d "$root/etc/apt/"
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive HOME=/root \
  HWLOC_HIDE_ERRORS=2 \
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 "$@"; }
apt() { inside apt-get -q -q -o Dpkg::Use-Pty=0 "$@" > /dev/null; }
files() { (cd "$root" && find etc usr var/lib/dpkg/info \( -name '*.pyc' -o -name __pycache__ \) -prune -o -print | sort); }

apt update
say "what is not ours: a compiler, CMake, pkg-config, man, shells, an mpirun, NumPy and SciPy"
apt install -y --no-install-recommends g++ cmake make pkg-config man-db zsh fish bash-completion openmpi-bin python3-scipy
files > "$root.before"

say "installing"
rm -rf "$root/packages"
mkdir "$root/packages"
cp "$@" "$root/packages"
(cd "$root" && echo packages/*.deb | sed 's|packages/|/&|g') | while read -ra files; do
  apt install -y --no-install-recommends "${files[@]}"
done
files > "$root.installed"

say "running"
source=$(cd "$(dirname "$0")/../.." && pwd)
rm -rf "$root/try"
mkdir "$root/try"
cp -r "$source/datasets" "$source/tests/package/consumer" "$root/try"
cp "$source/apps/python/tests/user.py" "$root/try"
inside spargo --version
inside spargo-bfs /try/datasets/karate.el --undirected | grep -q 'levels *1 16 9 8' || die "spargo-bfs: other levels"
inside spargo solve /try/datasets/laplacian10.mtx --quiet || die "spargo solve"
inside man -w spargo spargo-bfs spargo-spmv spargo-pagerank > /dev/null || die "no manual pages"
inside man spargo-bfs | grep -q -- '--undirected' || die "the manual page does not name a flag"
# shellcheck disable=SC2016
inside bash -c 'source /usr/share/bash-completion/bash_completion; _completion_loader spargo; complete -p spargo' | grep -q spargo \
  || die "bash does not complete spargo"
inside zsh -c 'autoload -U compinit; compinit -u -D; print $_comps[spargo]' | grep -q _spargo || die "zsh does not complete spargo"
inside fish -c 'complete -C "spargo page"' | grep -q pagerank || die "fish does not complete spargo"
inside mpirun -n 2 spargo bfs /try/datasets/karate.el --undirected | grep -q ' ranks\| processes' || die "no ranks under mpirun"
if [[ $* = *python3-spargo* ]]; then inside python3 /try/user.py || die "the Python package"; fi
inside sh -c 'cd /try && g++ -std=c++20 consumer/main.cpp -o by_pkg_config $(pkg-config --cflags --libs spargo) &&
  ./by_pkg_config datasets/laplacian10.mtx' || die "a program by pkg-config"
inside sh -c 'cmake -S /try/consumer -B /try/build > /dev/null && cmake --build /try/build > /dev/null &&
  /try/build/consumer /try/datasets/laplacian10.mtx' || die "a program by CMake"

say "removing"
names=()
for file; do names+=("$(dpkg-deb -f "$file" Package)"); done
apt purge -y --auto-remove "${names[@]}"
files > "$root.after"
diff "$root.before" "$root.after" || die "removing the packages leaves files"
say "$(comm -13 "$root.before" "$root.installed" | wc -l) files were installed, and none is left"
