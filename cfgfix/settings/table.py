"""The table of settings: what reads, checks, prints and documents settings takes their names from here."""

from __future__ import annotations

from cfgfix.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TEXT = "text"
TEXTS = "texts"
SWITCH = "switch"
LISTS = "lists of texts by name"
WORDS = "words by name"
MACHINE = "machine"
"""Text, or a table of `default` and `profiles`."""

DEFAULT_INCLUDE = ("*.yaml", "*.yml")
DEFAULT_EXCLUDE = (
    ".git",
    ".hg",
    ".svn",
    ".tox",
    ".nox",
    ".venv",
    "venv",
    "env",
    "node_modules",
    "__pycache__",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    "build",
    "dist",
    "site-packages",
    "*wandb/run-*",
    "*wandb/offline-run-*",
    "*wandb/latest-run",
    "*wandb/sweep-*",
    "mlruns",
)
"""Folders that hold no configs of the project itself; those of W&B and `mlruns` hold copies made by past runs. A group of Hydra's configs
may be called `wandb`, too."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting."""

    name: str
    """As a settings file writes it."""
    kind: str
    default: Any
    help: str
    choices: tuple[str, ...] = ()
    """The words it can be, or that the values of its table can be."""
    holds: str = ""
    """What its words name, for the schema: `rule`, `concept`, `dialect`, `loader` or `release`."""
    is_place: bool = False
    """Whether it names files or folders, which must lie in the project."""
    flag: str | None = None
    """The option of `check` and `fix` that overrules it."""
    flag_help: str = ""
    adds: bool = False
    """Whether the option adds to what a settings file says."""

    @property
    def attribute(self) -> str:
        """The name of the setting's field in `Settings`."""
        return self.name.replace("-", "_")


SETTINGS = (
    Setting(
        "include",
        TEXTS,
        DEFAULT_INCLUDE,
        "Which files are looked at below a folder: patterns for their names or for their paths from the settings file.",
    ),
    Setting(
        "exclude",
        TEXTS,
        DEFAULT_EXCLUDE,
        "Which files and folders are left out: patterns for their names or for their paths from the settings file. It replaces the default.",
    ),
    Setting(
        "source-roots",
        TEXTS,
        (),
        "Folders that the program's imports start from. They must exist; the Python code below them is read together with the configs.",
        is_place=True,
    ),
    Setting(
        "schema",
        TEXT,
        None,
        "What the configs must look like: a JSON Schema file, or path/to/config.py:Class, the class that loads them; the code is read, not run.",
        is_place=True,
        flag="--schema",
        flag_help="A JSON Schema for the configs.",
    ),
    Setting(
        "dialect",
        TEXT,
        None,
        "The dialect of the training configs; without it each is told by its content. Files that are none are passed over either way.",
        holds="dialect",
        flag="--dialect",
        flag_help="The dialect of the configs; by default it is detected.",
    ),
    Setting("dialects", TEXTS, (), "Files or folders with dialects of the project's own.", is_place=True),
    Setting(
        "loader",
        TEXT,
        None,
        "How the program reads YAML; by default the dialect says it, else the code around the config.",
        holds="loader",
        flag="--loader",
        flag_help="How the program reads the YAML; by default the dialect says it, else the code around the config.",
    ),
    Setting(
        "unknown-keys",
        TEXT,
        None,
        "What a key does that the class named by `schema` does not have: fatal, the program stops, or ignored. By default the code that loads the file tells.",
        choices=("fatal", "ignored"),
    ),
    Setting(
        "keys",
        LISTS,
        {},
        "Where the project keeps a concept: its name, and one key path or several (`a.b`, `jobs[].size`, `*.size`).",
        holds="concept",
    ),
    Setting(
        "tensorflow",
        TEXT,
        "auto",
        "The TensorFlow that the program is meant for: a release such as 2.15, a requirement such as >=2.16,<2.19, requirements (what the project's requirement files ask for), or auto (these, and where they say nothing the TensorFlow installed in the project's virtual environment or beside cfgfix).",
        holds="release",
        flag="--tensorflow",
        flag_help="The TensorFlow that is meant: a release such as 2.15, requirements (the project's files) or auto (these, else what is installed).",
    ),
    Setting(
        "hardware",
        MACHINE,
        None,
        "The machine that the configs are meant for: auto, none, all, a profile such as rtx4090x2,cpus=16,ram=64, or a file that `cfgfix hardware --save` wrote. As a table: `default` and `profiles`, machines by name.",
        flag="--hardware",
        flag_help="Target machine: auto, none, a profile such as rtx4090x2 or rtx4090x2,cpus=16,ram=64, or a file.",
    ),
    Setting(
        "select",
        TEXTS,
        ("ALL",),
        "The rules that are run: ids, names, families or ALL.",
        holds="rule",
        flag="--select",
        flag_help="Only these rules: ids, names, prefixes or ALL, separated by commas.",
    ),
    Setting(
        "ignore",
        TEXTS,
        (),
        "Rules that are not run, whatever `select` says.",
        holds="rule",
        flag="--ignore",
        flag_help="Without these rules.",
        adds=True,
    ),
    Setting(
        "extend-select",
        TEXTS,
        (),
        "Rules that are run besides those of `select`.",
        holds="rule",
        flag="--extend-select",
        flag_help="These rules too.",
        adds=True,
    ),
    Setting(
        "per-file-ignores",
        LISTS,
        {},
        "Rules that are silent in some files: a pattern for names or paths, and the rules.",
        holds="rule",
    ),
    Setting(
        "severity",
        WORDS,
        {},
        "How severe the findings of a rule or family are.",
        choices=("info", "warning", "error"),
        holds="rule",
    ),
    Setting(
        "fail-on",
        TEXT,
        "warning",
        "The least severity that makes the exit code 1.",
        choices=("info", "warning", "error", "never"),
        flag="--fail-on",
        flag_help="Least severity that makes the exit code 1.",
    ),
    Setting(
        "min-severity",
        TEXT,
        None,
        "The least severity that text and concise show. Without it they leave out information about code that has no safe fix.",
        choices=("info", "warning", "error"),
        flag="--min-severity",
        flag_help="Least severity that text and concise show; other formats have all.",
    ),
    Setting(
        "preview",
        SWITCH,
        False,
        "Whether rules in preview are run.",
        flag="--preview",
        flag_help="Also run rules that are in preview.",
    ),
    Setting("rules", TEXTS, (), "Folders with rules of the project's own.", is_place=True),
    Setting(
        "show-skipped",
        SWITCH,
        False,
        "Whether skipped rules and files are told, with the reason.",
        flag="--show-skipped",
        flag_help="Tell which rules and files were skipped, and why.",
    ),
    Setting(
        "force-exclude",
        SWITCH,
        False,
        "Whether excluded files are left out even where a command line names them.",
        flag="--force-exclude",
        flag_help="Leave excluded files out even where they are named, as hooks do.",
    ),
)
BY_NAME = {setting.name: setting for setting in SETTINGS}
NAMES = tuple(BY_NAME)


def default(name: str) -> Any:
    """Return the default value of a setting."""
    return BY_NAME[name].default
