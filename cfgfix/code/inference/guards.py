"""Guards around a place: is the code there ready for a name not to be there, and is it reached at all?"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from cfgfix.code.model import comments as remarks
from cfgfix.code.model.expressions import constant, dotted, is_name, place_of, text, walk
from cfgfix.code.model.nodes import (
    Attribute,
    Boolean,
    Call,
    Collection,
    Compare,
    Conditional,
    Expr,
    Literal,
    Name,
    Place,
    Unary,
)
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Event, Point, Scope

_READY = re.compile(
    r"hasattr|getattr|\bdir\(|__dict__|callable\((?:tf|keras|tensorflow)|executing_eagerly|i[ns]_eager|eager_(?:execution|mode)|version(?!_base\b)|compat|legacy|type_checking|theano|cntk"
    r"|(?:tf|tensorflow|keras)_?[123](?![0-9])|(?:^|[^a-z0-9])v[12](?![0-9a-z])",
    re.IGNORECASE,
)
"""What a test says that asks which release is there or whether a name is."""
_FOR_ONE = re.compile(r"(?:^|_)(?:v1|tf_?1)(?:_|$)|_v1x?$")
"""Names of functions, in lower case, that say that they are for TensorFlow 1: `get_config_proto_v1`."""
_SHARP = re.compile(
    r"""hasattr|\bdir\(|["']2\.[1-9]|\(2, [1-9]|version\w*\.startswith\(\(?["']1|keras_?[23](?![0-9])""",
    re.IGNORECASE,
)
"""What asks for a name, for a release of TensorFlow 2 behind the first, for TensorFlow 1, or for Keras 2 or 3."""
_KERAS = re.compile(r"keras_?[123](?![0-9])", re.IGNORECASE)
_EAGER = re.compile(r"\w*(?:executing_eagerly|i[ns]_eager|eager_(?:execution|mode))\w*", re.IGNORECASE)
_SURE = re.compile(r"hasattr|executing_eagerly|version|\bdir\(", re.IGNORECASE)
"""What the value of a name says that is tested later: `HAS_IT = hasattr(tf, "it")`."""


def expects_absence(
    scope: Scope,
    block: int,
    place: Place | None = None,
    *,
    keras: bool = True,
    eager: bool = True,
    tries: bool = True,
) -> bool:
    """Tell whether a guard protects a place against a name that is missing.

    Both sides of a test for a name or a release count: the other side is for the releases without the name.

    Args:
        scope: The scope it stands in.
        block: Its block.
        place: The span of the expression itself, so that `hasattr(a, "b") and a.b` in one expression counts too.
        keras: Whether asking for Keras 2 or 3 counts, which says nothing of a name that no TensorFlow has.
        eager: Whether asking for eager execution counts, which says nothing of a name that every release has.
        tries: Whether a `try` around the place, and a test whether an import succeeded, count; around a call these are as a
            rule for something else.
    """
    if place is not None and ready_inline(scope, place, keras=keras, eager=eager):
        return True
    here: Scope | None = scope
    line = place.line if place is not None else 0
    while here is not None:
        if here.kind == "function" and (_FOR_ONE.search(here.name.lower()) or _has_a_twin_for_two(here)):
            return True
        if _left_before(here, block, line):
            return True
        line = here.line
        for item in here.block_chain(block):
            if tries and item.kind in ("try", "except"):
                return True
            if (
                item.kind == "if"
                and item.test is not None
                and _asks_for_release(item.test, here, keras=keras, eager=eager, imports=tries)
            ):
                return True
            if item.kind == "if" and item.branch and item.test is not None and _other_backend(item.test):
                return True
        outer = here.module.summary.scopes[here.parent] if here.parent >= 0 else None
        if outer is not None and any(
            _asks_for_release(decorator, outer) or _is_skipping(decorator) for decorator in here.decorators
        ):
            # `@skipIf(version < ...)`.
            return True
        block = here.block
        here = outer
    return place is not None and _said_to_fail(scope, place)


_FAILS = re.compile(r"\b(?:does|do|wo)n't work", re.IGNORECASE)


def _said_to_fail(scope: Scope, place: Place) -> bool:
    """Tell whether a comment behind a statement says that the statement fails."""
    return "n't work" in scope.module.summary.words and any(
        _FAILS.search(said) for said in remarks.comments_behind(scope, place.line, place.end_line)
    )


def _is_skipping(decorator: Expr) -> bool:
    """Tell whether a decorator keeps a test from running: `@unittest.skip("why")`."""
    func = decorator.func if isinstance(decorator, Call) else decorator
    return (dotted(func) or "") in ("unittest.skip", "pytest.mark.skip", "skip")


def _left_before(scope: Scope, block: int, line: int) -> bool:
    """Tell whether an earlier test leaves the function where a name is missing.

    `assert hasattr(tf, "x")`, and `if not hasattr(tf, "x"): self.skipTest("old")`; a plain `return` or `raise` there is a
    guard of the blocks themselves. That TensorFlow 2 is there at all says nothing: most programs ask for it.
    """
    around: set[int] = set()
    while block >= 0:
        around.add(block)
        block = scope.blocks[block].parent
    for event in scope.events_of("assert", "if"):
        if event.end_line >= line or event.block not in around or event.value is None:
            continue
        ends = event.kind == "assert" or (
            event.kind == "if" and bool(event.bodies) and _ends_in_exit(event.bodies[0][1])
        )
        if ends and _asks_for_release(event.value, scope, sharp=True):
            return True
    return False


def _ends_in_exit(body: list[Event]) -> bool:
    """Tell whether statements end with a call that never returns, such as `exit()`."""
    last = body[-1].value if body and body[-1].kind == "expr" else None
    if last is None or not isinstance(last, Call):
        return False
    func = last.func
    name = func.attribute if isinstance(func, Attribute) else func.name if isinstance(func, Name) else ""
    return name in ("skipTest", "skip", "exit", "_exit", "fail", "abort")


def ready_inline(scope: Scope, place: Place, *, keras: bool = True, eager: bool = True) -> bool:
    """Tell whether a test beside a place in its expression asks for a release.

    The place stands in `a if test else b`, or behind `and` or `or`; a test that asks for a name counts too.
    """
    return any(
        _asks_for_release(test, scope, keras=keras, eager=eager) for test, _ in tests_before(scope, place)
    )


def _other_backend(test: Expr) -> bool:
    """Tell whether a test holds only where Keras runs on another backend.

    `K.backend() == "theano"` is such a test.
    """
    return (
        isinstance(test, Compare)
        and len(test.rights) == 1
        and test.rights[0].operator == "=="
        and constant(test.rights[0].right) in ("theano", "cntk", "jax", "torch", "numpy", "mxnet")
    )


_TWIN = re.compile(r"(?:tf|tensorflow)$", re.IGNORECASE)


def _has_a_twin_for_two(scope: Scope) -> bool:
    """Tell whether a function has a twin for TensorFlow 2, and so is for TensorFlow 1.

    `convert_to_tf` beside `convert_to_tf2` is such a function.
    """
    return (
        _TWIN.search(scope.name) is not None
        and scope.parent >= 0
        and any(
            f"{scope.name}{end}" in scope.module.summary.scopes[scope.parent].children
            for end in ("2", "_2", "_v2")
        )
    )


def _asks_for_release(
    test: Expr,
    scope: Scope,
    *,
    keras: bool = True,
    eager: bool = True,
    sharp: bool = False,
    imports: bool = True,
) -> bool:
    """Tell whether a test asks for a release or for the presence of a name.

    A variable that holds such a test counts too.

    Args:
        test: The test.
        scope: The scope it stands in.
        keras: Whether a test for Keras 2 or 3 counts.
        eager: Whether a test for eager execution counts.
        sharp: Whether only tests for names and for releases after 2.0 count.
        imports: Whether a variable that tells if an import succeeded counts.
    """
    key = (id(test), keras, eager, sharp, imports)
    if scope.asked is None:
        scope.asked = {}
    known = scope.asked.get(key)
    if known is None or known[0] is not test:
        # Each place in a long chain of `elif` asks about the tests of all branches before it.
        answer = _asks_of_release(test, scope, keras=keras, eager=eager, sharp=sharp, imports=imports)
        known = scope.asked[key] = (test, answer)
    return known[1]


def _asks_of_release(
    test: Expr, scope: Scope, *, keras: bool, eager: bool, sharp: bool, imports: bool
) -> bool:
    shown = text(test)
    ready, sure = (_SHARP, _SHARP) if sharp else (_READY, _SURE)
    if not keras:
        shown = _KERAS.sub("", shown)
    if not eager:
        shown = _EAGER.sub("", shown)
    if ready.search(shown):
        return True
    for part in walk(test):
        # What a comprehension hides from the text: `tuple(int(x) for x in tf.__version__.split("."))`.
        asks = isinstance(part, Attribute) and part.attribute == "__version__"
        if asks and not sharp and (keras or dotted(part) != "keras.__version__"):
            return True
        if not isinstance(part, Name):
            continue
        here: Scope | None = scope
        while here is not None and part.name not in here.names:
            here = here.module.summary.scopes[here.parent] if here.parent >= 0 else None
        if here is None or here.kind == "class":
            continue
        if imports and not sharp and _tells_of_import(here, part.name):
            return True
        for number in here.defined(part.name):
            if _returns_such_test(here.module.summary.scopes[number], sure, keras):
                return True
        for event in here.binding(part.name):
            if event.kind not in ("assign", "annotate") or event.value is None:
                continue
            if (
                any(isinstance(target, Name) and target.name == part.name for target in event.targets)
                and isinstance(event.value, (Call, Compare, Boolean, Unary))
                and sure.search(text(event.value))
            ):
                return True
            if (
                not sharp
                and any(
                    isinstance(target, Collection) and any(is_name(item, part.name) for item in target.items)
                    for target in event.targets
                )
                and _of_version(event.value, here, keras)
            ):
                # `major, minor, _ = [int(part) for part in keras.__version__.split(".")]`
                return True
    return False


def _of_version(expr: Expr, scope: Scope, keras: bool) -> bool:
    return any(
        isinstance(part, Attribute)
        and part.attribute == "__version__"
        and (keras or scope.imports.get(dotted(part.base) or "") != "keras")
        for part in walk(expr)
    )


def _returns_such_test(scope: Scope, sure: re.Pattern[str], keras: bool) -> bool:
    """Tell whether a function returns a test for a release or a name."""
    shown = [text(event.value) for event in scope.events() if event.kind == "return"]
    return any(sure.search(item if keras else item.replace("keras.__version__", "")) for item in shown)


def _tells_of_import(scope: Scope, name: str) -> bool:
    """Tell whether a name's value shows if an import succeeded.

    It has one value in the `try` with the import, and another in its handler.
    """
    kinds = {
        scope.blocks[event.block].kind
        for event in scope.binding(name)
        if event.kind == "assign" and any(is_name(target, name) for target in event.targets)
    }
    return (
        "except" in kinds
        and len(kinds) > 1
        and any(scope.blocks[event.block].kind == "try" for event in scope.events_of("import"))
    )


_NO_WAY_BACK = frozenset({"exit", "quit", "sys.exit", "os._exit", "os.abort"})


def is_unreachable(program: Program, scope: Scope, block: int, place: Place) -> bool:
    """Tell whether a statement before a place leaves its function or module.

    `raise`, `return` and `sys.exit()` that stand in no condition of their own; a module that raises while it is imported has
    no function that anybody calls.
    """
    left = _first_left(program, scope)
    here = block
    while here >= 0:
        if here in left and left[here] <= place.start:
            return True
        here = scope.blocks[here].parent
    module = scope.module.scope
    return scope is not module and module is not None and _raises_on_import(program, module)


@once
def _raises_on_import(program: Program, module: Scope) -> bool:
    """Tell whether a module raises whenever it is imported."""
    del program
    return any(event.block == 0 and event.kind == "raise" for event in module.body)


@once
def _first_left(program: Program, scope: Scope) -> dict[int, Point]:
    """Return for each block where its first statement ends that leaves the scope."""
    del program
    found: dict[int, Point] = {}
    for event in scope.events():
        if _leaves_scope(event):
            found[event.block] = min(event.place.end, found.get(event.block, event.place.end))
    return found


def _leaves_scope(event: Event) -> bool:
    if event.kind in ("raise", "return"):
        return True
    if event.kind != "expr" or event.value is None or not isinstance(event.value, Call):
        return False
    return dotted(event.value.func) in _NO_WAY_BACK


def statement_of(scope: Scope, place: Place) -> Event | None:
    """Return the innermost statement around a span, or None."""
    events = scope.events()
    line = place.line
    for number in range(bisect_right(events, line, key=_first_line), 0, -1):
        event = events[number - 1]
        around = event.place
        if (
            around.end_line >= line
            and around.start <= place.start
            and place.end <= around.end
            and event.kind != "define"
        ):
            return event
    return None


def _first_line(event: Event) -> int:
    return event.line


def tests_before(scope: Scope, place: Place) -> Iterator[tuple[Expr, bool]]:
    """Yield the tests inside a statement that decide if a part of it is computed.

    Each test comes with the value that it must have. For `c` in `a and c` and in `c if a else d` that is `a`, True; for `c`
    in `a or c` it is `a`, False.
    """
    event = statement_of(scope, place)
    if event is None:
        return
    managers = event.managers
    tops = [top for top in (event.value, *event.targets, *managers) if top is not None]
    for part in (part for top in tops for part in walk(top)):
        if isinstance(part, Boolean):
            for number, operand in enumerate(part.operands):
                if number and _holds_place(operand, scope, place):
                    for earlier in part.operands[:number]:
                        yield earlier, part.operator == "and"
        elif isinstance(part, Conditional):
            for side, wanted in ((part.then, True), (part.otherwise, False)):
                if _holds_place(side, scope, place):
                    yield part.test, wanted


def _holds_place(expr: Expr, scope: Scope, place: Place) -> bool:
    """Tell whether a place lies within an expression or one of its parts."""
    return any(
        (around := place_of(part, scope)) is not None
        and around.start <= place.start
        and place.end <= around.end
        for part in walk(expr)
    )


def guarding_default(scope: Scope, block: int, place: Place | None = None) -> str:
    """Return the parameter whose default keeps a place from being reached, or `""`.

    Under `if x is None` or `if x == "a"` where `x` is a parameter whose default is something else, and for `x or here()` where the
    default counts as true, only a caller that gives another value comes to the place.
    """
    defaults = {name: constant(default) for name, _, default, _ in scope.params if default is not None}
    if not defaults:
        return ""
    tests = [(item.test, item.branch) for item in scope.block_chain(block) if item.kind == "if" and item.test]
    if place is not None:
        tests += tests_before(scope, place)
    for given, branch in tests:
        test, wanted = without_negation(given, branch)
        if isinstance(test, Name):
            value = defaults.get(test.name)
            if value is not None and isinstance(value, (bool, int, float, str)) and bool(value) is not wanted:
                return str(test.name)
        elif (
            isinstance(test, Compare)
            and len(test.rights) == 1
            and isinstance(test.left, Name)
            and isinstance(test.rights[0].right, Literal)
        ):
            operator, other = test.rights[0].operator, test.rights[0].right.value
            value = defaults.get(test.left.name)
            same = operator in ("is", "==")
            if (
                isinstance(value, (bool, int, float, str))
                and (same or operator in ("is not", "!="))
                and (value == other) is not (same is wanted)
                and (other is None or type(other) is type(value))
            ):
                return str(test.left.name)
    return ""


def without_negation(test: Expr, holds: bool) -> tuple[Expr, bool]:
    """Return a test without its leading `not`s, and whether it then holds."""
    while isinstance(test, Unary) and test.operator == "not":
        test, holds = test.operand, not holds
    return test, holds


def literals(test: Expr, holds: bool) -> Iterator[tuple[Expr, bool]]:
    """Yield the parts of a test with the truth that follows from the test's own.

    `a and not b` that holds gives `a`, True and `b`, False; `a or b` that does not hold gives both with False. Any other
    test is yielded itself.
    """
    test, holds = without_negation(test, holds)
    if isinstance(test, Boolean) and (test.operator == "and") is holds:
        for operand in test.operands:
            yield without_negation(operand, holds)
    else:
        yield test, holds
