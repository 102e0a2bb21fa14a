from __future__ import annotations

import os

import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


def two_devices():
    """Return TensorFlow with the CPU as two devices, which must be said before anything runs in it; None without it."""
    try:
        import tensorflow as tf
    except ImportError:
        return None
    cpu = tf.config.list_physical_devices("CPU")[0]
    if not tf.config.get_logical_device_configuration(cpu):
        tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    return tf


def pytest_collection_modifyitems(items):
    """Split the CPU before any test, of whatever room, starts TensorFlow: the order of tests is no one's business."""
    if any("tf" in getattr(item, "fixturenames", ()) for item in items):
        two_devices()


@pytest.fixture(scope="session")
def tf():
    """TensorFlow, with the CPU as two devices."""
    found = two_devices()
    if found is None:
        pytest.skip("not installed: tensorflow")
    return found
