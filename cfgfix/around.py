"""What the code beside a config says of how it is read, by its text alone.

Where settings name the code or its class, the program is followed (`crossref.py`). Most projects have no settings yet, and
then the text of the Python files around a config tells whether OmegaConf reads it, whether the code converts a value by
itself, and whether the config is for another framework. Files are read as bytes, links are not followed, and what is read is
bounded; it is only asked for where a finding depends on it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from cfgfix.files import is_inside, read_regular
from cfgfix.records import dataclass
from cfgfix.settings_table import DEFAULT_EXCLUDE

MAX_FILES = 400
"""Most Python files below one folder that are read."""
MAX_FOLDERS = 400
"""Most folders below one that are looked into."""
MAX_BYTES = 256 * 1024
"""Most bytes of one file that are read; hand-written modules are smaller."""
MAX_LEVELS = 6
"""Most folders above a config that are looked at."""
MAX_CONVERTED = 4096
"""Most words kept of what stands behind `float(`."""

_HYDRA = re.compile(
    rb"\bhydra\.main\b|\bhydra\.initialize|\binitialize_config_dir\(|\bhydra\.compose\(|^from hydra import|\bOmegaConf\.load\(",
    re.MULTILINE,
)
"""Calls that read configs as OmegaConf does (Hydra 1.3.2, `hydra/_internal/core_plugins/file_config_source.py`: `OmegaConf.load`)."""
_MENTIONED = re.compile(rb"\bomegaconf\b|\bOmegaConf\b|^[ \t]*(?:import|from) hydra\b", re.MULTILINE)
_OF_HYDRA = re.compile(r"^hydra:|^[ \t-]*_target_:", re.MULTILINE)
"""Keys of Hydra's own settings, and of what `hydra.utils.instantiate` builds."""
_REQUIRED = re.compile(rb"^[ \t\"'-]*(?:hydra-core|omegaconf)\b", re.MULTILINE | re.IGNORECASE)
_OTHERS = re.compile(rb"\byaml\.(?:safe_|full_|unsafe_)?load(?:_all)?\(|\bYAML\(|\bload_hyperpyyaml\(")
_YACS = re.compile(rb"^[ \t]*(?:import|from) yacs\b", re.MULTILINE)
_RUAMEL = re.compile(rb"^[ \t]*(?:import|from) ruamel\b", re.MULTILINE)
_REQUIRES_RUAMEL = re.compile(rb"^[ \t\"'-]*ruamel[._-]yaml(?![\w.-])", re.MULTILINE | re.IGNORECASE)
_CONFIG_PATH = re.compile(rb"config_path\s*=\s*[\"']([^\"'\n]{1,200})")
_WORD = re.compile(r"[^\W\d]\w*")
_FLOAT = re.compile(rb"\bfloat\(([^\n]{1,120})")
_TENSORFLOW = re.compile(rb"^[ \t]*(?:import|from) (?:tensorflow|keras|tf_keras)\b", re.MULTILINE)
_TORCH = re.compile(rb"^[ \t]*(?:import|from) torch\b", re.MULTILINE)
_LISTS = re.compile(
    r"requirements[\w.-]*\.txt|pyproject\.toml|setup\.cfg|Pipfile|(?:conda|env)[\w.-]*\.ya?ml"
)
"""Files that name what a project needs."""


@dataclass(frozen=True, slots=True)
class Around:
    """What the code around a config says of it.

    Attributes:
        omegaconf: Whether OmegaConf reads it, as far as the text tells.
        elsewhere: Whether the code around imports PyTorch and no TensorFlow.
        yacs: Whether YACS reads it, which makes a number of a text that is one (yacs 0.1.8, `config.py`: `literal_eval`).
        converted: The words that stand behind `float(` in the code.
        ruamel: Whether the code around imports ruamel.yaml, or asks for it.
    """

    omegaconf: bool = False
    elsewhere: bool = False
    yacs: bool = False
    converted: frozenset[str] = frozenset()
    ruamel: bool = False

    def converts(self, name: str) -> bool:
        """Tell whether the code may make a number of what it reads under a name by itself: `float(params["lr"])`."""
        return self.yacs or name in self.converted


@dataclass(frozen=True, slots=True)
class _Level:
    """What the files below one folder hold."""

    python: bool
    hydra: bool
    mentioned: bool
    yacs: bool
    others: bool
    folders: frozenset[str]
    """The last steps of `config_path=`: where Hydra looks for configs."""
    tensorflow: bool
    torch: bool
    converted: frozenset[str]
    ruamel: bool


_NOTHING = _Level(
    python=False, hydra=False, mentioned=False, yacs=False, others=False,
    folders=frozenset(), tensorflow=False, torch=False, converted=frozenset(), ruamel=False,
)  # fmt: skip


class Surroundings:
    """The code around the configs of a run; each folder is looked through once.

    Attributes:
        looked: Every file and folder that was looked at, whether it could be read or not.
    """

    __slots__ = ("_levels", "looked")

    def __init__(self) -> None:
        self._levels: dict[str, _Level] = {}
        self.looked: list[str] = []

    def of(self, path: str, text: str = "") -> Around:
        """Return what the code around a config says, and keys of its own text that Hydra has a meaning for."""
        # As it is written: a link to a config elsewhere does not lead to the code there.
        here = os.path.dirname(os.path.abspath(path))
        top = _top(here)
        real = os.path.realpath(top)
        framework: _Level | None = None
        ruamel = False
        for _ in range(MAX_LEVELS):
            # What a folder that is a link leads to may lie anywhere.
            level = self._level(here) if is_inside(here, real) else _NOTHING
            if framework is None and level.python:
                framework = level
            ruamel = ruamel or level.ruamel
            reads = level.hydra or level.mentioned or level.yacs or level.others
            if reads or here == top:
                return Around(
                    omegaconf=_by_omegaconf(level, path) or _OF_HYDRA.search(text) is not None,
                    elsewhere=framework is not None and framework.torch and not framework.tensorflow,
                    yacs=level.yacs,
                    converted=level.converted,
                    ruamel=ruamel,
                )
            here = os.path.dirname(here)
        return Around(omegaconf=_OF_HYDRA.search(text) is not None, ruamel=ruamel)

    def _level(self, folder: str) -> _Level:
        level = self._levels.get(folder)
        if level is None:
            level = self._levels[folder] = self._look(folder)
        return level

    def _look(self, folder: str) -> _Level:
        hydra = mentioned = yacs = others = tensorflow = torch = python = ruamel = False
        folders: set[str] = set()
        converted: set[str] = set()
        for path in self._files(folder):
            try:
                data = read_regular(path, MAX_BYTES)
            except OSError:
                continue
            if not path.endswith(".py"):
                mentioned = mentioned or _REQUIRED.search(data) is not None
                ruamel = ruamel or _REQUIRES_RUAMEL.search(data) is not None
                continue
            # An expression costs a hundred times what looking for a word does.
            python = True
            if b"hydra" in data or b"megaconf" in data or b"megaConf" in data:
                hydra = hydra or _HYDRA.search(data) is not None
                mentioned = mentioned or _MENTIONED.search(data) is not None
                for found in _CONFIG_PATH.findall(data):
                    folders.add(os.path.basename(found.decode("utf-8", "replace").rstrip("/")))
            if b"yacs" in data:
                yacs = yacs or _YACS.search(data) is not None
            if b"yaml" in data or b"YAML" in data:
                others = others or _OTHERS.search(data) is not None
            if b"tensorflow" in data or b"keras" in data:
                tensorflow = tensorflow or _TENSORFLOW.search(data) is not None
            if b"ruamel" in data:
                ruamel = ruamel or _RUAMEL.search(data) is not None
            if b"torch" in data:
                torch = torch or _TORCH.search(data) is not None
            if b"float(" in data and len(converted) < MAX_CONVERTED:
                for found in _FLOAT.findall(data):
                    converted.update(_WORD.findall(found.decode("utf-8", "replace")))
        return _Level(
            python,
            hydra,
            mentioned,
            yacs,
            others,
            frozenset(folders),
            tensorflow,
            torch,
            frozenset(converted),
            ruamel,
        )

    def _files(self, folder: str) -> Iterator[str]:
        """Yield the Python files below a folder, and the lists of requirements in it."""
        pending, left = [folder], MAX_FILES
        folders = MAX_FOLDERS
        while pending and folders:
            here = pending.pop()
            folders -= 1
            self.looked.append(here)
            try:
                entries = sorted(os.scandir(here), key=lambda entry: entry.name)
            except OSError:
                continue
            for entry in entries:
                name = entry.name
                if entry.is_symlink():
                    continue
                if entry.is_dir(follow_symlinks=False):
                    if not name.startswith(".") and name not in DEFAULT_EXCLUDE:
                        pending.append(entry.path)
                elif name.endswith(".py") or (here == folder and _LISTS.fullmatch(name)):
                    if left == 0:
                        return
                    left -= 1
                    self.looked.append(entry.path)
                    yield entry.path


def _top(folder: str) -> str:
    """Return the last folder to look at: the repository's, or else the working folder, or else the config's own."""
    above = folder
    while not os.path.exists(os.path.join(above, ".git")):
        if os.path.dirname(above) == above:
            here = os.getcwd()
            return here if is_inside(folder, here) else folder
        above = os.path.dirname(above)
    return above


def _by_omegaconf(level: _Level, path: str) -> bool:
    """Tell whether OmegaConf is what reads a config, by the code below one of the folders around it."""
    if not level.others:
        return level.hydra or level.mentioned
    if not level.hydra:
        return False
    # Both are used. Hydra reads what lies where it is told to look.
    return not level.folders or not level.folders.isdisjoint(os.path.abspath(path).split(os.sep))
