"""Image files all decoded into one array before training."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cfgfix.code.checks.common import few_turns, only_value
from cfgfix.code.checks.decoding import PICTURES, calls_leading_to
from cfgfix.code.checks.models import keras_model_method
from cfgfix.code.inference.conditions import Conditions
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.hot_paths import ELEMENT, PYTHON, hot_paths, inside
from cfgfix.code.model.expressions import constant, dotted, is_name, text, walk
from cfgfix.code.model.hit import Step, at, hit_in
from cfgfix.code.model.module import Module
from cfgfix.code.model.nodes import (
    Attribute,
    Binary,
    Call,
    Collection,
    Comprehension,
    Conditional,
    Expr,
    Name,
    Slice,
    Starred,
    Subscript,
)
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope, bind
from cfgfix.code.model.values import Function, Site
from cfgfix.rules.hit import Hit

_PIXELS = 96 * 96
"""Smaller pictures are held by the ten thousand without harm."""
_LISTS_FILES = frozenset({"glob", "iglob", "rglob", "listdir", "walk", "scandir", "iterdir", "imap"})
_TABLES = frozenset({"read_csv", "iterrows", "itertuples", "read_table", "read_excel"})
_PASSES = frozenset(
    {"enumerate", "tqdm", "sorted", "list", "zip", "reversed", "set", "shuffle", "os.listdir"}
)
_KEEPS = frozenset(
    {
        "array", "asarray", "stack", "concatenate", "vstack", "resize", "cvtColor", "img_to_array", "astype", "reshape", "expand_dims", "preprocess_input",
        "transpose", "list", "tuple", "zip", "train_test_split", "shuffle", "permutation", "copy", "float32", "cast", "squeeze", "convert_to_tensor",
        "constant", "crop", "divide", "subtract", "multiply", "flow", "convert", "flip", "rotate", "normalize", "imresize", "append", "clip", "sample",
        "imread", "decode_image", "convert_image_dtype", "numpy", "rescale", "moveaxis", "GaussianBlur", "rgb2gray", "pad", "fit_transform", "enumerate",
        "fromarray", "thumbnail", "from_tensor_slices", "batch", "prefetch", "repeat", "map", "cache",
    }
)  # fmt: skip
"""Calls whose result has about as many numbers as what they are given."""
_STORES = frozenset({"append", "extend", "insert"})
_DEPTH = 3


def all_in_memory(program: Program) -> Iterator[Hit]:
    """Find images that a loop decodes into a list that a model is trained on."""
    hot = hot_paths(program)
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).under(*PICTURES):
        if site.name not in PICTURES and not site.name.startswith("tensorflow.image.decode_"):
            # `Image.open(path).resize(...)` is one decoded picture.
            continue
        if written_for_one(program, site.scope) or hot.reach(site.scope, ELEMENT, PYTHON) is not None:
            continue
        for call, path in calls_leading_to(program, site):
            scope = call.scope
            loop = _loop_over_files(program, scope, call.call.block)
            key = (id(site.scope), site.call.number)
            if loop is None or key in seen:
                continue
            gathered = _HeldImages(program, scope, call.call, loop)
            fit = gathered.trained_on()
            if fit is None or (fit.call.place.start < call.call.place.start and fit.scope is scope):
                continue
            size = _largest_image_size(
                program,
                {id(item): item for item in (site.scope.module, scope.module, fit.scope.module)}.values(),
            )
            if size is None or size[0] * size[1] < _PIXELS:
                continue
            seen.add(key)
            height, width = size
            yield hit_in(
                scope,
                call.call.name_place,
                call.call.block,
                {
                    "call": text(site.call.func),
                    "height": height,
                    "width": width,
                    "gigabytes": f"{height * width * 3 * 4 * 10_000 / 1e9:.1f}",
                    "loop_line": scope.blocks[loop].line,
                    "line": fit.call.name_line,
                },
                related=(
                    Step(fit.scope, fit.call.name_place, fit.call.block, "trained on from memory"),
                    *((at(site, label="decodes"),) if path else ()),
                ),
            )
            break


def _loop_over_files(program: Program, scope: Scope, block: int) -> int | None:
    """Return a loop around a block over files or table rows, or None."""
    for number in scope.block_numbers(block):
        item = scope.blocks[number]
        if item.kind not in ("for", "comprehension") or item.test is None:
            continue
        if few_turns(program, scope, number, 500) or _ends_early(scope, number):
            return None
        if _lists_files(program, scope, item.test, 5):
            return number
    return None


def _ends_early(scope: Scope, loop: int) -> bool:
    return any(
        event.kind in ("break", "yield") and inside(scope, event.block, loop) for event in scope.events()
    )


def _lists_files(program: Program, scope: Scope, expr: Expr, depth: int) -> bool:
    """Tell whether an expression lists files or table rows, uncut."""
    if depth == 0:
        return False
    if isinstance(expr, Name):
        events = [event for event in scope.binding(expr.name) if event.value is not None]
        if events:
            return any(
                event.kind in ("assign", "for") and _lists_files(program, scope, event.value, depth - 1)
                for event in events
                if event.value is not None and not is_name(event.value, expr.name)
            )
        names = [item.name for item in scope.params]
        if expr.name in names:
            position = names.index(expr.name) - int(program.owner(scope) is not None)
            return any(
                given is not None and _lists_files(program, caller.scope, given, depth - 1)
                for caller in flow_of(program).callers(scope)
                for given in [caller.call.argument(position, expr.name)]
            )
        outer = scope.module.summary.scopes[0]
        return outer is not scope and _lists_files(program, outer, expr, depth - 1)
    if isinstance(expr, Call):
        last = (expr.method or dotted(expr.func) or "").rpartition(".")[2]
        if last in _LISTS_FILES or last in _TABLES:
            return True
        if last in _PASSES:
            return any(_lists_files(program, scope, item, depth - 1) for item in expr.args)
        if is_name(expr.func, "range") and expr.args:
            bound = expr.args[-1]
            return (
                isinstance(bound, Call)
                and is_name(bound.func, "len")
                and bool(bound.args)
                and _lists_files(program, scope, bound.args[0], depth - 1)
            )
        if last in ("tolist", "to_list", "unique", "items"):
            return expr.receiver is not None and _lists_files(program, scope, expr.receiver, depth - 1)
        return False
    if isinstance(expr, Subscript):
        return not isinstance(expr.index, Slice) and _lists_files(program, scope, expr.base, depth - 1)
    if isinstance(expr, Attribute):
        return expr.attribute in ("values", "index") and _lists_files(program, scope, expr.base, depth - 1)
    if isinstance(expr, Binary):
        return expr.operator == "+" and any(
            _lists_files(program, scope, side, depth - 1) for side in (expr.left, expr.right)
        )
    if isinstance(expr, Comprehension):
        return any(_lists_files(program, scope, over, depth - 1) for _, over, _ in expr.generators)
    return False


class _HeldImages:
    """The names that hold a loop's images, across functions that return them."""

    def __init__(self, program: Program, scope: Scope, source: Call, loop: int) -> None:
        self._program = program
        self._scope = scope
        self._source = source
        self._loop = loop
        self._attributes: set[str] = set()

    def trained_on(self) -> Site | None:
        """Return the `fit` call that gets the gathered images, or None."""
        names = self._names_behind()
        if not names:
            return None
        pending: list[tuple[Scope, set[str], Call | None, int]] = [(self._scope, names, None, 0)]
        seen: set[int] = set()
        while pending:
            scope, known, call, depth = pending.pop(0)
            if id(scope) in seen:
                continue
            seen.add(id(scope))
            returned = self._spread_in_scope(scope, known, call)
            fit = self._fit_in(scope, known, call)
            if fit is not None:
                return fit
            if returned and depth < _DEPTH:
                pending += [
                    (site.scope, set(), site.call, depth + 1)
                    for site in flow_of(self._program).callers(scope)
                ]
            if depth < _DEPTH:
                pending += self._handed_on(scope, known, call, depth)
            outer = scope.module.summary.scopes[0]
            shared = {name for name in names if scope is self._scope and not scope.binding(name)}
            if shared and scope.kind == "function" and scope.parent == 0:
                # A list of the module is filled by a function.
                pending.append((outer, shared, None, depth))
            owner = self._program.owner(scope)
            if owner is not None and self._attributes and depth < _DEPTH:
                pending += [
                    (other, set(), None, depth + 1)
                    for other in scope.module.summary.scopes
                    if self._program.owner(other) is owner
                ]
            if scope.kind == "module" and depth < _DEPTH:
                pending += [
                    (other, set(known) - {item.name for item in other.params}, None, depth + 1)
                    for other in scope.module.summary.scopes
                    if other.kind == "function" and any(call.method == "fit" for call in other.calls)
                ]
        return None

    def _handed_on(
        self, scope: Scope, known: set[str], call: Call | None, depth: int
    ) -> list[tuple[Scope, set[str], Call | None, int]]:
        """Return the functions that get gathered images, with their parameters."""
        found: list[tuple[Scope, set[str], Call | None, int]] = []
        for site in flow_of(self._program).within(scope):
            for target in site.targets:
                skip = int(target.receiver is not None)
                names = {
                    parameter.name
                    for position, parameter in enumerate(target.scope.params[skip:])
                    for given in [site.call.argument(position, parameter.name)]
                    if given is not None and self._contains_images(scope, given, known, call, 6)
                }
                if names:
                    found.append((target.scope, names, None, depth + 1))
        return found

    def _names_behind(self) -> set[str]:
        """Return the names in which a loop or comprehension gathers its images."""
        scope = self._scope
        known: set[str] = set()
        gathered: set[str] = set()
        kind = scope.blocks[self._loop].kind
        for _ in range(2):
            for event in scope.events():
                if kind == "comprehension":
                    if (
                        event.kind in ("assign", "annotate")
                        and event.value is not None
                        and any(part is self._source for part in walk(event.value))
                        and not self._reduces_images(event.value)
                    ):
                        names: dict[str, None] = {}
                        for target in event.targets:
                            bind(target, names)
                        gathered |= set(names)
                    continue
                if not inside(scope, event.block, self._loop) or event.value is None:
                    continue
                if event.kind in ("assign", "annotate") and self._contains_images(
                    scope, event.value, known, self._source, 6
                ):
                    for target in event.targets:
                        head = target
                        while isinstance(head, Subscript):
                            head = head.base
                        if isinstance(target, Subscript) and isinstance(head, Name):
                            gathered.add(head.name)
                        elif isinstance(target, Name):
                            known.add(target.name)
                        elif isinstance(target, Collection) and isinstance(target.items[0], Name):
                            known.add(target.items[0].name)
                elif event.kind == "augment" and self._contains_images(
                    scope, event.value, known, self._source, 6
                ):
                    gathered |= {target.name for target in event.targets if isinstance(target, Name)} - known
                elif (
                    event.kind == "expr"
                    and isinstance(event.value, Call)
                    and event.value.method in _STORES
                    and any(
                        self._contains_images(scope, item, known, self._source, 6)
                        for item in event.value.args
                    )
                ):
                    receiver = event.value.receiver
                    while isinstance(receiver, Subscript):
                        receiver = receiver.base
                    if isinstance(receiver, Name):
                        gathered.add(receiver.name)
                    elif isinstance(receiver, Attribute):
                        self._attributes.add(receiver.attribute)
                        gathered.add(f".{receiver.attribute}")
        return gathered

    def _reduces_images(self, expr: Expr) -> bool:
        """Tell whether an expression reduces the images, as a mean or prediction does."""
        return any(
            isinstance(part, Call)
            and part is not self._source
            and (part.method or dotted(part.func) or "").rpartition(".")[2]
            in ("predict", "mean", "sum", "len", "histogram", "hog", "flow_from_dataframe")
            for part in walk(expr)
        )

    def _spread_in_scope(self, scope: Scope, known: set[str], call: Call | None) -> bool:
        """Add the names of a scope that hold images; tell whether it returns images."""
        returned = False
        for _ in range(2):
            for event in scope.events():
                if event.value is None:
                    continue
                if event.kind in ("assign", "annotate") and self._contains_images(
                    scope, event.value, known, call, 6
                ):
                    targets: dict[str, None] = {}
                    for target in event.targets:
                        bind(target, targets)
                        if isinstance(target, Attribute):
                            self._attributes.add(target.attribute)
                        elif isinstance(target, Collection):
                            self._attributes |= {
                                item.attribute for item in target.items if isinstance(item, Attribute)
                            }
                    known |= set(targets)
                elif event.kind == "for" and self._contains_images(scope, event.value, known, call, 6):
                    targets = {}
                    for target in event.targets:
                        bind(target, targets)
                    known |= set(targets)
                elif (
                    event.kind == "expr"
                    and isinstance(event.value, Call)
                    and event.value.method in _STORES
                    and isinstance(event.value.receiver, Name)
                    and any(self._contains_images(scope, item, known, call, 6) for item in event.value.args)
                ):
                    known.add(event.value.receiver.name)
                elif event.kind == "return" and self._contains_images(scope, event.value, known, call, 6):
                    returned = True
        return returned

    def _contains_images(
        self, scope: Scope, expr: Expr, known: set[str], call: Call | None, depth: int
    ) -> bool:
        """Tell whether an expression contains images, from a known name or a call."""
        if depth == 0:
            return False
        if isinstance(expr, Name):
            return expr.name in known
        if isinstance(expr, Attribute):
            return expr.attribute in self._attributes
        if isinstance(expr, Call):
            if expr is call:
                return True
            last = (expr.method or dotted(expr.func) or "").rpartition(".")[2]
            if last not in _KEEPS and not isinstance(self._program.static_value(expr.func, scope), Function):
                return False
            return any(
                self._contains_images(scope, item, known, call, depth - 1)
                for item in (*expr.args, *(value for _, value in expr.keywords), expr.receiver)
                if item is not None
            )
        if isinstance(expr, Binary):
            return any(
                self._contains_images(scope, side, known, call, depth - 1) for side in (expr.left, expr.right)
            )
        if isinstance(expr, Collection):
            return any(self._contains_images(scope, item, known, call, depth - 1) for item in expr.items)
        if isinstance(expr, Starred):
            return self._contains_images(scope, expr.value, known, call, depth - 1)
        if isinstance(expr, Conditional):
            return any(
                self._contains_images(scope, side, known, call, depth - 1)
                for side in (expr.then, expr.otherwise)
            )
        if isinstance(expr, Subscript):
            return not isinstance(constant(expr.index), int) and self._contains_images(
                scope, expr.base, known, call, depth - 1
            )
        if isinstance(expr, Comprehension):
            return any(
                self._contains_images(scope, over, known, call, depth - 1) for _, over, _ in expr.generators
            )
        return False

    def _fit_in(self, scope: Scope, known: set[str], call: Call | None) -> Site | None:
        """Return a Keras `fit` call of a scope whose first argument is images, or None."""
        sites: list[Site] = flow_of(self._program).within(scope)
        for site in sites:
            if site.call.method not in ("fit", "fit_generator"):
                continue
            given = site.call.argument(0, "x")
            if (
                given is not None
                and keras_model_method(site.name) == site.call.method
                and self._contains_images(scope, given, known, call, 6)
            ):
                return site
        return None


_RESIZES = frozenset({"resize", "load_img", "imresize"})


def _largest_image_size(program: Program, modules: Iterable[Module]) -> tuple[int, int] | None:
    """Return the largest image size that files resize to or a model takes, or None."""
    found: list[tuple[int, int]] = []
    conditions = Conditions(program, None)

    def pair(expr: Expr | None, scope: Scope, line: int) -> None:
        if isinstance(expr, Name):
            expr = only_value(scope, expr) or only_value(scope.module.summary.scopes[0], expr)
        if not isinstance(expr, Collection) or len(expr.items) < 2:
            return
        sizes = [conditions.value(item, scope, before=line) for item in expr.items[:2]]
        if all(type(size) is int and size > 0 for size in sizes):
            found.append((sizes[0], sizes[1]))

    for module in modules:
        for scope in module.summary.scopes:
            for call in scope.calls:
                last = (call.method or dotted(call.func) or "").rpartition(".")[2]
                if last in _RESIZES:
                    for item in (
                        *call.args,
                        *(value for name, value in call.keywords if name in ("target_size", "size", "dsize")),
                    ):
                        pair(item, scope, call.line)
                shape = call.keyword("input_shape") or (
                    call.argument(0, "shape") if last in ("Input", "InputLayer") else None
                )
                if isinstance(shape, Name):
                    shape = only_value(scope, shape)
                if isinstance(shape, Collection) and len(shape.items) == 3:
                    pair(shape, scope, call.line)
    return max(found, key=lambda item: item[0] * item[1], default=None)
