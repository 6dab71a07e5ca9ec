#!/usr/bin/env bash
# Tests the Python package in a virtual environment of its own; the last line is pytest's summary.
#   --build FOLDER    test the module of this build tree (-DSPARGO_PYTHON=ON, target spargo_python) instead of a wheel
#   --wheel FILE      test this wheel instead of building one
#   --full            besides, data frames of pandas, polars, pyarrow and DuckDB, networkx's own tests with the backend, SciPy's of Matrix Market and csgraph, types by
#                     mypy, auditwheel's view of the wheel, and it in every CPython from 3.10 on that is here
#   --python PROGRAM  which Python (python3)
#   --env FOLDER      where the environment is made and kept (build/python-env)
#   --prepare         only make that: a build of the module takes it as Python_EXECUTABLE
# A wheel is built by `pip wheel .`, with CMAKE_ARGS from the environment: CMAKE_ARGS=-DSPARGO_CUDA=ON for a release.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."

build='' wheel='' full=no prepare=no python=python3 env=build/python-env
while [ $# -gt 0 ]; do
  case $1 in
    --build) build=$2; shift ;;
    --wheel) wheel=$2; shift ;;
    --full) full=yes ;;
    --python) python=$2; shift ;;
    --env) env=$2; shift ;;
    --prepare) prepare=yes ;;
    -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
    *) echo "run.sh: unknown argument '$1' (see --help)" >&2; exit 2 ;;
  esac
  shift
done
root=$PWD env=$(realpath -m "$env")
say() { printf '[%4d s] %s\n' "$SECONDS" "$*" >&2; }

say "packages of PyPI, in $env"
[ -x "$env/bin/python" ] || "$python" -m venv "$env"
needed=(nanobind nanobind-backend numpy scipy networkx pytest pandas matplotlib)
if [ $full = yes ]; then needed+=(mypy scipy-stubs auditwheel polars pyarrow duckdb); fi
"$env/bin/pip" install -q --disable-pip-version-check "${needed[@]}"
if [ $prepare = yes ]; then exit 0; fi

if [ -n "$build" ]; then
  "$env/bin/pip" uninstall -q -y --disable-pip-version-check spargo 2> /dev/null || true
  export PYTHONPATH=$PWD/$build/python
  [ -e "$PYTHONPATH"/spargo/_core.abi3.so ] || { echo "run.sh: no module in $PYTHONPATH (target spargo_python)" >&2; exit 1; }
  # What networkx finds the backend by, as an installation has it.
  "$env/bin/python" - "$PYTHONPATH" << 'PYTHON'
import pathlib, re, sys
project = pathlib.Path("pyproject.toml").read_text()
version = re.search(r"project\(spargo VERSION ([0-9.]+)", pathlib.Path("CMakeLists.txt").read_text()).group(1)
folder = pathlib.Path(sys.argv[1]) / f"spargo-{version}.dist-info"
folder.mkdir(exist_ok=True)
(folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: spargo\nVersion: {version}\n")
entries = re.findall(r'\[project\.entry-points\."(.+?)"\]\nspargo = "(.+?)"', project)
(folder / "entry_points.txt").write_text("".join(f"[{group}]\nspargo = {where}\n" for group, where in entries))
PYTHON
else
  if [ -z "$wheel" ]; then
    say "building the wheel"
    rm -rf build/wheels
    "$env/bin/pip" wheel -q --disable-pip-version-check --no-deps -w build/wheels .
    wheel=$(echo build/wheels/spargo-*.whl)
  fi
  say "installing $wheel"
  "$env/bin/pip" install -q --disable-pip-version-check --force-reinstall --no-deps "$wheel"
fi

export PYTHONDONTWRITEBYTECODE=1
status=0
if [ $full = yes ]; then
  say "types"
  MYPYPATH=apps/python "$env/bin/mypy" --strict --cache-dir build/mypy apps/python/tests/user.py || status=1
  MYPYPATH=apps/python "$env/bin/mypy" --strict --cache-dir build/mypy -p spargo || status=1
  say "networkx's tests"
  "$env/bin/python" apps/python/tests/networkx_suite.py || status=1
  say "SciPy's tests"
  "$env/bin/python" apps/python/tests/scipy_suite.py || status=1
  if [ -n "$wheel" ]; then
    say "the wheel: $(stat -c %s "$wheel") bytes"
    "$env/bin/auditwheel" show "$wheel" || status=1
    for minor in 10 11 12 13 14; do
      command -v "python3.$minor" > /dev/null && "python3.$minor" --version > /dev/null 2>&1 || continue
      say "a bare environment of CPython 3.$minor"
      rm -rf "$env-3.$minor"
      "python3.$minor" -m venv "$env-3.$minor"
      "$env-3.$minor/bin/pip" install -q --disable-pip-version-check "$wheel"
      (cd / && "$env-3.$minor/bin/python" "$root/apps/python/tests/user.py") || status=1
    done
  fi
fi
say "tests and doctests"
package=$("$env/bin/python" -c 'import spargo, os; print(os.path.dirname(spargo.__file__))')
"$env/bin/python" -m pytest -q -p no:cacheprovider --doctest-modules --doctest-glob='*.md' \
  apps/python/tests apps/python/README.md "$package" || status=1
exit $status
