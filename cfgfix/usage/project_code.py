"""What a repository's code says of its configs, without settings: worked out at first need and kept between runs."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from cfgfix.code.model.python_files import SETTINGS_MODULE, PythonFile, clear_package_cache, find_python
from cfgfix.code.model.summary_cache import SummaryStore
from cfgfix.code.tensorflow.requirement import FILES, Requirement
from cfgfix.code.tensorflow.requirements import find_requirement
from cfgfix.core import cache
from cfgfix.core.errors import CfgfixError, internal_fault
from cfgfix.core.findings import Location, format_key_path
from cfgfix.core.records import replace
from cfgfix.core.source_file import SourceFile, read_regular, read_source
from cfgfix.rules.hit import Hit, Span
from cfgfix.usage.code_facts import CodeFacts, KnownCode, OptionHit, packed, unpacked
from cfgfix.usage.config_files import MAX_BYTES, ConfigFile, form_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfgfix.code.inference.interpreter.objects import ConfigKey
    from cfgfix.code.model.program import Program
    from cfgfix.usage.config_runs import Verdict
    from cfgfix.usage.declared_options import OptionVerdict
    from cfgfix.usage.kept_runs import KeptRuns
    from cfgfix.usage.program_runs import ProjectRuns
    from cfgfix.usage.project_files import ProjectFiles
    from cfgfix.usage.reached import Places
    from cfgfix.usage.unopened import FollowedCode
    from cfgfix.usage.verdicts import ConfigVerdicts


_DECLARES = (b"add_argument", b"DEFINE_", b"click.option", b"@option")
"""What stands in code that declares options."""
_BUILDS = (b".fit(", b"Sequential(", b".Model(", b"Dense(", b"flow_from_")
"""What stands in code that builds or trains a model."""
_HOLDS = re.compile(
    rb"^[A-Za-z_]\w*(?:\s*:[^=\n]*)?\s*=\s*(?:dict\(|\{\s*(?:#[^\n]*\n\s*)*[\"'])"
    rb"|^class\s+\w*(?:[Cc]onfig|[Ss]ettings|[Pp]arams|[Oo]ptions|Args|Flags|Hyper|Defaults|HP)"
    rb"|ConfigDict|SimpleNamespace|EasyDict|[Ee]asydict|dataclass|NamedTuple|\bMunch\b|\bBox\(|OmegaConf|BaseSettings|BaseModel|load_dotenv",
    re.MULTILINE,
)
"""What stands in code that holds settings itself."""


class ProjectCode:
    """The code of one repository and the configs that it opens.

    Args:
        root: The repository's folder.
        excluded: Tells which files and folders the settings leave out.
        key: What else the answer depends on, for the cache.
        keep: Whether answers are kept between runs.
        tensorflow: Which TensorFlow is meant: a release, or where to look for it (the setting of this name).
        follows_models: Whether the memory need of trainings is asked for, as with a GPU.
    """

    def __init__(
        self,
        root: str,
        excluded: Callable[[str], bool],
        key: object = None,
        *,
        keep: bool = True,
        tensorflow: str = FILES,
        follows_models: bool = False,
    ) -> None:
        self._follows_models = follows_models
        self.root = os.path.abspath(root)
        self._excluded = excluded
        self._key = key
        self._keep = keep
        self._tensorflow = tensorflow
        self._known: KnownCode | None = None
        self._runs: ProjectRuns | None = None
        self._code: bytes = b""
        """What tells the code, the commands and the names of the configs."""
        self._stamped: dict[str, tuple[int, ...]] = {}
        self._runs_with: dict[str, ProjectRuns] = {}
        """The runs of which those that open a config were made in this process, by its path."""
        self._again: dict[tuple[str, bytes], CodeFacts | None] = {}
        self.inputs: list[str] = []
        self.failures: list[CfgfixError] = []
        """Faults of cfgfix: what they cut off is not known, and files are judged without it."""

    def facts_about(self, path: str, source: SourceFile) -> CodeFacts | None:
        """Return what the code says of a config; None where no code opens the file."""
        name = os.path.relpath(os.path.abspath(path), self.root).replace(os.sep, "/")
        found = self.all().get(name)
        if found is None:
            return None
        digest = cache.digest(source.text.encode("utf-8", "surrogatepass"))
        return found if found.digest == digest else self._with_text(name, source, digest)

    def all(self) -> dict[str, CodeFacts]:
        """Return the facts about all configs that the code opens.

        The keys are paths relative to the root.
        """
        return self.known().configs

    def all_with(self, texts: Mapping[str, str], configs: frozenset[str]) -> dict[str, CodeFacts]:
        """Return the facts about all configs after edits of some files.

        None of it is kept.

        Args:
            texts: The edited texts, by path.
            configs: The paths of edited configs.
        """
        from cfgfix.usage.verdicts import verdicts_by_file

        code = {os.path.abspath(path): text for path, text in texts.items() if path not in configs}
        found = dict(self.all())
        sources = {
            os.path.relpath(os.path.abspath(path), self.root).replace(os.sep, "/"): SourceFile.from_text(
                texts[path], path
            )
            for path in configs
        }
        if code:
            files = self._files()
            overlay = {
                file.path: code[whole].encode("utf-8", "surrogatepass")
                for file in files
                if (whole := os.path.abspath(file.path)) in code
            }
            runs = self._run(files, overlay)
            for name, source in sources.items():
                runs = runs.with_text(name, ConfigFile(source.path, source))
            return {path: _facts_of(item) for path, item in verdicts_by_file(runs).items()}
        for name, source in sources.items():
            says = self.facts_about(source.path, source)
            found.pop(name, None)
            if says is not None:
                found[name] = says
        return found

    def options(self) -> tuple[OptionHit, ...]:
        """Return the hits on options of programs."""
        found = self.known().options
        if found is None:
            self._known = self._work_out(whole=True)
            found = self._known.options
        return found or ()

    def modules(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Return the Python files with settings, each with the programs importing it."""
        return self.known().modules

    def config_class(self) -> str | None:
        """Return the only class that loads its objects from a file; None otherwise."""
        found = self.known().classes
        return found[0] if len(found) == 1 else None

    def followed(self) -> FollowedCode:
        """Return what was found of the code, for configs that no code opens."""
        return self.known().followed

    def known(self) -> KnownCode:
        """Return all that is known of the code, worked out at the first call."""
        if self._known is None:
            self._known = self._work_out()
        return self._known

    def _work_out(self, *, whole: bool = False) -> KnownCode:
        try:
            return self._made(whole=whole)
        except Exception as error:  # noqa: BLE001 - a fault here costs what the code says, not the check
            from cfgfix.usage.unopened import FollowedCode

            self.failures.append(internal_fault(error, self.root))
            return KnownCode({}, FollowedCode(), ())

    def _files(self) -> list[PythonFile]:
        shown = os.path.relpath(self.root)
        return find_python([self.root if shown.startswith("..") else shown], self._excluded)

    def _made(self, *, whole: bool = False) -> KnownCode:
        """Return all that is known of the code, from the cache or by running everything.

        With `whole`, everything is run.
        """
        files = self._files()
        from cfgfix.usage.unopened import FollowedCode

        if not files:
            return KnownCode({}, FollowedCode(), ())
        from cfgfix.usage.project_files import ProjectFiles

        listed = ProjectFiles(self.root)
        beside = [*listed.data, *listed.texts, *listed.variables]
        self.inputs = [file.path for file in files] + [os.path.join(self.root, path) for path in beside]
        if not listed.data and not self._follows_models and not any(map(_is_followed, files)):
            return KnownCode({}, FollowedCode(len(files)), ())
        requirement = self._requirement_of(files)
        self.inputs += requirement.looked_in
        about = (
            [(file.path, file.stamp) for file in files],
            self._file_stamps([*listed.texts, *listed.variables]),
            listed.data,
            self.root,
            os.getcwd(),
            repr((self._key, self._follows_models)),
            repr(replace(requirement, looked_in=())),
        )
        self._code, self._stamped = cache.key_of(about), dict(self._file_stamps(listed.data))
        said = (
            None if whole or not self._keep else cache.load(f"said-{cache.name_of([self.root])}", self._code)
        )
        known = self._said_before(said, listed) if said is not None else None
        if known is not None:
            return known
        again = self._again_for(files, said) if not whole else None
        if again is not None:
            return again
        runs = self._run(files)
        from cfgfix.usage.absent_programs import absent_programs
        from cfgfix.usage.mentions import MentionIndex
        from cfgfix.usage.options import option_verdicts
        from cfgfix.usage.reached import Places
        from cfgfix.usage.settings_in_code import settings_in_code
        from cfgfix.usage.size_conflicts import size_verdicts
        from cfgfix.usage.unopened import followed_code, loading_classes
        from cfgfix.usage.verdicts import verdicts_by_file
        from cfgfix.usage.wrong_access import access_verdicts

        places = Places()
        held = settings_in_code(runs, MentionIndex(runs))
        found = KnownCode(
            {path: _facts_of(item) for path, item in verdicts_by_file(runs).items()},
            followed_code(runs),
            tuple(
                _option_hit(runs, verdict, places)
                for verdict in (
                    *option_verdicts(runs),
                    *absent_programs(runs),
                    *access_verdicts(runs),
                    *held.verdicts,
                    *_batch_verdicts(runs),
                    *size_verdicts(runs),
                )
            ),
            held.modules,
            tuple(loading_classes(runs)),
        )
        if self._keep and not self.failures:
            from cfgfix.usage.kept_runs import packed_runs
            from cfgfix.usage.taken_over import kept_configs, packed_configs

            self._store_facts(found, packed_configs(kept_configs(runs)))
            made = (self._stamped, packed(found), packed_runs(runs))
            cache.store(f"made-{cache.name_of([self.root])}", self._code, made)
        return found

    def _store_facts(self, known: KnownCode, configs: Any) -> None:
        """Store the facts about the configs, and the packed configs, in the cache."""
        said = self._stamped, packed(known), configs
        cache.store(f"said-{cache.name_of([self.root])}", self._code, said)

    def _said_before(self, said: Any, files: ProjectFiles) -> KnownCode | None:
        """Return the stored facts, adapted to changed configs.

        None where a changed value may affect them.
        """
        stamps, packed, configs = said
        known = unpacked(packed)
        changed = [path for path, stamp in self._stamped.items() if stamps.get(path) != stamp]
        if not changed:
            return known
        if self._follows_models or _name_a_card(known):
            return None
        from cfgfix.usage.taken_over import facts_after_changes, unpacked_configs

        return facts_after_changes(known, unpacked_configs(configs), changed, files)

    def _file_stamps(self, paths: Iterable[str]) -> list[tuple[str, tuple[int, ...]]]:
        """Return the size, times and inode of files below the root, by path."""
        found: list[tuple[str, tuple[int, ...]]] = []
        for path in paths:
            with contextlib.suppress(OSError):
                facts = os.stat(os.path.join(self.root, path))
                found.append((path, (facts.st_size, facts.st_mtime_ns, facts.st_ino, facts.st_ctime_ns)))
        return found

    def _again_for(self, files: list[PythonFile], said: Any) -> KnownCode | None:
        """Return what is known after changes of configs, with only affected runs made.

        None where everything must be run.

        Args:
            files: The Python files.
            said: The stored facts about the configs; None for none.
        """
        from cfgfix.usage.verdicts import verdicts_by_file

        if said is None:
            return None
        from cfgfix.usage.taken_over import (
            kept_configs,
            name_same_functions,
            packed_configs,
            unpacked_configs,
        )

        configs_before = unpacked_configs(said[2])
        changed = [path for path, stamp in self._stamped.items() if said[0].get(path) != stamp]
        found = self._kept_runs(files) if name_same_functions(configs_before, changed, self.root) else None
        if found is None:
            return None
        runs, kept, before = found
        verdicts = verdicts_by_file(runs, steps=kept.steps_at)
        if runs.failures:
            return None
        configs = {**before.configs, **{path: _facts_of(item) for path, item in verdicts.items()}}
        # What the code trains may depend on the changed text as well.
        declares = self._follows_models or any(made.has_options for made in runs.made)
        known = KnownCode(
            configs, before.followed, None if declares else before.options, before.modules, before.classes
        )
        if not self.failures:
            self._store_facts(known, packed_configs(kept_configs(runs, configs_before)))
        return known

    def _kept_runs(
        self, files: list[PythonFile], wanted: frozenset[str] = frozenset()
    ) -> tuple[ProjectRuns, KeptRuns, KnownCode] | None:
        """Return the stored runs, with those made again that changed configs affect.

        With them come what was kept and what was known; None where everything must be run.

        Args:
            files: The Python files.
            wanted: Further configs whose runs are made again.
        """
        data = cache.load(f"made-{cache.name_of([self.root])}", self._code) if self._keep else None
        if data is None:
            return None
        from cfgfix.usage.kept_runs import run_again, unpacked_runs

        stamps, known, made = data
        kept = unpacked_runs(made)
        changed = frozenset(path for path, stamp in self._stamped.items() if stamps.get(path) != stamp)
        try:
            with self._program(files) as program:
                runs = run_again(program, self.root, kept, changed, wanted)
                if runs is not None:
                    runs.follows_models = self._follows_models or _name_a_card(unpacked(known))
        except Exception:  # noqa: BLE001 - everything is run then, and says what is wrong
            return None
        return None if runs is None or runs.failures else (runs, kept, unpacked(known))

    def _requirement_of(self, files: list[PythonFile]) -> Requirement:
        return find_requirement([file.path for file in files], self._tensorflow)

    def _run(
        self, files: list[PythonFile], overlay: Mapping[str, bytes] = MappingProxyType({})
    ) -> ProjectRuns:
        from cfgfix.usage.all_runs import make_all_runs
        from cfgfix.usage.jobs import jobs_of
        from cfgfix.usage.program_runs import ProjectRuns

        with self._program(files, overlay) as program:
            runs = ProjectRuns(program, self.root)
            runs.failures = self.failures
            runs.follows_models = self._follows_models or any(
                item.job.limits.card for item in jobs_of(runs.files)
            )
            make_all_runs(runs)
            if not overlay:
                self._runs = runs
        return runs

    @contextlib.contextmanager
    def _program(
        self, files: list[PythonFile], overlay: Mapping[str, bytes] = MappingProxyType({})
    ) -> Iterator[Program]:
        """Give the linked program to a `with` block, then save the summaries.

        All modules are read before the block ends. Summaries of edited texts are not saved.
        """
        from cfgfix.code.inference.releases import IMPORTS
        from cfgfix.code.model.program import Program

        clear_package_cache()
        tree = cache.name_of(file.path for file in files)
        # What tells the release that a file is for looks at the files that use TensorFlow.
        needles = sorted(IMPORTS)
        with contextlib.closing(
            SummaryStore(f"runs-{tree}", needles, enabled=self._keep, writes=not overlay)
        ) as store:
            program = Program(files, store, needles, overlay)
            program.requirement = self._requirement_of(files)
            program.scan()
            yield program
            if not overlay:
                store.keep_only(set(program.files))
            # All modules are read before the store is closed: later questions come without it.
            for _ in program.all_modules():
                pass
            if not overlay:
                program.save()

    def _with_text(self, name: str, source: SourceFile, digest: bytes) -> CodeFacts | None:
        """Return what the code says of a config with another text than on disk."""
        key = (name, digest)
        if key not in self._again:
            try:
                self._again[key] = self._facts_of_text(name, source)
            except Exception as error:  # noqa: BLE001 - a fault here costs what the code says, not the check
                self.failures.append(internal_fault(error, source.path))
                self._again[key] = None
        return self._again[key]

    def _facts_of_text(self, name: str, source: SourceFile) -> CodeFacts | None:
        from cfgfix.usage.verdicts import verdicts_by_file

        runs = self._runs or self._runs_with.get(name)
        if runs is None:
            files = self._files()
            kept = self._kept_runs(files, frozenset({name}))
            runs = self._runs_with[name] = kept[0] if kept is not None else self._run(files)
        found = verdicts_by_file(runs.with_text(name, ConfigFile(source.path, source)), only=name).get(name)
        return _facts_of(found) if found is not None else None


def _facts_of(found: ConfigVerdicts) -> CodeFacts:
    from cfgfix.usage.reached import Places

    places = Places()
    return CodeFacts(
        found.loader,
        form_of(found.file.path),
        found.evidence,
        found.framework,
        found.another,
        tuple((verdict.check, _hit_of_verdict(verdict, places)) for verdict in found.verdicts),
        found.converted,
        cache.digest(found.file.source.text.encode("utf-8", "surrogatepass")),
        found.programs,
        found.modules,
        tuple(found.reads.items()),
        found.asked,
        found.ways,
        found.reached,
        found.job,
        found.branches,
        tuple(found.fallbacks.items()),
        found.release,
        found.known_words,
    )


def _hit_of_verdict(verdict: Verdict, places: Places) -> Hit:
    return Hit(
        Span(verdict.span[0], verdict.span[1], verdict.path),
        values=verdict.values,
        changes=verdict.changes,
        severity=verdict.severity,
        safety=("safe" if verdict.stops else "unsafe") if verdict.changes else None,
        title=verdict.title,
        notes=verdict.notes,
        related=(
            *((places.location(verdict.spot, verdict.label or None),) if verdict.spot is not None else ()),
            *verdict.others,
        ),
    )


def _name_a_card(known: KnownCode) -> bool:
    """Tell whether the job of any config names a card."""
    return any(says.job is not None and says.job.limits.card for says in known.configs.values())


def _batch_verdicts(runs: ProjectRuns) -> Iterator[OptionVerdict]:
    """Yield verdicts on batch sizes in the code, where models are followed."""
    if runs.follows_models:
        from cfgfix.usage.sinks import Sinks
        from cfgfix.usage.training_memory import literal_batches

        yield from literal_batches(runs, Sinks(runs))


def _is_followed(file: PythonFile) -> bool:
    """Tell whether a Python file may declare options, hold settings or build a model."""
    try:
        data = read_regular(file.path, MAX_BYTES)
    except OSError:
        return False
    name = os.path.basename(file.path).rpartition(".")[0]
    return (
        any(word in data for word in (*_DECLARES, *_BUILDS))
        or _HOLDS.search(data) is not None
        or SETTINGS_MODULE.fullmatch(name) is not None
    )


def _line_of(path: str, line: int) -> list[Location]:
    """Return the location of a line in a script or guide; empty if it is unreadable."""
    shown = os.path.relpath(path)
    try:
        source = read_source(path if shown.startswith("..") else shown)
    except CfgfixError:
        return []
    start = source.line_start(line)
    text = source.line_text(line)
    first = start + len(text) - len(text.lstrip())
    return [source.location(first, start + len(text.rstrip()), "what gives it")]


def _location_of(runs: ProjectRuns, key: ConfigKey) -> Location | None:
    """Return the location of a config key's value; None where it does not stand in a file."""
    config = runs.config(key.source)
    root = config.tree()[0] if config is not None else None
    entry = root.at(key.path) if root is not None else None
    if config is None or entry is None or entry.kind == "map":
        return None
    shown = format_key_path(key.path)
    label = f"{shown} is {entry.raw!r} here" if entry.kind == "scalar" else f"{shown} stands here"
    return config.source.location(*entry.value, label)


def _option_hit(runs: ProjectRuns, verdict: OptionVerdict, places: Places) -> OptionHit:
    spot = verdict.spot
    place = places.location(spot)
    related = [places.location(verdict.other, verdict.label or None)] if verdict.other is not None else []
    if verdict.said is not None:
        related += _line_of(os.path.join(runs.root, verdict.said[0]), verdict.said[1])
    related += [places.location(other, label or None) for other, label in verdict.beside]
    related += [item for key in verdict.keys if (item := _location_of(runs, key)) is not None]
    hit = Hit(
        Span(place.start, place.end),
        values=verdict.values,
        severity=verdict.severity,
        notes=verdict.notes,
        related=tuple(related),
    )
    return runs.relative(spot.path), verdict.check, hit
