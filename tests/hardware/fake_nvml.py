"""A driver's library in Python, behind the real binding: its functions take the C arguments and return C codes."""

from __future__ import annotations

# ruff: noqa: N802 - the functions have the names of the C library
import contextlib
import ctypes

GIB = 1 << 30
MIB = 1 << 20

NOT_SUPPORTED = 3
NO_PERMISSION = 4
NOT_FOUND = 6
FUNCTION_NOT_FOUND = 13
GPU_IS_LOST = 15


class Device:
    """One card or MIG instance; `errors` maps a function's name to the code it returns."""

    def __init__(
        self,
        name="NVIDIA GeForce RTX 4090",
        total_mib=24564,
        reserved_mib=346,
        free_mib=None,
        cc=(8, 9),
        uuid=None,
        mig=None,
        errors=None,
        link=(4, 16),
    ):
        self.name = name
        self.total = total_mib * MIB
        self.reserved = reserved_mib * MIB
        self.free = (total_mib - reserved_mib) * MIB if free_mib is None else free_mib * MIB
        self.cc = cc
        self.uuid = uuid
        self.mig = mig
        self.errors = errors or {}
        self.link = link


def rtx4090(number=0, **options):
    return Device(uuid=f"GPU-4090000{number}-aaaa-bbbb-cccc-ddddeeee000{number}", **options)


def rtx3060(number=0, **options):
    options = {
        "name": "NVIDIA GeForce RTX 3060",
        "total_mib": 12288,
        "reserved_mib": 200,
        "cc": (8, 6),
        **options,
    }
    return Device(uuid=f"GPU-3060000{number}-aaaa-bbbb-cccc-ddddeeee000{number}", **options)


def gb10():
    errors = {"nvmlDeviceGetMemoryInfo": NOT_SUPPORTED, "nvmlDeviceGetMemoryInfo_v2": NOT_SUPPORTED}
    return Device("NVIDIA GB10", 0, 0, cc=(12, 1), uuid="GPU-10101010-0000", errors=errors)


def a100_mig(instances=2, number=0, sizes=None):
    sizes = sizes or [9728] * instances
    parts = [
        Device(
            "NVIDIA A100-SXM4-80GB MIG 1g.10gb",
            size,
            50,
            cc=(8, 0),
            uuid=f"MIG-{number}{index}111111-2222-3333-4444-555555555555",
        )
        for index, size in enumerate(sizes)
    ]
    return Device("NVIDIA A100-SXM4-80GB", 81920, 600, cc=(8, 0), uuid=f"GPU-a100000{number}-1111", mig=parts)


class FakeLib:
    def __init__(self, devices=(), init=0, missing=()):
        self.devices = list(devices)
        self.init = init
        self.missing = set(missing)
        self.shutdowns = 0
        self.all = [part for device in self.devices for part in (device, *(device.mig or ()))]

    def __getattribute__(self, name):
        if name.startswith("nvml") and name in object.__getattribute__(self, "missing"):
            raise AttributeError(name)
        return object.__getattribute__(self, name)

    def _device(self, handle):
        value = (
            handle.value
            if isinstance(handle, ctypes.c_void_p)
            else ctypes.cast(handle, ctypes.c_void_p).value
        )
        return self.all[value - 1]

    def nvmlInitWithFlags(self, flags):
        return self.init

    def nvmlShutdown(self):
        self.shutdowns += 1
        return 0

    def nvmlDeviceGetCount_v2(self, count):
        count._obj.value = len(self.devices)
        return 0

    def _point(self, reference, device):
        address = ctypes.cast(ctypes.addressof(reference._obj), ctypes.POINTER(ctypes.c_void_p))
        address[0] = self.all.index(device) + 1
        return 0

    def nvmlDeviceGetHandleByIndex_v2(self, index, handle):
        device = self.devices[index.value]
        code = device.errors.get("nvmlDeviceGetHandleByIndex", 0)
        return code or self._point(handle, device)

    def nvmlDeviceGetName(self, handle, buffer, size):
        device = self._device(handle)
        buffer.value = device.name.encode()
        return device.errors.get("nvmlDeviceGetName", 0)

    def nvmlDeviceGetUUID(self, handle, buffer, size):
        device = self._device(handle)
        if device.uuid is None:
            return NOT_SUPPORTED
        buffer.value = device.uuid.encode()
        return device.errors.get("nvmlDeviceGetUUID", 0)

    def nvmlDeviceGetCudaComputeCapability(self, handle, major, minor):
        device = self._device(handle)
        major._obj.value, minor._obj.value = device.cc
        return device.errors.get("nvmlDeviceGetCudaComputeCapability", 0)

    def nvmlDeviceGetMemoryInfo(self, handle, memory):
        device = self._device(handle)
        memory._obj.total, memory._obj.free = device.total, device.free
        memory._obj.used = max(0, device.total - device.free)
        return device.errors.get("nvmlDeviceGetMemoryInfo", 0)

    def nvmlDeviceGetMemoryInfo_v2(self, handle, memory):
        device = self._device(handle)
        memory._obj.reserved = device.reserved
        memory._obj.total, memory._obj.free = device.total, device.free
        return device.errors.get("nvmlDeviceGetMemoryInfo_v2", 0)

    def nvmlDeviceGetMigMode(self, handle, current, pending):
        device = self._device(handle)
        if device.mig is None:
            return device.errors.get("nvmlDeviceGetMigMode", NOT_SUPPORTED)
        current._obj.value = pending._obj.value = 1
        return device.errors.get("nvmlDeviceGetMigMode", 0)

    def nvmlDeviceGetMaxMigDeviceCount(self, handle, count):
        count._obj.value = 7
        return 0

    def nvmlDeviceGetMigDeviceHandleByIndex(self, handle, index, out):
        parts = self._device(handle).mig
        number = getattr(index, "value", index)
        return self._point(out, parts[number]) if number < len(parts) else NOT_FOUND

    def nvmlDeviceGetMaxPcieLinkGeneration(self, handle, out):
        device = self._device(handle)
        out._obj.value = device.link[0]
        return device.errors.get("nvmlDeviceGetMaxPcieLinkGeneration", 0)

    def nvmlDeviceGetMaxPcieLinkWidth(self, handle, out):
        device = self._device(handle)
        out._obj.value = device.link[1]
        return device.errors.get("nvmlDeviceGetMaxPcieLinkWidth", 0)


@contextlib.contextmanager
def installed(library):
    """Put the library where the binding keeps the real one, and leave nothing behind."""
    import pynvml

    before = pynvml.nvmlLib
    pynvml._nvmlGetFunctionPointer_cache.clear()
    pynvml.nvmlLib = library
    try:
        yield library
    finally:
        pynvml.nvmlLib = before
        pynvml._nvmlGetFunctionPointer_cache.clear()
