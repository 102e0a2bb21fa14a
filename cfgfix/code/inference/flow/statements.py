"""What statements do to the names of a run."""

from __future__ import annotations

import re

from cfgfix.code.inference.flow.expressions import decorator_call
from cfgfix.code.inference.flow.functions import Functions
from cfgfix.code.inference.flow.run import MAX_STEPS, Frame
from cfgfix.code.model.canonical_names import canonical_name
from cfgfix.code.model.expressions import is_name
from cfgfix.code.model.nodes import Attribute, Call, Collection, Expr, Literal, Name, Starred, Subscript
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import (
    UNKNOWN,
    ClassValue,
    Constant,
    Dataset,
    Element,
    Entries,
    Env,
    External,
    Function,
    Instance,
    Items,
    Made,
    Site,
    Value,
    alternatives,
    first_dataset,
    item_of,
    join,
)

_WRAPPERS = frozenset({"tensorflow.function", "tensorflow.autograph.experimental.do_not_convert"})


_SHOWS_PROGRESS = re.compile(
    r"tqdm\.(?:\w+\.)?tqdm(?:_notebook)?|alive_progress\.alive_it|rich\.progress\.track|fastprogress\.\w+"
)
"""What goes through a dataset and shows how far it is."""


def _dataset_or_made(value: Value) -> Value:
    """Return the dataset among a value's alternatives, or else the value."""
    dataset = first_dataset(value)
    return value if dataset is None else dataset


class Statements(Functions):
    """The part of the runs that executes statements."""

    def _run_body(self, frame: Frame) -> None:
        self._run_statements(frame, frame.scope.body)

    def _run_statements(self, frame: Frame, events: list[Event]) -> bool:
        """Run statements, and tell whether their end is never reached."""
        for event in events:
            if self._steps > MAX_STEPS:
                self.exhausted = True
                return True
            if self._run_statement(frame, event):
                return True
        return False

    def _run_statement(self, frame: Frame, event: Event) -> bool:
        kind = event.kind
        names = frame.env.names
        if kind in ("expr", "yield"):
            if event.value is not None and not isinstance(event.value, Literal):
                self.eval(frame, event.value)
        elif kind == "assign":
            assert event.value is not None
            value = self.eval(frame, event.value)
            for target in event.targets:
                self._assign_target(frame, target, value)
        elif kind == "annotate":
            if event.value is not None:
                value = self.eval(frame, event.value)
                if value is UNKNOWN:
                    value = self._value_by_annotation(event.annotation, frame.scope)
                self._assign_target(frame, event.targets[0], value)
            elif isinstance(event.targets[0], Name):
                names.setdefault(
                    event.targets[0].name, self._value_by_annotation(event.annotation, frame.scope)
                )
        elif kind == "augment":
            assert event.value is not None
            self.eval(frame, event.value)
            self._assign_target(frame, event.targets[0], UNKNOWN)
        elif kind == "return":
            frame.returned.append(
                self.eval(frame, event.value) if event.value is not None else Constant(None)
            )
            return True
        elif kind == "if":
            assert event.value is not None
            self.eval(frame, event.value)
            self._run_branches(frame, event)
        elif kind in ("for", "while"):
            self._run_loop(frame, event)
        elif kind == "with":
            for manager, target in zip(event.managers, event.targets, strict=True):
                value = self.eval(frame, manager)
                self._assign_target(frame, target, value)
            return self._run_statements(frame, event.bodies[0][1])
        elif kind == "try":
            return self._try(frame, event)
        elif kind == "define":
            self._define(frame, event)
        elif kind == "import":
            for name, source in event.imports:
                if name and name not in names:
                    names[name] = self.program.find(source, frame.scope.module)
        elif kind in ("raise", "break", "continue"):
            if event.value is not None:
                self.eval(frame, event.value)
            return True
        elif kind == "match":
            assert event.value is not None
            self.eval(frame, event.value)
            self._run_branches(frame, event)
        elif kind == "assert":
            if event.value is not None:
                self.eval(frame, event.value)
        elif kind == "delete":
            for target in event.targets:
                if isinstance(target, Name):
                    names.pop(target.name, None)
        return False

    def _define(self, frame: Frame, event: Event) -> None:
        scope = frame.scope.module.summary.scopes[event.inner]
        value = self._defined_value(frame, scope)
        frame.env.names[scope.name] = value
        if scope.kind == "class":
            self._class_body(frame, scope)

    def _class_body(self, frame: Frame, scope: Scope) -> None:
        """Run the statements of a class body, noting its calls."""
        if id(scope) in self._envs:
            return
        env = Env(scope, frame.env)
        self._envs[id(scope)] = env
        self._run_body(Frame(scope, env, None, frame.through))
        for name, value in env.names.items():
            if not isinstance(value, Function):
                self._attributes.setdefault((id(scope), name), value)

    def _defined_value(self, frame: Frame, scope: Scope) -> Value:
        bare: Value = ClassValue(scope) if scope.kind == "class" else Function(scope, env=frame.env)
        if not scope.decorators or id(scope) in self._defining:
            # A decorator that names what it decorates means what the name was before.
            return bare
        self._defining.add(id(scope))
        try:
            if scope.kind == "class":
                for decorator in scope.decorators:
                    self.eval(frame, decorator)
                return bare
            value = bare
            for decorator in reversed(scope.decorators):
                value = self._decorated_value(frame, decorator, value)
            return value
        finally:
            self._defining.discard(id(scope))

    def _decorated_value(self, frame: Frame, decorator: Expr, value: Value) -> Value:
        """Return the value of a function under a decorator.

        `tf.function` makes it a compiled function, and `tf.py_function` a library object. Others leave it unchanged.
        """
        made = self.eval(frame, decorator)
        name = ""
        site: Site | None = None
        if isinstance(decorator, Call):
            for item in alternatives(made):
                if isinstance(item, Made):
                    name, site = item.name, item.site
            if not name and isinstance(value, Function):
                return value
        else:
            for item in alternatives(made):
                if isinstance(item, External):
                    name = canonical_name(item.name)
            if name in _WRAPPERS:
                site = Site(frame.scope, decorator_call(decorator, frame.scope), frame.through)
                site.name = site.raw = name
                site.result = value
        if isinstance(value, Function):
            if name == "tensorflow.function":
                return Function(value.scope, value.receiver, site, value.env)
            if name in ("tensorflow.py_function", "tensorflow.numpy_function") and site is not None:
                return Made(name, site)
        return value

    def _assign_target(self, frame: Frame, target: Expr, value: Value) -> None:
        if isinstance(target, Name):
            if target.name in frame.scope.outer:
                env = frame.env.parent
                while env is not None and target.name not in env.names:
                    env = env.parent
                if env is not None:
                    env.names[target.name] = join(env.names[target.name], value)
                return
            frame.env.names[target.name] = value
        elif isinstance(target, Collection):
            items = value.items if isinstance(value, Items) else ()
            if isinstance(value, Element):
                items = tuple(value for _ in target.items)
            for position, inner in enumerate(target.items):
                known = len(items) == len(target.items) and not any(
                    isinstance(item, Starred) for item in target.items
                )
                self._assign_target(frame, inner, items[position] if known else UNKNOWN)
        elif isinstance(target, Starred):
            self._assign_target(frame, target.value, UNKNOWN)
        elif isinstance(target, Attribute):
            owner = self.eval(frame, target.base)
            if type(owner) is Instance:
                key = (id(owner.scope), target.attribute)
                before = self._attributes.get(key)
                if type(before) is Constant and before.value is None:
                    before = None
                self._attributes[key] = value if before is None else join(before, value)
            elif type(owner) is Made:
                frame.env.names[f"<{id(owner)}>.{target.attribute}"] = value
        elif isinstance(target, Subscript):
            if type(self.eval(frame, target.base)) is Entries:
                self._assign_target(frame, target.base, UNKNOWN)
            self.eval(frame, target.index)

    def _run_branches(self, frame: Frame, event: Event) -> None:
        before = frame.env.names
        ends: list[dict[str, Value]] = []
        for position, (_, body) in enumerate(event.bodies):
            frame.env.names = dict(before)
            if position == 0 and event.kind == "if":
                self._told_by_test(frame, event.value)
            if not self._run_statements(frame, body):
                ends.append(frame.env.names)
        if (event.kind == "if" and len(event.bodies) < 2) or event.kind == "match":
            ends.append(before)
        frame.env.names = _merged_names(before, ends)

    def _told_by_test(self, frame: Frame, test: Expr | None) -> None:
        """Give an unknown name the class that a test `isinstance(name, X)` names."""
        if not isinstance(test, Call) or not is_name(test.func, "isinstance") or len(test.args) != 2:
            return
        asked, kind = test.args
        if isinstance(asked, Name) and frame.env.names.get(asked.name) is UNKNOWN:
            frame.env.names[asked.name] = self._value_by_annotation(kind, frame.scope)

    def _loop_element(self, value: Value, scope: Scope, block: int, depth: int = 3) -> Value:
        """Return the item of a loop over a value, noting a dataset that it iterates over."""
        if isinstance(value, Dataset):
            value.uses.append(("loop", None))
            self.consumed.append(("loop", value, scope, block))
            return Element(value)
        if not isinstance(value, Made) or value.site is None or not value.site.args or depth == 0:
            return item_of(value)
        given = value.site.args[0]
        if value.name == "iterator":
            inner = first_dataset(given)
            return Element(inner) if inner is not None else UNKNOWN
        if value.name == "builtins.enumerate":
            inside = self._loop_element(_dataset_or_made(given), scope, block, depth - 1)
            return Items((UNKNOWN, inside)) if inside is not UNKNOWN else UNKNOWN
        if value.name == "builtins.zip":
            items = tuple(
                self._loop_element(_dataset_or_made(item), scope, block, depth - 1)
                for item in value.site.args
            )
            return Items(items) if any(item is not UNKNOWN for item in items) else UNKNOWN
        if _SHOWS_PROGRESS.fullmatch(value.name):
            return self._loop_element(_dataset_or_made(given), scope, block, depth - 1)
        return UNKNOWN

    def _run_loop(self, frame: Frame, event: Event) -> None:
        assert event.value is not None
        value = self.eval(frame, event.value)
        before = dict(frame.env.names)
        if event.kind == "for":
            item: Value = UNKNOWN
            for alternative in alternatives(value):
                found = self._loop_element(alternative, frame.scope, event.bodies[0][0])
                if found is not UNKNOWN:
                    item = found
            for target in event.targets:
                self._assign_target(frame, target, item)
        ends = [before]
        if not self._run_statements(frame, event.bodies[0][1]):
            ends.append(frame.env.names)
        else:
            ends.append(frame.env.names)
        frame.env.names = _merged_names(before, ends)
        for _, body in event.bodies[1:]:
            self._run_statements(frame, body)

    def _try(self, frame: Frame, event: Event) -> bool:
        before = dict(frame.env.names)
        body = event.bodies[0][1]
        last = len(body) - 1
        while last > 0 and only_prints(body[last]):
            last -= 1
        left = self._run_statements(frame, body[:last])
        # A handler sees what was done before the statement that failed: of the last one, nothing it binds.
        reached = dict(frame.env.names)
        if not left and body:
            left = self._run_statements(frame, body[last:])
            if body[last].bodies:
                reached = frame.env.names
        done = frame.env.names
        ends: list[dict[str, Value]] = []
        interrupted = _merged_names(before, [before, reached])
        blocks = frame.scope.blocks
        for block, suite in event.bodies[1:]:
            kind = blocks[block].kind
            if kind == "except":
                frame.env.names = dict(interrupted)
                if not self._run_statements(frame, suite):
                    ends.append(frame.env.names)
            elif kind == "try-else" and not left:
                frame.env.names = dict(done)
                left = self._run_statements(frame, suite)
                done = frame.env.names
        if not left:
            ends.insert(0, done)
        frame.env.names = _merged_names(before, ends) if ends else done
        for block, suite in event.bodies[1:]:
            if blocks[block].kind == "finally":
                self._run_statements(frame, suite)
        return not ends


def only_prints(event: Event) -> bool:
    """Tell whether a statement only prints or logs, and so is not the one that fails."""
    if event.kind == "pass":
        return True
    if event.kind != "expr" or event.value is None or not isinstance(event.value, Call):
        return False
    func = event.value.func
    return (isinstance(func, Name) and func.name == "print") or (
        isinstance(func, Attribute)
        and func.attribute in ("info", "debug", "warning", "error", "print", "log")
    )


def _merged_names(before: dict[str, Value], ends: list[dict[str, Value]]) -> dict[str, Value]:
    """Return the names with their values after several branches, merged."""
    if not ends:
        return before
    if len(ends) == 1:
        return ends[0]
    result = dict(ends[0])
    for other in ends[1:]:
        for name, value in other.items():
            mine = result.get(name)
            if mine is None:
                result[name] = value
            elif mine is not value:
                result[name] = join(mine, value)
    return result
