"""Run settings that nothing reads: function arguments and numbers of scripts."""

from __future__ import annotations

import io
import re
import textwrap
import tokenize
from collections import Counter
from collections.abc import Iterator

from cfgfix.code.checks.common import in_tests, line_beside
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.expressions import text
from cfgfix.code.model.hit import Step, hit_in
from cfgfix.code.model.nodes import Literal, Name
from cfgfix.code.model.program import Program, is_keras_part
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import Site
from cfgfix.rules.hit import Hit

_SAYS_HOW = re.compile(
    r"shuffle|training|is_training|(?:use_|do_|with_)?augment(?:ation)?|(?:random_)?seed|batch_?size|drop_remainder|normali[sz]e|dropout(?:_rate)?"
    r"|drop_rate|lr|learning_rate|(?:num_|n_)?epochs|weight_decay|(?:shuffle_)?buffer(?:_size)?|repeat|num_parallel_calls|num_workers"
)
_OF_BATCHES = re.compile(r"batch")
_BATCHES = re.compile(r"batch(?!_?norm)", re.IGNORECASE)
_BY_KERAS = frozenset({"training", "mask"})


def unread_arguments(program: Program) -> Iterator[Hit]:
    """Find arguments that callers pass and the function never reads."""
    seen: set[tuple[int, str]] = set()
    for site in flow_of(program).entering:
        if in_tests(site.scope) or site.call.opaque:
            continue
        for target in site.targets:
            function = target.scope
            if function.kind != "function" or target.partial or target.fixed:
                continue
            for number, parameter in enumerate(function.params):
                key = (id(function), parameter.name)
                if key in seen or parameter.kind not in ("plain", "keyword"):
                    continue
                if _SAYS_HOW.fullmatch(parameter.name) is None or not _is_given(site, function, number):
                    continue
                seen.add(key)
                if _is_open(program, function, parameter.name) or _is_read(function, parameter.name):
                    continue
                if _OF_BATCHES.match(parameter.name) and not _makes_batches(
                    program, function, parameter.name
                ):
                    continue
                yield hit_in(
                    function,
                    function.place,
                    -1,
                    {
                        "name": parameter.name,
                        "function": function.name,
                        "line": line_beside(function, site.scope, site.call.name_line),
                    },
                    related=(Step(site.scope, site.call.name_place, site.call.block, "gives it"),),
                )


def _is_given(site: Site, function: Scope, number: int) -> bool:
    bound = 1 if function.params[0].name in ("self", "cls") else 0
    return site.call.argument(number - bound, function.params[number].name) is not None


def _is_open(program: Program, function: Scope, name: str) -> bool:
    """Tell whether a parameter may be there for others' sake.

    A decorator, a base class or a function of the same name may ask for it.
    """
    if function.decorators or (function.name.startswith("__") and function.name != "__init__"):
        return True
    body = [event for event in function.events() if event.kind not in ("expr", "pass")]
    if len(body) < 2 or any(event.kind == "raise" and event.block == 0 for event in body):
        return True
    owner = program.owner(function)
    if owner is not None:
        outside = program.bases(owner).outside
        if outside and function.name != "__init__":
            return True
        if name in _BY_KERAS and is_keras_part(program, owner):
            return True
    same = [
        scope
        for module in program.modules
        for scope in module.summary.scopes
        if scope is not function
        and scope.kind == "function"
        and any(item.name == name for item in scope.params)
        and (scope.name == function.name if function.name != "__init__" else False)
    ]
    return bool(same)


def _makes_batches(program: Program, function: Scope, name: str) -> bool:
    """Tell whether a function, or the class of a constructor, has to do with batches beside its argument."""
    owner = program.owner(function)
    around = owner if owner is not None and function.name == "__init__" else function
    return any(word != name and _BATCHES.search(word) for word in _names_in(around))


def _names_in(scope: Scope) -> Iterator[str]:
    """Yield the names that stand in the code of a function or class, strings and comments apart."""
    lines = scope.module.source_lines()[scope.place.line - 1 : scope.place.end_line]
    code = textwrap.dedent("\n".join(lines)) + "\n"
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            if token.type == tokenize.NAME:
                yield token.string
    except (tokenize.TokenError, IndentationError):
        return


def _is_read(function: Scope, name: str) -> bool:
    """Tell whether a function's text has a name more than once, or reads all locals.

    The text is read because a run with known values has those in place of names.
    """
    lines = function.module.source_lines()[function.place.line - 1 : function.place.end_line]
    code = textwrap.dedent("\n".join(lines)) + "\n"
    count = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            count += token.type == tokenize.NAME and token.string == name
            if token.type == tokenize.NAME and token.string in ("locals", "vars"):
                return True
            # Up to Python 3.11 what an f-string is filled with is part of its text.
            if token.type == tokenize.STRING and "f" in token.string[:2].lower() and name in token.string:
                return True
    except (tokenize.TokenError, IndentationError):
        return True
    return count > 1


# Numbers of scripts

_CONSTANT = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*")
_SAYS_SIZE = re.compile(
    r"(?:^|_)(?:SIZE|EPOCHS?|BATCH|BATCHSIZE|RATE|LR|STEPS?|SEED|DIMS?|LENGTH|LEN|TOTAL|NUM|DROPOUT|UNITS|DECAY|PATIENCE|SPLIT|MOMENTUM|CLASSES|WIDTH|HEIGHT"
    r"|CHANNELS|BUFFER|ITERATIONS|LAYERS|HIDDEN)(?:_|$)"
)


def unread_numbers(program: Program) -> Iterator[Hit]:
    """Find numbers at the top of a script that nothing reads."""
    words: Counter[str] | None = None
    for module in program.modules:
        top = module.scope
        if top is None or module.path.endswith("__init__.py"):
            continue
        numbers = [event for event in top.body if _names_number(event)]
        if len(numbers) < 2:
            continue
        words = _words_of(program) if words is None else words
        lost = [event for event in numbers if words[text(event.targets[0])] == 1]
        if 2 * len(lost) > len(numbers):
            continue
        for event in lost:
            yield hit_in(top, event.place, event.block, {"name": text(event.targets[0])})


def _names_number(event: Event) -> bool:
    if event.kind != "assign" or len(event.targets) != 1 or not isinstance(event.targets[0], Name):
        return False
    name, value = event.targets[0].name, event.value
    return (
        isinstance(value, Literal)
        and type(value.value) in (int, float)
        and _CONSTANT.fullmatch(name) is not None
        and _SAYS_SIZE.search(name) is not None
    )


_WORD = re.compile(r"\w+")


def _words_of(program: Program) -> Counter[str]:
    """Return how often each word occurs in a project's code, without comments."""
    found: Counter[str] = Counter()
    for module in program.all_modules():
        for line in module.source_lines():
            found.update(_WORD.findall(line.partition("#")[0]))
    return found
