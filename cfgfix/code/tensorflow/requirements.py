"""Which TensorFlow a project asks for, read from its requirement files, or else which one is installed."""

from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence

from cfgfix.code.tensorflow import images
from cfgfix.core.errors import CfgfixError
from cfgfix.core.records import dataclass, replace
from cfgfix.core.source_file import is_inside, read_regular

NAMES = (
    "requirements.txt",
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
    "environment.yml",
    "environment.yaml",
    "conda.yml",
    "conda_dependencies.yml",
    "Pipfile",
)
"""Files that name requirements, the ones that bind first."""
GUIDE = "README.md"
"""What tells people what to install, where no file for a tool does."""
IMAGE = "Dockerfile"
"""What a program is run in, where it starts from an image of TensorFlow or installs it."""
_INCLUDE = re.compile(r"^(?:-r|--requirement)[ =]\s*([\w./-]+)\s*(?:#.*)?$", re.MULTILINE)
_BARE = re.compile(
    r"""^(?:-\s+)?tensorflow(?:[-_](?:cpu|gpu|intel|macos|rocm))?(?:\[[\w,\s-]*\])?\s*(?:[;#].*)?$"""
)
"""A line that asks for TensorFlow whatever its release: of a text file, or of a list in an environment file."""
_BARE_KERAS = re.compile(r"""^(?:-\s+)?keras\s*(?:[;#].*)?$""")
"""The same for standalone Keras."""
_REQUIRES = re.compile(r"(?:install|setup|tests)_requires?\s*=")
"""A key of `setup.cfg` whose value is a list of requirements."""
_LIST = r"""(?:(?<![\w-])dependencies|\brequire(?:d(?:_packages)?|s|ments)\b|\b\w{0,40}_require(?:s|ments))["']?\s*[=:]\s*\[[^\]]{0,2000}?"""
_WHATEVER = re.compile(
    _LIST + r"""["']tensorflow(?:[-_](?:cpu|gpu|intel|macos|rocm))?(?:\[[\w,\s-]*\])?\s*(?:;[^"'\]]*)?["']""",
    re.IGNORECASE,
)
"""The same in a list of requirements in `setup.py` or `pyproject.toml`, be it one with a name of its own."""
_ANY_KERAS = re.compile(_LIST + r"""["']keras\s*(?:;[^"'\]]*)?["']""", re.IGNORECASE)
_GPU_ONLY = re.compile(r"(?<![\w.-])tensorflow[-_]gpu(?![\w-])")
_OF_ANY = re.compile(r"(?<![\w.-])tensorflow(?![\w-])")
GPU_END = 11
"""The last TensorFlow 2 that `tensorflow-gpu` installs: 2.12.0 of it holds no TensorFlow and stops with an error (its `setup.py`, PyPI)."""
_INSTALL = re.compile(r"(?:^|[\s`$])(?:pip3?|conda|mamba|uv)\s+(?:\w+\s+)?install\s")
MAX_BYTES = 256 * 1024
MAX_LIST = 64 * 1024
"""How far into a file a list of requirements is looked for."""
MAX_PARTS = 20
"""Most files of a `requirements/` folder that are read."""
MAX_LEVELS = 6
"""Most folders above the code that are looked in."""
_NAMED = re.compile(
    r"""(?<![\w.-])tensorflow(?:[-_](?:cpu|gpu|intel|macos|rocm))?(?:\[[\w,\s-]*\])?["']?\s*(?:=\s*(?:\{[^}"']{0,200}version\s*=\s*)?["'])?"""
    r"""((?:\s*,?\s*(?:===?|~=|!=|<=|>=|<|>|=)\s*\d[\w.*+!-]*)+)"""
)
_COMPUTED = re.compile(
    r"""["']tensorflow(?:[-_](?:cpu|gpu|intel|macos|rocm))?(?:\[[\w,\s-]*\])?\s*(?:===?|~=|!=|<=|>=|<|>)?\s*(?:\{|%s|["']\s*\+)"""
)
"""A release that only running `setup.py` tells, as in `f"tensorflow=={version}"`."""
_KERAS_2 = re.compile(r"""(?<![\w.-])(?:tf[-_]keras(?:[-_]nightly)?(?![\w.-])|TF_USE_LEGACY_KERAS)""")
_ADDONS = re.compile(r"(?<![\w.-])(?:tensorflow[-_]addons|tfa[-_]nightly)(?![\w.-])")
_COMPANY = re.compile(
    r"""(?<![\w.-])(?P<package>tensorflow[-_]text|tf[-_]models[-_]official)["']?\s*(?P<operator>===?|~=)\s*2\.(?P<minor>\d+)"""
    r"""(?P<patch>\.(?:\d+|\*))(?![\w.])"""
)
"""Packages whose releases are each for one TensorFlow, of the same number: tensorflow-text 2.8.2 needs `tensorflow>=2.8.0,<2.9`, 2.11.0
`>=2.11.0,<2.12`, and tf-models-official 2.8.0 `~=2.8.0` (METADATA of their wheels)."""
ADDONS_END = "<2.16"
"""TensorFlow Addons ended before Keras 3: its last release, 0.23.0, is for TensorFlow below 2.16 (its table of compatible
releases), and cannot be imported beside Keras 3."""
_TABLE = re.compile(
    r"""^["']?tensorflow(?:[-_](?:cpu|gpu|intel|macos|rocm))?["']?\s*=\s*(?:\{[^}]*?version\s*=\s*)?["'](\^|~(?!=))?"""
    r"""\s*(\d+(?:\.\d+)*(?:\.\*)?)["']"""
)
"""A line of Poetry's table of dependencies: a bare number means that release, `^2.4` and `~2.4` what is compatible with it."""
_ITEM = re.compile(
    r"""^(?:[-*+\u2022]|\d+[.)])\s+[*`\[]*tensorflow(?:[-_ ]?(?:cpu|gpu|macos))?[*`\]]*(?:\(https?:[^)\s]*\))?[\s:*]*"""
    r"""(?:\(\s*)?(?P<rest>\S.{0,60})""",
    re.IGNORECASE,
)
"""An item of a guide's list that begins with TensorFlow: `- TensorFlow 2.3.0`, `* tensorflow (>= 2.4)`."""
_IN_WORDS = re.compile(
    r"""\b(?:uses?|used|using|needs?|requires?|runs?\s+(?:on|with|under)|based\s+on|built\s+(?:on|with)|compatible\s+with"""
    r"""|(?:tested|written|developed|implemented)\s+(?:on|with|in|under|for|using))\s+(?:the\s+)?[`\["*]*"""
    r"""tensorflow(?:[-_ ]?(?:cpu|gpu))?[`\]"*]*\s*(?:version\s+|v\.?\s?)?(?:==|<=|=)?\s*(?P<number>1\.(?:\d+(?:\.\d+)?|[xX]))(?![\w/+]|\s*/)""",
    re.IGNORECASE,
)
"""What a guide says of TensorFlow 1 in a sentence: `This code uses tensorflow 1.13`. What it says so of TensorFlow 2 is what it was
tried with, as a rule, and binds nobody."""
_OF_TWO = re.compile(
    r"\b(?:tensorflow|tf)[-_ ]?(?:v\.?\s?)?2|\btensorflow[^\n]{0,40}(?<![\w.])v?2\.(?:\d|x)", re.IGNORECASE
)
"""What a guide says of TensorFlow 2 anywhere: then a sentence on TensorFlow 1 is about a part of the code, or about what it was before."""
_BOUNDS = re.compile(r"(?:,?\s*(?:===?|~=|!=|<=|>=|<|>|=)\s*\d[\w.*]*)+")
_RELEASE = re.compile(
    r"""(?:version\s+|v\.?\s?)?(?P<number>[12]\.\d+(?:\.\d+)?)(?P<any>\.[x*])?[`*]*"""
    r"""(?:(?P<more>\s?\+|\s+(?:or|and)\s+(?:higher|above|later|newer|greater|up))|(?=\s*(?:$|[.,;)(<])))""",
    re.IGNORECASE,
)
_PART = re.compile(r"(===?|~=|!=|<=|>=|<|>|=)\s*(\d[\w.*+!-]*)")

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
_INSTALLED = re.compile(
    r"tensorflow(?:_(?:cpu|gpu|intel|macos|rocm))?-(\d+\.\d+(?:\.\d+)?)[\w.+]*\.dist-info"
)


def admits(text: str, version: Version) -> bool:
    """Tell whether a requirement such as `tensorflow>=2.4,<2.11` takes a release."""
    return all(_holds(operator, version, part) for operator, part in _PART.findall(text))


@functools.lru_cache(maxsize=64)
def _of_two(text: str) -> dict[int, list[Version]]:
    """Return the releases of TensorFlow 2 that a requirement admits, by their minor number."""
    return {
        minor: [(2, minor, patch) for patch in range(PATCHES) if admits(text, (2, minor, patch))]
        for minor in range(LATER_MINORS)
    }


@dataclass(frozen=True, slots=True)
class Requirement:
    """What a project asks for.

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
        """Whether it is known what may be installed: a release is asked for, or any."""
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
        """Return the releases of TensorFlow 2 that the project asks for.

        They are those among some minor ones, in their order.
        """
        asked = _of_two(self.text)
        return [version for minor in minors for version in asked.get(minor, ())]

    def reaches_below(self, minor: int) -> bool:
        """Tell whether TensorFlow 2.0 to one before 2.`minor` is among what is asked for.

        Not where nothing is.
        """
        return bool(self.text) and any(self.admits((2, number, 0)) for number in range(minor))

    def admits_one(self) -> bool:
        """Tell whether TensorFlow 1 may be meant.

        What is installed on a machine does not say so.
        """
        if self.computed:
            return not self.two
        if self.installed:
            return True
        return not self.text or self.admits((1, 15, 0))

    def admitted(self, inspected: Sequence[str]) -> tuple[int, ...]:
        """Return the positions of the releases that stand for what may be installed.

        Without a requirement these are all the inspected ones. Where none of them is asked for exactly, the releases on both
        sides of the wanted one stand for it; a requirement below the oldest inspected release gives none.
        """
        versions = [_version(text) for text in inspected]
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
            _version(text) for operator, text in _PART.findall(self.text) if operator not in ("!=", "<")
        ]
        if not wanted:
            return ()
        low = [number for number, version in enumerate(versions) if version <= max(wanted)]
        high = [number for number, version in enumerate(versions) if version >= max(wanted)]
        if not low:
            return ()
        return (low[-1], high[0]) if high else (low[-1],)


NOTHING = Requirement("", "", ())


def _version(text: str) -> Version:
    numbers = [int(part) for part in re.findall(r"\d+", text.split("+", maxsplit=1)[0])[:3]]
    numbers += [0] * (3 - len(numbers))
    return numbers[0], numbers[1], numbers[2]


def _holds(operator: str, version: Version, text: str) -> bool:
    wanted = _version(text)
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


def setting(text: str, path: str | None = None) -> str:
    """Return what a value of the setting `tensorflow` asks for.

    It is a text such as `tensorflow==2.15`, empty where files or the machine say it.

    Raises:
        CfgfixError: It is neither a release, nor a requirement, nor a word that the setting knows.
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


def find_requirement(paths: Sequence[str], asked: str = FILES) -> Requirement:
    """Return what the project of some files asks for.

    The nearest file at or above them that names TensorFlow.

    Args:
        paths: The files.
        asked: The setting `tensorflow`: `requirements`, `auto`, or a release that stands for both.

    Raises:
        CfgfixError: The setting says nothing that is known.
    """
    stated = setting(asked)
    if stated:
        return Requirement("the setting `tensorflow`", stated, ())
    if not paths:
        return NOTHING
    folders = {os.path.dirname(os.path.abspath(path)) for path in paths}
    here = top = os.path.commonpath(folders)
    looked: list[str] = []
    found = NOTHING
    guides: list[str] = []
    for _ in range(MAX_LEVELS):
        guides.append(here)
        said = _said_by(here, looked)
        found = said or found
        above = os.path.dirname(here)
        if (
            (said and (said.known or said.computed))
            or above == here
            or os.path.exists(os.path.join(here, ".git"))
        ):
            break
        here = above
    if found.open and not found.whatever:
        # Prose is the weakest witness: it counts where no file for a tool and no command says anything.
        found = (
            next((told for folder in guides if (told := _guide_requirement(folder, looked))), None) or found
        )
    below = []
    for folder in sorted(_between(folders, top)):
        said = _said_by(folder, looked)
        if said is None and found.open and not found.whatever:
            said = _guide_requirement(folder, looked)
        if said is not None:
            below.append((folder, said))
    if asked == AUTO and not (found.known or found.computed or below):
        there = _installed(top, looked)
        found = found if there is None else replace(there, keras_2=found.keras_2)
    return replace(found, looked_in=tuple(looked), below=tuple(below))


def _installed(top: str, looked: list[str]) -> Requirement | None:
    """Return the TensorFlow of the project's environment, of the one in use, or of this interpreter's."""
    folders = [top]
    for _ in range(MAX_LEVELS):
        above = os.path.dirname(folders[-1])
        if above == folders[-1] or os.path.exists(os.path.join(folders[-1], ".git")):
            break
        folders.append(above)
    places = [os.path.join(folder, name) for folder in folders for name in (".venv", "venv")]
    places += [place for name in ("VIRTUAL_ENV", "CONDA_PREFIX") if (place := os.environ.get(name))]
    for place in dict.fromkeys((*places, sys.prefix)):
        for packages in _packages(place, looked):
            looked.append(packages)
            for name in _listed(packages, (".dist-info",), most=None):
                match = _INSTALLED.fullmatch(name)
                if match is not None:
                    shown = os.path.relpath(place)
                    return Requirement(
                        place if shown.startswith("..") else shown,
                        f"tensorflow=={match[1]}",
                        (),
                        installed=True,
                    )
    return None


def _packages(environment: str, looked: list[str]) -> Iterator[str]:
    """Yield the folders of an environment that packages are installed in."""
    library = os.path.join(environment, "lib")
    looked.append(library)
    try:
        names = sorted(name for name in os.listdir(library) if name.startswith("python3"))
    except OSError:
        names = []
    for name in names:
        yield os.path.join(library, name, "site-packages")
    if os.name == "nt":
        yield os.path.join(environment, "Lib", "site-packages")


def _between(folders: set[str], top: str) -> set[str]:
    """Return the folders of files and those above them, up to a common one that is left out."""
    found: set[str] = set()
    for folder in folders:
        here = folder
        while here not in found and len(here) > len(top):
            found.add(here)
            here = os.path.dirname(here)
    return found


def _listed(folder: str, ending: tuple[str, ...], most: int | None = MAX_PARTS) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if name.endswith(ending))[:most]
    except OSError:
        return []


def _parts_of(folder: str) -> list[str]:
    """Return the files of a folder's `requirements/`, the one named for TensorFlow first, and those of its folders of environments."""
    names = _listed(os.path.join(folder, "requirements"), (".txt",))
    names.sort(key=lambda name: (not name.startswith("tensorflow"), name))
    return [os.path.join("requirements", name) for name in names] + [
        os.path.join(place, name)
        for place in ("conda", "env", "environments", "envs")
        for name in _listed(os.path.join(folder, place), (".yml", ".yaml"))
    ]


def _runs_of(folder: str) -> list[str]:
    """Return the files that say how a folder's program is run and tested: they may ask for Keras 2."""
    place = os.path.join(".github", "workflows")
    flows = _listed(os.path.join(folder, place), (".yml", ".yaml"))
    return ["tox.ini", "Dockerfile", *(os.path.join(place, name) for name in flows)]


def _other_images(folder: str, looked: list[str]) -> list[tuple[str, _Said]]:
    """Return what the images of a folder's `docker/` hold, where all of them hold the same release.

    Who builds images of several releases supports each of them, and none of the files says which.
    """
    place = os.path.join(folder, "docker")
    looked.append(place)
    names = [name for name in _listed(place, ("",)) if name.startswith(IMAGE)]
    said = []
    for name in names:
        image = os.path.join(place, name)
        looked.append(image)
        one = _said_in(image, installs=True)
        if one is not None and one.text:
            said.append((image, _Said(one.text, two=one.two, keras=one.keras)))
    alike = len({one.text for _, one in said}) == 1 and len(said) == len(names)
    return said[:1] if alike else []


def _deployed(folder: str, looked: list[str]) -> list[tuple[str, _Said]]:
    """Return what the images hold in which a folder's programs are deployed."""
    found = images.deployed_in(folder, looked)
    if found is None:
        return []
    place, text = found
    return [(place, _Said(text, two=not Requirement("", text, ()).admits((1, 15, 0))))]


def _said_by(folder: str, looked: list[str]) -> Requirement | None:
    """Return what the requirement files of one folder ask for, or None; `looked` gets every file looked for."""
    said: list[tuple[str, _Said]] = []
    others = [name for name in _listed(folder, (".txt",)) if "requir" in name.lower() and name not in NAMES]
    others += [
        name
        for name in _listed(folder, (".yml", ".yaml"))
        if re.search("env|conda", name.lower()) and name not in NAMES
    ]
    for name in (*NAMES, *others, *_parts_of(folder)):
        place = os.path.join(folder, name)
        looked.append(place)
        one = _said_in(place)
        if one is not None:
            said.append((place, one))
        if name.endswith(".txt"):
            for other in _included_in(place):
                looked.append(other)
                one = _said_in(other)
                if one is not None:
                    said.append((other, one))
    for name in (IMAGE, GUIDE):
        place = os.path.join(folder, name)
        looked.append(place)
        one = _said_in(place, installs=True)
        if one is not None and (one.text or one.keras):
            said.append((place, _Said(one.text, two=one.two, keras=one.keras)))
    if not any(
        one.text or one.computed or one.whatever or one.keras or one.any_keras or one.because
        for _, one in said
    ):
        said += _other_images(folder, looked) or _deployed(folder, looked)
    for name in _runs_of(folder):
        place = os.path.join(folder, name)
        looked.append(place)
        one = _said_in(place)
        if one is not None and one.keras_2:
            said.append((place, _Said(keras_2=True)))
    return _made(folder, said, looked) if said else None


def _guide_requirement(folder: str, looked: list[str]) -> Requirement | None:
    """Return what a folder's guide says in a list or a sentence; None where it says no release."""
    place = os.path.join(folder, GUIDE)
    looked.append(place)
    one = _listed_in(place)
    if one is None or not (one.text or one.keras):
        return None
    return _made(folder, [(place, _Said(one.text, two=one.two, keras=one.keras))], looked)


def _made(folder: str, said: list[tuple[str, _Said]], looked: list[str]) -> Requirement:
    """Return what the files of one folder come to together."""
    # The first file that says which release counts, and beside it what any of them asks for in company.
    place, first = min(said, key=lambda item: (not (item[1].text or item[1].computed), not item[1].whatever))
    shown = os.path.relpath(place)
    made = Requirement(
        place if shown.startswith("..") else shown,
        first.text,
        (),
        keras_2=any(one.keras_2 for _, one in said),
        computed=first.computed and not first.text,
        two=any(one.two for _, one in said),
        whatever=first.whatever and not (first.text or first.computed),
        stated=first.because,
        numpy=_numpy_of([text for _, one in said for text in one.others]),
    )
    if first.gpu:
        made = _ending(made, GPU_END, "tensorflow-gpu")
    made = _with_others(_constrained(folder, made, looked), first.others)
    if any(one.addons for _, one in said):
        return before_keras_3(made)
    beside, keras = next(((where, one.keras) for where, one in said if one.keras), ("", ""))
    if keras and beside != place and made.text and not made.admits_one() and not _goes_with_two(keras):
        # One file asks for TensorFlow 2 and another for a Keras that is too old for it: nothing says which is meant.
        return replace(made, text="", path="", contradicts=True)
    if made.text or made.whatever or made.computed:
        return _with_keras(made, keras) if keras else made
    if not keras:
        beside = next((where for where, one in said if one.any_keras), "")
        keras = "keras of any release" if beside else ""
    return _of_keras(beside, made, keras) if keras else made


def _of_keras(path: str, requirement: Requirement, keras: str) -> Requirement:
    """Return a requirement that says nothing of TensorFlow with what is asked for of Keras."""
    shown = os.path.relpath(path)
    made = replace(requirement, path=path if shown.startswith("..") else shown)
    if not _goes_with_two(keras):
        return replace(made, text="tensorflow<2.0", stated=keras)
    bounded = _with_keras(made, keras)
    return replace(bounded, stated=keras) if bounded.text else replace(made, keras=keras)


def _constrained(folder: str, requirement: Requirement, looked: list[str]) -> Requirement:
    """Return a requirement with what a constraints file beside it pins: `pip install -c constraints.txt`."""
    if requirement.computed:
        return requirement
    for name in _listed(folder, (".txt",)):
        if not name.lower().startswith("constraint"):
            continue
        place = os.path.join(folder, name)
        looked.append(place)
        one = _said_in(place)
        pinned = one.text.removeprefix("tensorflow") if one is not None else ""
        if not pinned:
            continue
        text = f"{requirement.text},{pinned}" if requirement.text else f"tensorflow{pinned}"
        shown = os.path.relpath(place)
        return replace(
            requirement, path=place if shown.startswith("..") else shown, text=text, whatever=False
        )
    return requirement


def _goes_with_two(keras: str) -> bool:
    """Tell whether a Keras that is asked for goes with TensorFlow 2: 2.3.0 is the first that does (its release notes)."""
    asked = Requirement("", keras, ())
    later = ((major, minor, patch) for major in (2, 3) for minor in range(40) for patch in range(10))
    return any(version >= (2, 3, 0) and asked.admits(version) for version in later)


def _with_keras(requirement: Requirement, keras: str) -> Requirement:
    """Return a requirement that ends where what is asked for of Keras ends, where that is Keras 2.

    TensorFlow 2.6 to 2.15 each install the Keras of their own number and no other, as TensorFlow 2.8.4 `keras>=2.8.0rc0,<2.9`
    (METADATA of the wheels of 2.8.4 to 2.12.1); TensorFlow 2.16 and later install Keras 3.
    """
    asked = Requirement("", keras, ())
    if any(asked.admits((3, minor, 0)) for minor in range(40)):
        return requirement
    last = max(
        (minor for minor in range(6, 16) if asked.admits((2, minor, 0)) or asked.admits((2, minor, 99))),
        default=5,
    )
    return _ending(requirement, last, keras)


def _numpy_of(others: Sequence[str]) -> str:
    """Return what is asked for of NumPy, by name or through a Numba or SciPy that takes none from some release on; or empty text.

    Numba 0.56.4 needs `numpy<1.24`, 0.57.0 `numpy<1.25`; SciPy 1.12.0 needs `numpy<1.29`, 1.13.0 `numpy<2.3` (METADATA).
    """
    asked = {
        name: text
        for name in ("numpy", "numba", "scipy")
        for text in reversed(others)
        if text.startswith(name)
    }
    numpy = asked.get("numpy", "")
    numba, scipy = (Requirement("", asked.get(name, ""), ()) for name in ("numba", "scipy"))
    if numba.text and not _admits_any(numba, 0, range(57, 90)):
        first = (1, 24)
    elif scipy.text and not _admits_any(scipy, 1, range(13, 60)):
        first = (2, 0)
    else:
        return numpy
    below = f"<{first[0]}.{first[1]}"
    if not numpy:
        return f"numpy{below}"
    # Where the two contradict each other, what is said of NumPy itself counts.
    old = _admits_any(Requirement("", numpy, ()), 1, range(16, first[1] or 40))
    return f"{numpy},{below}" if old else numpy


def _admits_any(requirement: Requirement, major: int, minors: Iterable[int]) -> bool:
    return any(requirement.admits((major, minor, patch)) for minor in minors for patch in range(PATCHES))


def _with_others(requirement: Requirement, others: Sequence[str]) -> Requirement:
    """Return a requirement that ends where another package that the same file asks for is too old for TensorFlow."""
    if not (requirement.text or requirement.whatever):
        return requirement
    for text in others:
        package = re.match(r"\w+", text)
        assert package is not None
        asked = Requirement("", text, ())
        for least, minor in _NEEDS[package[0]]:
            later = (
                (major, number, patch)
                for major in (0, 1, 2, 3)
                for number in range(60)
                for patch in range(10)
            )
            if not any(version >= least and asked.admits(version) for version in later):
                requirement = _ending(requirement, minor - 1, text)
                break
    return requirement


def _ending(requirement: Requirement, last: int, because: str) -> Requirement:
    """Return a requirement that ends with TensorFlow 2.`last`, where it admits that release and later ones."""
    if (
        requirement.computed
        or not requirement.admits((2, last, 0))
        or not any(requirement.admits((2, minor, 0)) for minor in range(last + 1, 40))
    ):
        return requirement
    end = f"<2.{last + 1}"
    return replace(
        requirement,
        text=f"{requirement.text},{end}" if requirement.text else f"tensorflow{end}",
        stated=f"{requirement.text or 'tensorflow'} and {because}",
        whatever=False,
    )


def _included_in(path: str) -> list[str]:
    """Return the files that a text file of requirements names with `-r`, those below its folder; theirs are not followed."""
    data = _read(path)
    if data is None:
        return []
    folder = os.path.dirname(path)
    names = _INCLUDE.findall(data[:MAX_BYTES].decode("utf-8", "replace"))[:MAX_PARTS]
    places = [os.path.normpath(os.path.join(folder, name)) for name in names]
    root = os.path.realpath(folder)
    return [place for place in dict.fromkeys(places) if is_inside(place, root)]


def before_keras_3(requirement: Requirement) -> Requirement:
    """Return a requirement that ends where TensorFlow Addons does.

    One that begins behind that end stays as it is.
    """
    if requirement.installed and _version(requirement.text) >= (2, 16, 0):
        # What is installed is not what the program is meant for.
        requirement = NOTHING
    if requirement.computed or not requirement.admits((2, 15, 0)):
        return requirement
    if requirement.text:
        if requirement.admits((2, 16, 0)):
            return replace(
                requirement,
                text=f"{requirement.text},{ADDONS_END}",
                stated=f"{requirement.text} and tensorflow_addons",
            )
        return requirement
    return replace(
        requirement,
        text=f"tensorflow{ADDONS_END}",
        stated="tensorflow_addons",
    )


@dataclass(frozen=True, slots=True)
class _Said:
    """What one file says."""

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


def _read(path: str) -> bytes | None:
    """Return the beginning of a file, one byte more than is taken in; None where there is none to read."""
    if not os.path.isfile(path):  # so it is with most of the names
        return None
    try:
        return read_regular(path, MAX_BYTES + 1)
    except OSError:
        return None


def _said_in(path: str, *, installs: bool = False) -> _Said | None:
    """Return what a file says; with `installs`, only its lines that install something."""
    data = _read(path)
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
            listing = _lists(line, listing)
        # Names of packages are the same in capitals: `Keras==2.3.1`.
        low = bare.lower()
        anything = listing and not installs and _BARE.match(low) is not None
        whatever = whatever or anything
        any_keras = any_keras or (listing and not installs and _BARE_KERAS.match(low) is not None)
        asked = asked_in(low)
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
        company = company or _in_company(low)
        keras = keras or asked_in(low, "keras")
        for package in _NEEDS:
            # Behind a marker Python is what one line is for, not what the project asks for.
            if package in low and package not in others and (package != "python" or not set("{;") & set(low)):
                other = asked_in(low, package)
                if other:
                    others[package] = other
    because = ""
    if company and not named and not computed:
        named, because = company
        two = True
    if not (named or keras_2 or addons or computed or whatever or keras or any_keras):
        return None
    return _Said(
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


def _in_company(line: str) -> tuple[str, str] | None:
    """Return the TensorFlow that a package in a line needs, and what the line says of the package; None where it says nothing of one."""
    match = _COMPANY.search(line)
    if match is None:
        return None
    minor = int(match["minor"])
    package = match["package"].replace("_", "-")
    return (
        f"tensorflow>=2.{minor},<2.{minor + 1}",
        f"{package}{match['operator']}2.{minor}{match['patch'] or ''}",
    )


def _lists(line: str, before: bool) -> bool:
    """Tell whether a line of `setup.cfg` stands in a list of requirements, and not in one of names for another tool.

    Args:
        line: The line as it is written.
        before: The answer for the line before it.
    """
    if line[:1].isspace():
        return before
    if line.startswith("["):
        return line.startswith("[options.extras_require")
    return _REQUIRES.match(line) is not None or (before and "=" not in line)


def _listed_in(path: str) -> _Said | None:
    """Return what a list in a guide says of TensorFlow's release, the first item that does; None where none does."""
    data = _read(path)
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
            named = asked_in("tensorflow" + re.sub(r"\.[xX]\b", ".*", bounds[0]))
        else:
            release = _RELEASE.match(item["rest"])
            if release is None or (release["number"] == "2.0" and release["more"] is None):
                # "TensorFlow 2.0" is what TensorFlow 2 was called for years.
                continue
            number = release["number"]
            whole = number.count(".") == 2 or release["more"] is not None
            named = f"tensorflow{'>=' if release['more'] else '=='}{number}{'' if whole else '.*'}"
        if named:
            return _Said(named, two=not Requirement("", named, ()).admits((1, 15, 0)))
    for line in lines if not any(_OF_TWO.search(line[:2000]) for line in lines) else ():
        told = _IN_WORDS.search(line[:2000])
        if told is not None:
            number = told["number"].lower().replace(".x", ".*")
            return _Said(f"tensorflow=={number}{'' if number.count('.') == 2 or '*' in number else '.*'}")
    return None


@functools.cache
def _patterns(package: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return how a table of Poetry's and a list ask for a package."""
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


def asked_in(line: str, package: str = "tensorflow") -> str:
    """Return what a line asks for, such as `tensorflow>=2.4,<2.11`.

    Empty where it says nothing of the package's release.
    """
    if package not in line:
        return ""
    in_table, in_list = _patterns(package)
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
