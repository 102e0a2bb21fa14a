"""What calls do: functions of the project are entered, objects made, and the models of all others asked."""

from __future__ import annotations

from cfgfix.code.inference.interpreter import classes, writing
from cfgfix.code.inference.interpreter.command_line import OPTIONS
from cfgfix.code.inference.interpreter.events import DEFAULT, Asked
from cfgfix.code.inference.interpreter.models.builtin_types import builtin_method, fill
from cfgfix.code.inference.interpreter.models.click import run_commands
from cfgfix.code.inference.interpreter.models.containers import CONTAINERS
from cfgfix.code.inference.interpreter.models.decorators import call_decorated
from cfgfix.code.inference.interpreter.models.field_declarations import kind_of
from cfgfix.code.inference.interpreter.models.field_objects import construct_with_fields
from cfgfix.code.inference.interpreter.models.libraries import call_external, library_method
from cfgfix.code.inference.interpreter.models.method_names import DICT_METHODS
from cfgfix.code.inference.interpreter.models.outside import library_call
from cfgfix.code.inference.interpreter.models.standard_library import GETTERS, call_getter, make_tuple
from cfgfix.code.inference.interpreter.objects import (
    EITHER,
    NONE,
    UNKNOWN,
    Choice,
    ClassObject,
    ConfigKey,
    External,
    FilePath,
    FunctionObject,
    Instance,
    Made,
    Mapping,
    Method,
    Namespace,
    Scalar,
    Sequence,
    Spot,
    Unknown,
    Value,
)
from cfgfix.code.inference.interpreter.run import NORMAL, RAISE, Call, Frame, Run, WithUnknown
from cfgfix.code.inference.interpreter.values import (
    alternatives,
    choice,
    constant_of,
    held_values,
    key_of,
    origins_of,
)
from cfgfix.code.model.expressions import dotted, walk
from cfgfix.code.model.nodes import Expr, Name
from cfgfix.code.model.summary import Scope

MAX_DEPTH = 40
"""Most calls entered inside one another."""
MAX_ENTERED = 40
"""Most times that a function is entered in one run."""
MAX_ENTERED_SHORT = 600
"""The same for a function without loops that is so short as those that only look something up."""
MAX_SHORT = 12
"""Most statements of such a function."""
MAX_SAME = 6
"""Most times that a function is inside itself."""
MAX_WAY = 12
"""Most calls that a place remembers."""
_HOLDERS = (FunctionObject, Instance, Mapping, Sequence)
"""What may hold a section of a config."""
_DICT_CLASSES = frozenset(
    {"builtins.dict", "collections.OrderedDict", "collections.UserDict", "collections.defaultdict"}
)


def call_value(call: Call) -> Value:
    """Carry out a call and return its result."""
    callee = call.callee
    if isinstance(callee, FunctionObject):
        known = call_decorated(call, callee)
        return known if known is not None else _enter_with_each(call, callee)
    if isinstance(callee, ClassObject):
        return _construct(call, callee)
    if isinstance(callee, External):
        return call_external(call)
    if isinstance(callee, Method):
        return _call_method(call, callee)
    if isinstance(callee, Instance):
        if call.run.tensors is not None:
            known = call.run.tensors.call_own(call, callee)
            if known is not None:
                return known
        for name in ("__call__", "call"):
            method = classes.member(callee.cls, name)
            if isinstance(method, FunctionObject):
                return call_value(call.on(method.bound(callee)))
        call.escape()
        return UNKNOWN
    if isinstance(callee, Made):
        if callee.name == "functools.partial" and callee.args:
            first, *args = callee.args
            keywords = {**callee.keywords, **call.keywords}
            return call_value(call.handing(first, (*args, *call.args), keywords, callee.spread))
        if callee.name == "collections.namedtuple":
            made = make_tuple(call, callee)
            if made is not None:
                return made
        if callee.name in GETTERS and call.args:
            return call_getter(call, callee)
        if id(callee) in call.run.commands:
            return run_commands(call, callee)
        return library_call(call, f"{callee.name}.__call__")
    call.escape()
    return Unknown(origins_of((callee, *call.values)))


def _call_method(call: Call, method: Method) -> Value:
    owner = method.owner
    known = library_method(call)
    if known is not None:
        return known
    known = builtin_method(call)
    if known is not None:
        return known
    if isinstance(owner, Method):
        # `model.optimizer.assign(x)`, `tf.summary.writer.x.y()`
        prefix = owner.owner.name if isinstance(owner.owner, (Made, External)) else "?"
        return library_call(call, f"{prefix}.{owner.name}.{method.name}")
    if isinstance(owner, Made):
        return library_call(call, f"{owner.name}.{method.name}")
    if isinstance(owner, Instance):
        outside = classes.outside_bases(owner.cls)
        return library_call(call, f"{outside[0] if outside else '?'}.{method.name}")
    call.use(owner)
    if call.args:
        call.run.asked_of_unknown(owner, constant_of(call.args[0]))
    if call.run.is_stand_in(owner) and method.name in DICT_METHODS:
        return call.run.stand_in(origins_of((owner, *call.values)))
    call.escape()
    return Unknown(origins_of((owner, *call.values)))


def _construct(call: Call, cls: ClassObject) -> Value:
    """Return a new object of a class of the project."""
    kind = kind_of(call.run, cls)
    if kind:
        return construct_with_fields(call, cls, kind)
    by_meta = classes.of_metaclass(cls, "__call__") if id(cls) not in call.run.making else None
    if isinstance(by_meta, FunctionObject):
        return _made_by_metaclass(call, cls, by_meta)
    instance = _new_object(call, cls)
    if instance.cls is not cls:
        return instance
    if call.run.code_settings is not None and not instance.attributes:
        instance.sections = call.run.code_settings.sections_of(cls)
    outside = classes.outside_bases(cls)
    init = classes.member(cls, "__init__")
    if instance.entries is not None:
        pass
    elif any(name in _DICT_CLASSES for name in outside):
        instance.entries = Mapping(access=EITHER)
        if not isinstance(init, FunctionObject):
            for value in call.args:
                writing.update(call.frame, instance.entries, value, call.spot)
            instance.entries.entries.update(call.keywords)
            return instance
    elif outside and all(name in CONTAINERS for name in outside):
        flavour, access, absent = CONTAINERS[outside[0]]
        instance.entries = Mapping(access=access, absent=absent, flavour=flavour)
        if not isinstance(init, FunctionObject):
            fill(call, instance.entries, call.args)
            return instance
    elif outside:
        instance.open = True
    if isinstance(init, FunctionObject):
        enter(call, init.bound(instance))
    elif outside:
        library_call(call, outside[0])
    if outside and instance.entries is None:
        call.run.waiting.append((instance, call.frame))
    return instance


def _made_by_metaclass(call: Call, cls: ClassObject, by_meta: FunctionObject) -> Value:
    """Return what the `__call__` of a class's metaclass gives for a call of the class."""
    run = call.run
    run.making.add(id(cls))
    try:
        made = enter(call.on(by_meta), by_meta.bound(cls))
    finally:
        run.making.discard(id(cls))
    return _first_object(made) or made


def _new_object(call: Call, cls: ClassObject) -> Instance:
    """Return the object that a class's own `__new__` gives, or a new one where it has none or gives something else."""
    maker = classes.member(cls, "__new__")
    if isinstance(maker, FunctionObject):
        made = enter(call.handing(call.callee, (cls, *call.args), call.keywords), maker)
        found = _first_object(made)
        if found is not None:
            return found
    return Instance(cls)


def _first_object(made: Value) -> Instance | None:
    """Return the first object among a value's alternatives: the others are made where it is not known to be there yet."""
    return next((item for item in alternatives(made) if isinstance(item, Instance)), None)


def call_back(value: Value, frame: Frame) -> None:
    """Run a function or an object's methods with unknown arguments, as a library may."""
    if isinstance(value, FunctionObject):
        _call_with_unknown(value, frame)
    elif isinstance(value, Instance):
        hooked = bool(classes.outside_bases(value.cls))
        for cls in classes.lineage(value.cls):
            for name, member in list(cls.names.names.items()):
                if isinstance(member, FunctionObject) and name != "__init__":
                    own = classes.member(value.cls, name)
                    if own is member and "builtins.staticmethod" not in member.decorated:
                        of_class = "builtins.classmethod" in member.decorated
                        bound = member.bound(value.cls if of_class else value)
                        if hooked or name.startswith("__"):
                            _call_with_unknown(bound, frame)
                            continue
                        # A library calls what its own classes declare; what else such an object has, only perhaps.
                        frame.run.assumed.append(f"{name}() is called")
                        _call_with_unknown(bound, frame)
                        frame.run.assumed.pop()


def _call_with_unknown(function: FunctionObject, frame: Frame) -> None:
    key = (
        id(function.scope),
        id(function.receiver) if function.receiver is not None else id(function.names),
    )
    if key in frame.run.called_back:
        return
    frame.run.called_back.add(key)
    given = len(function.args) + (1 if function.receiver is not None else 0)
    plain = [name for name, _, _, kind in function.scope.params if kind == "plain"][given:]
    args = tuple(UNKNOWN for name in plain if name not in function.defaults and name not in function.keywords)
    spot = Spot(function.scope, function.scope.place, 0)
    result = enter(Call(frame, function, args, {}, spot, opaque=True), function)
    frame.run.use(result, spot, deep=True)


# Functions of the project


def _enter_with_each(call: Call, function: FunctionObject) -> Value:
    """Return the result of a function that gets a config section or an unknown value.

    Where an argument may be either, the function is entered once with each, since its doings with one say nothing of the
    other. Settings taken from a checkpoint or from a file are such an argument.
    """
    mixed = next((value for value in call.values if type(value) is Choice and _is_known_in_part(value)), None)
    if mixed is None:
        return enter(call, function)
    known = [item for item in mixed.values if _is_section(item)]
    others = [item for item in mixed.values if not _is_section(item)]
    found: list[Value] = []
    other = others[0] if len(others) == 1 and type(others[0]) is not Unknown else None
    for one in (*known, other or call.run.stand_in(origins_of(others))):
        args = tuple(one if value is mixed else value for value in call.args)
        keywords = {name: one if value is mixed else value for name, value in call.keywords.items()}
        found.append(enter(call.handing(function, args, keywords), function))
    return choice(found)


def _is_known_in_part(value: Choice) -> bool:
    """Tell whether a value may be a config section, and may also be unknown."""
    return any(type(item) in (Unknown, Made) and not item.origins for item in value.values) and any(
        map(_is_section, value.values)
    )


def _is_section(value: Value) -> bool:
    """Tell whether a value is a mapping with entries of a config section."""
    return isinstance(value, Mapping) and bool(value.sections)


def enter(call: Call, function: FunctionObject) -> Value:
    """Run a function of the project and return its result."""
    run, scope, spot = call.run, function.scope, call.spot
    count = run.running.get(id(scope), 0)
    times = run.times_entered[id(scope)] = run.times_entered.get(id(scope), 0) + 1
    given = run.given.setdefault(id(scope), {})
    unknown = _unknown_alone(call, function)
    if count:
        run.recursive.add(id(scope))
        if unknown is not None and unknown in run.with_unknown:
            # It does again what it does: a function that goes down a tree would go down one without an end.
            return Unknown(origins_of(call.values))
    if call.frame.depth >= MAX_DEPTH or count >= MAX_SAME or times > _most_times(run, scope, times):
        if times > MAX_ENTERED and _known_here(call, given):
            for value in call.values:
                call.use(value)
        else:
            call.escape()
        return Unknown(origins_of(call.values))
    given.update((id(value), value) for value in call.values if isinstance(value, _HOLDERS))
    run.entered[id(scope)] = scope
    names = Namespace(scope, function.names)
    receiver = () if function.receiver is None else (function.receiver,)
    args = (*receiver, *function.args, *call.args)
    keywords = {**function.keywords, **call.keywords} if function.keywords else call.keywords
    left_out = _bound_parameters(call.handing(call.callee, args, keywords, function.spread), function, names)
    way = (*spot.calls, (spot.scope, spot.place)) if len(spot.calls) < MAX_WAY else spot.calls
    inner = Frame(run, scope, names, way, call.frame.depth + 1, function.receiver, _owner_class(function))
    inner.caught = list(call.frame.caught)
    inner.left_out = left_out
    run.running[id(scope)] = count + 1
    if unknown is not None:
        run.with_unknown.append(unknown)
    try:
        signal = run.suite(inner, scope.body)
        if signal == RAISE:
            run.left_early.add(id(scope))
    finally:
        run.running[id(scope)] = count
        if unknown is not None:
            run.with_unknown.pop()
    if scope.generator:
        return Sequence(inner.yielded, open=True, kind="generator")
    if not inner.returned:
        return NONE if signal != RAISE and not inner.went_on else UNKNOWN
    result = choice(inner.returned)
    may_end = signal == NORMAL and any(event.kind in ("if", "for", "while") for event in scope.body)
    if may_end and scope.body[-1].kind not in ("return", "raise"):
        return choice((result, UNKNOWN if inner.went_on else NONE))
    return result


def _unknown_alone(call: Call, function: FunctionObject) -> WithUnknown | None:
    """Return the key under which calls with only unknown arguments count as the same.

    None for a call with a known argument.
    """
    values = call.values
    if not values or any(type(value) is not Unknown for value in values):
        return None
    return id(function.scope), id(function.receiver), tuple(value.origins for value in values)


def _known_here(call: Call, given: dict[int, Value]) -> bool:
    """Tell whether a function was already entered with the containers of a call.

    The answer is False where a text argument may name an entry of one of them.
    """
    texts = {value.value for value in call.values if type(value) is Scalar and isinstance(value.value, str)}
    for value in call.values:
        if not isinstance(value, _HOLDERS):
            continue
        if id(value) not in given:
            return False
        for item in held_values(value) if texts else ():
            if isinstance(item, Mapping) and not texts.isdisjoint(item.entries):
                return False
    return True


def _most_times(run: Run, scope: Scope, times: int) -> int:
    """Return how many times a function may be entered in one run.

    Short functions get more. In recursive ones loops do not count against that: they walk down a tree, such as a config, and
    end with it.
    """
    if times <= MAX_ENTERED:
        return MAX_ENTERED
    if run.tensors is not None:
        # Functions that build blocks of a model are called as often as it has blocks.
        return MAX_ENTERED_SHORT
    key = id(scope), id(scope) in run.recursive
    known = run.short.get(key)
    if known is None:
        known = run.short[key] = _is_short(scope, loops=key[1])
    return MAX_ENTERED_SHORT if known else MAX_ENTERED


def _is_short(scope: Scope, *, loops: bool) -> bool:
    """Tell whether a function has few statements and no loops.

    With `loops` its loops do not matter.
    """
    pending, count = list(scope.body), 0
    while pending and count <= MAX_SHORT:
        event = pending.pop()
        count += 1
        if event.kind in ("for", "while") and not loops:
            return False
        for _, inner in event.bodies or ():
            pending += inner
    return count <= MAX_SHORT


def _owner_class(function: FunctionObject) -> ClassObject | None:
    """Return the class that defines a method."""
    names, receiver = function.names, function.receiver
    if names is None or names.scope.kind != "class":
        return None
    cls = receiver.cls if isinstance(receiver, Instance) else receiver
    if isinstance(cls, ClassObject):
        return next((item for item in classes.lineage(cls) if item.names is names), None)
    return None


def _bound_parameters(call: Call, function: FunctionObject, names: Namespace) -> dict[str, Value]:
    """Bind a function's parameters to a call's arguments, and return those that it leaves to their defaults.

    Keys of a config section that the function does not take are noted.
    """
    run, spot, spread = call.run, call.spot, call.spread
    scope = function.scope
    left_out: dict[str, Value] = {}
    plain: list[str] = []
    only_named: list[str] = []
    star = rest = None
    for name, _, _, kind in scope.params:
        if kind == "plain":
            plain.append(name)
        elif kind == "keyword":
            only_named.append(name)
        elif kind == "*":
            star = name
        else:
            rest = name
    own = names.names
    for name, value in zip(plain, call.args, strict=False):
        own[name] = value
    if star is not None:
        own[star] = Sequence(list(call.args[len(plain) :]), open=call.opaque, kind="tuple")
    extra = Mapping(open=call.opaque and rest is not None)
    by = f"{scope.qualname}()"
    for name, value in call.keywords.items():
        key = key_of(value) if spread is not None else None
        if name in plain or name in only_named:
            own[name] = run.taken(value, spot) if spread is not None else value
            if spread is not None and name in spread.unsure:
                own[name] = choice((own[name], function.defaults.get(name, UNKNOWN)))
            if key is not None:
                key.accepted = True
            continue
        extra.entries[name] = value
        if key is None or (spread is not None and name in spread.unsure):
            continue
        if rest is None and key.name == name and not function.decorated:
            run.refuse("unknown-key", key, by, spot, "TypeError", (*plain, *only_named))
        elif rest is not None and key.parent is not None:
            extra.sections = tuple(dict.fromkeys((*extra.sections, key.parent)))
    if rest is not None:
        own[rest] = extra
        if spread is None and not call.opaque:
            run.write_out(extra)
    for name in (*plain, *only_named) if only_named else plain:
        if name not in own:
            own[name] = _default_value(call, function, name)
            if spread is None and not call.opaque and name in function.defaults:
                left_out[name] = own[name]
    for name, annotation, _, _ in scope.params:
        if annotation is not None and _is_unknown(own.get(name)) and _is_path(annotation, scope):
            own[name] = FilePath(Unknown(own[name].origins))
    return left_out


def _is_unknown(value: Value | None) -> bool:
    """Tell whether nothing is known of a value, such as that of an option of typer."""
    return type(value) is Unknown or (isinstance(value, Made) and value.name in _TYPER_OPTIONS)


_TYPER_OPTIONS = ("typer.Option", "typer.Argument")


def _is_path(annotation: Expr, scope: Scope) -> bool:
    """Tell whether an annotation is `Path`, alone or within `Optional`, `Annotated` or a union."""
    top = scope.module.scope
    imports = top.imports if top is not None else {}
    return any(
        (isinstance(part, Name) and imports.get(part.name) == "pathlib.Path")
        or dotted(part) == "pathlib.Path"
        for part in walk(annotation)
    )


def _default_value(call: Call, function: FunctionObject, name: str) -> Value:
    """Return the value of a parameter that a call leaves out."""
    run, scope, spread = call.run, function.scope, call.spread
    of_sections = spread is not None and bool(spread.sections)
    default = function.defaults.get(name)
    if spread is not None and spread.open:
        for section in spread.sections:
            section.asked.add(name)
    if default is not None:
        if spread is not None and of_sections and not spread.open:
            where = Spot(scope, scope.place, 0, call.spot.calls)
            run.asked.append(
                Asked(spread.sections, name, DEFAULT, where, default=default, conditions=run.conditions)
            )
        if call.opaque and spread is None and type(default) is Scalar:
            # `main(*sys.argv[1:])` may give another one.
            given = ConfigKey(OPTIONS, (name,), run.option_section)
            return Scalar(default.value, default.origins | {given}, default.key, optional=True)
        return default
    if spread is not None and of_sections and not call.opaque and not function.decorated:
        by = f"{scope.qualname}()"
        run.refuse("missing-key", spread.sections[-1], by, call.spot, "TypeError", name=name)
    return UNKNOWN
