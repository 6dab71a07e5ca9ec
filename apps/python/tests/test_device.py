"""Which device things are on, and what is said of one that is not there. Most of it needs no GPU."""

import importlib.util

import pytest
import spargo
from conftest import random_matrix
from spargo import _config, _device


@pytest.mark.parametrize("device", ["tpu", "cuda:", "cuda:x", "cuda:-1", "CUDA", "cuda0", "cpu:0", ""])
def test_names_that_are_no_device(device):
    a = random_matrix(5, 5, seed=1)
    for call in (
        lambda: spargo.Matrix(a, device=device),
        lambda: spargo.Matrix("gen:laplacian2d:n=3", device=device),
        lambda: spargo.Graph.from_scipy(a, device=device),
        lambda: spargo.Graph.from_edges([0], [1], device=device),
        lambda: spargo.Graph.read("gen:grid2d:n=3", device=device),
        lambda: spargo.config(device=device),
        lambda: spargo.mmread("a.mtx", device=device),
    ):
        with pytest.raises(ValueError, match="may be 'auto', 'cpu', 'cuda' or 'cuda:N'"):
            call()


def test_a_gpu_that_is_not_there():
    a = random_matrix(5, 5, seed=1)
    device = "cuda:99" if len(spargo.devices()) > 1 else "cuda"
    for call in (
        lambda: spargo.Matrix(a, device=device),
        lambda: spargo.Graph.from_scipy(a, device=device),
        lambda: spargo.Graph.from_edges([0], [1], device=device),
        lambda: spargo.Graph.read("gen:grid2d:n=3", device=device),
        lambda: spargo.config(device=device),
    ):
        with pytest.raises(spargo.DeviceError, match=f"^device '{device}'[: ][^\n]+$") as refused:
            call()
        assert isinstance(refused.value, RuntimeError) and refused.value.code == "device_unavailable"


def test_the_cpu_is_where_things_are_unless_asked():
    a = random_matrix(5, 5, seed=1)
    for device in ("auto", "cpu"):
        assert spargo.Matrix(a, device=device).device == "cpu"
        assert spargo.Graph.from_scipy(a, device=device).device == "cpu"
    with spargo.config(device="cpu"):
        assert spargo.Matrix(a).device == "cpu"
    assert "on the CPU" in repr(spargo.Matrix(a)) and "on the CPU" in repr(spargo.Graph.from_scipy(a))
    for thing in (a, a.data, [1, 2], "name", None, 3.0, spargo.Matrix(a)):
        assert _device.kind_of(thing) is None and _device.ordinal_of(thing) == -1


def test_arrays_that_nobody_here_knows():
    class Elsewhere:
        shape, ndim = (5,), 1

        def __dlpack_device__(self):
            return (2, 0)

    if any(importlib.util.find_spec(name) for name in ("cupy", "torch")):
        pytest.skip("CuPy or PyTorch is here")
    with pytest.raises(spargo.UnsupportedError, match="Elsewhere on a GPU: CuPy or PyTorch is needed"):
        spargo.Matrix(random_matrix(5, 5, seed=1)) @ Elsewhere()


def test_protocols_that_only_some_of_a_type_have():
    class Sometimes:
        pass

    first, second = Sometimes(), Sometimes()
    second.__dlpack_device__ = lambda: (2, 0)
    assert _device.kind_of(first) is None
    try:
        assert _device.kind_of(second) is not None
    except spargo.UnsupportedError as e:
        assert "CuPy or PyTorch is needed" in str(e)


def test_devices(gpu):
    names = [d.name for d in spargo.devices()]
    assert names[0] == "cpu" and names[1] == gpu == "cuda:0" and spargo.devices()[1].description
    with spargo.config(device="cuda"):
        assert _config.settings_device() == "cuda"
        with pytest.raises(spargo.UnsupportedError):
            spargo.mmread("a.mtx", device="cuda")
