"""What the tests ask of CuPy and PyTorch, and arrays that belong to neither."""

import numpy as np


class CuPy:
    """What the tests ask of an array library."""

    def __init__(self):
        import cupy

        self.cp, self.type = cupy, cupy.ndarray
        # Blocks a stream for a number of cycles, at most about a second.
        self.kernel = cupy.RawKernel(
            'extern "C" __global__ void hold(long long n) { long long t = clock64(); while (clock64() - t < n) {} }', "hold"
        )

    def to(self, a):
        return self.cp.asarray(a)

    def over(self, vector):
        """An array over one of the library's."""
        return self.cp.asarray(vector)

    def back(self, a):
        return self.cp.asnumpy(a)

    def address(self, a):
        return a.data.ptr

    def stream(self):
        return self.cp.cuda.Stream(non_blocking=True)

    def external(self, address):
        return self.cp.cuda.ExternalStream(address)

    def on(self, stream):
        return stream

    def done(self, stream):
        return stream.done

    def synchronize(self):
        self.cp.cuda.Device().synchronize()

    def hold(self, cycles):
        self.kernel((1,), (1,), (np.int64(cycles),))

    def matrix(self, a):
        import cupyx.scipy.sparse as other

        parts = (self.to(a.data), self.to(a.indices), self.to(a.indptr))
        return getattr(other, f"{a.format}_matrix")(parts, shape=a.shape), parts


class Torch:
    def __init__(self):
        import torch

        self.torch, self.type = torch, torch.Tensor

    def to(self, a):
        return self.torch.from_numpy(np.array(a)).cuda()

    def over(self, vector):
        return self.torch.as_tensor(vector, device="cuda")

    def back(self, a):
        return a.cpu().resolve_conj().numpy()

    def address(self, a):
        return a.data_ptr()

    def stream(self):
        return self.torch.cuda.Stream()

    def external(self, address):
        return self.torch.cuda.ExternalStream(address)

    def on(self, stream):
        return self.torch.cuda.stream(stream)

    def done(self, stream):
        return stream.query()

    def synchronize(self):
        self.torch.cuda.synchronize()

    def hold(self, cycles):
        self.torch.cuda._sleep(cycles)

    def matrix(self, a):
        make = {"csr": self.torch.sparse_csr_tensor, "csc": self.torch.sparse_csc_tensor}[a.format]
        parts = (self.to(a.data), self.to(a.indices), self.to(a.indptr))
        return make(parts[2], parts[1], parts[0], a.shape), parts


class Interface:
    """Another library's array: the CUDA Array Interface alone."""

    def __init__(self, a, stream):
        self.a, self.stream = a, stream

    @property
    def __cuda_array_interface__(self):
        return {**self.a.__cuda_array_interface__, "stream": self.stream}


class Packed:
    """DLPack alone."""

    def __init__(self, a):
        self.a = a

    def __dlpack_device__(self):
        return self.a.__dlpack_device__()

    def __dlpack__(self, **options):
        return self.a.__dlpack__(**options)
