"""The order between what is computed on a GPU and what is on streams of CuPy's and PyTorch's."""

import threading

import numpy as np
import spargo
from conftest import random_matrix
from gpu_libraries import CuPy, Interface, Packed, Torch
from spargo import _device


def test_the_stream_is_kept_to(xp, rng):
    """What is enqueued before a product is there for it, and it is there for what comes after; the host goes on."""
    a = random_matrix(2000, 2000, seed=8, density=0.01)
    m = spargo.Matrix(a, device="cuda")
    xs = rng.random((2000, 3))
    want = a @ xs
    m @ xp.to(xs[:, 0])
    m @ xp.to(xs)
    waited = 0
    for turn in range(10):
        stream = xp.stream()
        source, many = xp.to(xs[:, 0].copy()), xp.to(xs)
        x, x2 = xp.to(np.zeros(2000)), xp.to(np.zeros((2000, 3)))
        with xp.on(stream):
            xp.hold(20_000_000)  # some 10 ms
            x[:] = source
            x2[:] = many
            y = m @ x
            y2 = m @ x2
            x[:] = 0  # the product has read it
            z = y * 2
            y[:] = -1
            z2 = y2 * 2
            waited += turn > 0 and xp.done(stream)  # the first turn compiles what CuPy needs
            found, found2 = xp.back(z), xp.back(z2)
        np.testing.assert_allclose(found, 2 * want[:, 0], rtol=1e-12)
        np.testing.assert_allclose(found2, 2 * want, rtol=1e-12)
    assert waited == 0


def test_a_matrix_in_the_making(xp):
    a = random_matrix(500, 500, seed=9, density=0.02)
    for _ in range(5):
        stream = xp.stream()
        data, indices, indptr = (xp.to(v) for v in (a.data, a.indices, a.indptr))
        late = tuple(xp.to(np.zeros_like(v)) for v in (a.data, a.indices, a.indptr))
        with xp.on(stream):
            xp.hold(20_000_000)
            for to, came in zip(late, (data, indices, indptr)):
                to[:] = came
            m = spargo.Matrix(late, shape=a.shape)
            found = xp.back(m @ xp.to(np.ones(500)))
        np.testing.assert_allclose(found, a @ np.ones(500), rtol=1e-12)


def test_protocols(gpu, rng):
    lib = CuPy()
    a = random_matrix(400, 300, seed=10)
    m, x = spargo.Matrix(a, device="cuda"), rng.random(300)
    for stream in (None, 1, 2):
        np.testing.assert_allclose(lib.back(m @ Interface(lib.to(x), stream)), a @ x, rtol=1e-12)
    np.testing.assert_allclose(lib.back(m @ Packed(lib.to(x))), a @ x, rtol=1e-12)
    stream, source = lib.stream(), lib.to(x)
    for _ in range(5):
        late = lib.to(np.zeros(300))
        with stream:
            lib.hold(20_000_000)
            late[:] = source
        y = m @ Interface(late, stream.ptr)  # on CuPy's default stream, behind the other
        assert isinstance(y, lib.type) and not stream.done
        np.testing.assert_allclose(lib.back(y), a @ x, rtol=1e-12)
    borrowed = spargo.Matrix((Interface(lib.to(a.data), None), Interface(lib.to(a.indices), 1), Packed(lib.to(a.indptr))), shape=a.shape)
    np.testing.assert_allclose(lib.back(borrowed @ lib.to(x)), a @ x, rtol=1e-12)


def test_threads_share_a_matrix(xp, rng):
    a = random_matrix(500, 500, seed=13)
    m = spargo.Matrix(a, device="cuda")
    xs = rng.random((6, 500))
    want = [a @ x for x in xs]
    wrong = []

    def multiply(x, y):
        with xp.on(xp.stream()):
            there = xp.to(x)
            for _ in range(100):
                if not np.allclose(xp.back(m @ there), y):
                    wrong.append(1)

    threads = [threading.Thread(target=multiply, args=pair) for pair in zip(xs, want)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_products_in_a_cuda_graph(gpu, rng):
    lib = Torch()
    a = random_matrix(500, 400, seed=14)
    m, x = spargo.Matrix(a, device="cuda"), lib.to(np.zeros(400))
    m @ x
    lib.torch.cuda.synchronize()
    graph = lib.torch.cuda.CUDAGraph()
    with lib.torch.cuda.graph(graph):
        y = m @ x
    for _ in range(3):
        here = rng.random(400)
        x.copy_(lib.to(here))
        graph.replay()
        np.testing.assert_allclose(lib.back(y), a @ here, rtol=1e-12)


def test_arrays_of_other_libraries_are_waited_for(xp):
    """As the CUDA Array Interface says by its stream, whichever library takes them."""
    lib, kind = CuPy(), _device.kind_of(xp.to(np.zeros(1)))
    source = lib.to(np.arange(50_000.0))
    for _ in range(5):
        stream, late = lib.stream(), lib.to(np.zeros(50_000))
        lib.synchronize()
        with stream:
            lib.hold(20_000_000)
            late[:] = source
        other = Interface(late, stream.ptr)
        _device.kind_of(other)  # learns the type
        found = _device.taken(kind, other)
        assert isinstance(found, xp.type) and xp.address(found) == lib.address(late) and not stream.done
        np.testing.assert_array_equal(xp.back(found * 2), 2 * np.arange(50_000.0))


def test_results_are_copied_in_order(xp):
    """Behind what the library still does to them, and what the caller's stream still does to the memory they get."""
    place = _device.place_at(0)
    vector, late = place.upload(np.zeros(100_000)), xp.to(np.arange(100_000.0))
    kind = _device.kind_of(late)
    inside = xp.over(vector)
    for turn in range(6):
        inside[:] = 0
        xp.synchronize()
        stream = xp.stream()
        with xp.on(stream):
            before = xp.to(np.zeros(100_000))  # whose memory the result takes, as like as not
            if turn % 2 == 0:
                xp.hold(20_000_000)
                before[:] = -1
            del before
            with xp.on(xp.external(place.stream)):
                xp.hold(20_000_000 * (turn % 2))
                inside[:] = late
            found = _device.delivered(vector, kind)
            assert turn == 0 or not xp.done(stream)
            back = xp.back(found * 2)
        np.testing.assert_array_equal(back, 2 * np.arange(100_000.0))
