"""What the code beside a config says of how it is read, by its text alone.

Where settings name the code or its class, the program is followed (`reads.py`). Most projects have no settings yet, and
then the text of the Python files around a config tells whether OmegaConf reads it, whether the code converts a value by
itself, and whether the config is for another framework. Files are read as bytes, links are not followed, and what is read is
bounded; it is only asked for where a finding depends on it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from cfgfix.core.records import dataclass
from cfgfix.core.source_file import is_inside, read_regular
from cfgfix.settings.table import DEFAULT_EXCLUDE

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
_FLOAT = re.compile(
    rb"\b(?:float(?:16|32|64)?|double|Decimal|literal_eval|eval|to_number)\(\s{0,80}([^\n]{1,120})"
)
"""What makes a number of a text: Python's own, NumPy's and TensorFlow's."""
_TAKEN = re.compile(
    rb"^[ \t]*(\w+)[ \t]*=[ \t]*[\w.]{1,80}(?:\[[\"'](\w+)[\"']\]|\.get\([\"'](\w+)[\"'][^\n]{0,80}\))[ \t]*(?:#[^\n]*)?\r?$",
    re.MULTILINE,
)
"""A key's value under a name of its own: `rate = config["learning_rate"]`."""
_FOR_EACH = re.compile(
    rb"\bfor[ \t]+(\w+)[ \t]+in[ \t]+(?:([A-Za-z_]\w*)[ \t]*:|[(\[{]([^)\]}:=]{1,800})[)\]}])"
)
_LISTED = re.compile(rb"^[ \t]*(\w+)[ \t]*=[ \t]*[(\[{]([^)\]}:=]{1,800})[)\]}]", re.MULTILINE)
"""Names of keys in a row: `for key in ("learning_rate", "decay"):` or such a row under a name."""
_FLOAT_FIELD = re.compile(
    rb"^[ \t]+(\w+)[ \t]{0,8}:[ \t]{0,8}(?:(?:typing\.)?Optional\[)?(?:float|PositiveFloat)\b",
    re.MULTILINE,
)
"""A field of a pydantic model, which makes a number of a text that is one (pydantic 2.11, conversion table)."""
_FLOAT_OPTION = re.compile(
    rb"add_argument\(\s{0,80}[\"']-{0,2}([\w-]+)[\"'][^\n]{0,200}\btype[ \t]*=[ \t]*float\b"
)
"""An option whose default, where it is a text, goes through its `type` (Python's documentation of argparse, `default`)."""
_FLOAT_RULE = re.compile(
    rb"\badd_implicit_resolver\(\s{0,80}(?:tag[ \t]*=[ \t]*)?[uU]?[\"'](?:tag:yaml\.org,2002:|!!)float[\"']"
)
"""A loader that is told what else is a float."""
_PLAIN = re.compile(rb"\byaml\.(?:safe|full|unsafe)_load(?:_all)?\(")
_TENSORFLOW = re.compile(rb"^[ \t]*(?:import|from) (?:tensorflow|keras|tf_keras)\b", re.MULTILINE)
_TORCH = re.compile(rb"^[ \t]*(?:import|from) torch\b", re.MULTILINE)
_LISTS = re.compile(
    r"requirements[\w.-]*\.txt|pyproject\.toml|setup\.cfg|Pipfile|(?:conda|env)[\w.-]*\.ya?ml"
)
"""Files that name what a project needs."""


@dataclass(frozen=True, slots=True)
class NearbyCode:
    """What the code around a config shows of the config.

    Attributes:
        omegaconf: Whether OmegaConf reads it, as far as the text tells.
        elsewhere: Whether the code around imports PyTorch and no TensorFlow.
        yacs: Whether YACS reads it, which converts texts to numbers (yacs 0.1.8, `config.py`: `literal_eval`).
        converted: The names of values that the code may convert to a number.
        ruamel: Whether the code around imports or requires ruamel.yaml.
        floats: Whether the code reads YAML only with loaders that get a resolver for floats.
        floats_too: Whether any loader of the code gets a resolver for floats.
    """

    omegaconf: bool = False
    elsewhere: bool = False
    yacs: bool = False
    converted: frozenset[str] = frozenset()
    ruamel: bool = False
    floats: bool = False
    floats_too: bool = False

    def converts(self, name: str) -> bool:
        """Tell whether the code may convert the value of a key to a number.

        An example is `float(params["lr"])`.
        """
        return self.yacs or self.floats_too or name in self.converted


@dataclass(frozen=True, slots=True)
class _FolderLevel:
    """What the code below one folder shows."""

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
    float_rule: bool
    """Whether a loader is told what else is a float."""
    plain: bool
    """Whether YAML is read with loaders that are none of the project's own."""


_NOTHING = _FolderLevel(
    python=False, hydra=False, mentioned=False, yacs=False, others=False,
    folders=frozenset(), tensorflow=False, torch=False, converted=frozenset(), ruamel=False,
    float_rule=False, plain=False,
)  # fmt: skip


class NearbyCodeReader:
    """Reads the code around the configs of a run, each folder once.

    Attributes:
        looked: Every file and folder that was looked at, whether it could be read or not.
    """

    __slots__ = ("_levels", "looked")

    def __init__(self) -> None:
        self._levels: dict[str, _FolderLevel] = {}
        self.looked: list[str] = []

    def nearby_code(self, path: str, text: str = "") -> NearbyCode:
        """Return what the code around a config shows of how the config is read.

        Keys in the config's own text that Hydra knows count, too.
        """
        # As it is written: a link to a config elsewhere does not lead to the code there.
        here = os.path.dirname(os.path.abspath(path))
        top = _outermost_folder(here)
        real = os.path.realpath(top)
        framework: _FolderLevel | None = None
        ruamel = False
        for _ in range(MAX_LEVELS):
            # What a folder that is a link leads to may lie anywhere.
            level = self._level_of_folder(here) if is_inside(here, real) else _NOTHING
            if framework is None and level.python:
                framework = level
            ruamel = ruamel or level.ruamel
            reads = level.hydra or level.mentioned or level.yacs or level.others
            if reads or here == top:
                return NearbyCode(
                    omegaconf=_by_omegaconf(level, path) or _OF_HYDRA.search(text) is not None,
                    elsewhere=framework is not None and framework.torch and not framework.tensorflow,
                    yacs=level.yacs,
                    converted=level.converted,
                    ruamel=ruamel,
                    floats=level.float_rule and not level.plain,
                    floats_too=level.float_rule,
                )
            here = os.path.dirname(here)
        return NearbyCode(omegaconf=_OF_HYDRA.search(text) is not None, ruamel=ruamel)

    def _level_of_folder(self, folder: str) -> _FolderLevel:
        level = self._levels.get(folder)
        if level is None:
            level = self._levels[folder] = self._look_into_folder(folder)
        return level

    def _look_into_folder(self, folder: str) -> _FolderLevel:
        hydra = mentioned = yacs = others = tensorflow = torch = python = ruamel = False
        float_rule = plain = False
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
                plain = plain or _PLAIN.search(data) is not None
                float_rule = float_rule or _FLOAT_RULE.search(data) is not None
            if b"tensorflow" in data or b"keras" in data:
                tensorflow = tensorflow or _TENSORFLOW.search(data) is not None
            if b"ruamel" in data:
                ruamel = ruamel or _RUAMEL.search(data) is not None
            if b"torch" in data:
                torch = torch or _TORCH.search(data) is not None
            if len(converted) < MAX_CONVERTED:
                converted |= _made_numbers(data)
        return _FolderLevel(
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
            float_rule,
            plain,
        )

    def _files(self, folder: str) -> Iterator[str]:
        """Yield the Python files below a folder, and the requirements files in it."""
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


def _made_numbers(data: bytes) -> set[str]:
    """Return the names of values that a module may convert to a number."""
    found: set[str] = set()
    if any(word in data for word in (b"float", b"eval(", b"double(", b"Decimal(", b"to_number(")):
        for rest in _FLOAT.findall(data):
            found.update(_words_of(rest))
    if found:
        for name, item, got in _TAKEN.findall(data):
            if name.decode("utf-8", "replace") in found:
                found.update(_words_of(item or got))
        rows = dict(_LISTED.findall(data))
        for name, row, written in _FOR_EACH.findall(data):
            if name.decode("utf-8", "replace") in found:
                found.update(_words_of(written or rows.get(row, b"")))
    if b"pydantic" in data:
        for name in _FLOAT_FIELD.findall(data):
            found.update(_words_of(name))
    if b"set_defaults(" in data:
        for name in _FLOAT_OPTION.findall(data):
            found.update(_words_of(name.replace(b"-", b"_")))
    return found


def _words_of(data: bytes) -> list[str]:
    return _WORD.findall(data.decode("utf-8", "replace"))


def _outermost_folder(folder: str) -> str:
    """Return the outermost folder to search for code around a config.

    It is the repository, or else the working folder, or else the config's own folder.
    """
    above = folder
    while not os.path.exists(os.path.join(above, ".git")):
        if os.path.dirname(above) == above:
            here = os.getcwd()
            return here if is_inside(folder, here) else folder
        above = os.path.dirname(above)
    return above


def _by_omegaconf(level: _FolderLevel, path: str) -> bool:
    """Tell whether OmegaConf reads a config, by the code below a folder around it."""
    if not level.others:
        return level.hydra or level.mentioned
    if not level.hydra:
        return False
    # Both are used. Hydra reads what lies where it is told to look.
    return not level.folders or not level.folders.isdisjoint(os.path.abspath(path).split(os.sep))
