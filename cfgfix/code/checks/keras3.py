"""What Keras 3 takes no more, by the value of an argument: names of files by their end, and floats that count steps."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from cfgfix.code.checks.api import head, methods, of_others, overridden
from cfgfix.code.checks.bindings import bound_once
from cfgfix.code.checks.counters import is_count
from cfgfix.code.checks.models import MAKES_KERAS_MODEL, keras_model_method
from cfgfix.code.checks.written_values import returned_by, written_at
from cfgfix.code.inference.eras import asked_for, written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.references import api, bound_twice, callers_ask
from cfgfix.code.inference.releases import (
    IMPORTS,
    as_written,
    keras_of_release,
    keras_three,
    of_other_releases,
    refused_by_three,
)
from cfgfix.code.model.expression_builder import MAX_TEXT
from cfgfix.code.model.expressions import constant, dotted, is_name, is_true, place_of, text, walk
from cfgfix.code.model.hit import Calls, Rewrite, hit_at, hit_in
from cfgfix.code.model.nodes import Attribute, Binary, Call, Expr, FString, Literal, Name, Subscript, Unary
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Constant, Function, Instance, Made, Site, Value, alternatives
from cfgfix.core.records import dataclass, replace
from cfgfix.rules.hit import Hit

NEEDLES = IMPORTS
_MODELS = frozenset({"keras.Model", "keras.Sequential"})
_OF_CALLBACKS = "keras.callbacks.Callback.model"
"""The model that a callback is given: the one that is trained."""
_INNER = "tensorflow.python."
"""The copy of Keras inside TensorFlow, which is never Keras 3."""


passed_over = of_other_releases
"""Which modules these checks say nothing of."""


def _surely_keras(program: Program, site: Site) -> bool:
    """Tell whether a call is one of `tf.keras` that nothing around it keeps from Keras 3."""
    scope, call = site.scope, site.call
    return (
        not site.targets
        and not site.open
        and not site.raw.startswith(_INNER)
        # Which values a variable may hold is known of what a method is called on.
        and (bool(keras_model_method(site.name)) or not bound_twice(scope, head(call.func)))
        and not callers_ask(program, scope)
    )


def _on_model(program: Program, site: Site) -> bool:
    """Tell whether a method is called on a model of Keras for certain, and is Keras's own."""
    found = alternatives(site.receiver)
    if not found or of_others(site) or overridden(program, site):
        return False
    method = site.name.rpartition(".")[2]
    for value in found:
        if isinstance(value, Made):
            made = value.site
            if MAKES_KERAS_MODEL.fullmatch(value.name) is None:
                return False
            if made is not None and made.raw.startswith(_INNER):
                return False
            if (made is None or value.name not in _MODELS) and method in _of_models(program):
                # What an annotation names, or what is loaded, may be an object of a class below it.
                return False
        elif isinstance(value, Instance):
            if method in _of_models(program) or not _only_keras(program, value.scope):
                return False
        else:
            return False
    return True


@once
def _of_models(program: Program) -> frozenset[str]:
    """Return the names of all methods of the program's own models."""
    named = methods(program)
    return frozenset(
        name
        for module in program.modules
        for scope in module.summary.scopes
        if scope.kind == "class" and not named.isdisjoint(scope.children)
        if program.is_subclass(scope, _MODELS)
        for name in scope.children
    )


def _only_keras(program: Program, owner: Scope) -> bool:
    """Tell whether all bases of a class are known, and none outside the project is another's than Keras."""
    classes, outside = program.bases(owner)
    if not outside or any(name not in _MODELS for name in outside):
        return False
    named = 0
    for scope in classes:
        if any(
            source.startswith(f"{_INNER}keras")
            for item in scope.module.summary.scopes
            for source in item.imports.values()
        ):
            return False
        around = program.outer(scope) or scope
        for base in scope.bases:
            if program.static_value(base, around) is None:
                return False
            named += 1
    return named > 0


# Names of files


@dataclass(frozen=True, slots=True)
class _End:
    """The end of a text.

    Attributes:
        text: What it ends with for certain.
        whole: Whether that is all of it.
        number: Whether a number stands before it, or something else that does not end in `.weights`.
    """

    text: str
    whole: bool
    number: bool = False

    def may_end(self, endings: tuple[str, ...]) -> bool:
        """Tell whether the text may have one of some endings."""
        return self.text.endswith(endings) or (
            not self.whole and not self.number and any(item.endswith(self.text) for item in endings)
        )


_A_NUMBER = _End("", False, True)
"""The end of a text that ends in a number."""
_Inner = Callable[[Expr], _End | None]
_JOINS = frozenset({"os.path.join", "posixpath.join", "tensorflow.io.gfile.join"})
_PATHS = frozenset({"pathlib.Path", "pathlib.PurePath"})
_CONVERSION = re.compile(r"%(?:\(\w*\))?[-#0 +]*(?:\*|\d+)?(?:\.(?:\*|\d+))?[a-zA-Z%]")
_DEPTH = 6


def _end(program: Program, expr: Expr, scope: Scope, block: int, depth: int = 0) -> _End | None:
    """Return the end of the text that an expression is, or None where it is not certain."""
    if depth > _DEPTH:
        return None

    def inner(part: Expr) -> _End | None:
        return _end(program, part, scope, block, depth + 1)

    if isinstance(expr, Literal):
        value = str(expr.value) if type(expr.value) is int else expr.value
        return _End(value, True) if isinstance(value, str) and 0 < len(value) < MAX_TEXT else None
    if isinstance(expr, FString):
        if expr.tail:
            return _End(expr.tail, False, _ends_in_number(program, expr, scope))
        return _A_NUMBER if expr.pieces and _is_number_in_text(expr, expr.pieces[-1], scope) else None
    if isinstance(expr, (Name, Attribute, Subscript)) or (isinstance(expr, Call) and expr.method == "get"):
        found = written_at(program, expr, scope, block)
        return _end(program, *found, depth + 1) if found is not None else None
    if isinstance(expr, Binary):
        return _of_operator(program, expr, scope, inner)
    if not isinstance(expr, Call):
        return None
    found_end = _of_call(program, expr, scope, inner)
    return found_end if found_end is not None else _of_function(program, expr, scope, depth)


def _ends_in_number(program: Program, expr: FString, scope: Scope) -> bool:
    """Tell whether the last part of a formatted text, before its end, is a number or another text than `.weights`."""
    if len(expr.pieces) < 2:
        return False
    last = expr.pieces[-2]
    if _is_number_in_text(expr, last, scope):
        return True
    return not isinstance(last, str) and _never_weights(program, expr.parts[last[0]], scope)


_SAYS_WEIGHTS = re.compile(r"\.weights(?:[\"'{%.]|$)", re.MULTILINE)
"""What stands in code that gives a file the end `.weights`, before another one is put to it."""


@once
def _says_weights(program: Program) -> bool:
    """Tell whether a text anywhere in the program may end in `.weights`."""
    return any(_SAYS_WEIGHTS.search(module.source_file().text) for module in program.modules)


def _never_weights(program: Program, expr: Expr, scope: Scope, depth: int = 3) -> bool:
    """Tell whether a text that the program itself puts together does not end in `.weights`, as nothing in it says that."""
    if depth == 0 or scope.kind == "class":
        return False
    here: Scope | None = scope
    params = set()
    while here is not None:
        params |= {item.name for item in here.params}
        here = program.outer(here)
    for part in walk(expr):
        if not isinstance(part, Name):
            continue
        if part.name in params:
            # What a caller gives may be any text.
            return False
        for event in scope.binding(part.name):
            if event.value is not None and not _never_weights(program, event.value, scope, depth - 1):
                return False
    return not _says_weights(program)


def _is_number_in_text(expr: FString, piece: str | tuple[int, str | None], scope: Scope) -> bool:
    """Tell whether a piece of a formatted text is a number."""
    if isinstance(piece, str):
        return False
    number, written = piece
    return bool(written and written[-1] in "dfeg") or _counts(expr.parts[number], scope)


def _counts(expr: Expr, scope: Scope) -> bool:
    """Tell whether an expression is a number: what loops count, and what comes of operators that no text has."""
    return (isinstance(expr, Binary) and expr.operator in ("-", "//", "**")) or is_count(expr, scope)


def _ends_in_count(expr: Expr, scope: Scope) -> bool:
    """Tell whether a text ends in a number that a loop counts."""
    if isinstance(expr, Binary) and expr.operator == "+":
        return _ends_in_count(expr.right, scope)
    if not isinstance(expr, Call):
        return False
    return is_name(expr.func, "str") and len(expr.args) == 1 and _counts(expr.args[0], scope)


def _of_operator(program: Program, expr: Binary, scope: Scope, inner: _Inner) -> _End | None:
    if expr.operator == "%":
        left = inner(expr.left)
        end = _end_of_template(left, _CONVERSION) if left is not None else None
        found = _CONVERSION.findall(left.text)[-1:] if left is not None else []
        counts = bool(found) and found[0][-1] in "dioxXeEfFgG"
        if counts and left is not None and left.whole and left.text.endswith(found[0]):
            return _A_NUMBER
        if end is None or end.whole or not (counts or _never_weights(program, expr.right, scope)):
            return end
        return replace(end, number=True)
    right = inner(expr.right) if expr.operator in "+/" else None
    if right is None and expr.operator == "+" and _ends_in_count(expr.right, scope):
        return _A_NUMBER
    if right is None or not right.whole:
        return right
    if expr.operator == "/":
        return _in_folder(right)
    left = inner(expr.left)
    if left is None:
        known = _ends_in_count(expr.left, scope) or _never_weights(program, expr.left, scope)
        return _End(right.text, False, known)
    return _End(left.text + right.text, left.whole, left.number)


def _of_call(program: Program, call: Call, scope: Scope, inner: _Inner) -> _End | None:
    if call.method == "format" and isinstance(call.receiver, (Literal, Name)):
        base = inner(call.receiver)
        if base is None or "{{" in base.text or "}}" in base.text:
            return None
        end = _end_of_template(base, re.compile(r"\{[^{}]*\}"))
        counts = bool(call.args) and not call.keywords and all(_counts(item, scope) for item in call.args)
        if counts and base.whole and re.search(r"\{[^{}]*\}$", base.text):
            return _A_NUMBER
        if end is None or end.whole:
            return end
        given = (*call.args, *(value for _, value in call.keywords))
        known = counts or all(_never_weights(program, item, scope) for item in given)
        return replace(end, number=True) if known else end
    if not call.args or call.keywords or call.opaque:
        return None
    name = program.static_name(call.func, scope) or ""
    if name in _JOINS or name in _PATHS:
        last = inner(call.args[-1])
        if last is None:
            return None
        if name in _PATHS:
            last = _End(last.text.rstrip("/"), last.whole)
        return _in_folder(last) if len(call.args) > 1 and last.whole else last
    if is_name(call.func, "str") and len(call.args) == 1:
        return inner(call.args[0])
    return None


def _of_function(program: Program, call: Call, scope: Scope, depth: int) -> _End | None:
    """Return the end of the text that a function of the project returns."""
    value = program.static_value(call.func, scope)
    if not isinstance(value, Function) or value.scope.decorators or value.scope.is_async:
        return None
    found = returned_by(value.scope)
    return _end(program, found.expr, found.scope, found.block, depth + 1) if found is not None else None


def _in_folder(name: _End) -> _End | None:
    """Return the end of a name in a folder that is not known."""
    if not name.text:
        return None
    return name if name.text.startswith("/") else _End(f"/{name.text}", False)


def _end_of_template(template: _End, placeholder: re.Pattern[str]) -> _End | None:
    """Return what stands behind the last placeholder of a template, or None for nothing."""
    found = list(placeholder.finditer(template.text))
    if not found:
        return template
    rest = template.text[found[-1].end() :]
    return _End(rest, False) if rest else None


@dataclass(frozen=True, slots=True)
class _Kind:
    """A function of Keras that takes the name of a file.

    Attributes:
        position: Where the name stands among the arguments.
        most: How many positional arguments have the same meaning in Keras 2 and 3.
        table: Its name in the table of the API, which has the endings that Keras 3 takes.
        instead: What to write.
    """

    position: int
    most: int
    table: str
    instead: str


_SAVE = "`.keras` writes one file of Keras's own, `model.export(...)` a SavedModel; what reads it has to follow, so the name is for you to choose"
_LOAD = "what is read has to be written anew, or read by what wrote it: the layer `TFSMLayer` of Keras 3 reads a SavedModel"
_WEIGHTS = (
    "a name that ends in `.weights.h5`; what loads the file has to follow, so the name is for you to choose"
)
_CHECKPOINT = "`tf.train.Checkpoint(model=...).read(...)` reads a checkpoint of TensorFlow; where it comes from is for you to say"
_KINDS = {
    "save": _Kind(0, 2, "keras.models.save_model", _SAVE),
    "save_model": _Kind(1, 3, "keras.models.save_model", _SAVE),
    "load_model": _Kind(0, 3, "keras.models.load_model", _LOAD),
    "save_weights": _Kind(0, 2, "keras.Model.save_weights", _WEIGHTS),
    "load_weights": _Kind(0, 1, "keras.Model.load_weights", _CHECKPOINT),
    "ModelCheckpoint": _Kind(0, 5, "keras.callbacks.ModelCheckpoint", _SAVE),
}
_LATEST = "tensorflow.train.latest_checkpoint"
_ADDRESSES = ("hf://", "gs://", "s3://", "http://", "https://")


def file_name(program: Program) -> Iterator[Hit]:
    """Find names of files whose end Keras 3 refuses."""
    words = {word for module in program.modules for word in module.summary.words}
    if not keras_three(program) or "hf://" in words:
        # Keras 3 takes any name on the Hub.
        return
    for method in ("save", "save_weights", "load_weights"):
        for site in flow_of(program).under("keras."):
            if keras_model_method(site.name) != method or (method == "load_weights" and "rbax" in words):
                continue
            if _on_model(program, site):
                yield from _names_with_slash(program, site, method, "model." + method)
        if method not in _of_models(program):
            for site in flow_of(program).named(f"{_OF_CALLBACKS}.{method}"):
                yield from _names_with_slash(program, site, method, "model." + method)
    for package in ("models", "saving"):
        for function in ("save_model", "load_model"):
            for site in flow_of(program).named(f"keras.{package}.{function}"):
                # Keras 3 reads folders of its own: those it wrote unzipped, and Orbax's.
                if function == "save_model" or not ("zipped" in words or "rbax" in words):
                    yield from _names_with_slash(
                        program,
                        site,
                        function,
                        as_written(program, site.scope, f"keras.{package}.{function}"),
                    )
    for site in flow_of(program).named("keras.callbacks.ModelCheckpoint"):
        yield from _names_with_slash(
            program,
            site,
            "ModelCheckpoint",
            as_written(program, site.scope, "keras.callbacks.ModelCheckpoint"),
        )


def _names_with_slash(program: Program, site: Site, kind: str, shown: str) -> Iterator[Hit]:
    known = _KINDS[kind]
    call, scope = site.call, site.scope
    name = call.argument(known.position, "filepath")
    if name is None or call.opaque or len(call.args) > known.most or not _surely_keras(program, site):
        return
    if any(key in ("zipped", "max_shard_size") for key, _ in call.keywords) or _refuses(program, site):
        return
    if kind == "ModelCheckpoint" and is_true(call.argument(4, "save_weights_only")):
        known = _KINDS["save_weights"]
    endings = api(program).file_endings(known.table)
    end = _end(program, name, scope, call.block)
    if end is None:
        if kind != "load_weights" or not _is_latest(program, name, scope, call.block):
            return
        written = "what tf.train.latest_checkpoint returns"
    else:
        if end.may_end(endings) or end.text.startswith(_ADDRESSES):
            return
        shown_end = repr(end.text) if end.text else "a number"
        written = shown_end if end.whole else f"a name that ends in {shown_end}"
    severity = refused_by_three(program, scope)
    if severity is None:
        return
    yield hit_at(
        site,
        values={
            "call": shown,
            "name": written,
            "takes": "does not read TensorFlow's checkpoints"
            if end is None
            else f"takes only names that end in {_listed(endings)}",
            "asked": asked_for(api(program)),
        },
        severity=severity[0],
        confidence="medium" if kind == "load_model" else None,
        no_fix=known.instead,
    )


def _listed(endings: tuple[str, ...]) -> str:
    # What ends in `.weights.h5` ends in `.h5` as well.
    shown = [
        item for item in endings if not item.endswith(tuple(other for other in endings if other != item))
    ]
    shown.sort(key=lambda item: (item != ".keras", item))
    return " or ".join(", ".join(shown).rsplit(", ", 1))


def _refuses(program: Program, site: Site) -> bool:
    """Tell whether Keras 3 refuses an argument of a call, which is told by itself."""
    table = api(program)
    name = site.name.replace("keras.Sequential.", "keras.Model.")
    for keyword, _ in site.call.keywords:
        mask = table.accepts(name, keyword or "")
        if mask is not None and not mask & table.newest:
            return True
    return False


def _is_latest(program: Program, expr: Expr, scope: Scope, block: int) -> bool:
    """Tell whether an expression is the name of a checkpoint of TensorFlow: what `tf.train.latest_checkpoint` returns."""
    if isinstance(expr, Name):
        bound = bound_once(scope, expr.name, block)
        if bound is None:
            return False
        expr, scope, _ = bound
    return isinstance(expr, Call) and program.static_name(expr.func, scope) == _LATEST


# Floats


_STEPS = {
    "fit": (("epochs", 3), ("initial_epoch", 11), ("steps_per_epoch", 12), ("validation_steps", 13)),
    "evaluate": (("steps", 5),),
    "predict": (("steps", 3),),
}
_IN_ANY_KERAS = frozenset({"epochs", "initial_epoch"})
_ROUNDED = frozenset(f"numpy.{name}" for name in ("ceil", "floor", "rint", "round", "around", "trunc", "fix"))
"""Functions of NumPy that give a whole number as a float where they are given a float; most of them leave an integer as it is."""
_FLOATS = frozenset({"numpy.float16", "numpy.float32", "numpy.float64"})


def float_steps(program: Program) -> Iterator[Hit]:
    """Find floats where Keras counts."""
    for method, parameters in _STEPS.items():
        for owner in sorted(_MODELS):
            for site in flow_of(program).named(f"{owner}.{method}"):
                given = [
                    (parameter, value, found)
                    for parameter, position in parameters
                    if (value := site.call.argument(position, parameter)) is not None
                    and (found := _float(program, value, site.scope, site.call.block)) is not None
                    and (parameter != "validation_steps" or _validates(site.call))
                ]
                if given and _on_model(program, site) and _surely_keras(program, site):
                    for parameter, value, found in given:
                        yield from _counted(program, site, method, parameter, value, found)


def _refused_at_all(program: Program, scope: Scope) -> tuple[str | None] | None:
    """Return the severity of what every Keras refuses, as `refused_by_three` does; None where no Keras of a release comes to it."""
    return None if written_for_one(program, scope) or not keras_of_release(program, scope) else (None,)


def _counted(
    program: Program, site: Site, method: str, parameter: str, value: Expr, expr: Expr
) -> Iterator[Hit]:
    scope = site.scope
    ever = parameter in _IN_ANY_KERAS
    severity = _refused_at_all(program, scope) if ever else refused_by_three(program, scope)
    place = place_of(value, scope)
    if severity is None or place is None:
        return
    rewrites: tuple[Rewrite, ...] = ()
    no_fix = "the number stands elsewhere, and may be used there as a float"
    if expr is value:
        no_fix = (
            "how a fraction is meant is for you to say: Keras 2 ran one step more for it, as `math.ceil` has it, and `//` leaves it out"
            if not ever
            else "how a fraction is meant is for you to say"
        )
        if isinstance(value, Literal) and isinstance(value.value, float) and value.value.is_integer():
            rewrites = (Rewrite("replace", scope, place, str(int(value.value))),)
        elif _rounds(program, value, scope):
            rewrites = (Rewrite("wrap", scope, place, "int"),)
    yield hit_in(
        scope,
        place,
        site.call.block,
        {
            "method": method,
            "argument": parameter,
            "value": text(value) + ("" if expr is value else f", which is {text(expr)}"),
            "who": "every Keras" if ever else "Keras 3",
            "asked": asked_for(api(program)),
        },
        entry=Calls(site),
        severity=severity[0],
        rewrites=rewrites,
        title="Write an integer" if isinstance(value, Literal) else None,
        no_fix=None if rewrites else no_fix,
    )


_UNITS = {
    "Dense": (("units", 0),),
    **{
        f"{kind}{dimensions}D{ending}": (("filters", 0),)
        for kind, ending, most in (("Conv", "", 3), ("Conv", "Transpose", 3), ("SeparableConv", "", 2))
        for dimensions in range(1, most + 1)
    },
}
"""Layers that made an integer of a float in Keras 2, and how many outputs they have: parameter and position."""
_EVER_UNITS = {
    **dict.fromkeys(("LSTM", "GRU", "SimpleRNN", "LSTMCell", "GRUCell", "SimpleRNNCell"), (("units", 0),)),
    "ConvLSTM2D": (("filters", 0),),
    "Embedding": (("input_dim", 0), ("output_dim", 1)),
    "MultiHeadAttention": (("num_heads", 0), ("key_dim", 1)),
    "RepeatVector": (("n", 0),),
}
"""Layers that every Keras refuses a float for."""


def float_units(program: Program) -> Iterator[Hit]:
    """Find floats for the size of a layer."""
    for site in flow_of(program).under("keras.layers."):
        layer = site.name.removeprefix("keras.layers.")
        for ever, table in ((False, _UNITS), (True, _EVER_UNITS)):
            for parameter, position in table.get(layer, ()):
                value = site.call.argument(position, parameter)
                found = _float(program, value, site.scope, site.call.block) if value is not None else None
                if value is not None and found is not None and _surely_keras(program, site):
                    yield from _sized(program, site, parameter, value, found, ever=ever)


def _sized(
    program: Program, site: Site, parameter: str, value: Expr, expr: Expr, *, ever: bool
) -> Iterator[Hit]:
    scope = site.scope
    severity = _refused_at_all(program, scope) if ever else refused_by_three(program, scope)
    place = place_of(value, scope)
    if severity is None or place is None:
        return
    rewrites: tuple[Rewrite, ...] = ()
    if expr is value and not ever:
        plain = value.value if isinstance(value, Literal) else None
        rewrites = (
            Rewrite("replace", scope, place, str(int(plain)))
            if isinstance(plain, float) and plain.is_integer()
            else Rewrite("wrap", scope, place, "int"),
        )
    yield hit_in(
        scope,
        place,
        site.call.block,
        {
            "layer": site.name.rpartition(".")[2],
            "argument": parameter,
            "value": text(value) + ("" if expr is value else f", which is {text(expr)}"),
            "who": "every Keras refuses it"
            if ever
            else "Keras 3 raises ValueError, where Keras 2 made an integer of it",
            "asked": asked_for(api(program)),
        },
        entry=Calls(site),
        severity=severity[0],
        rewrites=rewrites,
        no_fix=None
        if rewrites
        else "how a fraction is meant is for you to say"
        if ever
        else "the number stands elsewhere, and may be used there as a float",
    )


def _validates(call: Call) -> bool:
    """Tell whether `fit` is given something to validate on; without it the steps are never looked at."""
    if call.opaque:
        return False
    given = [call.argument(7, "validation_data"), call.argument(6, "validation_split")]
    return any(item is not None and not (isinstance(item, Literal) and not item.value) for item in given)


def _float(program: Program, expr: Expr, scope: Scope, block: int) -> Expr | None:
    """Return the expression that gives a float for certain: the given one or what its name was bound to."""
    if not isinstance(expr, Name):
        return expr if _is_float(program, expr, scope, block) else None
    bound = bound_once(scope, expr.name, block)
    if bound is None or not _is_float(program, *bound):
        return None
    return bound[0]


def _is_float(program: Program, expr: Expr, scope: Scope, block: int, depth: int = 0) -> bool:
    """Tell whether an expression is a float for certain, one of Python or of NumPy."""
    if depth > _DEPTH:
        return False

    def inner(part: Expr) -> bool:
        return _is_float(program, part, scope, block, depth + 1)

    if isinstance(expr, Literal):
        return isinstance(expr.value, float)
    if isinstance(expr, Name) and (bound := bound_once(scope, expr.name, block)) is not None:
        return _is_float(program, *bound, depth + 1)
    if isinstance(expr, (Name, Attribute, Subscript)):
        written = written_at(program, expr, scope, block)
        return written is not None and _is_float(program, *written, depth + 1)
    if isinstance(expr, Unary):
        return expr.operator in "+-" and inner(expr.operand)
    if isinstance(expr, Binary):
        return expr.operator == "/" or (
            expr.operator in ("+", "-", "*", "//") and (inner(expr.left) or inner(expr.right))
        )
    if not isinstance(expr, Call):
        return False
    call = expr
    if not call.args or call.opaque:
        return False
    if isinstance(call.func, Name) and call.func.name == "round":
        digits = constant(call.argument(1, "ndigits"))
        return isinstance(digits, int) and inner(call.args[0])
    if isinstance(call.func, Name) and call.func.name == "float":
        return len(call.args) == 1
    name = program.static_name(call.func, scope)
    return name in _FLOATS or (name in _ROUNDED and not call.keywords and inner(call.args[0]))


def _rounds(program: Program, expr: Expr, scope: Scope) -> bool:
    """Tell whether an expression is a whole number: what NumPy rounds, without decimals to keep."""
    if not isinstance(expr, Call):
        return False
    call = expr
    return len(call.args) == 1 and program.static_name(call.func, scope) in _ROUNDED


# Names and shapes


_NAMED = re.compile(r"keras\.(?:layers\.[A-Z]\w*|Input|Model|Sequential|optimizers\.[A-Z]\w*)")
_ADDS = re.compile(r"keras\.(?:layers\.\w+|Layer|Model)\.add_weight")
_INPUTS = frozenset({"keras.Input", "keras.layers.Input"})


def refused_value(program: Program) -> Iterator[Hit]:
    """Find names with a slash and shapes that are numbers, which Keras 3 refuses."""
    if not keras_three(program):
        return
    for site in flow_of(program).under("keras."):
        name = site.name
        adds = _ADDS.fullmatch(name) is not None
        if not adds and not _NAMED.fullmatch(name):
            continue
        value = site.call.keyword("name")
        if value is not None and _has_slash(value, site.keywords.get("name"), site.scope):
            what = f"the name {text(value)}, with a slash in it"
            yield from _refused(program, site, value, what, ())
        shape = site.call.argument(0, "shape") if name in _INPUTS else None
        if (
            shape is not None
            and site.call.keyword("tensor") is None
            and _is_number(program, shape, site.scope, site.call.block)
        ):
            written = text(shape)
            place = place_of(shape, site.scope)
            plain = isinstance(shape, (Literal, Name)) or (
                isinstance(shape, Subscript) and dotted(shape.base) is not None
            )
            rewrites = (
                (Rewrite("replace", site.scope, place, f"({written},)"),)
                if plain and place is not None
                else ()
            )
            yield from _refused(program, site, shape, f"the shape {written}, a number and no tuple", rewrites)


def _is_number(program: Program, expr: Expr, scope: Scope, block: int, depth: int = 0) -> bool:
    """Tell whether an expression is an integer for certain: a constant, a length, one of a shape's dimensions, and what is counted of such."""
    if depth > _DEPTH:
        return False
    if isinstance(expr, Literal):
        return type(expr.value) is int
    if isinstance(expr, Name):
        bound = bound_once(scope, expr.name, block)
        return bound is not None and _is_number(program, *bound, depth + 1)
    if isinstance(expr, Subscript):
        index = constant(expr.index)
        return isinstance(expr.base, Attribute) and expr.base.attribute == "shape" and type(index) is int
    if isinstance(expr, Binary):
        return expr.operator in ("+", "-", "*", "//") and all(
            _is_number(program, part, scope, block, depth + 1) for part in (expr.left, expr.right)
        )
    if not isinstance(expr, Call):
        return False
    call = expr
    return (
        isinstance(call.func, Name) and call.func.name in ("len", "int") and call.func.name not in scope.names
    )


def _has_slash(expr: Expr, value: Value | None, scope: Scope) -> bool:
    """Tell whether a name certainly has a slash: in a constant, the end of a formatted text, or a part of a sum."""
    if isinstance(value, Constant):
        return isinstance(value.value, str) and "/" in value.value
    if isinstance(expr, Literal):
        return isinstance(expr.value, str) and "/" in expr.value
    if isinstance(expr, FString):
        return "/" in expr.tail
    return (
        isinstance(expr, Binary)
        and expr.operator == "+"
        and any(_has_slash(part, None, scope) for part in (expr.left, expr.right))
    )


def _refused(
    program: Program, site: Site, value: Expr, what: str, rewrites: tuple[Rewrite, ...]
) -> Iterator[Hit]:
    severity = refused_by_three(program, site.scope)
    if severity is None or not _surely_keras(program, site):
        return
    yield hit_in(
        site.scope,
        place_of(value, site.scope) or site.call.name_place,
        site.call.block,
        {"callee": text(site.call.func), "what": what, "asked": asked_for(api(program))},
        entry=Calls(site),
        severity=severity[0],
        rewrites=rewrites,
        no_fix=None if rewrites else "weights that are kept may be looked up by the name",
    )
