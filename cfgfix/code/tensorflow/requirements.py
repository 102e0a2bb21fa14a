"""Which TensorFlow a project asks for, read from its requirement files, or else which one is installed."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence

from cfgfix.code.tensorflow import images
from cfgfix.code.tensorflow.requirement import (
    AUTO,
    FILES,
    NOTHING,
    PATCHES,
    Requirement,
    asked_release,
    parse_version,
)
from cfgfix.code.tensorflow.requirement_files import (
    _NEEDS,
    MAX_PARTS,
    FileStatement,
    included_files,
    read_guide,
    read_statement,
)
from cfgfix.core.patterns import late
from cfgfix.core.records import replace

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
GPU_END = 11
"""The last TensorFlow 2 that `tensorflow-gpu` installs: 2.12.0 of it holds no TensorFlow and stops with an error (its `setup.py`, PyPI)."""
MAX_LEVELS = 6
"""Most folders above the code that are looked in."""
ADDONS_END = "<2.16"
"""TensorFlow Addons ended before Keras 3: its last release, 0.23.0, is for TensorFlow below 2.16 (its table of compatible
releases), and cannot be imported beside Keras 3."""
_INSTALLED = late(r"tensorflow(?:_(?:cpu|gpu|intel|macos|rocm))?-(\d+\.\d+(?:\.\d+)?)[\w.+]*\.dist-info")


def find_requirement(paths: Sequence[str], asked: str = FILES) -> Requirement:
    """Return the TensorFlow requirement of the project with some files.

    The nearest requirement file at or above them that names TensorFlow states it.

    Args:
        paths: The files.
        asked: The setting `tensorflow`: `requirements`, `auto`, or a release that stands for both.

    Raises:
        CfgfixError: The setting says nothing that is known.
    """
    stated = asked_release(asked)
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
        said = _folder_requirement(here, looked)
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
    for folder in sorted(_folders_between(folders, top)):
        said = _folder_requirement(folder, looked)
        if said is None and found.open and not found.whatever:
            said = _guide_requirement(folder, looked)
        if said is not None:
            below.append((folder, said))
    if asked == AUTO and not (found.known or found.computed or below):
        there = _installed_requirement(top, looked)
        found = found if there is None else replace(there, keras_2=found.keras_2)
    return replace(found, looked_in=tuple(looked), below=tuple(below))


def _installed_requirement(top: str, looked: list[str]) -> Requirement | None:
    """Return the TensorFlow installed for a project, or None.

    The project's environment is searched, then the active one, then that of this interpreter.
    """
    folders = [top]
    for _ in range(MAX_LEVELS):
        above = os.path.dirname(folders[-1])
        if above == folders[-1] or os.path.exists(os.path.join(folders[-1], ".git")):
            break
        folders.append(above)
    places = [os.path.join(folder, name) for folder in folders for name in (".venv", "venv")]
    places += [place for name in ("VIRTUAL_ENV", "CONDA_PREFIX") if (place := os.environ.get(name))]
    for place in dict.fromkeys((*places, sys.prefix)):
        for packages in _package_folders(place, looked):
            looked.append(packages)
            for name in _names_in(packages, (".dist-info",), most=None):
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


def _package_folders(environment: str, looked: list[str]) -> Iterator[str]:
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


def _folders_between(folders: set[str], top: str) -> set[str]:
    """Return the folders of files and the folders above, below the common one."""
    found: set[str] = set()
    for folder in folders:
        here = folder
        while here not in found and len(here) > len(top):
            found.add(here)
            here = os.path.dirname(here)
    return found


def _names_in(folder: str, ending: tuple[str, ...], most: int | None = MAX_PARTS) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if name.endswith(ending))[:most]
    except OSError:
        return []


def _parts_of(folder: str) -> list[str]:
    """Return the files in a folder's `requirements/` and its environment folders.

    A file named for TensorFlow comes first.
    """
    names = _names_in(os.path.join(folder, "requirements"), (".txt",))
    names.sort(key=lambda name: (not name.startswith("tensorflow"), name))
    return [os.path.join("requirements", name) for name in names] + [
        os.path.join(place, name)
        for place in ("conda", "env", "environments", "envs")
        for name in _names_in(os.path.join(folder, place), (".yml", ".yaml"))
    ]


def _runs_of(folder: str) -> list[str]:
    """Return the files that tell how a program is run and tested, for use of Keras 2."""
    place = os.path.join(".github", "workflows")
    flows = _names_in(os.path.join(folder, place), (".yml", ".yaml"))
    return ["tox.ini", "Dockerfile", *(os.path.join(place, name) for name in flows)]


def _other_images(folder: str, looked: list[str]) -> list[tuple[str, FileStatement]]:
    """Return the statement of one image in a folder's `docker/`, with its file.

    Empty unless all images there hold the same release: a project with several releases supports each.
    """
    place = os.path.join(folder, "docker")
    looked.append(place)
    names = [name for name in _names_in(place, ("",)) if name.startswith(IMAGE)]
    said = []
    for name in names:
        image = os.path.join(place, name)
        looked.append(image)
        one = read_statement(image, installs=True)
        if one is not None and one.text:
            said.append((image, FileStatement(one.text, two=one.two, keras=one.keras)))
    alike = len({one.text for _, one in said}) == 1 and len(said) == len(names)
    return said[:1] if alike else []


def _deployed_statements(folder: str, looked: list[str]) -> list[tuple[str, FileStatement]]:
    """Return the statements of the images that run a folder's programs."""
    found = images.deployed_in(folder, looked)
    if found is None:
        return []
    place, text = found
    return [(place, FileStatement(text, two=not Requirement("", text, ()).admits((1, 15, 0))))]


def _folder_requirement(folder: str, looked: list[str]) -> Requirement | None:
    """Return the requirement that the files of one folder state, or None.

    `looked` gets every file looked for.
    """
    said: list[tuple[str, FileStatement]] = []
    others = [name for name in _names_in(folder, (".txt",)) if "requir" in name.lower() and name not in NAMES]
    others += [
        name
        for name in _names_in(folder, (".yml", ".yaml"))
        if re.search("env|conda", name.lower()) and name not in NAMES
    ]
    for place in _files_of(folder, (*NAMES, *others, *_parts_of(folder)), looked):
        one = read_statement(place)
        if one is not None:
            said.append((place, one))
        if place.endswith(".txt"):
            for other in included_files(place):
                looked.append(other)
                one = read_statement(other)
                if one is not None:
                    said.append((other, one))
    for place in _files_of(folder, (IMAGE, GUIDE), looked):
        one = read_statement(place, installs=True)
        if one is not None and (one.text or one.keras):
            said.append((place, FileStatement(one.text, two=one.two, keras=one.keras)))
    if not any(
        one.text or one.computed or one.whatever or one.keras or one.any_keras or one.because
        for _, one in said
    ):
        said += _other_images(folder, looked) or _deployed_statements(folder, looked)
    for place in _files_of(folder, _runs_of(folder), looked):
        one = read_statement(place)
        if one is not None and one.keras_2:
            said.append((place, FileStatement(keras_2=True)))
    return _join_statements(folder, said, looked) if said else None


def _files_of(folder: str, names: Iterable[str], looked: list[str]) -> Iterator[str]:
    """Yield the named files that exist in a folder; `looked` gets all of them."""
    for name in names:
        place = os.path.join(folder, name)
        looked.append(place)
        if os.path.isfile(place):
            yield place


def _guide_requirement(folder: str, looked: list[str]) -> Requirement | None:
    """Return the requirement in a folder's guide, or None if it names no release."""
    place = os.path.join(folder, GUIDE)
    looked.append(place)
    one = read_guide(place)
    if one is None or not (one.text or one.keras):
        return None
    return _join_statements(folder, [(place, FileStatement(one.text, two=one.two, keras=one.keras))], looked)


def _join_statements(folder: str, said: list[tuple[str, FileStatement]], looked: list[str]) -> Requirement:
    """Return the joint requirement of all statements in one folder's files."""
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
        made = _ended_before(made, GPU_END, "tensorflow-gpu")
    made = _narrowed_by_others(_with_constraints(folder, made, looked), first.others)
    if any(one.addons for _, one in said):
        return limited_to_keras_2(made)
    beside, keras = next(((where, one.keras) for where, one in said if one.keras), ("", ""))
    if keras and beside != place and made.text and not made.admits_tf1() and not _goes_with_two(keras):
        # One file asks for TensorFlow 2 and another for a Keras that is too old for it: nothing says which is meant.
        return replace(made, text="", path="", contradicts=True)
    if made.text or made.whatever or made.computed:
        return _with_keras(made, keras) if keras else made
    if not keras:
        beside = next((where for where, one in said if one.any_keras), "")
        keras = "keras of any release" if beside else ""
    return _requirement_of_keras(beside, made, keras) if keras else made


def _requirement_of_keras(path: str, requirement: Requirement, keras: str) -> Requirement:
    """Return a requirement without a TensorFlow release, narrowed by one for Keras."""
    shown = os.path.relpath(path)
    made = replace(requirement, path=path if shown.startswith("..") else shown)
    if not _goes_with_two(keras):
        return replace(made, text="tensorflow<2.0", stated=keras)
    bounded = _with_keras(made, keras)
    return replace(bounded, stated=keras) if bounded.text else replace(made, keras=keras)


def _with_constraints(folder: str, requirement: Requirement, looked: list[str]) -> Requirement:
    """Return a requirement with the pins of a constraints file beside it.

    Such a file goes with `pip install -c constraints.txt`.
    """
    if requirement.computed:
        return requirement
    for name in _names_in(folder, (".txt",)):
        if not name.lower().startswith("constraint"):
            continue
        place = os.path.join(folder, name)
        looked.append(place)
        one = read_statement(place)
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
    """Tell whether a Keras requirement goes with TensorFlow 2.

    2.3.0 is the first release of Keras that does (its release notes).
    """
    asked = Requirement("", keras, ())
    later = ((major, minor, patch) for major in (2, 3) for minor in range(40) for patch in range(10))
    return any(version >= (2, 3, 0) and asked.admits(version) for version in later)


def _with_keras(requirement: Requirement, keras: str) -> Requirement:
    """Return a requirement that ends with the TensorFlow of a Keras 2 requirement.

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
    return _ended_before(requirement, last, keras)


def _numpy_of(others: Sequence[str]) -> str:
    """Return the NumPy requirement among some, or empty text.

    A Numba or SciPy that takes no newer NumPy narrows it.

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


def _narrowed_by_others(requirement: Requirement, others: Sequence[str]) -> Requirement:
    """Return a requirement that ends where another package in the file is too old."""
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
                requirement = _ended_before(requirement, minor - 1, text)
                break
    return requirement


def _ended_before(requirement: Requirement, last: int, because: str) -> Requirement:
    """Return a requirement that ends with TensorFlow 2.`last`.

    One that does not admit both 2.`last` and a later release stays as it is.
    """
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


def limited_to_keras_2(requirement: Requirement) -> Requirement:
    """Return a requirement that ends with the last release for TensorFlow Addons.

    One that begins later stays as it is.
    """
    if requirement.installed and parse_version(requirement.text) >= (2, 16, 0):
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
