"""What one file says of TensorFlow's release: requirement files, setup scripts, images and guides."""

from __future__ import annotations

import functools
import os
import re

from cfgfix.code.tensorflow import images
from cfgfix.code.tensorflow.requirement import _PART, Requirement, Version
from cfgfix.core.patterns import late
from cfgfix.core.records import dataclass
from cfgfix.core.source_file import is_inside, read_regular

_INCLUDE = late(r"^(?:-r|--requirement)[ =]\s*([\w./-]+)\s*(?:#.*)?$", re.MULTILINE)
_BARE = late(
    r"""^(?:-\s+)?tensorflow(?:[-_](?:cpu|gpu|intel|macos|rocm))?(?:\[[\w,\s-]*\])?\s*(?:[;#].*)?$"""
)
"""A line that asks for TensorFlow whatever its release: of a text file, or of a list in an environment file."""
_BARE_KERAS = late(r"""^(?:-\s+)?keras\s*(?:[;#].*)?$""")
"""The same for standalone Keras."""
_REQUIRES = late(r"(?:install|setup|tests)_requires?\s*=")
"""A key of `setup.cfg` whose value is a list of requirements."""
_LIST = r"""(?:(?<![\w-])dependencies|\brequire(?:d(?:_packages)?|s|ments)\b|\b\w{0,40}_require(?:s|ments))["']?\s*[=:]\s*\[[^\]]{0,2000}?"""
_WHATEVER = late(
    _LIST + r"""["']tensorflow(?:[-_](?:cpu|gpu|intel|macos|rocm))?(?:\[[\w,\s-]*\])?\s*(?:;[^"'\]]*)?["']""",
    re.IGNORECASE,
)
"""The same in a list of requirements in `setup.py` or `pyproject.toml`, be it one with a name of its own."""
_ANY_KERAS = late(_LIST + r"""["']keras\s*(?:;[^"'\]]*)?["']""", re.IGNORECASE)
_GPU_ONLY = late(r"(?<![\w.-])tensorflow[-_]gpu(?![\w-])")
_OF_ANY = late(r"(?<![\w.-])tensorflow(?![\w-])")
_INSTALL = late(r"(?:^|[\s`$])(?:pip3?|conda|mamba|uv)\s+(?:\w+\s+)?install\s")
MAX_BYTES = 256 * 1024
MAX_LIST = 64 * 1024
"""How far into a file a list of requirements is looked for."""
MAX_PARTS = 20
"""Most files of a `requirements/` folder that are read."""
_NAMED = late(
    r"""(?<![\w.-])tensorflow(?:[-_](?:cpu|gpu|intel|macos|rocm))?(?:\[[\w,\s-]*\])?["']?\s*(?:=\s*(?:\{[^}"']{0,200}version\s*=\s*)?["'])?"""
    r"""((?:\s*,?\s*(?:===?|~=|!=|<=|>=|<|>|=)\s*\d[\w.*+!-]*)+)"""
)
_COMPUTED = late(
    r"""["']tensorflow(?:[-_](?:cpu|gpu|intel|macos|rocm))?(?:\[[\w,\s-]*\])?\s*(?:===?|~=|!=|<=|>=|<|>)?\s*(?:\{|%s|["']\s*\+)"""
)
"""A release that only running `setup.py` tells, as in `f"tensorflow=={version}"`."""
_KERAS_2 = late(r"""(?<![\w.-])(?:tf[-_]keras(?:[-_]nightly)?(?![\w.-])|TF_USE_LEGACY_KERAS)""")
_ADDONS = late(r"(?<![\w.-])(?:tensorflow[-_]addons|tfa[-_]nightly)(?![\w.-])")
_COMPANY = late(
    r"""(?<![\w.-])(?P<package>tensorflow[-_]text|tf[-_]models[-_]official)["']?\s*(?P<operator>===?|~=)\s*2\.(?P<minor>\d+)"""
    r"""(?P<patch>\.(?:\d+|\*))(?![\w.])"""
)
"""Packages whose releases are each for one TensorFlow, of the same number: tensorflow-text 2.8.2 needs `tensorflow>=2.8.0,<2.9`, 2.11.0
`>=2.11.0,<2.12`, and tf-models-official 2.8.0 `~=2.8.0` (METADATA of their wheels)."""
_TABLE = late(
    r"""^["']?tensorflow(?:[-_](?:cpu|gpu|intel|macos|rocm))?["']?\s*=\s*(?:\{[^}]*?version\s*=\s*)?["'](\^|~(?!=))?"""
    r"""\s*(\d+(?:\.\d+)*(?:\.\*)?)["']"""
)
"""A line of Poetry's table of dependencies: a bare number means that release, `^2.4` and `~2.4` what is compatible with it."""
_ITEM = late(
    r"""^(?:[-*+\u2022]|\d+[.)])\s+[*`\[]*tensorflow(?:[-_ ]?(?:cpu|gpu|macos))?[*`\]]*(?:\(https?:[^)\s]*\))?[\s:*]*"""
    r"""(?:\(\s*)?(?P<rest>\S.{0,60})""",
    re.IGNORECASE,
)
"""An item of a guide's list that begins with TensorFlow: `- TensorFlow 2.3.0`, `* tensorflow (>= 2.4)`."""
_IN_WORDS = late(
    r"""\b(?:uses?|used|using|needs?|requires?|runs?\s+(?:on|with|under)|based\s+on|built\s+(?:on|with)|compatible\s+with"""
    r"""|(?:tested|written|developed|implemented)\s+(?:on|with|in|under|for|using))\s+(?:the\s+)?[`\["*]*"""
    r"""tensorflow(?:[-_ ]?(?:cpu|gpu))?[`\]"*]*\s*(?:version\s+|v\.?\s?)?(?:==|<=|=)?\s*(?P<number>1\.(?:\d+(?:\.\d+)?|[xX]))(?![\w/+]|\s*/)""",
    re.IGNORECASE,
)
"""What a guide says of TensorFlow 1 in a sentence: `This code uses tensorflow 1.13`. What it says so of TensorFlow 2 is what it was
tried with, as a rule, and binds nobody."""
_OF_TWO = late(
    r"\b(?:tensorflow|tf)[-_ ]?(?:v\.?\s?)?2|\btensorflow[^\n]{0,40}(?<![\w.])v?2\.(?:\d|x)", re.IGNORECASE
)
"""What a guide says of TensorFlow 2 anywhere: then a sentence on TensorFlow 1 is about a part of the code, or about what it was before."""
_BOUNDS = late(r"(?:,?\s*(?:===?|~=|!=|<=|>=|<|>|=)\s*\d[\w.*]*)+")
_RELEASE = late(
    r"""(?:version\s+|v\.?\s?)?(?P<number>[12]\.\d+(?:\.\d+)?)(?P<any>\.[x*])?[`*]*"""
    r"""(?:(?P<more>\s?\+|\s+(?:or|and)\s+(?:higher|above|later|newer|greater|up))|(?=\s*(?:$|[.,;)(<])))""",
    re.IGNORECASE,
)


def included_files(path: str) -> list[str]:
    """Return the files below a requirement file's folder that it names with `-r`.

    Files that these name are not followed.
    """
    data = _read_beginning(path)
    if data is None:
        return []
    folder = os.path.dirname(path)
    names = _INCLUDE.findall(data[:MAX_BYTES].decode("utf-8", "replace"))[:MAX_PARTS]
    places = [os.path.normpath(os.path.join(folder, name)) for name in names]
    root = os.path.realpath(folder)
    return [place for place in dict.fromkeys(places) if is_inside(place, root)]


@dataclass(frozen=True, slots=True)
class FileStatement:
    """The statement of one file on the releases it asks for."""

    text: str = ""
    keras_2: bool = False
    addons: bool = False
    computed: bool = False
    two: bool = False
    whatever: bool = False
    keras: str = ""
    any_keras: bool = False
    others: tuple[str, ...] = ()
    gpu: bool = False
    because: str = ""


def _read_beginning(path: str) -> bytes | None:
    """Return a file's first bytes, one more than the most that are used.

    None where the file cannot be read.
    """
    try:
        return read_regular(path, MAX_BYTES + 1)
    except OSError:
        return None


def read_statement(path: str, *, installs: bool = False) -> FileStatement | None:
    """Return the statement of a file on TensorFlow's release, or None.

    With `installs`, only lines that install something count.
    """
    data = _read_beginning(path)
    if data is None or len(data) > MAX_BYTES:
        return None
    named, keras, keras_2, addons, computed, two = "", "", False, False, False, False
    company: tuple[str, str] | None = None
    listing = not path.endswith(".cfg")
    others: dict[str, str] = {}
    whole = data.decode("utf-8", "replace")
    listed = _WHATEVER.search(whole[:MAX_LIST]) if path.endswith((".py", ".toml")) and not installs else None
    whatever = listed is not None
    any_keras = (
        path.endswith((".py", ".toml")) and not installs and _ANY_KERAS.search(whole[:MAX_LIST]) is not None
    )
    gpu, plain = (
        (_GPU_ONLY.search(listed[0]) is not None, _OF_ANY.search(listed[0]) is not None)
        if listed is not None
        else (False, False)
    )
    for line in whole.splitlines():
        bare = line.strip()
        if installs and bare.startswith("FROM"):
            named = named or images.requirement_of(bare)
            continue
        if bare.startswith("#") or len(bare) > 2000:
            continue
        if installs:
            install = _INSTALL.search(bare)
            if install is None:
                continue
            # What a sentence says before the command is about something else: "does not work with tensorflow>2.3".
            bare = bare[install.start() :]
        if path.endswith(".cfg"):
            listing = _is_of_list(line, listing)
        # Names of packages are the same in capitals: `Keras==2.3.1`.
        low = bare.lower()
        anything = listing and not installs and _BARE.match(low) is not None
        whatever = whatever or anything
        any_keras = any_keras or (listing and not installs and _BARE_KERAS.match(low) is not None)
        asked = requirement_in(low)
        if anything or asked:
            gpu = gpu or _GPU_ONLY.search(low) is not None
            plain = plain or _GPU_ONLY.search(low) is None
        if not named and not computed:
            named = asked
            computed = not named and _COMPUTED.search(low) is not None
        if not two:
            two = bool(asked) and not Requirement("", asked, ()).admits((1, 15, 0))
        keras_2 = keras_2 or _KERAS_2.search(bare) is not None
        addons = addons or _ADDONS.search(low) is not None
        company = company or _tensorflow_of_companion(low)
        keras = keras or requirement_in(low, "keras")
        for package in _NEEDS:
            # Behind a marker Python is what one line is for, not what the project asks for.
            if package in low and package not in others and (package != "python" or not set("{;") & set(low)):
                other = requirement_in(low, package)
                if other:
                    others[package] = other
    because = ""
    if company and not named and not computed:
        named, because = company
        two = True
    if not (named or keras_2 or addons or computed or whatever or keras or any_keras):
        return None
    return FileStatement(
        named,
        keras_2,
        addons,
        computed,
        two,
        whatever,
        keras,
        any_keras,
        tuple(others.values()),
        gpu and not plain,
        because,
    )


def _tensorflow_of_companion(line: str) -> tuple[str, str] | None:
    """Return the TensorFlow that a companion package in a line needs.

    It comes with the line's own requirement for the package. None where the line names no such package.
    """
    match = _COMPANY.search(line)
    if match is None:
        return None
    minor = int(match["minor"])
    package = match["package"].replace("_", "-")
    return (
        f"tensorflow>=2.{minor},<2.{minor + 1}",
        f"{package}{match['operator']}2.{minor}{match['patch'] or ''}",
    )


def _is_of_list(line: str, before: bool) -> bool:
    """Tell whether a line of `setup.cfg` is part of a list of requirements.

    Args:
        line: The line as it is written.
        before: The answer for the line before it.
    """
    if line[:1].isspace():
        return before
    if line.startswith("["):
        return line.startswith("[options.extras_require")
    return _REQUIRES.match(line) is not None or (before and "=" not in line)


def read_guide(path: str) -> FileStatement | None:
    """Return the first statement in a guide on TensorFlow's release.

    A list or a sentence makes it; None where none does.
    """
    data = _read_beginning(path)
    if data is None:
        return None
    text = data[:MAX_BYTES].decode("utf-8", "replace")
    # Most lines say nothing of it.
    lines = [line for line in text.splitlines() if "tensorflow" in (low := line.lower()) or "tf" in low]
    for line in lines:
        item = _ITEM.match(line.strip()[:400])
        if item is None:
            continue
        bounds = _BOUNDS.match(item["rest"])
        if bounds is not None:
            named = requirement_in("tensorflow" + re.sub(r"\.[xX]\b", ".*", bounds[0]))
        else:
            release = _RELEASE.match(item["rest"])
            if release is None or (release["number"] == "2.0" and release["more"] is None):
                # "TensorFlow 2.0" is what TensorFlow 2 was called for years.
                continue
            number = release["number"]
            whole = number.count(".") == 2 or release["more"] is not None
            named = f"tensorflow{'>=' if release['more'] else '=='}{number}{'' if whole else '.*'}"
        if named:
            return FileStatement(named, two=not Requirement("", named, ()).admits((1, 15, 0)))
    for line in lines if not any(_OF_TWO.search(line[:2000]) for line in lines) else ():
        told = _IN_WORDS.search(line[:2000])
        if told is not None:
            number = told["number"].lower().replace(".x", ".*")
            return FileStatement(
                f"tensorflow=={number}{'' if number.count('.') == 2 or '*' in number else '.*'}"
            )
    return None


@functools.cache
def _package_patterns(package: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the patterns for a package in a table of Poetry's and in a list."""
    if package == "tensorflow":
        return _TABLE, _NAMED
    named = "(?:python_requires|requires-python|python)" if package == "python" else package
    sign = (
        r"(?:[=:]\s*[\"']?)?" if package == "python" else r"(?:=\s*(?:\{[^}\"']{0,200}version\s*=\s*)?[\"'])?"
    )
    return (
        re.compile(
            rf"""^["']?{package}["']?\s*=\s*(?:\{{[^}}]*?version\s*=\s*)?["'](\^|~(?!=))?\s*(\d+(?:\.\d+)*)["']"""
        ),
        re.compile(
            rf"""(?<![\w.-]){named}["']?\s*{sign}((?:\s*,?\s*(?:===?|~=|!=|<=|>=|<|>|=)\s*\d[\w.*+!-]*)+)"""
        ),
    )


_NEEDS: dict[str, tuple[tuple[Version, int], ...]] = {
    "numpy": (((1, 20, 0), 8), ((1, 22, 0), 12), ((1, 23, 5), 14)),
    "h5py": (((3, 10, 0), 16),),
    "numba": (((0, 55, 0), 12), ((0, 56, 0), 14)),
    "scipy": (),
    "python": (((3, 7, 0), 7), ((3, 8, 0), 12), ((3, 9, 0), 14), ((3, 10, 0), 21)),
}
"""The least release of a package that TensorFlow 2.N and later need: pairs of that release and N; it needs no SciPy, which tells of
NumPy (METADATA of the wheels of 2.7.0, 2.8.4, 2.11.1, 2.12.0, 2.13.0, 2.14.0, 2.15.0, 2.16.1 and 2.21.0; for Python the releases
that `pip index versions tensorflow` gives for each version of it; numba 0.54.1 needs `numpy<1.21` and 0.55.2 `numpy<1.23`, METADATA
of their wheels)."""


def requirement_in(line: str, package: str = "tensorflow") -> str:
    """Return a line's requirement for a package, such as `tensorflow>=2.4,<2.11`.

    Empty where the line names no release of the package.
    """
    if package not in line:
        return ""
    in_table, in_list = _package_patterns(package)
    table = in_table.match(line)
    if table is not None:
        sign, number = table[1], table[2]
        if sign is None:
            return f"{package}=={number}"
        major, _, rest = number.partition(".")
        minor = rest.partition(".")[0]
        above = f"{int(major) + 1}" if sign == "^" or not minor else f"{major}.{int(minor) + 1}"
        return f"{package}>={number},<{above}"
    match = in_list.search(line)
    if match is None:
        return ""
    # A full stop behind it ends a sentence.
    parts = [
        f"{'==' if operator == '=' else operator}{text.rstrip('.')}"
        for operator, text in _PART.findall(match[1])
    ]
    return package + ",".join(parts)
