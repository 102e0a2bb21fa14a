"""The parsers of `configparser`: sections of texts, and the methods that convert them."""

from __future__ import annotations

import re

from cfgfix.code.inference.interpreter import reading, writing
from cfgfix.code.inference.interpreter.models.loading import load
from cfgfix.code.inference.interpreter.models.texts import text_of
from cfgfix.code.inference.interpreter.objects import (
    NONE,
    UNKNOWN,
    External,
    Mapping,
    OpenFile,
    Scalar,
    Sequence,
    Unknown,
    Value,
)
from cfgfix.code.inference.interpreter.run import Call, Model
from cfgfix.code.inference.interpreter.values import alternatives, choice, constant_text, copied, key_of

PARSERS = tuple(
    f"{module}.{name}"
    for module in ("configparser", "ConfigParser", "six.moves.configparser")
    for name in ("ConfigParser", "RawConfigParser", "SafeConfigParser")
)
_PARSER, _SECTION = "configparser", "configparser section"
_DEFAULT = "DEFAULT"
_CASE = "optionxform"
"""What a program sets on a parser to have the names of options as they are written."""
_TRUTHS = {
    "1": True,
    "yes": True,
    "true": True,
    "on": True,
    "0": False,
    "no": False,
    "false": False,
    "off": False,
}
_KINDS = {"getint": "int", "getfloat": "float"}


def make_parser(call: Call) -> Value:
    """Return a parser without sections."""
    made = Mapping(flavour=_PARSER, absent="KeyError")
    defaults = call.argument(0, "defaults")
    if isinstance(defaults, Mapping):
        made.entries[_DEFAULT] = _section_of(defaults, cased=False)
    return made


def _section_of(given: Mapping, *, cased: bool) -> Mapping:
    made = copied(given)
    made.flavour = _SECTION
    made.entries = {
        name.lower() if isinstance(name, str) and not cased else name: item
        for name, item in given.entries.items()
    }
    return made


_PLACE = re.compile(r"%\((\w+)\)s|\$\{(?:\w+:)?(\w+)\}")
"""What stands in a text for the value of another option."""


def _fill_in(sections: list[Mapping]) -> None:
    """Replace texts with interpolations by unknown values, noting the named options."""
    for section in sections:
        for name, item in list(section.entries.items()):
            key = key_of(item)
            if type(item) is not Scalar or key is None or not isinstance(item.value, str):
                continue
            named = [first or second for first, second in _PLACE.findall(item.value)]
            for other in sections if named else ():
                for wanted in named:
                    found = other.entries.get(wanted.lower(), other.entries.get(wanted))
                    by_name = key_of(found) if found is not None else None
                    if by_name is not None:
                        by_name.interpolated = True
            if named:
                section.entries[name] = Unknown(frozenset({key}))


def _fill_parser(parser: Mapping, found: Value) -> None:
    """Merge the sections of a file or mapping into those of a parser."""
    if not isinstance(found, Mapping):
        parser.open = True
        return
    cased = _CASE in parser.entries
    for name, given in found.entries.items():
        if not isinstance(given, Mapping):
            continue
        section = _section_of(given, cased=cased)
        before = parser.entries.get(name)
        if isinstance(before, Mapping):
            section.entries = {**before.entries, **section.entries}
            section.sections = (*before.sections, *section.sections)
        parser.entries[name] = section
    defaults = parser.entries.get(_DEFAULT)
    for name, held in parser.entries.items():
        if isinstance(held, Mapping) and isinstance(defaults, Mapping) and name != _DEFAULT:
            held.entries = {**defaults.entries, **held.entries}
    if parser.flavour == _PARSER:
        _fill_in([item for item in parser.entries.values() if isinstance(item, Mapping)])
    parser.key = parser.key or found.key
    parser.sections = (*parser.sections, *found.sections)
    parser.open = parser.open or found.open


def _call_read(call: Call) -> Value:
    given = call.argument(0, "filenames") or UNKNOWN
    for item in given.items if isinstance(given, Sequence) else (given,):
        source = OpenFile(text_of(item))
        facts = {"call": "configparser.read", "class": "ini"}
        for found in alternatives(load(call, "ini", source, facts)):
            _fill_parser(call.mapping, found)
    return Sequence([UNKNOWN], open=True)


def _read_file(call: Call) -> Value:
    facts = {"call": f"configparser.{call.name}", "class": "ini"}
    for found in alternatives(load(call, "ini", call.first, facts)):
        _fill_parser(call.mapping, found)
    return NONE


def _read_mapping(call: Call) -> Value:
    for found in alternatives(call.first):
        _fill_parser(call.mapping, found)
    return NONE


def _key_asked_for(call: Call) -> tuple[Value, Value, Value | None]:
    """Return the section, the option's name and the fallback of a call such as `get`."""
    if call.mapping.flavour == _SECTION:
        return call.mapping, call.argument(0, "option") or UNKNOWN, call.argument(1, "fallback")
    fallback = call.keywords.get("fallback")
    name = call.argument(1, "option") or UNKNOWN
    section = reading.item(
        call.frame, call.mapping, call.first, call.spot, "NoSectionError", UNKNOWN if fallback else None
    )
    return section, name, fallback


def _call_get(call: Call) -> Value:
    section, name, fallback = _key_asked_for(call)
    if not isinstance(section, Mapping):
        return fallback or UNKNOWN
    text = constant_text(name)
    if text is not None and text not in section.entries:
        name = Scalar(text.lower(), name.origins)
    if fallback is None and call.mapping.flavour == _SECTION:
        fallback = NONE
    return reading.item(call.frame, section, name, call.spot, "NoOptionError", fallback)


def _call_converted(call: Call) -> Value:
    found = _call_get(call)
    return choice(_as_kind(call, item) for item in alternatives(found))


def _as_kind(call: Call, value: Value) -> Value:
    kind = _KINDS.get(call.name)
    key = key_of(value)
    if kind is not None:
        if key is None and not value.origins:
            return value
        return call.then(External(f"builtins.{kind}"), (value,))
    if key is None or type(value) is not Scalar:
        return value
    key.conversions.add("bool")
    truth = _TRUTHS.get(str(value.value).lower())
    if truth is None:
        if not call.frame.catches("ValueError"):
            call.run.refuse("no-number", key, "getboolean()", call.spot, "ValueError", value=value.value)
        return Unknown(value.origins)
    return Scalar(truth, value.origins)


def _has_option(call: Call) -> Value:
    section = call.mapping.entries.get(constant_text(call.first))
    name = constant_text(call.argument(1, "option") or UNKNOWN)
    if not isinstance(section, Mapping) or section.open or name is None:
        return UNKNOWN
    found = section.entries.get(name.lower(), section.entries.get(name))
    key = key_of(found) if found is not None else None
    if key is not None:
        key.guards.append(call.spot)
    return Scalar(found is not None)


def _has_section(call: Call) -> Value:
    name = constant_text(call.first)
    return UNKNOWN if name is None or call.mapping.open else Scalar(name in call.mapping.entries)


def _call_sections(call: Call) -> Value:
    return Sequence(
        [
            call.run.name_of(name, item)
            for name, item in call.mapping.entries.items()
            if name not in (_DEFAULT, _CASE)
        ],
        open=call.mapping.open,
    )


def _call_options(call: Call) -> Value:
    section = call.mapping.entries.get(constant_text(call.first))
    if not isinstance(section, Mapping):
        return Sequence([], open=True)
    found = Sequence(
        [call.run.name_of(name, item) for name, item in section.entries.items()], open=section.open
    )
    found.names_of = section
    return found


def _call_items(call: Call) -> Value | None:
    if not call.args:
        return None
    section = reading.item(call.frame, call.mapping, call.first, call.spot, "NoSectionError")
    if not isinstance(section, Mapping):
        return Sequence([], open=True)
    pairs: list[Value] = [
        Sequence([call.run.name_of(name, item), item], kind="tuple") for name, item in section.entries.items()
    ]
    return Sequence(pairs, open=section.open)


def _call_set(call: Call) -> Value:
    section = call.mapping.entries.get(constant_text(call.first))
    value, name = call.argument(2, "value"), call.argument(1, "option")
    if isinstance(section, Mapping) and value is not None and name is not None:
        writing.set_item(call.frame, section, name, value, call.spot)
    else:
        call.mapping.open = True
    return NONE


def _add_section(call: Call) -> Value:
    name = constant_text(call.first)
    if name is None:
        call.mapping.open = True
    else:
        call.mapping.entries.setdefault(name, Mapping(flavour=_SECTION))
    return NONE


def _call_write(call: Call) -> Value:
    call.run.log(call.mapping, call.spot, to_file=True)
    return NONE


FUNCTIONS: dict[str, Model] = dict.fromkeys(PARSERS, make_parser)
METHODS: dict[tuple[str, str], Model] = {
    (_PARSER, "read"): _call_read,
    (_PARSER, "read_file"): _read_file,
    (_PARSER, "readfp"): _read_file,
    (_PARSER, "read_string"): _read_file,
    (_PARSER, "read_dict"): _read_mapping,
    (_PARSER, "get"): _call_get,
    (_SECTION, "get"): _call_get,
    **{
        (flavour, name): _call_converted
        for flavour in (_PARSER, _SECTION)
        for name in (*_KINDS, "getboolean")
    },
    (_PARSER, "has_option"): _has_option,
    (_PARSER, "has_section"): _has_section,
    (_PARSER, "sections"): _call_sections,
    (_PARSER, "options"): _call_options,
    (_PARSER, "items"): _call_items,
    (_PARSER, "set"): _call_set,
    (_PARSER, "add_section"): _add_section,
    (_PARSER, "write"): _call_write,
}
"""By the flavour of the mapping and the name."""
