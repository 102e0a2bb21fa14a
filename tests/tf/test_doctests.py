"""The examples in the runtime's documentation, run as they stand."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import warnings

import pytest

import cfgfix.tf

NEEDS_NO_TENSORFLOW = ("concepts", "fingerprint", "parallel", "runtime", "store", "text_cache", "variables")
MODULES = [item.name for item in pkgutil.iter_modules(cfgfix.tf.__path__)]


@pytest.mark.tensorflow
@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    if name not in NEEDS_NO_TENSORFLOW:
        pytest.importorskip("tensorflow", reason="needs the tf extra")
    module = importlib.import_module(f"cfgfix.tf.{name}")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = doctest.testmod(module)
    assert found.failed == 0


def test_what_is_offered_is_documented_with_examples() -> None:
    pytest.importorskip("tensorflow", reason="needs the tf extra")
    finder = doctest.DocTestFinder(exclude_empty=True)
    count = 0
    for name in MODULES:
        module = importlib.import_module(f"cfgfix.tf.{name}")
        count += sum(bool(test.examples) for test in finder.find(module))
    assert count >= 15
    for name in cfgfix.tf.__all__:
        assert (getattr(cfgfix.tf, name).__doc__ or "").strip(), name
