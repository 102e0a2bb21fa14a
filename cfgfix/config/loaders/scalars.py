"""What a plain scalar means to the loader that reads it.

`lr: 1e-4` is a string to PyYAML and a float to ruamel.yaml, `shuffle: no` the other way round. Each `Loader` here
answers as the real one does, failures included; the tests hold them against the real ones.

Sources of the patterns: YAML 1.1 as PyYAML 6.0.3 implements it (`yaml/resolver.py`, `yaml/constructor.py`);
YAML 1.2 as ruamel.yaml 0.19.1 implements it (`resolver.py`, `constructor.py`, `util.py` there); OmegaConf's float
pattern and its removal of timestamps (`omegaconf/_utils.py`, `get_yaml_loader`); the TensorFlow Model Garden's
float pattern (`official/modeling/hyperparams/params_dict.py`, `_LOADER`), whose backslashes are doubled in a raw
string, so that it asks for a literal backslash where a dot was meant and only its exponent form ever matches.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from cfgfix.core.records import dataclass

TagName = str
"""One of `str`, `int`, `float`, `bool`, `null`, `timestamp`, `merge`, `value`."""


@dataclass(frozen=True, slots=True)
class Loader:
    """One way projects read YAML.

    Attributes:
        name: The key in `LOADERS`.
        title: The name in messages.
        yaml_version: `1.1` or `1.2`: which rules plain scalars follow.
        float_rule: Further spellings read as floats: `""` for none, `omegaconf` or `model-garden`.
        timestamps: Whether dates are recognised.
        duplicate_keys: `last` where the last of equal keys wins, `error` where the loader refuses them.
        python_tags: Which `!!python/` tags it constructs: `none`, `plain` (tuples and other plain data, as
            PyYAML's FullLoader), `any` (also objects and calls, as yaml.Loader).
    """

    name: str
    title: str
    yaml_version: str
    float_rule: str = ""
    timestamps: bool = True
    duplicate_keys: str = "last"
    python_tags: str = "none"


LOADERS: dict[str, Loader] = {
    loader.name: loader
    for loader in (
        Loader("pyyaml", "PyYAML (yaml.safe_load)", "1.1"),
        Loader("pyyaml-full", "PyYAML (yaml.FullLoader)", "1.1", python_tags="plain"),
        Loader("pyyaml-unsafe", "PyYAML (yaml.Loader)", "1.1", python_tags="any"),
        Loader("pyyaml-unique", "PyYAML with a check for keys given twice", "1.1", duplicate_keys="error"),
        # The remedy that many projects copy: the float pattern of OmegaConf, added to the safe loader.
        Loader("pyyaml-floats", "PyYAML with an added float rule", "1.1", float_rule="omegaconf"),
        Loader("ruamel", "ruamel.yaml (YAML 1.2)", "1.2", duplicate_keys="error"),
        Loader(
            "omegaconf", "OmegaConf", "1.1", float_rule="omegaconf", timestamps=False, duplicate_keys="error"
        ),
        Loader(
            "model-garden",
            "PyYAML with Model Garden's float rule",
            "1.1",
            float_rule="model-garden",
            python_tags="plain",
        ),
    )
}


@dataclass(frozen=True, slots=True)
class Resolved:
    """The type and value of a plain scalar under one loader.

    Attributes:
        tag: The type: `str`, `int`, `float`, `bool`, `null`, `timestamp`, `merge` or `value`.
        value: The Python value; the text itself for `str`, `merge`, `value` and where `error` is set.
        error: Why the loader fails on it although it recognises the type (`2001-13-01`), else None.
    """

    tag: TagName
    value: object
    error: str | None = None


_NULL = Resolved("null", None)
_BOOLS_11 = {
    spelling: Resolved("bool", word in ("yes", "true", "on"))
    for word in ("yes", "no", "true", "false", "on", "off")
    for spelling in (word, word.title(), word.upper())
}
_BOOLS_12 = {key: value for key, value in _BOOLS_11.items() if key.lower() in ("true", "false")}
_WORDS_COMMON = {
    "": _NULL,
    "~": _NULL,
    "null": _NULL,
    "Null": _NULL,
    "NULL": _NULL,
    "<<": Resolved("merge", "<<"),
    "=": Resolved("value", "="),
}
_WORDS_11 = {**_BOOLS_11, **_WORDS_COMMON}
_WORDS_12 = {**_BOOLS_12, **_WORDS_COMMON}

_NUMBER_STARTS = frozenset("+-.0123456789")
# Longer texts that look like numbers are not remembered, and in base 60 not computed: the sum takes quadratic time.
_MEMO_TEXT = 64
_MEMO_SIZE = 8192
_MAX_BASE60_PARTS = 400

_FLOAT_11 = r"""[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?
    |\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?
    |[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*
    |[-+]?\.(?:inf|Inf|INF)
    |\.(?:nan|NaN|NAN)"""
_INT_11 = r"""[-+]?0b[0-1_]+
    |[-+]?0[0-7_]+
    |[-+]?(?:0|[1-9][0-9_]*)
    |[-+]?0x[0-9a-fA-F_]+
    |[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+"""
_FLOAT_12 = r"""[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+]?[0-9]+)?
    |[-+]?[0-9][0-9_]*[eE][-+]?[0-9]+
    |[-+]?\.[0-9_]+(?:[eE][-+][0-9]+)?
    |[-+]?\.(?:inf|Inf|INF)
    |\.(?:nan|NaN|NAN)"""
_INT_12 = r"""[-+]?0b[0-1_]+
    |[-+]?0o?[0-7_]+
    |[-+]?[0-9_]+
    |[-+]?0x[0-9a-fA-F_]+"""
_FLOAT_OMEGACONF = r"""[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+]?[0-9]+)?
    |[-+]?[0-9][0-9_]*[eE][-+]?[0-9]+
    |\.[0-9_]+(?:[eE][-+][0-9]+)?
    |[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*
    |[-+]?\.(?:inf|Inf|INF)
    |\.(?:nan|NaN|NAN)"""
_FLOAT_MODEL_GARDEN = r"""[-+]?[0-9][0-9_]*\\.[0-9_]*(?:[eE][-+]?[0-9]+)?
    |[-+]?[0-9][0-9_]*[eE][-+]?[0-9]+
    |\\.[0-9_]+(?:[eE][-+][0-9]+)?
    |[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\\.[0-9_]*"""
_TIMESTAMP = r"""[0-9]{4}-[0-9]{2}-[0-9]{2}
    |[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?
     (?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::[0-9]{2})?))?"""
_TIMESTAMP_PARTS = r"""([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})
    (?:(?:[Tt]|[ \t]+)([0-9]{1,2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]*))?
    (?:[ \t]*(Z|([-+])([0-9]{1,2})(?::([0-9]{2}))?))?)?"""

_compiled: dict[str, re.Pattern[str]] = {}


def _compiled_late(source: str) -> re.Pattern[str]:
    """Return a compiled pattern, compiled on first use: most files need few patterns."""
    pattern = _compiled.get(source)
    if pattern is None:
        pattern = _compiled[source] = re.compile(source, re.VERBOSE)
    return pattern


def float_rule_pattern(loader: Loader) -> re.Pattern[str] | None:
    """Return the pattern for floats that a loader adds to YAML's, or None.

    It is anchored for PyYAML's `add_implicit_resolver`.
    """
    source = {"omegaconf": _FLOAT_OMEGACONF, "model-garden": _FLOAT_MODEL_GARDEN}.get(loader.float_rule)
    return re.compile(f"^(?:{source})$", re.VERBOSE) if source is not None else None


def _type_patterns(loader: Loader) -> list[tuple[str, str]]:
    """Return a loader's types and patterns, in the order in which they are tried."""
    first = loader.yaml_version == "1.1"
    rules = [("float", _FLOAT_11 if first else _FLOAT_12), ("int", _INT_11 if first else _INT_12)]
    if loader.timestamps:
        rules.append(("timestamp", _TIMESTAMP))
    if loader.float_rule == "omegaconf":
        rules.append(("float", _FLOAT_OMEGACONF))
    elif loader.float_rule == "model-garden":
        rules.append(("float", _FLOAT_MODEL_GARDEN))
    return rules


_memos: dict[str, dict[str, Resolved]] = {}


def resolve(text: str, loader: Loader) -> Resolved:
    """Return the type and value that a loader gives a plain scalar.

    `text` is unquoted and untagged, as a parser gives it, so it does not end in a line break. Results are remembered, in a
    bounded table per loader.
    """
    memo = _memos.get(loader.name)
    if memo is None:
        memo = _memos[loader.name] = {}
    known = memo.get(text)
    if known is not None:
        return known
    resolved = _resolved_text(text, loader)
    if len(text) <= _MEMO_TEXT:
        if len(memo) >= _MEMO_SIZE:
            memo.clear()
        memo[text] = resolved
    return resolved


def _resolved_text(text: str, loader: Loader) -> Resolved:
    words = _WORDS_11 if loader.yaml_version == "1.1" else _WORDS_12
    known = words.get(text)
    if known is not None:
        return known
    if text[:1] not in _NUMBER_STARTS:
        return Resolved("str", text)
    if len(text) < 19 and text.isascii():
        # The two usual shapes, the same everywhere: a number without leading zeros, digits on both sides of a dot.
        if text.isdigit():
            if text[0] != "0" or len(text) == 1:
                return Resolved("int", int(text))
        else:
            whole, dot, part = text.partition(".")
            if dot and whole.isdigit() and part.isdigit():
                return Resolved("float", float(text))
    for tag, source in _type_patterns(loader):
        if tag == "timestamp" and not text[0].isdigit():
            continue
        if _compiled_late(source).fullmatch(text):
            return _constructed_value(tag, text, loader)
    return Resolved("str", text)


def _constructed_value(tag: str, text: str, loader: Loader) -> Resolved:
    try:
        return Resolved(tag, construct_scalar(tag, text, loader))
    except (ValueError, OverflowError, KeyError, IndexError) as error:
        return Resolved(
            tag, text, f"{loader.title} reads it as {_ARTICLES.get(tag, 'a ' + tag)} and fails: {error}"
        )


_ARTICLES = {"int": "an integer", "float": "a float", "bool": "a boolean", "timestamp": "a date"}


def construct_scalar(tag: str, text: str, loader: Loader) -> object:
    """Return the value that a loader makes of a scalar with a known tag.

    The tag is written (`!!float 5e-4`) or resolved.

    Raises:
        ValueError, OverflowError, KeyError, IndexError: The loader fails on the text; which of them says nothing.
    """
    return _CONSTRUCTORS[tag](text, loader)


def _construct_str(text: str, _loader: Loader) -> object:
    return text


def _construct_null(_text: str, _loader: Loader) -> object:
    return None


def _construct_bool(text: str, loader: Loader) -> object:
    word = text.lower()
    if loader.yaml_version == "1.2" and word in ("y", "n"):
        return word == "y"
    return {"yes": True, "no": False, "true": True, "false": False, "on": True, "off": False}[word]


def _sign_and_rest(text: str) -> tuple[int, str]:
    if text[0] in "+-":
        return (-1 if text[0] == "-" else 1), text[1:]
    return 1, text


def _base60(parts: list[int] | list[float]) -> int | float:
    if len(parts) > _MAX_BASE60_PARTS:
        raise ValueError("too many parts in a base-60 number")
    total: int | float = 0
    base = 1
    for part in reversed(parts):
        total += part * base
        base *= 60
    return total


def _construct_int(text: str, loader: Loader) -> object:
    sign, digits = _sign_and_rest(text.replace("_", ""))
    if digits == "0":
        return 0
    if digits.startswith("0b"):
        return sign * int(digits, 2)
    if digits.startswith("0x"):
        return sign * int(digits, 16)
    if loader.yaml_version == "1.2":
        return sign * (int(digits, 8) if digits.startswith("0o") else int(digits))
    if digits[0] == "0":
        return sign * int(digits, 8)
    if ":" in digits:
        return sign * _base60([int(part) for part in digits.split(":")])
    return sign * int(digits)


def _construct_float(text: str, loader: Loader) -> object:
    sign, digits = _sign_and_rest(text.replace("_", "").lower())
    if digits == ".inf":
        return sign * float("inf")
    if digits == ".nan":
        return float("nan")
    if ":" in digits and loader.yaml_version == "1.1":
        return sign * float(_base60([float(part) for part in digits.split(":")]))
    return sign * float(digits)


def _construct_timestamp(text: str, loader: Loader) -> object:
    import datetime as dt

    match = _compiled_late(_TIMESTAMP_PARTS).fullmatch(text)
    if match is None:
        raise ValueError("not a date")
    year, month, day, hour, minute, second, fraction, zone, zone_sign, zone_hour, zone_minute = match.groups()
    if not hour:
        return dt.date(int(year), int(month), int(day))
    micros, carry = int((fraction or "")[:6].ljust(6, "0")), dt.timedelta()
    offset: dt.tzinfo | None = None
    if zone_sign:
        delta = dt.timedelta(hours=int(zone_hour), minutes=int(zone_minute or 0))
        offset = dt.timezone(-delta if zone_sign == "-" else delta)
    elif zone:
        offset = dt.timezone.utc
    if loader.yaml_version == "1.2" and fraction and len(fraction) > 6 and int(fraction[6]) > 4:
        # ruamel.yaml rounds the seventh digit; when that overflows it goes one second back instead of forth.
        micros += 1
        if micros > 999_999:
            micros, carry = 0, dt.timedelta(seconds=-1)
    stamp = dt.datetime(
        int(year), int(month), int(day), int(hour), int(minute), int(second), micros, tzinfo=offset
    )
    return stamp - carry


_CONSTRUCTORS: dict[str, Callable[[str, Loader], object]] = {
    "str": _construct_str,
    "merge": _construct_str,
    "value": _construct_str,
    "null": _construct_null,
    "bool": _construct_bool,
    "int": _construct_int,
    "float": _construct_float,
    "timestamp": _construct_timestamp,
}
