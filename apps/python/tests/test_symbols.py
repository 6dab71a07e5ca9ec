"""The symbols that the package needs of glibc and libstdc++, whose oldest versions decide where a wheel runs."""

import pathlib
import platform
import re
import shutil
import subprocess

import pytest
import spargo

OLDEST = {"GLIBC": (2, 34), "GLIBCXX": (3, 4, 29)}  # manylinux_2_34


def test_the_library_runs_where_manylinux_2_34_does():
    if platform.libc_ver()[0] != "glibc" or shutil.which("objdump") is None:
        pytest.skip("no glibc, or no objdump")
    built_with = tuple(map(int, platform.libc_ver()[1].split(".")[:2]))
    if built_with >= (2, 38):
        pytest.skip("headers of glibc 2.38 and later rename functions")
    module = pathlib.Path(spargo._core.__file__).resolve()
    folders = module.parent, module.parent / "lib", module.parents[2] / "lib"
    libraries = {f.resolve() for folder in folders for f in folder.glob("libspargo.so*")}
    assert libraries
    for file in (module, *libraries):
        symbols = subprocess.run(["objdump", "-T", file], capture_output=True, text=True, check=True).stdout
        newer = [
            line.split()[-1]
            for line in symbols.splitlines()
            for name, version in re.findall(r"(GLIBC|GLIBCXX)_(\d+(?:\.\d+)+)", line)
            if tuple(map(int, version.split("."))) > OLDEST[name]
        ]
        assert not newer, file
