"""What a project asks for: which releases of TensorFlow, of Keras and of NumPy, and what the setting may say."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence

from cfgfix.core.errors import CfgfixError
from cfgfix.core.patterns import late
from cfgfix.core.records import dataclass

_PART = late(r"(===?|~=|!=|<=|>=|<|>|=)\s*(\d[\w.*+!-]*)")

Version = tuple[int, int, int]
PATCHES = 6
"""So many patches of a minor release are asked about: the highest number that TensorFlow gave one is 5 (2.6.5, PyPI)."""
LATER_MINORS = 40
"""So many minor releases of TensorFlow 2 are asked about, those to come included."""

AUTO, FILES = "auto", "requirements"
"""What the setting `tensorflow` may say besides a release: the requirement files and then what is installed, or only the files."""
SETTING = r"\s*(?:auto|requirements|\d+(?:\.\d+){0,2}|(?:tensorflow)?(?:\s*,?\s*(?:===?|~=|!=|<=|>=|<|>)\s*\d+(?:\.\d+|\.\*)*)+)\s*"
"""What the setting may be, for Python and for JSON Schema."""
MAX_SETTING = 200
"""Most characters of it: a checkout's settings may be anybody's."""


def admits(text: str, version: Version) -> bool:
    """Tell whether a requirement such as `tensorflow>=2.4,<2.11` takes a release."""
    return all(_holds_version(operator, version, part) for operator, part in _PART.findall(text))


@functools.lru_cache(maxsize=64)
def _versions_of_tf2(text: str) -> dict[int, list[Version]]:
    """Return the releases of TensorFlow 2 that a requirement admits, by their minor number."""
    return {
        minor: [(2, minor, patch) for patch in range(PATCHES) if admits(text, (2, minor, patch))]
        for minor in range(LATER_MINORS)
    }


@dataclass(frozen=True, slots=True)
class Requirement:
    """The releases that a project asks for.

    Attributes:
        path: The file that says it; empty where none does.
        text: What it says, such as `tensorflow>=2.4,<2.11`; empty where nothing does.
        looked_in: Every file that was looked for, whether it is there or not.
        keras_2: Whether the file asks for Keras 2 beside any TensorFlow (`tf-keras`).
        computed: Whether the file asks for releases that only running it tells; nothing is known of them then.
        two: Whether a line of such a file asks for TensorFlow 2 all the same, as for an extra.
        whatever: Whether the file asks for TensorFlow without a release, so that the newest is installed.
        stated: What the file says itself where `text` is narrower: TensorFlow Addons, asked for or imported, ends before Keras 3.
        keras: What is asked for of standalone Keras where nothing is said of TensorFlow, and Keras 3 is among it.
        numpy: What is asked for of NumPy beside it, such as `numpy<1.24`; empty where nothing is.
        installed: Whether it is not asked for but installed, in the environment that `path` names.
        contradicts: Whether files ask for releases that do not go together.
        below: Folders between the files and their common folder with requirements of their own, such as the projects of a
            collection: folder and what it asks for.
    """

    path: str
    text: str
    looked_in: tuple[str, ...]
    keras_2: bool = False
    computed: bool = False
    two: bool = False
    whatever: bool = False
    stated: str = ""
    keras: str = ""
    numpy: str = ""
    installed: bool = False
    contradicts: bool = False
    below: tuple[tuple[str, Requirement], ...] = ()

    @property
    def known(self) -> bool:
        """Whether it is known which releases may be installed."""
        return bool(self.text) or self.whatever

    @property
    def open(self) -> bool:
        """Whether nothing says which release is meant.

        What `pip install tensorflow` gives today is meant then.
        """
        return not (self.text or self.computed or self.keras or self.contradicts)

    @property
    def unpinned(self) -> bool:
        """Whether no file pins a release.

        Nothing is said, or only what is installed here says it.
        """
        return self.open or self.installed

    def admits(self, version: Version) -> bool:
        """Tell whether a version is one the project asks for."""
        return admits(self.text, version)

    def of_two(self, minors: Iterable[int]) -> list[Version]:
        """Return the given minor releases of TensorFlow 2 that the project asks for."""
        asked = _versions_of_tf2(self.text)
        return [version for minor in minors for version in asked.get(minor, ())]

    def reaches_below(self, minor: int) -> bool:
        """Tell whether the project asks for a release from 2.0 up to before 2.`minor`.

        The answer is False where no release is asked for.
        """
        return bool(self.text) and any(self.admits((2, number, 0)) for number in range(minor))

    def admits_tf1(self) -> bool:
        """Tell whether TensorFlow 1 may be meant.

        What is installed on a machine does not say so.
        """
        if self.computed:
            return not self.two
        if self.installed:
            return True
        return not self.text or self.admits((1, 15, 0))

    def admitted(self, inspected: Sequence[str]) -> tuple[int, ...]:
        """Return the positions of the inspected releases that the project may install.

        Without a requirement these are all. Where none matches exactly, the releases on both sides of the wanted one stand for
        it; a requirement below the oldest inspected release gives none.
        """
        versions = [parse_version(text) for text in inspected]
        if self.computed:
            return ()
        if not self.text:
            return tuple(range(len(versions)))
        found = tuple(
            number
            for number, version in enumerate(versions)
            if self.admits(version) or self.admits((*version[:2], 0))
        )
        if found:
            return found
        wanted = [
            parse_version(text) for operator, text in _PART.findall(self.text) if operator not in ("!=", "<")
        ]
        if not wanted:
            return ()
        low = [number for number, version in enumerate(versions) if version <= max(wanted)]
        high = [number for number, version in enumerate(versions) if version >= max(wanted)]
        if not low:
            # An earlier patch of the oldest inspected release is that one.
            return (0,) if versions and max(wanted)[:2] == versions[0][:2] else ()
        return (low[-1], high[0]) if high else (low[-1],)


NOTHING = Requirement("", "", ())


def parse_version(text: str) -> Version:
    """Return the three numbers of a release; what is missing is 0."""
    numbers = [int(part) for part in re.findall(r"\d+", text.split("+", maxsplit=1)[0])[:3]]
    numbers += [0] * (3 - len(numbers))
    return numbers[0], numbers[1], numbers[2]


def _holds_version(operator: str, version: Version, text: str) -> bool:
    wanted = parse_version(text)
    parts = len(re.findall(r"\d+", text.split("+", maxsplit=1)[0])[:3])
    if text.endswith("*"):
        same = version[:parts] == wanted[:parts]
        return same if operator in ("==", "=") else not same
    if operator in ("==", "===", "="):
        return version[:parts] == wanted[:parts]
    if operator == "!=":
        return version != wanted
    if operator == "~=":
        return version >= wanted and version[: max(1, parts - 1)] == wanted[: max(1, parts - 1)]
    if operator == "<":
        return version < wanted
    if operator == "<=":
        return version <= wanted or version[:parts] == wanted[:parts]
    if operator == ">":
        return version > wanted
    return version >= wanted


def asked_release(text: str, path: str | None = None) -> str:
    """Return the requirement that a value of the setting `tensorflow` states.

    It is a text such as `tensorflow==2.15`, and empty for `auto` and `requirements`.

    Raises:
        CfgfixError: The value is neither a release, nor a requirement, nor one of these words.
    """
    if len(text) > MAX_SETTING or re.fullmatch(SETTING, text) is None:
        raise CfgfixError(
            f"tensorflow: {text[:40]!r} is no release of TensorFlow",
            path=path,
            hint="for example 2.15, >=2.16,<2.19, auto or requirements",
        )
    bare = text.strip()
    if bare in (AUTO, FILES):
        return ""
    parts = [operator + number for operator, number in _PART.findall(bare)]
    return "tensorflow" + (",".join(parts) or f"=={bare}")
