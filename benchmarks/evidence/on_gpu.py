"""What only a GPU shows: when it is set up, what is mapped, where batches lie, and what waiting costs.

Needs one NVIDIA GPU that nobody else uses, TensorFlow with CUDA, and nvidia-ml-py. Each setting is tried in a process of its own, since a process sets its
devices up once.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import time
from collections.abc import Callable

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

BEGIN = """
import os, sys, time
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
def used():
    import pynvml
    pynvml.nvmlInit()
    card = pynvml.nvmlDeviceGetHandleByIndex(0)
    info = pynvml.nvmlDeviceGetMemoryInfo(card, version=pynvml.nvmlMemory_v2)
    return info.used / (info.total - info.reserved)
def share(value):
    return "all but a few percent" if value > 0.85 else "a part" if value > 0.05 else "little"
def tried(call):
    try:
        call()
    except Exception as error:
        return type(error).__name__
    return "ok"
"""


def alone(text: str, **environment: str) -> str:
    """Run a program in a process of its own and return its last line."""
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + text],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**os.environ, **environment},
    )
    lines = done.stdout.strip().splitlines()
    return lines[-1] if lines else f"no answer ({done.stderr.strip().splitlines()[-1:]})"


LISTED = "import tensorflow as tf\ngpus = tf.config.list_physical_devices('GPU')\n"
GROWTH = LISTED + "tf.config.experimental.set_memory_growth(gpus[0], True)\n"
LIMIT = "tf.config.set_logical_device_configuration(gpus[0], [tf.config.LogicalDeviceConfiguration(memory_limit=2048)])\n"
WORK = "x = tf.ones((64, 64)); tf.matmul(x, x).numpy(); print(share(used()))"
LATE = "os.environ['TF_FORCE_GPU_ALLOW_GROWTH'] = 'true'\n"
TRY_GROWTH = "print(tried(lambda: tf.config.experimental.set_memory_growth(gpus[0], True)))"
HIDE = "os.environ['CUDA_VISIBLE_DEVICES'] = '-1'\n"
TELL = "print(len(tf.config.list_physical_devices('GPU')), 'GPUs, a tensor on', tf.constant(1.0).device[-5:])"
ONE = "import tensorflow as tf\n"

MEMORY = {
    "nothing is set": ONE + WORK,
    "memory growth": GROWTH + WORK,
    "a limit of 2048 MB": LISTED + LIMIT + WORK,
    "TF_FORCE_GPU_ALLOW_GROWTH set before the import": LATE + ONE + WORK,
    "the same behind the import": ONE + LATE + WORK,
    "the same behind list_physical_devices": LISTED + LATE + WORK,
    "the same behind list_logical_devices": LISTED + "tf.config.list_logical_devices()\n" + LATE + WORK,
    "growth, then a limit of 2048 MB": GROWTH + LIMIT + WORK,
}
"""What is mapped; one after the other."""

SETTERS = {
    "growth, then a limit of 2048 MB: 4 GB are asked for": GROWTH
    + LIMIT
    + "print(tried(lambda: tf.zeros((1 << 30,))))",
    "a limit, then growth": LISTED + LIMIT + TRY_GROWTH,
}

STARTED = LISTED + "tf.config.list_logical_devices('GPU')\n"
AFTER = {
    "set_memory_growth": STARTED + TRY_GROWTH,
    "set_memory_growth to what it is already": STARTED + TRY_GROWTH.replace("True", "False"),
    "set_memory_growth in a second call of the same set-up": GROWTH + "tf.constant(1)\n" + TRY_GROWTH,
    "set_logical_device_configuration": STARTED
    + "print(tried(lambda: tf.config.set_logical_device_configuration(gpus[0], [tf.config.LogicalDeviceConfiguration(memory_limit=2048)])))",
    "set_visible_devices": STARTED + "print(tried(lambda: tf.config.set_visible_devices([], 'GPU')))",
    "set_intra_op_parallelism_threads": STARTED
    + "print(tried(lambda: tf.config.threading.set_intra_op_parallelism_threads(2)))",
} | {
    f"set_memory_growth after {call}": LISTED + call + "\n" + TRY_GROWTH
    for call in (
        "tf.constant(1)",
        "tf.Variable(1.0)",
        "tf.random.normal((2,))",
        "tf.data.Dataset.range(3)",
        "tf.distribute.MirroredStrategy()",
        "tf.distribute.get_strategy()",
        "tf.random.set_seed(1)",
        "tf.keras.utils.set_random_seed(1)",
        "tf.keras.layers.Dense(3)",
        "tf.keras.layers.Dense(3).build((None, 3))",
        "tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(3)])",
        "tf.keras.optimizers.Adam()",
        "tf.keras.mixed_precision.set_global_policy('mixed_float16')",
        "tf.keras.backend.clear_session()",
        "tf.test.is_gpu_available()",
        "tf.test.gpu_device_name()",
        "tf.config.experimental.get_memory_info('GPU:0')",
        "tf.config.experimental.get_device_details(gpus[0])",
        "tf.config.optimizer.set_jit(True)",
        "tf.config.run_functions_eagerly(True)",
        "tf.function(lambda x: x)",
        "tf.debugging.set_log_device_placement(True)",
    )
}

VISIBLE = {
    "before the import": HIDE + ONE + TELL,
    "behind the import": ONE + HIDE + TELL,
    "behind list_physical_devices": LISTED + HIDE + TELL,
    "behind the first tensor": ONE + "tf.constant(1)\n" + HIDE + TELL,
}

ABSENT = {
    "an op under tf.device('/GPU:1')": "with tf.device('/GPU:1'):\n    y = tf.ones((2,)) + 1\nprint(y.device[-5:])",
    "an op in a tf.function under it": "@tf.function\ndef f(x):\n    with tf.device('/GPU:1'):\n        return x + 1\nprint(f(tf.ones((2,))).device[-5:])",
    "a variable under it": "with tf.device('/GPU:1'):\n    v = tf.Variable(1.0)\nprint(v.device[-5:])",
    "a variable under it, soft placement off": "tf.config.set_soft_device_placement(False)\nwith tf.device('/GPU:1'):\n    print(tried(lambda: tf.Variable(1.0)))",
    "MirroredStrategy(['/GPU:0', '/GPU:1']): replicas": "s = tf.distribute.MirroredStrategy(['/GPU:0', '/GPU:1'])\nprint(s.num_replicas_in_sync)",
    "a variable made in its scope": "s = tf.distribute.MirroredStrategy(['/GPU:0', '/GPU:1'])\ndef make():\n    with s.scope():\n        return tf.Variable(1.0)\nprint(tried(make))",
    "a step run by it": "s = tf.distribute.MirroredStrategy(['/GPU:0', '/GPU:1'])\nprint(tried(lambda: s.run(tf.function(lambda: tf.ones((2,)) + 1))))",
    "prefetch_to_device('/GPU:1')": "d = tf.data.Dataset.range(3).map(lambda x: tf.cast(x, tf.float32)).apply(tf.data.experimental.prefetch_to_device('/GPU:1'))\nprint(next(iter(d)).device[-5:])",
}
"""With one GPU, which is GPU:0."""


def settings() -> None:
    """Facts about set-up, before this process takes the card."""
    from concurrent.futures import ThreadPoolExecutor

    from harness import fact, section

    section("on a GPU: the memory one process takes for a small product")
    for name, program in MEMORY.items():
        fact(name, alone(program))
    for title, programs in (
        ("on a GPU: growth and a limit", SETTERS),
        ("on a GPU: set after the runtime has started", AFTER),
        ("on a GPU: CUDA_VISIBLE_DEVICES set to -1 from Python", VISIBLE),
        (
            "on a GPU: names of devices that are not there",
            {name: ONE + text for name, text in ABSENT.items()},
        ),
    ):
        section(title)
        with ThreadPoolExecutor(6) as pool:
            # They share the card, so none may map all of it.
            answers = list(
                pool.map(lambda text: alone(text, TF_FORCE_GPU_ALLOW_GROWTH="true"), programs.values())
            )
        for name, answer in zip(programs, answers, strict=True):
            fact(name, answer)

    section("on a GPU: a second process that needs 12 GB")
    product = (
        "print(tried(lambda: tf.matmul(tf.ones((32768, 32768)), tf.ones((32768, 32768)))[0, 0].numpy()))"
    )
    hold = "x = tf.ones((8, 8)); tf.matmul(x, x).numpy(); print('ready', flush=True); time.sleep(120)"
    for name, first in (("the first with nothing set", ONE), ("the first with growth", GROWTH)):
        holder = subprocess.Popen(
            [sys.executable, "-c", BEGIN + first + hold],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert holder.stdout is not None
        holder.stdout.readline()
        fact(name, alone(ONE + product))
        holder.kill()
        holder.wait()


def figures() -> None:
    """Times and places, in this process."""
    import keras
    import numpy as np
    import tensorflow as tf
    from harness import compare, fact, section

    gpu = tf.config.list_physical_devices("GPU")[0]
    tf.config.experimental.set_memory_growth(gpu, True)
    to_device = tf.data.experimental.prefetch_to_device

    def place(tensor: tf.Tensor) -> str:
        return tensor.device.rpartition("device:")[2] or tensor.device

    section("on a GPU: where a batch lies")
    base = tf.data.Dataset.from_tensor_slices(tf.zeros((64, 1000))).batch(8)
    fact("batch", place(next(iter(base))))
    fact("prefetch", place(next(iter(base.prefetch(2)))))
    fact("prefetch_to_device last", place(next(iter(base.apply(to_device("/GPU:0"))))))
    fact("prefetch behind prefetch_to_device", place(next(iter(base.apply(to_device("/GPU:0")).prefetch(2)))))
    fact(
        "map behind prefetch_to_device",
        place(next(iter(base.apply(to_device("/GPU:0")).map(lambda x: x + 1)))),
    )
    fact("take behind prefetch_to_device", place(next(iter(base.apply(to_device("/GPU:0")).take(3)))))
    fact("repeat behind prefetch_to_device", place(next(iter(base.apply(to_device("/GPU:0")).repeat(2)))))
    with tf.device("/GPU:0"):
        under = tf.data.Dataset.from_tensor_slices(tf.zeros((64, 1000))).map(lambda x: x + 1).batch(8)
        inside = place(next(iter(under)))
    fact("a dataset made and read under tf.device('/GPU:0')", inside)
    with tf.device("/GPU:0"):
        under = tf.data.Dataset.from_tensor_slices(tf.zeros((64, 1000))).map(lambda x: x + 1).batch(8)
    fact("made there, read outside", place(next(iter(under))))

    section("on a GPU: memory of prefetch_to_device, batches of 33 MB")
    for buffer in (2, 8, 32, 100):
        gc.collect()
        before = tf.config.experimental.get_memory_info("GPU:0")["current"]
        data = tf.data.Dataset.range(300).map(lambda x: tf.fill((8_220_000,), tf.cast(x, tf.float32)))
        iterator = iter(data.apply(to_device("/GPU:0", buffer_size=buffer)))
        next(iterator)
        time.sleep(3)
        more = tf.config.experimental.get_memory_info("GPU:0")["current"] - before
        fact(f"buffer of {buffer}: batches on the device", round(more / (8_220_000 * 4)))
        del iterator, data

    weights = [tf.Variable(tf.random.normal((2048, 2048)) * 0.02) for _ in range(4)]

    def made_step(size: int) -> Callable[[tf.Tensor], tf.Tensor]:
        layers = (
            weights
            if size == 2048
            else [tf.Variable(tf.random.normal((size, size)) * 0.05) for _ in range(4)]
        )

        @tf.function
        def step(x: tf.Tensor) -> tuple[tf.Tensor, ...]:
            with tf.GradientTape() as tape:
                y = x
                for layer in layers:
                    y = tf.nn.relu(y @ layer)
                loss = tf.reduce_mean(y**2)
            for layer, gradient in zip(layers, tape.gradient(loss, layers), strict=True):
                layer.assign_sub(1e-3 * gradient)
            return loss, tf.reduce_max(y), tf.reduce_min(y), tf.reduce_sum(layers[0][0])

        return step

    for size, rows, steps in ((256, 64, 300), (2048, 2048, 100)):
        step = made_step(size)
        x = tf.random.normal((rows, size))

        def loop(
            read: int,
            every: int = 1,
            step: Callable[..., tuple[tf.Tensor, ...]] = step,
            x: tf.Tensor = x,
            steps: int = steps,
        ) -> None:
            for number in range(steps):
                values = step(x)
                if number % every == 0:
                    for value in values[:read]:
                        float(value)
            float(values[0])

        compare(
            f"on a GPU: {steps} steps of {'small' if size == 256 else 'large'} products, values read on the host",
            {
                "none": lambda loop=loop: loop(0),
                "one each step": lambda loop=loop: loop(1),
                "four each step": lambda loop=loop: loop(4),
                "four every hundredth": lambda loop=loop: loop(4, 100),
            },
        )

    step = made_step(256)
    x = tf.random.normal((64, 256))

    def stalled(work: Callable[[], object] | None, steps: int = 10) -> None:
        for _ in range(steps):
            values = step(x)
            if work is not None:
                work()
        float(values[0])

    def figure() -> None:
        import matplotlib as mpl

        mpl.use("Agg")
        import matplotlib.pyplot as plt

        plt.figure()
        plt.plot(range(10))
        plt.savefig(os.devnull, format="png")
        plt.close()

    compare(
        "on a GPU: 10 small steps with work between them",
        {
            "nothing": lambda: stalled(None),
            "gc.collect()": lambda: stalled(gc.collect),
            "keras.backend.clear_session()": lambda: stalled(keras.backend.clear_session),
            "a figure": lambda: stalled(figure),
        },
    )

    big = np.zeros((16, 1_000_000), np.float32)

    def copied(shape: Callable[[tf.data.Dataset], tf.data.Dataset], steps: int = 60) -> None:
        product = tf.function(lambda x: tf.reduce_sum(tf.sin(x)))
        total = None
        for batch in shape(tf.data.Dataset.from_tensors(big).repeat(steps)):
            for _ in range(10):
                total = product(batch)
        float(total)

    compare(
        "on a GPU: 60 batches of 64 MB copied to it",
        {
            "prefetch(2)": lambda: copied(lambda ds: ds.prefetch(2)),
            "prefetch_to_device last": lambda: copied(lambda ds: ds.apply(to_device("/GPU:0"))),
            "prefetch behind prefetch_to_device": lambda: copied(
                lambda ds: ds.apply(to_device("/GPU:0")).prefetch(2)
            ),
            "map behind prefetch_to_device": lambda: copied(
                lambda ds: ds.apply(to_device("/GPU:0")).map(lambda x: x + 0)
            ),
            "buffer of 32 on the device": lambda: copied(
                lambda ds: ds.apply(to_device("/GPU:0", buffer_size=32))
            ),
        },
    )

    def model(policy: str, *, jit: bool) -> keras.Model:
        keras.mixed_precision.set_global_policy(policy)
        made = keras.Sequential(
            [
                keras.Input((2048,)),
                *(keras.layers.Dense(4096, "gelu") for _ in range(4)),
                keras.layers.Dense(10, dtype="float32"),
            ]
        )
        made.compile("adam", "mse", jit_compile=jit)
        keras.mixed_precision.set_global_policy("float32")
        return made

    feed = (
        tf.data.Dataset.from_tensors((tf.random.normal((4096, 2048)), tf.zeros((4096, 10))))
        .cache()
        .repeat(30)
        .apply(to_device("/GPU:0"))
    )
    variants: dict[str, Callable[[], None]] = {}
    for policy in ("float32", "mixed_float16", "mixed_bfloat16"):
        for jit in (False, True):
            made = model(policy, jit=jit)
            variants[f"{policy}, jit_compile={jit}"] = lambda made=made: made.fit(feed, verbose=0) and None
    compare("on a GPU: 30 steps of a dense Keras model by policy", variants)


if __name__ == "__main__":
    settings()
    figures()
