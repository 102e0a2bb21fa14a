from __future__ import annotations

import os

import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


@pytest.fixture(scope="session")
def tf():
    """TensorFlow, with the CPU as two devices; it is imported by the tests that need it alone."""
    tensorflow = pytest.importorskip("tensorflow")
    cpu = tensorflow.config.list_physical_devices("CPU")[0]
    if not tensorflow.config.get_logical_device_configuration(cpu):
        tensorflow.config.set_logical_device_configuration(
            cpu, [tensorflow.config.LogicalDeviceConfiguration()] * 2
        )
    return tensorflow
