"""What cfgfix reads of a real NVIDIA card, beside what CUDA itself says, and of a load whose truth is known.

    python benchmarks/cards.py

Needs one card that nobody else uses, `cfgfix[gpu]`, and PyTorch or TensorFlow for the load. Three questions: is the memory that
`cfgfix hardware` calls usable the total that CUDA gives; does it read CUDA_VISIBLE_DEVICES as CUDA does; and does `cfgfix profile devices`
find the share of time that a load works, and the length of its cycle. `benchmarks/cards.md` keeps what was found.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import time
from typing import Any

LOADS = ((0.5, 0.5), (2.0, 2.0), (0.05, 0.15), (1.0, 0.0))
"""Seconds of work and of rest."""
SECONDS = 14
LOAD = """
import sys, time
seconds, work, rest = map(float, sys.argv[1:])
try:
    import torch
    x = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
    def turn():
        x @ x
        torch.cuda.synchronize()
except ImportError:
    import tensorflow as tf
    x = tf.random.normal((8192, 8192), dtype=tf.bfloat16)
    def turn():
        tf.reduce_sum(x @ x).numpy()
turn()
print("ready", flush=True)
end, worked = time.time() + seconds, 0.0
while time.time() < end:
    start = time.time()
    while time.time() - start < work:
        turn()
    worked += time.time() - start
    time.sleep(rest)
print(worked / seconds, flush=True)
"""
COUNT = """
import ctypes
cuda, count, total = ctypes.CDLL("libcuda.so.1"), ctypes.c_int(0), ctypes.c_size_t(0)
if not cuda.cuInit(0) and not cuda.cuDeviceGetCount(ctypes.byref(count)) and count.value:
    cuda.cuDeviceTotalMem_v2(ctypes.byref(total), 0)
print(count.value, total.value >> 20)
"""


def cfgfix(*arguments: str) -> dict[str, Any]:
    """Run cfgfix and return its JSON."""
    done = subprocess.run(
        [sys.executable, "-m", "cfgfix", *arguments, "--json"], capture_output=True, text=True, check=False
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def visible(identity: str) -> None:
    """Compare the number of cards and their memory for many values of CUDA_VISIBLE_DEVICES."""
    values = [
        None, "", "0", "-1", "1", "0,0", "0,1", "0, 0", identity, identity[:12], "MIG-x", "NoDevFiles", " 0", "00", "0x0",
        "1,0", "0,-1",
    ]  # fmt: skip
    same = 0
    for value in values:
        os.environ.pop("CUDA_VISIBLE_DEVICES", None)
        if value is not None:
            os.environ["CUDA_VISIBLE_DEVICES"] = value
        told = subprocess.run([sys.executable, "-c", COUNT], capture_output=True, text=True, check=True)
        number, memory = map(int, told.stdout.split())
        found = cfgfix("hardware")
        cards = found["gpus"]
        alike = found["gpu_count"]["value"] == number and all(
            card["memory_mib"]["value"] == memory for card in cards
        )
        same += alike
        if not alike:
            print(f"  {value!r}: CUDA {number} of {memory} MiB, cfgfix {found['gpu_count']['value']}")
    os.environ.pop("CUDA_VISIBLE_DEVICES", None)
    print(f"CUDA_VISIBLE_DEVICES: as CUDA reads it, in number and memory, for {same} of {len(values)} values")


def loads() -> None:
    """Compare utilisation with the share of time that a load works."""
    for work, rest in LOADS:
        load = subprocess.Popen(
            [sys.executable, "-c", LOAD, str(SECONDS + 6), str(work), str(rest)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert load.stdout is not None
        load.stdout.readline()
        time.sleep(1)
        found = cfgfix("profile", "devices", "--seconds", str(SECONDS), "--pid", str(load.pid), "-q")
        (card,) = (device for device in found["devices"] if device["kind"] == "GPU")
        (series,) = (item for item in card["series"] if item["name"] == "utilisation")
        truth = float(load.stdout.readline())
        load.wait()
        mean = sum(series["values"]) / len(series["values"])
        period = card["facts"].get("oscillation period", "none")
        print(
            f"  {work:g} s of work, {rest:g} s of rest: worked {truth:.3f}, utilisation {mean:.1f} %, period {period}"
        )


def main() -> None:
    """Print all three."""
    ctypes.CDLL("libcuda.so.1")
    import pynvml

    pynvml.nvmlInit()
    handle = pynvml.nvmlDeviceGetHandleByIndex(0)
    print(f"{pynvml.nvmlDeviceGetName(handle)}, driver {pynvml.nvmlSystemGetDriverVersion()}")
    visible(pynvml.nvmlDeviceGetUUID(handle))
    loads()


if __name__ == "__main__":
    main()
