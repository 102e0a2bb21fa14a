"""Experiments of Sacred (0.8): configs from files and functions, and functions that take their arguments from them."""

from __future__ import annotations

from cfgfix.code.inference.interpreter import writing
from cfgfix.code.inference.interpreter.command_line import OPTIONS
from cfgfix.code.inference.interpreter.events import DEFAULT, REQUIRED, Asked
from cfgfix.code.inference.interpreter.models.loading import load
from cfgfix.code.inference.interpreter.models.options import literal
from cfgfix.code.inference.interpreter.objects import (
    NONE,
    UNKNOWN,
    ConfigKey,
    FunctionObject,
    Made,
    Mapping,
    Method,
    Namespace,
    OpenFile,
    Scalar,
    Sequence,
    Spot,
    Value,
)
from cfgfix.code.inference.interpreter.run import Call, Frame
from cfgfix.code.inference.interpreter.values import alternatives, constant_text

OWNERS = frozenset({"sacred.Experiment", "sacred.Ingredient"})
"""What has a config."""
_CAPTURES = frozenset({"automain", "capture", "command", "main", "post_run_hook", "pre_run_hook"})
"""Decorators whose functions take the arguments that are not given from the config."""
_CONFIG, _MAIN, _GIVEN = "<config>", "<main>", "<sacred>"
_ABSENT = "MissingConfigError"


def experiment_method(call: Call, owner: Made) -> Value | None:
    """Return the result of an experiment's method; None where it is not modelled."""
    if call.name == "add_config":
        for value in call.args:
            _add_to_config(call, owner, value)
        if call.keywords:
            _fill_config(call, _config_of(owner), Mapping({**call.keywords}))
        return NONE
    if call.name in ("run", "run_commandline", "run_command"):
        given = call.keywords.get("config_updates")
        if isinstance(given, Mapping):
            _fill_config(call, _config_of(owner), given)
        main = owner.attributes.get(_MAIN)
        if main is not None:
            _start_experiment(call, owner, main)
        return Made("sacred.run.Run", call.args, call.keywords, call.spot)
    return None


def decorate(frame: Frame, function: FunctionObject, decorator: Value, spot: Spot) -> None:
    """Apply an experiment's decorator to a function."""
    method = decorator.receiver if isinstance(decorator, Made) else decorator
    prefix: Value | None = None
    if isinstance(decorator, Made):
        # `@ex.capture(prefix="net")`
        owner, name = decorator.receiver, decorator.name.rpartition(".")[2]
        prefix = decorator.keywords.get("prefix")
    elif isinstance(method, Method):
        owner, name = method.owner, method.name
    else:
        return
    if not isinstance(owner, Made) or owner.name not in OWNERS:
        return
    call = Call(frame, function, (), {}, spot)
    if name == "config":
        _run_config(call, owner, function)
    elif name in _CAPTURES:
        given = Made("sacred.capture", (owner,), {"prefix": prefix} if prefix is not None else {}, spot)
        function.keywords = {**function.keywords, _GIVEN: given}
        if name == "main":
            owner.attributes[_MAIN] = function
        elif name == "automain":
            if frame.run.runs_as_main(frame.scope.module):
                _start_experiment(call, owner, function)
        elif name != "capture":
            frame.run.waiting.append((function, frame))


def call_captured(call: Call, function: FunctionObject) -> Value | None:
    """Call a captured function with its parameters filled from the config.

    None for a function that is not captured.
    """
    given = function.keywords.get(_GIVEN)
    if not isinstance(given, Made):
        return None
    keywords = {name: value for name, value in function.keywords.items() if name != _GIVEN}
    plain = FunctionObject(
        function.scope, function.names, function.receiver, function.args, keywords, (), function.defaults
    )
    owner = given.args[0]
    assert isinstance(owner, Made)
    whole = _config_of(owner)
    section = _section_at(whole, constant_text(given.keywords.get("prefix", UNKNOWN)))
    bound = len(function.args) + len(call.args) + (function.receiver is not None)
    names = [(name, kind) for name, _, _, kind in function.scope.params if kind in ("plain", "keyword")]
    filled = {**call.keywords}
    for place, (name, kind) in enumerate(names):
        if (kind == "plain" and place < bound) or name in filled:
            continue
        if name.startswith("_"):
            filled[name] = whole if name == "_config" else UNKNOWN
            continue
        value = section.entries.get(name) if section is not None else None
        if value is not None:
            filled[name] = call.run.taken(value, call.spot)
        elif section is not None:
            _note_absent(call, function, section, name)
    return call.then(plain, call.args, filled, opaque=section is None or section.open)


def _note_absent(call: Call, function: FunctionObject, section: Mapping, name: str) -> None:
    """Note that a captured function's parameter is missing in the config."""
    default = function.defaults.get(name)
    if section.open or not section.sections:
        for key in section.sections:
            key.asked.add(name)
        return
    where = Spot(function.scope, function.scope.place, 0, call.spot.calls)
    caught = default is None and call.frame.catches(_ABSENT)
    call.run.asked.append(
        Asked(
            section.sections,
            name,
            REQUIRED if default is None else DEFAULT,
            where,
            _ABSENT if default is None else "",
            default,
            call.run.conditions,
            caught,
        )
    )


def _config_of(owner: Made) -> Mapping:
    """Return the config of an experiment or ingredient."""
    found = owner.attributes.get(_CONFIG)
    if not isinstance(found, Mapping):
        found = Mapping(absent="KeyError")
        owner.attributes[_CONFIG] = found
        ingredients = owner.keywords.get("ingredients")
        for item in ingredients.items if isinstance(ingredients, Sequence) else ():
            path = constant_text(item.args[0]) if isinstance(item, Made) and item.args else None
            if isinstance(item, Made) and item.name in OWNERS and path is not None:
                found.entries[path] = _config_of(item)
    return found


def _start_experiment(call: Call, owner: Made, main: Value) -> None:
    """Run an experiment as its command line says: `with net.width=3 night.yaml`."""
    config = _config_of(owner)
    given = call.run.host.arguments() or []
    for item in given[given.index("with") + 1 :] if "with" in given else ():
        name, mark, text = item.partition("=")
        if item.endswith((".yaml", ".yml", ".json")):
            _add_to_config(call, owner, Scalar(item))
        elif mark:
            *above, last = name.split(".")
            value = Scalar(literal(text).value, frozenset({ConfigKey(OPTIONS, tuple(name.split(".")), None)}))
            holder = Mapping({last: value})
            for step in reversed(above):
                holder = Mapping({step: holder})
            _fill_config(call, config, holder)
        else:
            # A configuration with a name of its own.
            config.open = True
    seed = config.entries.get("seed")
    if seed is not None:
        # Sacred seeds Python, NumPy and TensorFlow itself.
        call.use(call.run.taken(seed, call.spot))
    call.then(main)


def _section_at(config: Mapping, prefix: str | None) -> Mapping | None:
    """Return a section of a config by its dotted path; None where it is not known."""
    here: Value | None = config
    for step in prefix.split(".") if prefix else ():
        here = here.entries.get(step) if isinstance(here, Mapping) else None
    return here if isinstance(here, Mapping) else None


def _add_to_config(call: Call, owner: Made, value: Value) -> None:
    """Add a file, a mapping or an unknown value to a config."""
    config = _config_of(owner)
    for item in alternatives(value):
        path = constant_text(item)
        if isinstance(item, Mapping):
            _fill_config(call, config, item)
            continue
        how = "json" if path is not None and path.endswith(".json") else "yaml"
        facts = {"call": "sacred.Experiment.add_config", "class": "yaml.FullLoader"}
        found = load(call, how, OpenFile(item), facts)
        if isinstance(found, Mapping):
            _fill_config(call, config, found)
        else:
            config.open = True


def _fill_config(call: Call, config: Mapping, other: Mapping) -> None:
    """Merge a mapping into a config, section by section."""
    for name, value in other.entries.items():
        before = config.entries.get(name)
        if isinstance(before, Mapping) and isinstance(value, Mapping):
            _fill_config(call, before, value)
        else:
            writing.write_entry(call.run, config, name, value, call.spot)
    config.open = config.open or other.open
    config.sections = (*config.sections, *(item for item in other.sections if item not in config.sections))
    config.key = config.key or other.key


def _run_config(call: Call, owner: Made, function: FunctionObject) -> None:
    """Run a function whose names become entries of a config."""
    run, scope, config = call.run, function.scope, _config_of(owner)
    names = Namespace(scope, function.names)
    for name, _, _, _ in scope.params:
        value = config.entries.get(name)
        if value is not None:
            names.names[name] = run.taken(value, call.spot)
        elif not config.open and config.sections:
            _note_absent(call, function, config, name)
    given = dict(names.names)
    run.entered[id(scope)] = scope
    run.suite(Frame(run, scope, names, call.frame.way, call.frame.depth + 1), scope.body)
    made = {
        name: value
        for name, value in names.names.items()
        if not name.startswith("_") and given.get(name) is not value
    }
    _fill_config(call, config, Mapping({**made}))
