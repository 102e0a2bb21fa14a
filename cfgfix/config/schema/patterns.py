"""Regular expressions from a schema, with a bound on the work they can cost.

Python's `re` backtracks: `^(a+)+$` needs 2**n steps on n characters that do not match. A schema may come from
anywhere, so a pattern is read first and only run on texts short enough that its steps stay below `MAX_STEPS`.
A pattern whose work grows exponentially, or that uses a feature this reading does not follow, is not run at all;
the schema then reports that it is not checked.

The estimate is an upper bound by counting: every open repeat may stop at any character (one more power of the
text length), every bounded choice multiplies, and a search that is not anchored starts at every character.
"""

from __future__ import annotations

from cfgfix.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

MAX_STEPS = 200_000
"""Steps one search may take. At the 20 to 50 million steps a second of CPython's matcher that is 10 ms or less."""

MAX_PATTERN = 1_000
"""Longer patterns are not read."""

MAX_DEGREE = 6
"""More open repeats than this leave no text length worth checking."""

_ALL = (1 << 129) - 1
_OTHER = 1 << 128  # stands for every character above ASCII
_DIGIT = sum(1 << code for code in range(ord("0"), ord("9") + 1)) | _OTHER
_WORD = (
    _DIGIT
    | sum(1 << code for code in range(ord("a"), ord("z") + 1))
    | sum(1 << code for code in range(ord("A"), ord("Z") + 1))
    | 1 << ord("_")
)
_SPACE = sum(1 << ord(char) for char in " \t\n\r\f\v\x1c\x1d\x1e\x1f") | _OTHER
_CLASSES = {
    "d": _DIGIT,
    "D": _ALL & ~_DIGIT | _OTHER,
    "w": _WORD,
    "W": _ALL & ~_WORD | _OTHER,
    "s": _SPACE,
    "S": _ALL & ~_SPACE | _OTHER,
}
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}


class _RefusedPattern(Exception):  # noqa: N818  (a signal inside this module, not an error)
    """The pattern cannot be bounded; the argument says why."""


@dataclass(slots=True)
class _MatchingCost:
    """The cost of matching a piece of a pattern: steps = factor * length ** degree."""

    factor: int = 1
    degree: int = 0
    nullable: bool = True
    chars: int = 0
    """Every character the piece can match, as bits."""
    first: int | None = None
    """The characters of its first position where that is one mandatory character, else None."""
    last: int | None = None
    """The same for its last position."""
    inner: int = 0
    """The characters of every position but the first."""
    outer: int = 0
    """The characters of every position but the last."""

    @property
    def fixed(self) -> bool:
        """Whether there is only one way to match the piece."""
        return self.factor == 1 and self.degree == 0 and not self.nullable


class _PatternReader:
    """Parses a pattern by recursive descent, to bound the cost of matching it.

    The depth is bounded by the pattern's length and `MAX_NESTING`.
    """

    MAX_NESTING = 20

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.depth = 0

    def whole(self) -> _MatchingCost:
        part = self.alternatives()
        if self.at != len(self.text):
            raise _RefusedPattern("it has an unbalanced parenthesis")
        return part

    def alternatives(self) -> _MatchingCost:
        self.depth += 1
        if self.depth > self.MAX_NESTING:
            raise _RefusedPattern("its groups are nested too deeply")
        branches = [self.sequence()]
        while self.peek("|"):
            self.at += 1
            branches.append(self.sequence())
        self.depth -= 1
        if len(branches) == 1:
            return branches[0]
        chars = 0
        seen = 0
        distinct = True
        for branch in branches:
            chars |= branch.chars
            if branch.first is None or branch.first & seen:
                distinct = False
            seen |= branch.first or 0
        single = distinct and all(branch.first == branch.chars and branch.inner == 0 for branch in branches)
        return _MatchingCost(
            factor=max(b.factor for b in branches) if distinct else sum(b.factor for b in branches),
            degree=max(branch.degree for branch in branches),
            nullable=any(branch.nullable for branch in branches),
            chars=chars,
            first=chars if single else None,
            last=chars if single else None,
            inner=0 if single else chars,
            outer=0 if single else chars,
        )

    def sequence(self) -> _MatchingCost:
        whole = _MatchingCost()
        started = False
        while self.at < len(self.text) and self.text[self.at] not in "|)":
            part = self.repeated()
            if part is None:  # an anchor
                continue
            if not started:
                whole, started = part, True
                continue
            whole = _MatchingCost(
                factor=whole.factor * part.factor,
                degree=whole.degree + part.degree,
                nullable=whole.nullable and part.nullable,
                chars=whole.chars | part.chars,
                first=whole.first,
                last=part.last,
                inner=whole.inner | part.chars,
                outer=whole.chars | part.outer,
            )
            if whole.degree > MAX_DEGREE or whole.factor > MAX_STEPS:
                raise _RefusedPattern("it has too many open choices")
        return whole

    def repeated(self) -> _MatchingCost | None:
        part = self.atom()
        low, high = self.quantifier()
        if (low, high) == (1, 1):
            return part
        if part is None:
            raise _RefusedPattern("it repeats an anchor")
        if self.peek("*") or self.peek("+") or self.peek("{"):
            raise _RefusedPattern("it repeats a repeat")
        single = part.fixed and part.inner == 0
        if high == 0:
            return _MatchingCost()
        nullable = low == 0 or part.nullable
        if high == 1:  # optional
            return _MatchingCost(
                part.factor + 1,
                part.degree,
                nullable=True,
                chars=part.chars,
                inner=part.chars,
                outer=part.chars,
            )
        if low == high and part.fixed:
            return _MatchingCost(
                1, 0, nullable=nullable, chars=part.chars, inner=part.chars, outer=part.chars
            )
        delimited = (part.first is not None and not part.first & part.inner) or (
            part.last is not None and not part.last & part.outer
        )
        if not (single or part.fixed) and (part.nullable or part.factor > 1 or not delimited):
            raise _RefusedPattern("a repeated group can match the same text in several ways")
        if high is not None and high - low <= 8 and single:
            return _MatchingCost(
                high - low + 1, 0, nullable=nullable, chars=part.chars, inner=part.chars, outer=part.chars
            )
        return _MatchingCost(
            1, part.degree + 1, nullable=nullable, chars=part.chars, inner=part.chars, outer=part.chars
        )

    def quantifier(self) -> tuple[int, int | None]:
        low: int
        high: int | None
        if self.at == len(self.text):
            return 1, 1
        char = self.text[self.at]
        if char == "*":
            low, high = 0, None
        elif char == "+":
            low, high = 1, None
        elif char == "?":
            low, high = 0, 1
        elif char == "{":
            close = self.text.find("}", self.at)
            if close < 0:
                return 1, 1
            start, comma, end = self.text[self.at + 1 : close].partition(",")
            if not ((start.isdecimal() or (comma and not start)) and (end.isdecimal() or not end)):
                return 1, 1  # `re` reads other braces as themselves
            if len(start) > 5 or len(end) > 5:
                raise _RefusedPattern("it repeats more often than can be checked")
            low = int(start or 0)
            high = (int(end) if end else None) if comma else low
            self.at = close
        else:
            return 1, 1
        self.at += 1
        if self.peek("?"):
            self.at += 1
        elif self.peek("+"):
            raise _RefusedPattern("it uses a possessive repeat")
        return low, high

    def atom(self) -> _MatchingCost | None:
        char = self.text[self.at]
        self.at += 1
        if char in "^$":
            return None
        if char == ".":
            return self.one(_ALL)
        if char == "(":
            return self.group()
        if char == "[":
            return self.one(self.bracket())
        if char == "\\":
            return self.escape()
        if char in "*+?":
            raise _RefusedPattern("it repeats nothing")
        return self.one(_bit_of_char(char))

    @staticmethod
    def one(chars: int) -> _MatchingCost:
        return _MatchingCost(nullable=False, chars=chars, first=chars, last=chars)

    def group(self) -> _MatchingCost:
        if self.peek("?"):
            rest = self.text[self.at : self.at + 3]
            if rest.startswith("?:"):
                self.at += 2
            elif rest == "?P<":
                close = self.text.find(">", self.at)
                if close < 0:
                    raise _RefusedPattern("a group has no name")
                self.at = close + 1
            elif rest[:2] in ("?=", "?!"):
                self.at += 2
                part = self.closed()
                # It looks ahead and takes nothing, but each try costs what it costs.
                return _MatchingCost(part.factor, part.degree, nullable=True)
            else:
                raise _RefusedPattern("it uses a group this check does not follow")
        return self.closed()

    def closed(self) -> _MatchingCost:
        part = self.alternatives()
        if not self.peek(")"):
            raise _RefusedPattern("it has an unbalanced parenthesis")
        self.at += 1
        return part

    def escape(self) -> _MatchingCost | None:
        if self.at == len(self.text):
            raise _RefusedPattern("it ends with a backslash")
        char = self.text[self.at]
        self.at += 1
        if char in "bBAZ":
            return None
        if char in _CLASSES:
            return self.one(_CLASSES[char])
        if char.isdigit() and char != "0":
            raise _RefusedPattern("it refers back to a group")
        return self.one(self.escaped(char))

    def escaped(self, char: str) -> int:
        if char in _CONTROLS:
            return _bit_of_char(_CONTROLS[char])
        if char in "xuU":
            width = {"x": 2, "u": 4, "U": 8}[char]
            digits = self.text[self.at : self.at + width]
            try:
                code = int(digits, 16)
            except ValueError:
                raise _RefusedPattern("it has a broken escape") from None
            self.at += width
            return 1 << min(code, 128)
        if char.isalnum():
            raise _RefusedPattern(f"it uses \\{char}, which this check does not follow")
        return _bit_of_char(char)

    def bracket(self) -> int:
        negated = self.peek("^")
        if negated:
            self.at += 1
        chars = 0
        opened = self.at
        while True:
            if self.at >= len(self.text):
                raise _RefusedPattern("a character class is not closed")
            char = self.text[self.at]
            self.at += 1
            if char == "]" and self.at - 1 > opened:
                break
            if char == "\\":
                if self.at >= len(self.text):
                    raise _RefusedPattern("a character class is not closed")
                escape = self.text[self.at]
                self.at += 1
                if escape in _CLASSES:
                    chars |= _CLASSES[escape]
                    continue
                if escape.isdigit() or escape == "b":
                    raise _RefusedPattern("it uses an escape this check does not follow")
                low = self.escaped(escape)
            else:
                low = _bit_of_char(char)
            after = self.text[self.at : self.at + 2]
            if len(after) == 2 and after[0] == "-" and after[1] != "]":
                self.at += 2
                if after[1] == "\\":
                    if self.at >= len(self.text) or self.text[self.at] in _CLASSES:
                        raise _RefusedPattern("it has a broken range")
                    escape = self.text[self.at]
                    self.at += 1
                    high = self.escaped(escape)
                else:
                    high = _bit_of_char(after[1])
                start, end = low.bit_length() - 1, high.bit_length() - 1
                for code in range(start, end + 1):
                    chars |= 1 << code
            else:
                chars |= low
        return (_ALL & ~chars) | _OTHER if negated else chars

    def peek(self, char: str) -> bool:
        return self.at < len(self.text) and self.text[self.at] == char


def _bit_of_char(char: str) -> int:
    return 1 << min(ord(char), 128)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A compiled pattern, and the longest text that it may be run on."""

    text: str
    compiled: re.Pattern[str]
    max_length: int
    """The longest text, in code points, for which the search stays within `MAX_STEPS`."""

    def search(self, subject: str) -> bool | None:
        """Tell whether a text contains a match of the pattern.

        None where the text is too long to be searched.
        """
        if len(subject) > self.max_length:
            return None
        return self.compiled.search(subject) is not None


def read_pattern(text: str) -> Pattern | str:
    """Return a pattern that is safe to run, or the reason why it is not.

    The reason ends a sentence that says "because".
    """
    import re
    import warnings

    if len(text) > MAX_PATTERN:
        return f"it is longer than {MAX_PATTERN} characters"
    try:
        part = _PatternReader(text).whole()
    except _RefusedPattern as reason:
        return str(reason)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compiled = re.compile(text)
    except (re.error, RecursionError, OverflowError, MemoryError) as error:
        return f"Python cannot read it ({error})"
    degree = part.degree + (0 if text.startswith("^") and "|" not in text else 1)
    length = MAX_STEPS // part.factor
    if degree > 1:
        length = int(length ** (1 / degree))
    return Pattern(text, compiled, max(length - 1, 0))
