"""The eight checks, each with its evidence. A check that breaks is a failed check, never a pass.

The configuration and the code are judged here, without TensorFlow. What needs TensorFlow or runs the user's code is tried
in child processes with a time limit, so that nothing of one check reaches another.
"""

from __future__ import annotations

import enum
import math
import os
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from cfgfix.core.errors import CfgfixError
from cfgfix.core.findings import Finding, Severity
from cfgfix.core.terminal import figure
from cfgfix.rules.catalogue import builtin
from cfgfix.rules.faults import Fault

RAM_NEEDED_GIB = 16
"""The least RAM that the guides of the reference project ask for; shown beside the figure, never a failure by itself."""
LARGEST_ERROR = 1e-3
"""Relative error of a matrix product that still counts as right: TF32 keeps ten bits of mantissa (2**-10)."""


class State(enum.Enum):
    """How a check ended."""

    PASS = "pass"  # noqa: S105 - a state, no secret
    FAIL = "fail"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one check.

    Attributes:
        name: Short name, the same in every format.
        title: What was asked.
        state: How it ended.
        summary: One sentence.
        evidence: What it rests on, a line each.
        rules: Ids of the rules that are about what failed.
        fixes: What to change, a line each.
        data: Figures for the JSON form and the pictures.
    """

    name: str
    title: str
    state: State
    summary: str
    evidence: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    fixes: tuple[str, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return the fields for JSON."""
        return {
            "name": self.name,
            "title": self.title,
            "state": self.state.value,
            "summary": self.summary,
            "evidence": list(self.evidence),
            "rules": list(self.rules),
            "fixes": list(self.fixes),
            "data": dict(self.data),
        }


TITLES = {
    "hardware": "Hardware: every device computes",
    "configuration": "Configuration: the rules",
    "code": "Code: what runs for each sample and step",
    "loader": "Loader: batches of the promised shape",
    "compilation": "Graph mode and XLA: the step compiles",
    "memory": "Memory configuration in force",
    "storage": "Storage: the data's own files, cold",
    "pipeline": "Pipeline at run time",
}
"""The checks in their order."""


@dataclass(frozen=True, slots=True)
class Subject:
    """The config, code and machine that a diagnosis is about.

    Attributes:
        config: The YAML config, or None.
        sources: Folders or files of Python that the run uses.
        hardware: The machine that the training is meant for, as `--hardware` takes it; None for this one.
        options: What the measuring processes need: dataset, step, data_path, config, config_loader, source_roots.
        seconds: Time limit of each measuring process.
        batches: How many batches the run of the pipeline takes at most.
        step_seconds: What a step takes, where the user knows it.
        storage: Whether the storage is measured, which takes files out of the page cache.
    """

    config: str | None
    sources: tuple[str, ...]
    hardware: str | None
    options: Mapping[str, Any]
    seconds: float = 600.0
    batches: int = 100
    step_seconds: float | None = None
    storage: bool = True

    @property
    def has_pipeline(self) -> bool:
        """Whether there is a pipeline to run."""
        return bool(self.options.get("dataset") or self.options.get("data_path"))

    @property
    def has_step(self) -> bool:
        """Whether there is a step to run."""
        return bool(
            self.options.get("data_path") or (self.options.get("step") and self.options.get("dataset"))
        )


Tell = Callable[[str, float], None]
NO_PIPELINE = "no pipeline was named: --dataset package.module:function, or --data-path with a speech folder"


def diagnose(subject: Subject, progress: Tell) -> tuple[Outcome, ...]:
    """Run all checks and return their results, in order.

    A check that fails stops no other.
    """
    made: dict[str, Outcome] = {}
    runs: dict[str, Callable[[], Outcome]] = {
        "hardware": lambda: _hardware_outcome(subject, progress),
        "configuration": lambda: _configuration_outcome(subject),
        "code": lambda: _code_outcome(subject),
        "loader": lambda: _loader_outcome(subject, progress),
        "compilation": lambda: _compilation_outcome(subject, progress),
        "memory": lambda: _memory_outcome(subject, made.get("compilation")),
        "pipeline": lambda: _pipeline_outcome(subject, made.get("compilation"), progress),
        "storage": lambda: _storage_outcome(subject, made.get("pipeline")),
    }
    for name, run in runs.items():
        progress(TITLES[name].partition(":")[0].lower(), 0.0)
        try:
            made[name] = run()
        except CfgfixError as error:
            made[name] = _failed_outcome(name, str(error))
        except Exception as error:  # noqa: BLE001 - a check that breaks is a failed check
            made[name] = replace(
                _failed_outcome(name, f"the check itself broke: {type(error).__name__}: {error}"),
                evidence=tuple(traceback.format_exc().strip().splitlines()[-6:]),
            )
    return tuple(made[name] for name in TITLES)


def _outcome_of(name: str, state: State, summary: str, **more: Any) -> Outcome:
    return Outcome(name, TITLES[name], state, summary, **more)


def rules_of_faults(*faults: Fault) -> tuple[str, ...]:
    """Return the ids of the rules that explain some faults."""
    return tuple(rule.id for rule in builtin().explaining(*faults))


def _failed_outcome(name: str, reason: str) -> Outcome:
    first, *rest = reason.strip().splitlines() or ["it ended without a reason"]
    return _outcome_of(name, State.FAIL, first, evidence=tuple(rest))


def _skipped_outcome(name: str, reason: str) -> Outcome:
    return _outcome_of(name, State.SKIPPED, reason)


def _run_child(entry: str, subject: Subject, progress: Tell, **more: Any) -> dict[str, Any]:
    from cfgfix.measure.sampling import run_child

    return run_child(entry, {**subject.options, **more}, seconds=subject.seconds, progress=progress)


# hardware


def _hardware_outcome(subject: Subject, progress: Tell) -> Outcome:
    from cfgfix.hardware.detect import detect

    machine = detect(path=str(subject.options.get("data_path") or "."))
    ram = machine.host_ram_mib.value
    cpus = machine.cpu.usable.value
    evidence = [
        f"CPUs this process may use: {cpus if cpus is not None else 'unknown'} ({machine.cpu.usable.source})",
        f"RAM: {ram / 1024:.1f} GiB ({machine.host_ram_mib.source}); older guides ask for {RAM_NEEDED_GIB} GiB"
        if ram is not None
        else f"RAM: unknown ({machine.host_ram_mib.source})",
        *(
            f"GPU {gpu.index}: {gpu.name.value}, {gpu.memory_mib.value or '?'} MiB for CUDA"
            for gpu in machine.gpus
        ),
        *machine.notes,
    ]
    tried = _run_child("cfgfix.measure.trials:devices_job", subject, progress)
    evidence.append(
        f"TensorFlow {tried['tensorflow']}, "
        + (
            f"built for CUDA {tried['cuda']} and cuDNN {tried['cudnn']}"
            if tried["built_with_cuda"]
            else "built without CUDA"
        )
    )
    bad = []
    for device in tried["devices"]:
        if device["error"] is not None:
            bad.append(f"{device['name']} cannot multiply two matrices: {device['error']}")
        elif device["relative_error"] > LARGEST_ERROR or math.isnan(device["relative_error"]):
            bad.append(f"{device['name']} multiplies wrongly: relative error {device['relative_error']:.2g}")
        else:
            evidence.append(
                f"{device['name']} multiplied in {device['seconds'] * 1e3:.3g} ms, relative error {device['relative_error']:.1g}"
            )
    if machine.gpus and not tried["gpus"]:
        why = (
            "this TensorFlow is built without CUDA"
            if not tried["built_with_cuda"]
            else "its CUDA libraries do not load"
        )
        bad.append(f"the driver shows {len(machine.gpus)} GPU(s), TensorFlow none: {why}")
    bad += [
        text
        for gpu in tried["gpus"]
        if (text := _capability_line(gpu, tried["built_capabilities"])) is not None
    ]
    if bad:
        return _outcome_of(
            "hardware",
            State.FAIL,
            bad[0],
            evidence=(*bad[1:], *evidence),
            fixes=("pip install 'tensorflow[and-cuda]' brings the CUDA libraries that fit",)
            if any("TensorFlow none" in text for text in bad)
            else (),
            data=tried,
        )
    count = len(tried["devices"])
    gpus = len(tried["gpus"])
    return _outcome_of(
        "hardware",
        State.PASS,
        f"{count} device{'s' if count != 1 else ''} compute{'s' if count == 1 else ''} rightly"
        + (f", {gpus} of them GPUs" if gpus else "; there is no GPU"),
        evidence=tuple(evidence),
        data=tried,
    )


def _capability_line(gpu: Mapping[str, Any], built: Sequence[str]) -> str | None:
    """Return a line on a card whose compute capability TensorFlow holds no code for.

    None where TensorFlow holds code, or the capability is unknown. `sm_XY` is machine code for X.Y and later minor
    versions; `compute_XY` is compiled by the driver for X.Y and later.
    """
    if gpu["compute_capability"] is None or not built:
        return None
    major, minor = gpu["compute_capability"]
    for item in built:
        kind, _, digits = item.partition("_")
        if not digits[:-1].isdigit() or not digits[-1:].isdigit():
            return None
        have = (int(digits[:-1]), int(digits[-1]))
        if kind == "compute" and have <= (major, minor):
            return None
        if kind == "sm" and have[0] == major and have[1] <= minor:
            return None
    return f"{gpu['model']} has compute capability {major}.{minor}; this TensorFlow holds code for {', '.join(built)} only"


# configuration and code


def _check_configs(paths: Sequence[str], subject: Subject) -> Any:
    from cfgfix.core import records
    from cfgfix.lint import runner as engine

    def adjust(settings: Any) -> Any:
        if subject.hardware is not None:
            return records.replace(settings, hardware=subject.hardware)
        return records.replace(settings, hardware="auto") if settings.hardware is None else settings

    # Each file by the settings nearest to it, as `check` judges it.
    report = engine.check(engine.Request(paths=tuple(paths), adjust=adjust))
    if report.errors:
        raise report.errors[0]
    return report


def _by_findings(name: str, findings: Sequence[tuple[str, Finding]], clean: str, machine: str) -> Outcome:
    order = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}
    ranked = sorted(findings, key=lambda item: order[item[1].severity])
    serious = [item for item in ranked if item[1].severity is not Severity.INFO]
    evidence = tuple(
        f"{path}:{found.location.line}: {found.severity.label} {found.rule} {found.message}"
        for path, found in ranked
    )
    data = {
        "errors": sum(item[1].severity is Severity.ERROR for item in ranked),
        "findings": len(ranked),
        "hardware": machine,
        "serious": [
            {
                "rule": found.rule,
                "severity": found.severity.label,
                "message": found.message,
                "place": f"{path}:{found.location.line}",
                "change": f"{found.fix.title} ({found.rule})" if found.fix is not None else None,
            }
            for path, found in serious
        ],
    }
    if not serious:
        told = f"{clean}; {len(ranked)} piece(s) of information" if ranked else clean
        return _outcome_of(name, State.PASS, told, evidence=evidence, data=data)
    errors = sum(item[1].severity is Severity.ERROR for item in ranked)
    fixes = tuple(
        f"{path}:{found.location.line}: {found.fix.title} ({found.rule}, {found.fix.safety.name.lower()}: "
        f"cfgfix fix{'' if found.fix.safety.name == 'SAFE' else ' --unsafe-fixes'} {path})"
        for path, found in serious
        if found.fix is not None and found.fix.safety.name != "DISPLAY"
    )
    return _outcome_of(
        name,
        State.FAIL,
        f"{errors} error{'s' if errors != 1 else ''} and {len(serious) - errors} warning{'s' if len(serious) - errors != 1 else ''}",
        evidence=evidence,
        rules=tuple(dict.fromkeys(found.rule for _, found in serious)),
        fixes=fixes,
        data=data,
    )


def _configuration_outcome(subject: Subject) -> Outcome:
    if subject.config is None:
        return _skipped_outcome("configuration", "no config was named; run `cfgfix diagnose CONFIG`")
    report = _check_configs([subject.config], subject)
    files = [file for file in report.files if file.language == "yaml"]
    passed = [file.passed_over for file in files if file.passed_over]
    if passed:
        return _outcome_of(
            "configuration",
            State.FAIL,
            f"{subject.config} is not judged: {passed[0]}",
            fixes=("[tool.cfgfix.keys] or `cfgfix init --dialect NAME` tells cfgfix what its keys mean",),
        )
    findings = [(file.path, found) for file in files for found in file.findings]
    return _by_findings("configuration", findings, f"no rule objects to {subject.config}", report.hardware)


def _code_outcome(subject: Subject) -> Outcome:
    if not subject.sources:
        return _skipped_outcome(
            "code", "no code was named: --source-root FOLDER, or source-roots in the settings"
        )
    paths = [*subject.sources, *([subject.config] if subject.config else [])]
    report = _check_configs(paths, subject)
    files = [file for file in report.files if file.language == "python"]
    if not report.sources:
        return _skipped_outcome("code", f"there is no Python in {', '.join(subject.sources)}")
    findings = [(file.path, found) for file in files for found in file.findings]
    return _by_findings(
        "code", findings, f"no rule objects to {report.sources} Python files", report.hardware
    )


# what runs


def _loader_outcome(subject: Subject, progress: Tell) -> Outcome:
    if not subject.has_pipeline:
        return _skipped_outcome("loader", NO_PIPELINE)
    found = _run_child("cfgfix.measure.trials:loader_job", subject, progress)
    shapes = tuple(f"{name}: {' or '.join(seen) or 'no tensor'}" for name, seen in found["shapes"].items())
    if found["problems"]:
        return _outcome_of(
            "loader", State.FAIL, found["problems"][0], evidence=(*found["problems"][1:], *shapes), data=found
        )
    varied = [name for name, seen in found["shapes"].items() if len(seen) > 1]
    evidence = list(shapes)
    rules: tuple[str, ...] = ()
    if found["batchings"] > 1:
        evidence.append(
            f"{found['batchings']} steps of the pipeline make batches, so these are batches of batches: take one out unless that is meant"
        )
    if varied:
        evidence.append(
            f"the shape of {', '.join(varied)} differs from batch to batch: a compiled step is traced anew for each"
        )
        rules = rules_of_faults(Fault.CHANGING_SHAPES)
    return _outcome_of(
        "loader",
        State.PASS,
        f"{found['source']} gives batches as promised ({found['taken']} taken, the first after {found['first']:.2g} s)",
        evidence=tuple(evidence),
        rules=rules,
        data=found,
    )


def _compilation_outcome(subject: Subject, progress: Tell) -> Outcome:
    if not subject.has_step:
        return _skipped_outcome(
            "compilation", "no step was named: --step package.module:function with --dataset, or --data-path"
        )
    found = _run_child("cfgfix.measure.trials:step_job", subject, progress)
    failed = {name: text for name, text in found["outcomes"].items() if text is not None}
    wants_xla = _first_concept(subject, ("xla", "xla_step"))
    words = {"graph": "as a graph", "xla": "with XLA (jit_compile=True)"}
    evidence = [
        f"{words[name]}: {'compiles and runs' if text is None else text.splitlines()[0]}"
        for name, text in found["outcomes"].items()
    ]
    evidence += [line for text in failed.values() for line in text.splitlines()[1:13]]
    if found["eager"]:
        evidence.insert(0, "tf.config.run_functions_eagerly(True) is in force: nothing is compiled")
    serious = "graph" in failed or found["eager"] or ("xla" in failed and wants_xla is not False)
    if serious:
        first = (
            "the program runs its functions eagerly"
            if found["eager"]
            else f"the step does not compile {words[next(iter(failed))]}"
        )
        if list(failed) == ["xla"] and wants_xla is None:
            first += "; no config says whether it should"
        return _outcome_of(
            "compilation",
            State.FAIL,
            first,
            evidence=tuple(evidence),
            rules=rules_of_faults(Fault.XLA_REFUSED)
            if list(failed) == ["xla"]
            else rules_of_faults(Fault.EAGER_MODEL)
            if found["eager"]
            else (),
            fixes=("leave XLA off in the config, or replace the operation that it names",)
            if list(failed) == ["xla"]
            else (),
            data=found,
        )
    told = f"{found['source']} compiles " + (
        "as a graph and with XLA" if not failed else "as a graph; XLA is off in the config"
    )
    return _outcome_of("compilation", State.PASS, told, evidence=tuple(evidence), data=found)


def _first_concept(subject: Subject, names: Sequence[str]) -> Any:
    """Return the config's value of the first of some concepts that has a value.

    None where there is none, or the config cannot be read.
    """
    if subject.config is None:
        return None
    from cfgfix.tf.concepts import read_concepts

    try:
        concepts = read_concepts(subject.config)
    except CfgfixError:
        return None
    return next((concepts.raw(name) for name in names if concepts.raw(name) is not None), None)


def _memory_outcome(subject: Subject, compilation: Outcome | None) -> Outcome:
    if compilation is None or "memory" not in compilation.data:
        return _skipped_outcome(
            "memory", "what is in force is read after the step was made, and no step was run"
        )
    found = compilation.data
    policy = str(found["policy"])
    evidence = [
        f"Keras policy: {policy}",
        f"automatic XLA clustering: {found['jit']}",
        f"threads: {found['intra_op'] or 'automatic'} inside an operation, {found['inter_op'] or 'automatic'} between operations",
    ]
    if not subject.options.get("step"):
        evidence = [f"{entry['name']}: visible" for entry in found["memory"]] + evidence
        return _outcome_of(
            "memory",
            State.SKIPPED,
            "the built-in step puts no key of a config in force; name your own with --step",
            evidence=tuple(evidence),
        )
    wanted = _first_concept(subject, ("mixed_precision",))
    problems: list[str] = []
    faults: list[Fault] = []
    if (wanted is True or (isinstance(wanted, str) and wanted.startswith("mixed"))) and policy == "float32":
        problems.append(
            f"the config asks for mixed precision ({wanted}), and after the step was made the Keras policy is {policy}"
        )
        faults.append(Fault.POLICY_NOT_IN_FORCE)
    for entry in found["memory"]:
        state = (
            f"limits {', '.join(f'{limit} MiB' for limit in entry['limits_mib'])}"
            if entry["limits_mib"]
            else "grows as needed"
            if entry["growth"]
            else "all of it is taken at the start"
        )
        evidence.append(f"{entry['name']}: {state}")
        if wanted_limit := _first_concept(subject, ("gpu_memory_mb",)):
            if not entry["limits_mib"]:
                problems.append(
                    f"the config limits GPU memory to {wanted_limit} MiB; no limit is in force on {entry['name']}"
                )
                faults.append(Fault.LIMIT_NOT_IN_FORCE)
        elif (
            _first_concept(subject, ("memory_growth",)) is True
            and not entry["growth"]
            and not entry["limits_mib"]
        ):
            problems.append(f"the config asks for memory growth; it is not in force on {entry['name']}")
            faults.append(Fault.GROWTH_NOT_IN_FORCE)
    if problems:
        return _outcome_of(
            "memory",
            State.FAIL,
            problems[0],
            evidence=(*problems[1:], *evidence),
            rules=rules_of_faults(*faults),
            fixes=(
                "cfgfix.tf.configure(config) before anything else of TensorFlow puts these keys in force",
            ),
        )
    if not found["memory"]:
        return _outcome_of(
            "memory",
            State.SKIPPED,
            "there is no GPU whose memory could be configured",
            evidence=tuple(evidence),
        )
    return _outcome_of(
        "memory", State.PASS, "what is in force agrees with the config", evidence=tuple(evidence)
    )


def _pipeline_outcome(subject: Subject, compilation: Outcome | None, progress: Tell) -> Outcome:
    if not subject.has_pipeline:
        return _skipped_outcome("pipeline", NO_PIPELINE)
    step_seconds, timed = _step_seconds(subject, compilation)
    plan = {"batches": subject.batches, "seconds": 20.0, "step_seconds": step_seconds, "trace": False}
    found = _run_child("cfgfix.measure.data:job", subject, progress, plan=plan)
    from cfgfix.measure import verdicts

    lookup = verdicts.look_up_fixes(subject.config) if subject.config else None
    judged = verdicts.with_fixes([verdicts.from_dict(entry) for entry in found["verdicts"]], lookup)
    bad = [verdict for verdict in judged if verdict.outcome is verdicts.Outcome.PROBLEM]
    rates = found["rates"]
    figures = (
        f"{figure(rates['samples_per_second'])} samples/s, {figure(rates['batches_per_second'])} batches/s, "
        f"batch median {rates['batch_seconds']['median'] * 1e3:.3g} ms, p99 {rates['batch_seconds']['p99'] * 1e3:.3g} ms"
    )
    if timed:
        figures = f"{figures}; {timed}"
    others = [f"{verdict.outcome.value}: {verdict.summary}" for verdict in judged if verdict not in bad]
    if bad:
        return _outcome_of(
            "pipeline",
            State.FAIL,
            bad[0].summary,
            evidence=(
                figures,
                *(
                    line
                    for verdict in bad
                    for line in (*([verdict.summary] if verdict is not bad[0] else []), *verdict.evidence)
                ),
                *others,
            ),
            rules=rules_of_faults(*(fault for verdict in bad for fault in verdict.faults)),
            fixes=tuple(
                line
                for verdict in bad
                for line in (*([verdict.change] if verdict.change else []), *verdict.fixes)
            ),
            data=found,
        )
    return _outcome_of("pipeline", State.PASS, figures, evidence=tuple(others), data=found)


def _step_seconds(subject: Subject, compilation: Outcome | None) -> tuple[float | None, str | None]:
    """Return the seconds of a training step, and a line on how they are known.

    The user's value comes first and needs no line, then the time measured on this machine; None where neither is
    known.
    """
    if subject.step_seconds is not None:
        return subject.step_seconds, None
    seconds = compilation.data.get("step_seconds") if compilation is not None else None
    # The built-in step is no one's own.
    if seconds is None or not subject.options.get("step"):
        return None, None
    return float(seconds), f"judged for the step, which takes {seconds * 1e3:.3g} ms on this machine"


def _storage_outcome(subject: Subject, pipeline: Outcome | None) -> Outcome:
    path = subject.options.get("data_path")
    if not path:
        return _skipped_outcome(
            "storage", "the files of the data are not known: --data-path names their folder"
        )
    if not os.access(path, os.R_OK | os.X_OK):
        return _failed_outcome("storage", f"{path} cannot be read")
    if not subject.storage:
        return _skipped_outcome(
            "storage", "left out, since measuring takes the files out of the page cache (--no-storage)"
        )
    from cfgfix.hardware import storage

    measured = storage.measure(str(path))
    lines = tuple(storage.describe_measurement(measured))
    if measured.refused is not None:
        state = State.FAIL if measured.unreadable else State.SKIPPED
        return _outcome_of("storage", state, measured.refused, evidence=lines)
    best = max(measured.runs, key=lambda run: run.median_mbs)
    data = {
        "mbs": best.median_mbs,
        "files_per_second": best.median_files_per_second,
        "cached_fraction": measured.cached_fraction,
        "kind": measured.storage.kind.value,
    }
    rate = f"at least {best.median_mbs:.0f} MB/s and {best.median_files_per_second:.0f} reads/s cold, with {best.threads} threads"
    if measured.partly_cached:
        rate += f" (of the pages {measured.cached_fraction:.0%} were still cached, so the true rate is lower)"
    need, why = _needed_mbs(subject, pipeline)
    if need is None:
        return _outcome_of("storage", State.PASS, f"{rate}; {why}", evidence=lines, data=data)
    told = f"the pipeline needs {figure(need, 3)} MB/s ({why})"
    if best.median_mbs < need:
        return _outcome_of(
            "storage",
            State.FAIL,
            f"storage gives {figure(best.median_mbs, 3)} MB/s cold, {told}",
            evidence=lines,
            rules=rules_of_faults(Fault.SERIAL_READING),
            fixes=(
                "keep the data in memory (cache), on faster storage, or in larger files (TFRecord shards)",
            ),
            data={**data, "needed_mbs": need},
        )
    return _outcome_of(
        "storage", State.PASS, f"{rate}; {told}", evidence=lines, data={**data, "needed_mbs": need}
    )


def _needed_mbs(subject: Subject, pipeline: Outcome | None) -> tuple[float | None, str]:
    """Return the reading rate that the pipeline needs, with the reason.

    The rate is in 10**6 bytes a second; None where it is not known.
    """
    if pipeline is None or not pipeline.data:
        return None, "how much the pipeline needs is not known, since it did not run"
    rates = pipeline.data["rates"]
    read = rates.get("read_per_batch")
    if not read:
        return None, "how much the pipeline reads for a batch is not known"
    if subject.step_seconds:
        return (
            read / subject.step_seconds / 1e6,
            f"{read / 1e6:.3g} MB for each step of {subject.step_seconds * 1e3:.3g} ms",
        )
    per_second = rates["batches_per_second"]
    return (
        read * per_second / 1e6,
        f"at its own speed of {figure(per_second, 3)} batches/s; --step-ms says what a device asks for",
    )


__all__ = ["TITLES", "Outcome", "State", "Subject", "diagnose"]
