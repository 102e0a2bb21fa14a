"""Which scopes are compiled, and which places in them run only eagerly."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.checks.models import fits_eagerly, kept_eager
from cfgfix.code.inference.conditions import asks_mode
from cfgfix.code.inference.guards import without_negation
from cfgfix.code.inference.hot_paths import GRAPH, PYTHON, Reach, hot_paths
from cfgfix.code.model.expressions import text
from cfgfix.code.model.nodes import Call, Expr
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Site


def compiled_reach(program: Program, scope: Scope, site: Site | None = None) -> Reach | None:
    """Return how a scope or a call in it is compiled, or None.

    None also where the interpreter runs it as well.
    """
    hot = hot_paths(program)
    if hot.reach(scope, PYTHON) is not None:
        return None
    reach = hot.reach(scope, GRAPH) if site is None else hot.reach_of(site, GRAPH)
    return None if reach is None or _kept_eager(program, reach) else reach


def _kept_eager(program: Program, reach: Reach) -> bool:
    """Tell whether a switch or `run_eagerly` makes compiled code run eagerly."""
    return kept_eager(program, reach.root.scope.module) or (
        fits_eagerly(program) and not compiled_for_sure(reach)
    )


def compiled_for_sure(reach: Reach) -> bool:
    """Tell whether `tf.function` compiles a scope, not only Keras.

    Keras, which may do it as well, can be told not to.
    """
    return not reach.root.by_keras


def compiled_scopes(program: Program) -> Iterator[tuple[Scope, Reach]]:
    """Yield the scopes that run compiled only, each with how it is compiled."""
    for reach in hot_paths(program).reached(GRAPH):
        if compiled_reach(program, reach.scope) is not None:
            yield reach.scope, reach


def eager_guard(scope: Scope, block: int, *, tries: bool = True) -> bool:
    """Tell whether a block may only run outside a graph.

    A test that tracing does not decide stands around it, or a `try`, or `tf.init_scope`.

    Args:
        scope: The scope.
        block: The block.
        tries: Whether a `try` counts as one.
    """
    for item in scope.block_chain(block):
        if item.kind == "if" and item.test is not None:
            shown = text(item.test)
            if (
                (ASKS_MODE.search(shown) and not _is_decided(item.test))
                or "is_eager" in shown
                or "hasattr" in shown
                or "isinstance" in shown
                or "is_tensor" in shown
                or "is_symbolic" in shown
            ):
                return True
        if item.kind in ("try", "except") and tries:
            return True
        if item.kind == "with" and item.test is not None and "init_scope" in text(item.test):
            return True
    return False


ASKS_MODE = re.compile("executing_eagerly|inside_function|functions_run_eagerly|run_eagerly")


def _is_decided(test: Expr) -> bool:
    """Tell whether a test only asks if code runs eagerly, which is false in a graph."""
    test, _ = without_negation(test, True)
    return isinstance(test, Call) and asks_mode(test.func) is not None
