"""Functions of the standard library that hand on what they are given: `copy`, `functools`, `importlib`."""

from __future__ import annotations

from cfgfix.code.inference.interpreter import classes, iterating, reading
from cfgfix.code.inference.interpreter.models.builtin_functions import make_dictionary
from cfgfix.code.inference.interpreter.objects import (
    ATTRIBUTES,
    UNKNOWN,
    ClassObject,
    FunctionObject,
    Instance,
    Made,
    Mapping,
    OpenFile,
    PartialText,
    Scalar,
    Sequence,
    Unknown,
    Value,
)
from cfgfix.code.inference.interpreter.run import MAX_TURNS, Call, Model
from cfgfix.code.inference.interpreter.values import alternatives, choice, constant_text, copied, key_of
from cfgfix.code.inference.interpreter.written_settings import WrittenSettings


def _copy_deep(call: Call) -> Value:
    return copied(call.args[0], 12) if call.args else UNKNOWN


def _copy_shallow(call: Call) -> Value:
    return copied(call.args[0]) if call.args else UNKNOWN


def _call_partial(call: Call) -> Value:
    if isinstance(call.first, FunctionObject):
        return call.first.given(call.args[1:], call.keywords, call.spread)
    for value in call.values:
        call.use(value)
    made = Made("functools.partial", call.args, call.keywords, call.spot)
    made.spread = call.spread
    return made


def _import_named(call: Call) -> Value:
    name = constant_text(call.first)
    for value in call.args:
        call.use(value)
    if call.run.code_settings is not None and call.first.origins:
        given = _import_given(call, call.run.code_settings)
        if given is not None:
            return given
    return call.run.imported(name, call.frame.scope.module) if name is not None else UNKNOWN


def _import_given(call: Call, written: WrittenSettings) -> Value | None:
    """Return the module that a run chooses for an import by a computed name.

    None where the run chooses none; the modules that fit the known parts of the name, or its package, are then noted.
    """
    run = call.run
    site = (call.spot.path, *call.spot.place.start)
    given = run.given_imports.get(site)
    module = run.program.module(given, call.frame.scope.module) if given is not None else None
    if module is not None and module.scope is not None:
        found = run.module(module)
        written.of_module(found, chosen=True)
        return found
    name = constant_text(call.first)
    if name is not None:
        package = name.rpartition(".")[0]
        parts: tuple[str | None, ...] = (f"{package}." if package else "", None)
    else:
        parts = call.first.parts if isinstance(call.first, PartialText) else (None,)
    if any(parts):
        run.open_imports[site] = tuple(_modules_named(call, parts))
    return None


def _modules_named(call: Call, parts: tuple[str | None, ...]) -> list[str]:
    """Return the importable names of modules that fit the known parts of a name."""
    fits = reading.partial_pattern(PartialText(parts))
    steps = sum(part.count(".") for part in parts if part is not None) + 1
    program, importer = call.run.program, call.frame.scope.module
    found = []
    for module in program.all_modules():
        name = ".".join(module.path.removesuffix(".py").replace("\\", "/").split("/")[-steps:])
        if module is not importer and fits(name) and program.module(name, importer) is module:
            found.append(name)
    return sorted(found)


def _first_argument(call: Call) -> Value:
    return call.first


def _second_argument(call: Call) -> Value:
    return call.args[1] if len(call.args) > 1 else UNKNOWN


def _default_mapping(_: Call) -> Value:
    return Mapping(open=True)


GETTERS = frozenset({"operator.itemgetter", "operator.attrgetter"})


def _call_getter(call: Call) -> Value:
    return Made(call.name, call.args, call.keywords, call.spot)


def make_tuple(call: Call, cls: Made) -> Value | None:
    """Return an object of a class made by `namedtuple`.

    None where the class's fields are not known.
    """
    given = cls.args[1] if len(cls.args) > 1 else cls.keywords.get("field_names")
    text = constant_text(given) if given is not None else None
    names = text.replace(",", " ").split() if text is not None else None
    if isinstance(given, Sequence) and not given.open:
        names = [name for item in given.items if (name := constant_text(item)) is not None]
    if names is None:
        return None
    entries = dict(zip(names, call.args, strict=False))
    for name, value in call.keywords.items():
        key = key_of(value) if call.spread is not None else None
        if name in names:
            entries[name] = value
        elif key is not None and key.name == name:
            by = f"the named tuple {constant_text(cls.args[0]) or ''}".strip()
            call.run.refuse("unknown-key", key, by, call.spot, "TypeError", tuple(names))
    sections = call.spread.sections if call.spread is not None else ()
    if isinstance(given, Sequence) and given.names_of is not None and not call.keywords:
        sections = given.names_of.sections
    return Mapping(
        {**entries},
        open=call.opaque or len(entries) < len(names),
        access=ATTRIBUTES,
        absent="AttributeError",
        flavour="namedtuple",
        sections=sections,
    )


def call_getter(call: Call, getter: Made) -> Value:
    """Return the items or attributes that an `itemgetter` or `attrgetter` takes."""
    found: list[Value] = []
    for name in getter.args:
        value = call.first
        if getter.name.endswith("itemgetter"):
            value = choice(reading.item(call.frame, item, name, call.spot) for item in alternatives(value))
        else:
            for step in (constant_text(name) or "").split("."):
                value = choice(
                    reading.attribute(call.frame, item, step, call.spot) for item in alternatives(value)
                )
        found.append(value)
    return found[0] if len(found) == 1 else Sequence(found, kind="tuple")


def _call_template(call: Call) -> Value:
    return Made(call.name, call.args, call.keywords, call.spot)


def fill_template(call: Call, template: Made) -> Value | None:
    """Return the text of a file with something put in.

    `Template(text).substitute(os.environ)` does so.
    """
    source = template.args[0] if template.args else None
    if call.name not in ("substitute", "safe_substitute", "render"):
        return None
    if isinstance(source, (Scalar, PartialText, Unknown)):
        return Unknown(source.origins)
    if not isinstance(source, OpenFile):
        return None
    for value in call.values:
        call.use(value, deep=True)
    return OpenFile(source.path, filled=True)


def _filled_template(call: Call) -> Value | None:
    """Return the text of a file after a call has filled in variables or changed it.

    None where the call gets no file's text.
    """
    source = next((item for item in call.args if isinstance(item, OpenFile)), None)
    return OpenFile(source.path, filled=True) if source is not None else None


def _chained_mapping(call: Call) -> Value | None:
    """Return a `ChainMap` as one mapping, with each name from the first that has it.

    None where one of the mappings is not known.
    """
    found = Mapping()
    for value in reversed(call.args):
        maps = [item for item in alternatives(value) if isinstance(item, Mapping)]
        if not maps:
            return None
        # `load(path) or {}`: the empty one adds nothing.
        item = max(maps, key=lambda each: len(each.entries))
        for name in found.entries.keys() & item.entries.keys():
            key = key_of(found.entries[name])
            if key is not None:
                key.overlaid = True
        beneath = {name: held for name, held in found.entries.items() if name in item.unsure}
        found.unsure = (found.unsure - item.entries.keys()) | (item.unsure - found.entries.keys())
        found.entries = {**found.entries, **item.entries}
        for name, held in beneath.items():
            found.entries[name] = choice((held, item.entries[name]))
        found.open = found.open or item.open
        found.sections = (*item.sections, *found.sections)
    return found


def _reduced_value(call: Call) -> Value | None:
    """Return what `functools.reduce` makes of items that are known; None for others."""
    items = iterating.items_of(call.frame, call.args[1], call.spot) if len(call.args) > 1 else None
    if items is None or len(items) > MAX_TURNS or (not items and len(call.args) < 3):
        return None
    first, *rest = [*call.args[2:3], *items]
    for item in rest:
        first = call.then(call.first, (first, item))
    return first


def _get_item(call: Call) -> Value | None:
    """Return the entry or item that `operator.getitem` gives."""
    if len(call.args) != 2:
        return None
    return choice(
        reading.item(call.frame, item, call.args[1], call.spot) for item in alternatives(call.args[0])
    )


def _signature_value(call: Call) -> Value | None:
    """Return the signature of a project's function or class: its parameters by name."""
    function = call.first
    if isinstance(function, ClassObject):
        init = classes.member(function, "__init__")
        function = init.bound(Instance(function)) if isinstance(init, FunctionObject) else function
    if not isinstance(function, FunctionObject):
        return None
    names = [name for name, *_ in function.scope.params][1 if function.receiver is not None else 0 :]
    made = Made("inspect.Signature", call.args, {}, call.spot)
    made.attributes["parameters"] = Mapping(dict.fromkeys(names, UNKNOWN))
    return made


FUNCTIONS: dict[str, Model] = {
    "operator.itemgetter": _call_getter,
    "operator.attrgetter": _call_getter,
    "operator.getitem": _get_item,
    "functools.reduce": _reduced_value,
    "inspect.signature": _signature_value,
    "collections.ChainMap": _chained_mapping,
    "string.Template": _call_template,
    "jinja2.Template": _call_template,
    "os.path.expandvars": _filled_template,
    "copy.copy": _copy_shallow,
    "copy.deepcopy": _copy_deep,
    "collections.namedtuple": _call_getter,
    "functools.partial": _call_partial,
    "importlib.import_module": _import_named,
    "hydra.utils.get_class": _import_named,
    "hydra.utils.get_method": _import_named,
    "typing.cast": _second_argument,
    "collections.OrderedDict": make_dictionary,
    "collections.defaultdict": _default_mapping,
    "io.StringIO": _first_argument,
}
