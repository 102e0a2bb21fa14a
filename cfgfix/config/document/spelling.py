"""How a value is written, so that every loader reads it alike."""

from __future__ import annotations

import math

from cfgfix.config.document.refusals import Refusal, RefusalReason
from cfgfix.config.loaders.scalars import LOADERS, resolve

# Characters with which no plain scalar gets another meaning, in block or flow style, in any position but the first
# and last. Letters and digits of every script are allowed besides.
_PLAIN_INNER = frozenset("_./+@%~$()=*<>&!;- ")
_PLAIN_FIRST = frozenset("_/.")
# What other YAML 1.1 readers take for a boolean although neither PyYAML nor OmegaConf does.
_ELSEWHERE_BOOL = frozenset(("y", "Y", "n", "N"))
_MAX_DEPTH = 32


def spell(value: object) -> str:
    """Return a value as one line of YAML that every loader reads alike.

    The loaders are those in `LOADERS`.

    Floats get a dot and a signed exponent (`1.0e-4`); text is quoted where any loader would read it otherwise;
    lists and dictionaries are written in flow style. The result is valid in block and flow context.

    Raises:
        Refusal: No such spelling exists (a date, an object, text with a lone surrogate, nesting beyond 32 levels).
    """
    return _spelled_value(value, 0)


def _spelled_value(value: object, depth: int) -> str:
    if depth > _MAX_DEPTH:
        raise Refusal(RefusalReason.UNSPELLABLE, f"the value nests more than {_MAX_DEPTH} levels deep")
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        try:
            return str(int(value))
        except ValueError:
            raise Refusal(RefusalReason.UNSPELLABLE, "the number has too many digits") from None
    if isinstance(value, float):
        return _spell_float(float(value))
    if isinstance(value, str):
        return spell_text(value)
    if isinstance(value, list):
        return "[" + ", ".join(_spelled_value(item, depth + 1) for item in value) + "]"
    if isinstance(value, dict):
        entries = []
        for key, item in value.items():
            if isinstance(key, (list, dict)):
                raise Refusal(RefusalReason.UNSPELLABLE, "a key must be a scalar")
            entries.append(f"{_spelled_value(key, depth + 1)}: {_spelled_value(item, depth + 1)}")
        return "{" + ", ".join(entries) + "}"
    kind = type(value).__name__
    raise Refusal(
        RefusalReason.UNSPELLABLE, f"there is no spelling of a {kind} that every loader reads alike"
    )


def _spell_float(value: float) -> str:
    if math.isnan(value):
        return ".nan"
    if math.isinf(value):
        return ".inf" if value > 0 else "-.inf"
    text = repr(value)
    if 0 < abs(value) < 1e-3 and "e" not in text:
        # Small numbers are read more easily with an exponent. The digits are those of the shortest repr.
        digits = text.lstrip("-").replace("0.", "", 1)
        significant = digits.lstrip("0")
        exponent = len(digits) - len(significant) + 1
        sign = "-" if value < 0 else ""
        text = f"{sign}{significant[0]}.{significant[1:] or '0'}e-{exponent}"
    mantissa, mark, power = text.partition("e")
    if "." not in mantissa:
        mantissa += ".0"
    if not mark:
        return mantissa
    sign = power[0] if power[0] in "+-" else "+"
    return f"{mantissa}e{sign}{power.lstrip('+-').lstrip('0') or '0'}"


def spell_text(text: str, style: str = "") -> str:
    """Return a scalar that every loader reads as the text `text`.

    Args:
        text: The text.
        style: `"'"` or `'"'` to prefer that quoting; empty for as little quoting as is safe.

    Raises:
        Refusal: The text holds a lone surrogate.
    """
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise Refusal(RefusalReason.UNSPELLABLE, "the text holds a lone surrogate")
    if not style and _is_plain(text):
        return text
    if style != '"' and (not text or _is_printable(text)):
        return "'" + text.replace("'", "''") + "'"
    return '"' + "".join(map(_escaped_char, text)) + '"'


def _is_plain(text: str) -> bool:
    if (
        not text
        or not (text[0].isalnum() or text[0] in _PLAIN_FIRST)
        or text[-1] == " "
        or text.startswith("...")
    ):
        return False
    if text in _ELSEWHERE_BOOL or not all(char.isalnum() or char in _PLAIN_INNER for char in text):
        return False
    return all(resolve(text, loader).tag == "str" for loader in LOADERS.values())


def _is_printable(text: str) -> bool:
    """Tell whether a text can stand unescaped within single quotes on one line."""
    return all(char.isprintable() for char in text)


_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0"}


def _escaped_char(char: str) -> str:
    known = _ESCAPES.get(char)
    if known is not None:
        return known
    if char.isprintable():
        return char
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
