"""File names whose ending Keras 3 refuses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from cfgfix.code.checks.bindings import bound_once
from cfgfix.code.checks.counters import is_count
from cfgfix.code.checks.keras3 import (
    DEPTH,
    is_called_on_model,
    is_surely_keras,
    own_methods_of_models,
)
from cfgfix.code.checks.models import keras_model_method
from cfgfix.code.checks.whole_numbers import is_whole
from cfgfix.code.checks.written_values import returned_by, written_at
from cfgfix.code.inference.eras import release_in_words
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.references import api
from cfgfix.code.inference.releases import (
    as_written,
    keras_three,
    refused_by_three,
)
from cfgfix.code.model.expression_builder import MAX_TEXT
from cfgfix.code.model.expressions import constant, is_name, is_true, walk
from cfgfix.code.model.hit import hit_at
from cfgfix.code.model.nodes import Attribute, Binary, Call, Expr, FString, Literal, Name, Subscript
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Function, Site
from cfgfix.core.records import dataclass, replace
from cfgfix.rules.hit import Hit

_OF_CALLBACKS = "keras.callbacks.Callback.model"


"""The model that a callback is given: the one that is trained."""


@dataclass(frozen=True, slots=True)
class _TextEnd:
    """The known end of a text.

    Attributes:
        text: What it ends with for certain.
        whole: Whether that is all of it.
        number: Whether a number stands before it, or something else that does not end in `.weights`.
    """

    text: str
    whole: bool
    number: bool = False

    def may_end(self, endings: tuple[str, ...]) -> bool:
        """Tell whether the text may end in one of some endings."""
        return self.text.endswith(endings) or (
            not self.whole and not self.number and any(item.endswith(self.text) for item in endings)
        )


_DATE_NUMBERS = ("%S", "%M", "%H", "%d", "%m", "%Y", "%y", "%f", "%j", "%s")
"""Ends of the form of a date that a number is put in for."""
_A_NUMBER = _TextEnd("", False, True)


"""The end of a text that ends in a number."""


_Inner = Callable[[Expr], _TextEnd | None]


_JOINS = frozenset({"os.path.join", "posixpath.join", "tensorflow.io.gfile.join"})


_PATHS = frozenset({"pathlib.Path", "pathlib.PurePath"})


_CONVERSION = re.compile(r"%(?:\(\w*\))?[-#0 +]*(?:\*|\d+)?(?:\.(?:\*|\d+))?[a-zA-Z%]")


def _end_of_text(program: Program, expr: Expr, scope: Scope, block: int, depth: int = 0) -> _TextEnd | None:
    """Return the known end of a text expression, or None."""
    if depth > DEPTH:
        return None

    def inner(part: Expr) -> _TextEnd | None:
        return _end_of_text(program, part, scope, block, depth + 1)

    if isinstance(expr, Literal):
        value = str(expr.value) if type(expr.value) is int else expr.value
        return _TextEnd(value, True) if isinstance(value, str) and 0 < len(value) < MAX_TEXT else None
    if isinstance(expr, FString):
        if expr.tail:
            return _TextEnd(expr.tail, False, _ends_in_number(program, expr, scope))
        if not expr.pieces or isinstance(expr.pieces[-1], str):
            return None
        last = expr.pieces[-1]
        counts = _is_number_in_text(expr, last, scope) or (
            last[1] == "" and is_whole(program, expr.parts[last[0]], scope)
        )
        return _A_NUMBER if counts else None
    if isinstance(expr, (Name, Attribute, Subscript)) or (isinstance(expr, Call) and expr.method == "get"):
        found = written_at(program, expr, scope, block)
        return _end_of_text(program, *found, depth + 1) if found is not None else None
    if isinstance(expr, Binary):
        return _end_of_operation(program, expr, scope, inner)
    if not isinstance(expr, Call):
        return None
    found_end = _end_of_call(program, expr, scope, inner)
    return found_end if found_end is not None else _end_of_result(program, expr, scope, depth)


def _ends_in_number(program: Program, expr: FString, scope: Scope) -> bool:
    """Tell whether the last placeholder of an f-string never ends in `.weights`.

    It is a number, or a text that says nothing of weights.
    """
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
    """Tell whether any text of the program may end in `.weights`."""
    return any(_SAYS_WEIGHTS.search(module.source_file().text) for module in program.modules)


def _never_weights(program: Program, expr: Expr, scope: Scope, depth: int = 3) -> bool:
    """Tell whether a text from the program's own parts cannot end in `.weights`."""
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
    """Tell whether a placeholder of an f-string is a number."""
    if isinstance(piece, str):
        return False
    number, written = piece
    return bool(written and written[-1] in "dfeg") or _is_number(expr.parts[number], scope)


def _is_number(expr: Expr, scope: Scope) -> bool:
    """Tell whether an expression is a number: a loop's count or arithmetic."""
    return (isinstance(expr, Binary) and expr.operator in ("-", "//", "**")) or is_count(expr, scope)


def _ends_in_count(expr: Expr, scope: Scope) -> bool:
    """Tell whether a text ends in a loop's count."""
    if isinstance(expr, Binary) and expr.operator == "+":
        return _ends_in_count(expr.right, scope)
    if not isinstance(expr, Call):
        return False
    return is_name(expr.func, "str") and len(expr.args) == 1 and _is_number(expr.args[0], scope)


def _end_of_operation(program: Program, expr: Binary, scope: Scope, inner: _Inner) -> _TextEnd | None:
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
        return _end_in_folder(right)
    left = inner(expr.left)
    if left is None:
        known = _ends_in_count(expr.left, scope) or _never_weights(program, expr.left, scope)
        return _TextEnd(right.text, False, known)
    return _TextEnd(left.text + right.text, left.whole, left.number)


def _end_of_call(program: Program, call: Call, scope: Scope, inner: _Inner) -> _TextEnd | None:
    if call.method == "format" and isinstance(call.receiver, (Literal, Name)):
        base = inner(call.receiver)
        if base is None or "{{" in base.text or "}}" in base.text:
            return None
        end = _end_of_template(base, re.compile(r"\{[^{}]*\}"))
        counts = bool(call.args) and not call.keywords and all(_is_number(item, scope) for item in call.args)
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
            last = _TextEnd(last.text.rstrip("/"), last.whole)
        return _end_in_folder(last) if len(call.args) > 1 and last.whole else last
    if is_name(call.func, "str") and len(call.args) == 1:
        shown = inner(call.args[0])
        return _A_NUMBER if shown is None and is_whole(program, call.args[0], scope) else shown
    if call.method == "strftime":
        template = constant(call.args[-1] if name != "time.strftime" else call.args[0])
        return _A_NUMBER if isinstance(template, str) and template.endswith(_DATE_NUMBERS) else None
    return None


def _end_of_result(program: Program, call: Call, scope: Scope, depth: int) -> _TextEnd | None:
    """Return the known end of the text that a project function returns, or None."""
    value = program.static_value(call.func, scope)
    if not isinstance(value, Function) or value.scope.decorators or value.scope.is_async:
        return None
    found = returned_by(value.scope)
    return (
        _end_of_text(program, found.expr, found.scope, found.block, depth + 1) if found is not None else None
    )


def _end_in_folder(name: _TextEnd) -> _TextEnd | None:
    """Return the known end of a file name joined to an unknown folder, or None."""
    if not name.text:
        return name if name.number else None
    return name if name.text.startswith("/") else _TextEnd(f"/{name.text}", False)


def _end_of_template(template: _TextEnd, placeholder: re.Pattern[str]) -> _TextEnd | None:
    """Return the text after the last placeholder of a template, or None."""
    found = list(placeholder.finditer(template.text))
    if not found:
        return template
    rest = template.text[found[-1].end() :]
    return _TextEnd(rest, False) if rest else None


@dataclass(frozen=True, slots=True)
class _FileFunction:
    """A Keras function that takes a file name.

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
    "save": _FileFunction(0, 2, "keras.models.save_model", _SAVE),
    "save_model": _FileFunction(1, 3, "keras.models.save_model", _SAVE),
    "load_model": _FileFunction(0, 3, "keras.models.load_model", _LOAD),
    "save_weights": _FileFunction(0, 2, "keras.Model.save_weights", _WEIGHTS),
    "load_weights": _FileFunction(0, 1, "keras.Model.load_weights", _CHECKPOINT),
    "ModelCheckpoint": _FileFunction(0, 5, "keras.callbacks.ModelCheckpoint", _SAVE),
}


_LATEST = "tensorflow.train.latest_checkpoint"


_ADDRESSES = ("hf://", "gs://", "s3://", "http://", "https://")


def file_name(program: Program) -> Iterator[Hit]:
    """Find file names whose ending Keras 3 refuses."""
    words = {word for module in program.modules for word in module.summary.words}
    if not keras_three(program) or "hf://" in words:
        # Keras 3 takes any name on the Hub.
        return
    for method in ("save", "save_weights", "load_weights"):
        for site in flow_of(program).under("keras."):
            if keras_model_method(site.name) != method or (method == "load_weights" and "rbax" in words):
                continue
            if is_called_on_model(program, site):
                yield from _names_with_slash(program, site, method, "model." + method)
        if method not in own_methods_of_models(program):
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
    if name is None or call.opaque or len(call.args) > known.most or not is_surely_keras(program, site):
        return
    if any(key in ("zipped", "max_shard_size") for key, _ in call.keywords) or _is_refused_keyword(
        program, site
    ):
        return
    if kind == "ModelCheckpoint" and is_true(call.argument(4, "save_weights_only")):
        known = _KINDS["save_weights"]
    endings = api(program).file_endings(known.table)
    end = _end_of_text(program, name, scope, call.block)
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
            else f"takes only names that end in {_endings_in_words(endings)}",
            "asked": release_in_words(api(program)),
        },
        severity=severity[0],
        confidence="medium" if kind == "load_model" else None,
        no_fix=known.instead,
    )


def _endings_in_words(endings: tuple[str, ...]) -> str:
    # What ends in `.weights.h5` ends in `.h5` as well.
    shown = [
        item for item in endings if not item.endswith(tuple(other for other in endings if other != item))
    ]
    shown.sort(key=lambda item: (item != ".keras", item))
    return " or ".join(", ".join(shown).rsplit(", ", 1))


def _is_refused_keyword(program: Program, site: Site) -> bool:
    """Tell whether Keras 3 lacks a keyword argument of a call."""
    table = api(program)
    name = site.name.replace("keras.Sequential.", "keras.Model.")
    for keyword, _ in site.call.keywords:
        mask = table.accepts(name, keyword or "")
        if mask is not None and not mask & table.newest:
            return True
    return False


def _is_latest(program: Program, expr: Expr, scope: Scope, block: int) -> bool:
    """Tell whether an expression is the result of `tf.train.latest_checkpoint`."""
    if isinstance(expr, Name):
        bound = bound_once(scope, expr.name, block)
        if bound is None:
            return False
        expr, scope, _ = bound
    return isinstance(expr, Call) and program.static_name(expr.func, scope) == _LATEST
