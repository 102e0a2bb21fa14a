"""What runs: modules and functions that nothing can run, and switches that an entry point sets for what it imports."""

from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Iterable, Iterator

from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.reachability import Reached, plain_names
from cfgfix.code.model.expressions import dotted, is_name, is_same_expression, text
from cfgfix.code.model.module import Module, absolute
from cfgfix.code.model.nodes import Call, Expr, Name
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.tensorflow.requirements import MAX_LEVELS

_SETS_UP = frozenset(
    {
        "getLogger",
        "get_logger",
        "namedtuple",
        "TypeVar",
        "filterwarnings",
        "set_verbosity",
        "dataclass",
        "function",
    }
)
"""Last names of calls and decorators that modules make while they are imported, and that run nothing and register nothing."""
_BEGINS = frozenset({"main", "cli", "run", "app", "train"})
"""Functions that a command installed with a package may begin with."""


_PACKAGED = ("setup.py", "setup.cfg", "pyproject.toml")
_IN_TESTS = re.compile(r"(^|/)(tests?|testing)/|(^|/)conftest\.py$")
_TEST_NAME = re.compile(r"(^|/)test_[^/]*$|_test\.py$")
_TEST_TOOLS = ("pytest", "unittest", "nose", "absl.testing", "hypothesis", "numpy.testing")
"""Modules that a file of tests imports from."""
_TEST_PREFIX = "test_"


def is_test(module: Module) -> bool:
    """Tell whether a file is test code, by its folder, or by its name and content.

    `test_model.py` of a training program often evaluates a model: it is a test where it imports a tool for tests, or
    defines tests and is no script besides.
    """
    by_path = _is_test_by_path(module.path)
    if by_path is not None:
        return by_path
    scope = module.scope
    if scope is None or _has_tool_for_tests(module):
        return True
    return any(
        one.name.startswith(_TEST_PREFIX) for one in module.summary.scopes
    ) and not _does_more_than_define(scope)


@functools.lru_cache(maxsize=65_536)
def _is_test_by_path(path: str) -> bool | None:
    """Tell whether a path is that of a test, or return None where the content has to tell."""
    plain = path.replace("\\", "/")
    if _IN_TESTS.search(plain):
        return True
    return None if _TEST_NAME.search(plain) else False


def _has_tool_for_tests(module: Module) -> bool:
    return any(
        source == tool or source.startswith(f"{tool}.")
        for scope in module.summary.scopes
        for source in scope.imports.values()
        for tool in _TEST_TOOLS
    ) or any(text(base).endswith("TestCase") for scope in module.summary.scopes for base in scope.bases)


def never_run(program: Program, scope: Scope) -> bool:
    """Tell whether a function with a private name is named nowhere."""
    name = scope.name
    if scope.kind != "function" or not name.startswith("_") or name.startswith("__") or scope.decorators:
        return False
    return not flow_of(program).callers(scope) and not _what_runs(program).mentions(scope)


def is_never_called(program: Program, scope: Scope) -> bool:
    """Tell whether no code that runs names the function or class around a scope.

    Only functions and classes at the top of a module count, and nested functions that are never named. For those at the
    top the answer is False in tests, under decorators, and in libraries, whose callers are not at hand.
    """
    if any(_never_named_inside(inner) for inner in _up_to_the_top(scope)):
        return True
    top = _top_definition(scope)
    if top.parent != 0 or top.kind not in ("function", "class") or top.decorators or top.name in _BEGINS:
        return False
    if is_test(top.module):
        # A test is found by its name.
        return False
    return _named_by_nothing(program, top)


@once
def _named_by_nothing(program: Program, top: Scope) -> bool:
    """Tell whether no code that runs names a function or class at a module's top."""
    return has_all_callers(program, top.module) and top not in _what_runs(program)


@once
def is_never_named(program: Program, scope: Scope) -> bool:
    """Tell whether a scope is, or lies in, a method that nothing names.

    A method that a base class may call counts as named.
    """
    return any(_is_unnamed(program, inner) for inner in _up_to_the_top(scope))


def _is_unnamed(program: Program, scope: Scope) -> bool:
    if scope.kind != "function" or scope.parent <= 0 or scope.decorators or scope.name.startswith("__"):
        return False
    owner = scope.module.summary.scopes[scope.parent]
    if owner.kind != "class" or owner.parent != 0 or is_test(scope.module):
        return False
    return (
        all(isinstance(base, Name) and base.name == "object" for base in owner.bases)
        and has_all_callers(program, scope.module)
        and not flow_of(program).callers(scope)
        and not _what_runs(program).mentions(scope)
    )


_MOST = 400
"""Most scopes that are looked at on the way back to where a program begins."""


def is_reached_from_scripts(program: Program, scope: Scope) -> bool:
    """Tell whether calls lead from a script or notebook to a scope.

    They are followed back to statements of the file, as far as calls are known.
    """
    seen: set[int] = set()
    pending = [scope]
    while pending and len(seen) < _MOST:
        here = pending.pop()
        if id(here) in seen:
            continue
        seen.add(id(here))
        if here is here.module.scope:
            if here.module.path.endswith(".ipynb") or _is_script(here.module):
                return True
            continue
        if program.flow is not None:
            pending += [site.scope for site in program.flow.callers(here)]
        if here.parent > 0 or here.kind != "function":
            # What stands in a class or a function is entered through it.
            pending.append(here.module.summary.scopes[here.parent])
    return False


@once
def is_never_given(program: Program, scope: Scope, name: str) -> bool:
    """Tell whether no call gives a parameter another value than its default.

    Calls are matched by the callee's name alone, and keyword arguments by theirs in any call. The answer is False where a
    text has the parameter's name, since the text may be a key that becomes an argument, and for public functions of a
    package, whose callers are not at hand.
    """
    if scope.kind != "function" or scope.decorators:
        return False
    private = scope.name.startswith("_") and not scope.name.startswith("__")
    if not (private or has_all_callers(program, scope.module)) or is_test(scope.module):
        return False
    position = next((number for number, item in enumerate(scope.params) if item.name == name), -1)
    if position < 0:
        return False
    owner = scope.module.summary.scopes[scope.parent] if scope.parent >= 0 else None
    method = owner is not None and owner.kind == "class"
    called = owner.name if method and owner is not None and scope.name == "__init__" else scope.name
    default = scope.params[position].default
    if default is None or any(
        _may_give(call, called, name, position - method, default)
        for module in program.modules
        for item in module.summary.scopes
        for call in item.calls
    ):
        return False
    # A file that was not read may call it as it likes.
    return not (_what_runs(program).has_text(name) or _what_runs(program).written({name, called}))


def _may_give(call: Call, called: str, name: str, position: int, default: Expr) -> bool:
    """Tell whether a call may give a parameter another value than its default.

    A variable of the parameter's own name does not count as another value.
    """
    for keyword, value in call.keywords:
        if keyword == name and not (is_name(value, name) or is_same_expression(value, default)):
            return True
    last = call.func.name if isinstance(call.func, Name) else call.method
    if last not in (called, "super", "__init__"):
        return False
    if any(keyword is None for keyword, _ in call.keywords) or call.opaque:
        return True
    if len(call.args) <= position:
        return False
    value = call.args[position]
    return not (is_name(value, name) or is_same_expression(value, default))


def has_all_callers(program: Program, module: Module) -> bool:
    """Tell whether the program has all callers of a module's code.

    The program must have an entry point, be no installed package, and include all files of the module's folder.
    """
    return (
        _begins_somewhere(program) and not _is_installed(program, module) and _whole_folder(program, module)
    )


def calls_are_known(program: Program, module: Module) -> bool:
    """Tell whether the program has all callers of a module's code.

    It has those of a script that nothing imports.
    """
    return has_all_callers(program, module) or (_is_script(module) and not is_imported(program, module))


def _up_to_the_top(scope: Scope) -> Iterator[Scope]:
    """Yield a scope and the scopes around it, without the module's own."""
    while scope.parent >= 0:
        yield scope
        scope = scope.module.summary.scopes[scope.parent]


def _never_named_inside(scope: Scope) -> bool:
    """Tell whether a nested function is never named in the function around it."""
    if scope.kind != "function" or scope.decorators or scope.parent <= 0:
        return False
    scopes = scope.module.summary.scopes
    outer: Scope = scopes[scope.parent]
    if outer.kind != "function" or scope.name in outer.outer:
        return False
    inside = [item for item in scopes[outer.number :] if outer in _up_to_the_top(item)]
    return all(scope.name not in plain_names(item) for item in inside if item is not scope) and not any(
        isinstance(call.func, Name) and call.func.name in ("locals", "vars") for call in outer.calls
    )


def _top_definition(scope: Scope) -> Scope:
    """Return the function or class at a module's top that holds a scope.

    A scope at the top, or the module's own, is returned itself.
    """
    top = scope
    while top.parent > 0:
        top = scope.module.summary.scopes[top.parent]
    return top


@once
def _what_runs(program: Program) -> Reached:
    begins = [item.path for item in program.modules if is_test(item) or not _does_nothing(item)]
    return Reached(program, begins, _imports_by_path(program))


@once
def is_for_python2(program: Program, module: Module) -> bool:
    """Tell whether a module is for Python 2.

    It calls an `xrange` that it makes nowhere. No TensorFlow from 2.2 on runs with Python 2.
    """
    del program
    scopes = module.summary.scopes
    return any(
        isinstance(call.func, Name) and call.func.name == "xrange" for scope in scopes for call in scope.calls
    ) and not any(
        "xrange" in scope.names or "xrange" in scope.imports or "xrange" in scope.children or scope.stars
        for scope in scopes
    )


_TWO_STATEMENT = re.compile(
    r"""(?m)^[ \t]*(?:
        (?:print|exec)[ \t]+(?!(?:in|is|and|or|not|if|else)\b)["'\w%`]
        | print[ \t]*>>
        | print[ \t]*$
        | except[ \t]+(?:[\w.]+|\([\w., \t]+\))[ \t]*,[ \t]*\w+[ \t]*:
        | raise[ \t]+[\w.]+[ \t]*,
    )""",
    re.VERBOSE,
)
"""Statements that only Python 2 has."""
_TWO_TOKEN = re.compile(
    r"""<>|`|\b[uU][rR]["']|\b\d+[lL]\b|(?<![\w.])(?<![eE][+-])0\d*[1-9]\d*(?![\w.])|\bdef\s+\w+\((?:[^)=]*,)?\s*\("""
)
"""What a line of Python 2 may hold that Python 3 does not read."""
_QUOTED = re.compile(r"\"\"\".*?\"\"\"|\'\'\'.*?\'\'\'", re.DOTALL)
_LATER = (
    ((3, 11), re.compile(r"\bexcept\s*\*")),
    ((3, 12), re.compile(r"""^\s*type\s+\w+|\b(?:def|class)\s+\w+\[|\b[rR]?[fF][rR]?["']""")),
    ((3, 14), re.compile(r"""\b[rR]?[tT][rR]?["']|^\s*except\s+[\w.]+\s*,""")),
)
"""Syntax of later releases, by the first that reads it."""


def for_another_python(source: str, line: int) -> bool:
    """Tell whether a text that does not parse may be for another Python.

    That is Python 2, or one that is newer than the interpreter at work.

    Args:
        source: The text.
        line: The line at which the parser gave up.
    """
    rows = source.split("\n")
    row = rows[line - 1] if 0 < line <= len(rows) else ""
    if _TWO_TOKEN.search(row) or _TWO_STATEMENT.search(_QUOTED.sub('""', source)):
        return True
    return any(sys.version_info < release and sign.search(row) for release, sign in _LATER)


def _is_installed(program: Program, module: Module) -> bool:
    """Tell whether a module is part of a package that users install.

    Other programs may then call its code. Scripts in a separate folder beside the package, such as examples, are no part.
    """
    return _in_installed_folder(program, os.path.dirname(os.path.abspath(module.path)))


@once
def _in_installed_folder(program: Program, folder: str) -> bool:
    """Tell whether a folder or its package has a file such as `setup.py`."""
    del program
    places = [folder]
    if os.path.isfile(os.path.join(folder, "__init__.py")):
        while len(places) <= MAX_LEVELS and not os.path.exists(os.path.join(places[-1], ".git")):
            places.append(os.path.dirname(places[-1]))
    return any(os.path.isfile(os.path.join(place, name)) for place in places for name in _PACKAGED)


def _imported_names(module: Module) -> Iterator[str]:
    """Yield the dotted names that a module imports, inside its functions too."""
    for scope in module.summary.scopes:
        yield from scope.stars
        if scope.imports:
            for event in scope.events():
                if event.kind == "import":
                    yield from (source for _, source in event.imports)


def imports_of(module: Module) -> Iterator[tuple[str, Scope, Event | None]]:
    """Yield the dotted names of a module's imports, with scope and statement.

    The imports are made whenever they are come to. Those for type checkers, and those in a `try`, which a program may go on
    without, are left out. A star has no statement.
    """
    for scope in module.summary.scopes:
        yield from ((absolute(source, module), scope, None) for source in scope.stars)
        if scope.imports:
            for event in scope.events():
                if event.kind == "import" and not any(
                    block.kind in ("try", "except")
                    or (block.kind == "if" and block.test and "TYPE_CHECKING" in text(block.test))
                    for block in scope.block_chain(event.block)
                ):
                    for _, source in event.imports:
                        yield absolute(source, module), scope, event


@once
def _imports_by_path(program: Program) -> dict[str, set[str]]:
    """Return for the path of each module the paths of the modules that it imports."""
    return {module.path: set(_imported_paths(program, module)) for module in program.modules}


def _imported_paths(program: Program, module: Module) -> Iterator[str]:
    """Yield the paths of the modules that a module imports."""
    for source in _imported_names(module):
        name = absolute(source, module)
        path = program.path_of(name, module) or program.path_of(name.rpartition(".")[0], module)
        if path is not None and path != module.path:
            yield path


def _imports_another(program: Program, module: Module) -> bool:
    return next(_imported_paths(program, module), None) is not None


def _reachable_nodes(graph: dict[str, set[str]], start: str) -> set[str]:
    """Return the nodes of a graph reachable from a start, itself included."""
    seen = {start}
    pending = [start]
    while pending:
        for path in graph.get(pending.pop(), ()):
            if path not in seen:
                seen.add(path)
                pending.append(path)
    return seen


def modules_sharing_runs(program: Program, module: Module) -> set[str]:
    """Return the paths of the modules that may run together with a module.

    These are its imports, its importers, and the imports of its importers, each with those of their own.
    """
    graph = _imports_by_path(program)
    found = _reachable_nodes(graph, module.path)
    for path in graph:
        here = _reachable_nodes(graph, path)
        if module.path in here:
            found |= here
    return found


def importers_of(program: Program, module: Module) -> set[str]:
    """Return the paths of the modules that come to a module by imports."""
    graph = _imports_by_path(program)
    return {path for path in graph if path != module.path and module.path in _reachable_nodes(graph, path)}


def switched_by_entries(program: Program, module: Module, switched: Iterable[tuple[Module, bool]]) -> bool:
    """Tell whether every entry point that imports a module throws a switch.

    Args:
        program: The program.
        module: The module in question.
        switched: The modules that throw the switch, each with whether importing it is enough; otherwise only running it as
            the script is.
    """
    whole = {item.path for item, _ in switched}
    while_imported = {item.path for item, early in switched if early}
    graph = _imports_by_path(program)
    backwards: dict[str, set[str]] = {}
    for path, targets in graph.items():
        for target in targets:
            backwards.setdefault(target, set()).add(path)
    entries = [path for path in _reachable_nodes(backwards, module.path) if not backwards.get(path)]
    return bool(entries) and all(
        path in whole or not while_imported.isdisjoint(_reachable_nodes(graph, path)) for path in entries
    )


@once
def is_never_run(program: Program, module: Module) -> bool:
    """Tell whether a module only defines something and no other file names it.

    The answer is False for libraries, which others import, and where not all files of the module's folder are looked at.
    """
    return (
        _does_nothing(module)
        and _module_word(module) not in _often_imported(program)
        and _begins_somewhere(program)
        and _whole_folder(program, module)
        and not _is_mentioned(program, module)
    )


@once
def never_imported(program: Program, module: Module) -> bool:
    """Tell whether nothing imports a module that only defines something.

    The program begins somewhere. What has the module's path or its dotted name in a text may import it by that.
    """
    return (
        _does_nothing(module)
        and _begins_somewhere(program)
        and _whole_folder(program, module)
        and not is_imported(program, module)
        and not _named_as_file(program, module)
    )


def is_imported(program: Program, module: Module) -> bool:
    """Tell whether another module of the program imports one."""
    return any(module.path in targets for targets in _imports_by_path(program).values())


def _named_as_file(program: Program, module: Module) -> bool:
    folder = os.path.basename(os.path.dirname(os.path.abspath(module.path))).encode()
    word = _module_word(module).encode()
    shown = re.compile(
        rb"(?<!\w)(?:"
        + re.escape(word)
        + rb"\.py|"
        + re.escape(folder)
        + rb"[./\\]"
        + re.escape(word)
        + rb")(?!\w)"
    )
    return any(
        file.path != module.path and word in data and shown.search(data) is not None
        for file in program.files.values()
        for data in (program.content_of(file.path),)
    )


def _module_word(module: Module) -> str:
    return os.path.basename(module.path).removesuffix(".py")


@once
def _often_imported(program: Program) -> set[str]:
    """Return the single parts of all dotted names that modules import.

    They cover nearly all imports of the program and are cheap to find.
    """
    return {
        part
        for module in program.modules
        for scope in module.summary.scopes
        if scope.imports
        for source in scope.imports.values()
        for part in source.split(".")
    }


@once
def _begins_somewhere(program: Program) -> bool:
    return any(_is_script(module) for module in program.modules) and any(
        _imports_another(program, module) for module in program.modules
    )


def _is_script(module: Module) -> bool:
    """Tell whether a module is a script.

    A script has a loop, a `with`, a call that does more than set up, or a test of `__name__` at its top. Tests are none.
    """
    scope = module.scope
    if scope is None or is_test(module) or os.path.basename(module.path) == "setup.py":
        return False
    return _does_more_than_define(scope)


def _does_more_than_define(scope: Scope) -> bool:
    for event in scope.body:
        if event.kind in ("for", "while", "with"):
            return True
        if event.value is None:
            continue
        if event.kind == "if" and "__name__" in text(event.value):
            return True
        if event.kind == "expr" and isinstance(event.value, Call) and not _only_sets_up(event.value.func):
            return True
    return False


def _whole_folder(program: Program, module: Module) -> bool:
    """Tell whether all Python files of a module's folder are files of the program."""
    folder = os.path.dirname(module.path)
    try:
        names = os.listdir(folder or ".")
    except OSError:
        return False
    return all(
        os.path.normpath(os.path.join(folder, name)) in program.files
        for name in names
        if name.endswith(".py")
    )


def _does_nothing(module: Module) -> bool:
    """Tell whether a module only defines something when it is run."""
    scope = module.scope
    return (
        scope is not None
        and module.path.endswith(".py")
        and os.path.basename(module.path) not in ("__init__.py", "__main__.py", "setup.py", "conftest.py")
        and all(
            event.kind in ("define", "import", "assign", "annotate", "pass", "expr", "try")
            for event in scope.body
        )
        and _BEGINS.isdisjoint(scope.children)
        and all(_only_sets_up(call.func) for call in scope.calls)
        and all(
            isinstance(decorator, Call) or _only_sets_up(decorator)
            for number in scope.children.values()
            for decorator in module.summary.scopes[number].decorators
        )
    )


def _only_sets_up(called: Expr) -> bool:
    return (dotted(called) or "").rpartition(".")[2] in _SETS_UP


MAX_SEARCHED = 100
"""Most names of modules that all files are searched for; of a program with more nobody knows."""


def _is_mentioned(program: Program, module: Module) -> bool:
    """Tell whether another file of the program has a module's name in it.

    Texts and comments count too.
    """
    return _mentions_of_modules(program).get(module.path, True)


@once
def _mentions_of_modules(program: Program) -> dict[str, bool]:
    """Return for modules that only define something whether another file names them.

    They are given by path. Modules that the program imports are left out, and there are none where too many are to be searched.
    """
    imported = {
        part for item in program.modules for source in _imported_names(item) for part in source.split(".")
    }
    words = {}
    for module in program.modules:
        if _module_word(module) not in imported and _does_nothing(module):
            words[module.path] = _module_word(module).encode()
    if len(words) > MAX_SEARCHED:
        return {}
    found = dict.fromkeys(words, False)
    for file in program.files.values():
        data = program.content_of(file.path)
        for path, word in words.items():
            if not found[path] and path != file.path and word in data:
                found[path] = re.search(rb"(?<!\w)" + re.escape(word) + rb"(?!\w)", data) is not None
    return found
