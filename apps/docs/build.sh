#!/usr/bin/env bash
# Builds the documentation site in build/site, and checks its links and that every public name is there.
#   --build FOLDER   the build tree whose program and Python module are described (build): targets apps, spargo_python
#   --env FOLDER     the virtual environment with Sphinx, made if it is not there (build/docs-env), from PyPI
#   --prepare        only make that: a build of the module takes it as Python_EXECUTABLE
#   --names FOLDER   only write what Sphinx would read, in this folder, and check its names: no environment, no module
# Needed besides: Doxygen (1.9.4 is tested). Nothing is downloaded once the environment is there. Every warning is an error.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

build=build env=build/docs-env prepare=no work=build/docs names=no
while [ $# -gt 0 ]; do
  case $1 in
    --build) build=$2; shift ;;
    --env) env=$2; shift ;;
    --prepare) prepare=yes ;;
    --names) work=$2 names=yes; shift ;;
    -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
    *) echo "build.sh: unknown argument '$1' (see --help)" >&2; exit 2 ;;
  esac
  shift
done
say() { printf '[%4d s] %s\n' "$SECONDS" "$*" >&2; }
die() { echo "build.sh: $*" >&2; exit 1; }

if [ $names = no ] && [ ! -e "$env/ready" ]; then
  say "packages of PyPI, in $env"
  [ -x "$env/bin/python" ] || python3 -m venv "$env"
  "$env/bin/pip" install -q --disable-pip-version-check sphinx furo myst-parser breathe sphinx-copybutton \
    nanobind nanobind-backend numpy scipy networkx
  touch "$env/ready"
fi
[ $prepare = no ] || exit 0
command -v doxygen > /dev/null || die "Doxygen is needed, and there is none (Debian: doxygen)"
[ -x "$build/bin/spargo" ] || die "no program in $build (target apps)"
[ $names = yes ] || [ -e "$build/python/spargo/_core.abi3.so" ] || die "no Python module in $build (-DSPARGO_PYTHON=ON, target spargo_python)"
export PYTHONPATH=$PWD/$build/python PYTHONDONTWRITEBYTECODE=1
python=$env/bin/python site=apps/docs/site pages=$work/pages
if [ $names = yes ]; then
  python=python3
  # The folder is emptied: only one of an earlier run, or none.
  [ -n "$work" ] && { [ -d "$pages" ] && [ -d "$work/xml" ] || ! ls -A "$work" 2> /dev/null | grep -q .; } \
    || die "--names $work: a folder with other contents (expected an empty one, or that of an earlier run)"
fi

# The folder that Sphinx works in is laid out as the repository, so that links between documents are the same.
rm -rf "$work"
mkdir -p "$pages"
say "the interface of C++"
"$python" $site/doxygen_filter.py include "$build/include" "$work/include"
(cat $site/Doxyfile; printf 'INPUT = "%s/include"\nOUTPUT_DIRECTORY = "%s"\n' "$work" "$work") | doxygen -
"$python" $site/cpp_reference.py "$work/xml" "$pages/reference/cpp" include "$build/include"
say "the commands"
"$python" $site/commands_reference.py "$build/bin/spargo" "$pages/reference/commands"
if [ $names = yes ]; then
  exec "$python" $site/check_site.py --pages "$work" "$build/lib/libspargo.so" "$build/bin/spargo"
fi
say "the interface of Python"
"$python" $site/python_reference.py "$pages/reference/python"
rm -rf build/site
cp -r --parents README.md CONTRIBUTING.md CHANGELOG.md LICENSE datasets apps/docs apps/python/README.md apps/bench/results "$pages"
cp "$site/index.md" "$pages"
say "pages"
"$env/bin/sphinx-build" -q -W --keep-going -j auto -b html -c $site -d build/docs/doctrees "$pages" build/site
say "links and names"
"$python" $site/check_site.py build/site "$build/lib/libspargo.so" "$build/bin/spargo"
say "build/site/index.html"
