"""Which files of a project train, which are tools or tests, and which serve what was trained."""

from __future__ import annotations

import os
from collections.abc import Iterable

from cfgfix.code.model.expressions import dotted, is_name
from cfgfix.code.model.module import Module
from cfgfix.code.model.nodes import Attribute, Call, Compare, Expr
from cfgfix.code.model.summary import Scope
from cfgfix.usage.key_uses import CORE, INFERENCE, TOOLS

_TEST_PARTS = frozenset({"tests", "test", "testing", "unittests"})
_TOOL_PARTS = frozenset({"tools", "utilities", "scripts", "examples", "example", "benchmarks", "benchmark", "docs", "demo", "demos", "notebooks"})  # fmt: skip
_TOOL_STEMS = ("validate_", "check_", "diagnose", "demo_", "benchmark_", "verify_", "profile_")
_INFERENCE_WORDS = frozenset({"inference", "infer", "synthesize", "synthesizer", "synthesis", "serving", "deploy", "deployment"})  # fmt: skip
_WEAK_WORDS = frozenset({"decode", "predict", "export", "serve"})
"""Words that name inference code only where no training code imports the file."""


def roles(modules: Iterable[Module], root: str) -> dict[str, str]:
    """Return the role of each file by path: program, tools and tests, or inference."""
    found: dict[str, str] = {}
    weak: list[Module] = []
    modules = list(modules)
    for module in modules:
        relative = os.path.relpath(os.path.abspath(module.path), os.path.abspath(root)).replace(os.sep, "/")
        parts = relative.lower().split("/")
        stem = parts[-1].rsplit(".", 1)[0]
        words = {*parts[:-1], *stem.split("_")}
        if (
            _TEST_PARTS & set(parts[:-1])
            or stem.startswith(("test_", *_TOOL_STEMS))
            or stem.endswith("_test")
            or stem in ("setup", "conftest")
        ):
            found[module.path] = TOOLS
        elif words & _INFERENCE_WORDS:
            found[module.path] = INFERENCE
        else:
            found[module.path] = CORE
            if words & _WEAK_WORDS:
                weak.append(module)
    # A folder of examples or scripts is a side matter only where the project trains from somewhere else.
    side = {
        module.path
        for module in modules
        if found[module.path] == CORE
        and _TOOL_PARTS
        & set(os.path.relpath(os.path.abspath(module.path), os.path.abspath(root)).lower().split(os.sep)[:-1])
    }
    if any(
        is_entry(module) and trains(module) and module.path not in side and found[module.path] == CORE
        for module in modules
    ):
        for path in side:
            found[path] = TOOLS
    imported = {
        source.lstrip(".")
        for module in modules
        if found[module.path] == CORE
        and not module.is_package
        and module not in weak
        and module.scope is not None
        for scope in module.summary.scopes
        for source in scope.imports.values()
    }
    for module in weak:
        last = module.name.rsplit(".", 1)[-1]
        if not any(last in source.split(".") for source in imported):
            found[module.path] = INFERENCE
    return found


_TRAINING = frozenset({"fit", "train", "fit_generator", "train_step", "apply_gradients", "train_on_batch", "minimize", "train_and_evaluate"})  # fmt: skip


def is_entry(module: Module) -> bool:
    """Tell whether a file has an `if __name__ == ...` block."""
    return any(block.kind == "if" and is_main(block.test) for block in module.summary.scopes[0].blocks)


def trains(module: Module) -> tuple[Scope, Call] | None:
    """Return the first training call of a file with its scope, or None."""
    for scope in module.summary.scopes:
        for call in scope.calls:
            if isinstance(call.func, Attribute) and call.func.attribute in _TRAINING:
                if call.func.attribute in ("train", "fit") and not call.args and not call.keywords:
                    # Without anything to train on it is `dataset.train` or the like, unless a trainer is so called.
                    name = (dotted(call.func.base) or "").rsplit(".", 1)[-1].lower()
                    if "train" not in name and "model" not in name:
                        continue
                return scope, call
    return None


def is_main(test: Expr | None) -> bool:
    """Tell whether a condition is that of a main guard: `__name__ == "__main__"`."""
    return test is not None and isinstance(test, Compare) and is_name(test.left, "__name__")
