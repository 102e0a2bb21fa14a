"""Search settings by measuring: successive halving, then the best against the present setting in paired runs.

A setting reaches the user's pipeline as the pipeline's own config: a copy of the file in a temporary folder, with the values
set by the editor. The score is samples per second, so that a smaller batch is not better for being smaller. Nothing is
written to the user's file but by `apply`, and that only what was measured and proven.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cfgfix.core.errors import CfgfixError
from cfgfix.core.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from cfgfix.measure.statistics import Interval
from cfgfix.diagnose.search_journal import fingerprint, open_journal
from cfgfix.diagnose.search_result import Found, Try, setting_text
from cfgfix.diagnose.search_space import (
    BY_CODE,
    CONCEPTS,
    LEARNING,
    LEAST_PAIRS,
    OLDER_GRID,
    Bound,
    Plan,
    bind,
    candidates,
    default_space,
    same_value,
    settings_key,
    too_large,
    why_not_settable,
)
from cfgfix.diagnose.winner import errors_of_values, write_winner

_IN_CODE = {
    "prefetch": "end the dataset with .prefetch({})",
    "private_threads": "give the dataset threads of its own: options = tf.data.Options(); "
    "options.threading.private_threadpool_size = {}; dataset = dataset.with_options(options)",
}
OF_THE_DATASET = ("workers", "prefetch", "private_threads")
"""What shows in the graph of a dataset where a config's key reaches it."""
REACH_SECONDS = 0.2
"""Of a trial that asks only that."""
KEEP = 3
"""The best third of a round goes on, with three times the time: each round then costs about the same."""
PER_CHILD = 16
"""Trials in one process: its start takes seconds, and what a trial leaves behind in it must not pile up."""
MOST_STEPS_BEYOND = 4
"""Doublings of a value that came out best as the largest of those tried, halvings of the smallest."""
NOT_RUN: dict[str, Any] = {"event": "not run"}
"""Stands for the entry of a trial that the time did not allow."""
SEARCH_SHARE = 0.6
"""Of the time: for finding the best. The rest is for holding it against the present setting."""
ENDING_SECONDS = 10.0
"""For a process to end by itself once the time is up."""
WORTH_GOING_ON = 1.05
"""Gain of one from which the next one is tried."""


# running


class _TrialRunner:
    """Runs trials in child processes, through a journal."""

    def __init__(self, plan: Plan, bound: Bound | None, folder: str, journal: str, progress: Any) -> None:
        self._plan = plan
        self._bound = bound
        self._folder = folder
        self._journal = journal
        self._progress = progress
        self._configs: dict[str, str] = {}
        self.reused = 0
        self.until: float | None = None
        """The moment (`time.time`) from which no trial begins."""
        self.interrupted = False
        """Whether Ctrl-C was pressed, after which nothing more is tried."""

    def rebind(self, bound: Bound) -> None:
        """Set the config keys that later trials write."""
        self._bound = bound

    def _config(self, values: Mapping[str, Any]) -> str | None:
        """Return the path of a copy of the config with these values, under its own name.

        None where there is no config.
        """
        if self._bound is None:
            return None
        name = settings_key(values)
        if name not in self._configs:
            folder = os.path.join(self._folder, str(len(self._configs)))
            os.mkdir(folder)
            assert self._plan.config is not None
            path = os.path.join(folder, os.path.basename(self._plan.config))
            with open(path, "wb") as stream:
                stream.write(self._bound.text_with(values))
            self._configs[name] = path
        return self._configs[name]

    def run(
        self, trials: Sequence[tuple[str, Mapping[str, Any]]], seconds: float, what: str
    ) -> list[dict[str, Any]]:
        """Return the journal's entry of each trial, running those that have none yet.

        A trial is a stage and its values. Where the time was up before a trial, its entry is `NOT_RUN`.

        Raises:
            UserCodeError: The user's code fails before any trial begins.
            CfgfixError: The arguments are wrong.
        """
        from cfgfix.measure.sampling import UserCodeError, run_child

        names = [f"{stage}\t{settings_key(values)}" for stage, values in trials]
        by_name = dict(zip(names, (values for _, values in trials), strict=True))
        done, starts = self._journal_state()
        self.reused += sum(name in done for name in by_name)
        for name in by_name:
            if name not in done and starts.get(name, 0) >= 2:
                self._note_failure(name, "the search itself ended twice while this ran")
        while not self._is_over() and (
            pending := [name for name in by_name if name not in self._journal_state()[0]]
        ):
            failed = self._failed_settings()
            if again := [name for name in pending if name.partition("\t")[2] in failed]:
                # What failed once is not tried a second time: it may take minutes to fail.
                for name in again:
                    self._note_failure(name, failed[name.partition("\t")[2]])
                continue
            part = pending[:PER_CHILD]
            plan = self._plan
            options = {
                **plan.options,
                # Tells the child that there is a config; each trial brings its own copy.
                "config": plan.config,
                "journal": self._journal,
                "cold": plan.cold,
                "by_code": []
                if self._bound is None
                else [name for name in BY_CODE if name not in self._bound.paths],
                "trial_limit": plan.trial_limit + 5 * seconds,
                "until": self.until,
                "what": what,
                "trials": [
                    {
                        "id": name,
                        "values": dict(by_name[name]),
                        "config": self._config(by_name[name]),
                        "seconds": seconds,
                    }
                    for name in part
                ],
            }
            share = 1 - len(pending) / len(by_name)
            scale = len(part) / len(by_name)

            def show(task: str, inner: float, share: float = share, scale: float = scale) -> None:
                self._progress(task, share + inner * scale)

            limit = 120 + len(part) * options["trial_limit"]
            if self.until is not None:
                limit = min(limit, max(self.until - time.time(), 0.0) + ENDING_SECONDS)
            try:
                run_child("cfgfix.measure.search:job", options, seconds=limit, progress=show)
            except KeyboardInterrupt as pressed:
                # Not where cfgfix itself is told to end, nor before anything is known.
                if type(pressed) is not KeyboardInterrupt or self.until is None:
                    raise
                self.interrupted = True
            except UserCodeError as error:
                if self._is_over():
                    break
                ended, started = self._journal_state()
                opened = [name for name in part if started.get(name) and name not in ended]
                if opened:
                    reason = error.message + (f": {error.hint}" if error.hint else "")
                    self._note_failure(opened[-1], reason, error.trace)
                elif not any(name in ended for name in part):
                    raise
            if not self._is_over() and not any(name in self._journal_state()[0] for name in part):
                raise CfgfixError(
                    f"{self._journal} was changed while the search ran",
                    hint="name a file of its own with --state",
                )
        ended = self._journal_state()[0]
        return [ended.get(name, NOT_RUN) for name in names]

    def _is_over(self) -> bool:
        return self.interrupted or (self.until is not None and time.time() >= self.until)

    def _note_failure(self, name: str, reason: str, trace: str = "") -> None:
        from cfgfix.measure.search import append

        append(self._journal, {"event": "failed", "id": name, "error": reason, "trace": trace[-4000:]})

    def _failed_settings(self) -> dict[str, str]:
        """Return the errors of settings that failed in any stage, by the setting's text."""
        return {
            name.partition("\t")[2]: str(entry["error"])
            for name, entry in self._journal_state()[0].items()
            if entry["event"] == "failed"
        }

    def _journal_state(self) -> tuple[dict[str, dict[str, Any]], dict[str, int]]:
        from cfgfix.measure.search import read

        done: dict[str, dict[str, Any]] = {}
        starts: dict[str, int] = {}
        for entry in read(self._journal):
            name = str(entry.get("id"))
            if entry.get("event") == "start":
                starts[name] = starts.get(name, 0) + 1
            elif entry.get("event") in ("result", "failed"):
                done.setdefault(name, entry)
        return done, starts


def search(plan: Plan, progress: Any) -> Found:
    """Search for the fastest setting, and compare it with the present one in pairs.

    Raises:
        UserCodeError: The user's code fails with the present setting.
        CfgfixError: Nothing can be searched, or the arguments are wrong.
    """
    import tempfile

    bound, plan, present, notes = _prepared_search(plan)
    cache = _prepare_page_cache(plan, notes)
    with tempfile.TemporaryDirectory(prefix="cfgfix-tune-") as folder:
        journal = open_journal(plan, fingerprint(plan, bound))
        runner = _TrialRunner(plan, bound, folder, journal, progress)
        return _run_search(plan, bound, present, notes, cache, runner)


def _prepared_search(plan: Plan) -> tuple[Bound | None, Plan, dict[str, Any], list[str]]:
    """Return the config's keys, the plan, the present setting and notes.

    The plan's space is that which can be searched; notes say which concepts are left out, and why.
    """
    notes: list[str] = []
    bound = None
    space = {name: plan.space[name] for name in CONCEPTS if plan.space.get(name)}
    if plan.config is not None:
        bound = bind(plan.config)
        problems = {name: text for name, text in bound.notes.items() if name in space}
        problems.update(why_not_settable(bound, space))
        for name in [name for name in problems if name in BY_CODE and name not in bound.paths]:
            notes.append(f"{name}: {problems.pop(name)}, so it is tried on the dataset as the code makes it")
        for name, text in problems.items():
            if name in plan.wanted:
                raise CfgfixError(f"{name} cannot be searched: {text}", path=plan.config)
            notes.append(f"{name} is not searched: {text}")
            del space[name]
        present = {name: bound.present[name] if name in bound.paths else BY_CODE[name] for name in space}
        for name, values in list(space.items()):
            taken = tuple(
                value for value in values if not any(same_value(value, one) for one in bound.special[name])
            )
            if len(taken) < len(values):
                notes.append(
                    f"{name}: the program gives some of these values a meaning of its own; they are left out"
                )
            space[name] = taken
        if "mixed_precision" in space and isinstance(present["mixed_precision"], str):
            policies = {True: "mixed_float16", False: "float32"}
            space["mixed_precision"] = tuple(policies.get(value, value) for value in space["mixed_precision"])
    else:
        present = {
            "batch_size": 16,
            "workers": -1,
            "prefetch": -1,
            "private_threads": 0,
            "xla": False,
            "mixed_precision": False,
        }
        present.update(plan.options.get("speech", {}))
        present = {name: present[name] for name in space}
    for name, values in list(space.items()):
        if not any(same_value(value, present[name]) for value in values):
            space[name] = _sorted_values((*values, present[name]))
    if not any(len(values) > 1 for values in space.values()):
        told = "; ".join(notes)
        raise CfgfixError(f"there is nothing to search{': ' + told if told else ''}", path=plan.config)
    notes += [text for name, text in LEARNING.items() if len(space.get(name, ())) > 1]
    return bound, replace(plan, space=space), present, notes


def _sorted_values(values: Sequence[Any]) -> tuple[Any, ...]:
    try:
        return tuple(sorted(values))
    except TypeError:
        return tuple(values)


def _prepare_page_cache(plan: Plan, notes: list[str]) -> str:
    """Read the data's files where the search is a warm one; return how warm they are.

    Files are not read for a cold search: each trial then takes them out of the page cache.
    """
    from cfgfix.measure import storage

    path = plan.options.get("data_path")
    if plan.cold:
        if path is None:
            raise CfgfixError("--cold needs to know the files", hint="name their folder with --data-path")
        if not storage.supports_eviction():
            raise CfgfixError("this system does not let a file be taken out of the page cache")
        return "cold: the data's files are taken out of the page cache before each trial"
    if path is None:
        return "warm: the pipeline runs once with the present setting before anything counts; which files it reads is not known (--data-path names them)"
    if storage.warm(storage.data_files((), path)):
        return "warm: the data's files were read once before"
    notes.append(
        f"the files are larger than {storage.WARM_LIMIT >> 30} GiB and were not all read before: some reads may be cold"
    )
    return "partly warm: the first part of the data's files was read once before"


def _run_search(
    plan: Plan,
    bound: Bound | None,
    present: dict[str, Any],
    notes: list[str],
    cache: str,
    runner: _TrialRunner,
) -> Found:
    from cfgfix.hardware.detect import detect
    from cfgfix.measure.sampling import UserCodeError

    probe = runner.run([("probe", present)], plan.seconds, "trying the present setting")[0]
    if probe["event"] == "failed":
        raise UserCodeError(
            f"the present setting fails: {probe['error']}",
            trace=str(probe.get("trace", "")),
            hint="a search starts from a setting that runs",
        )
    begin = time.time()
    runner.until = begin + SEARCH_SHARE * plan.total_seconds
    plan, bound, present = _without_idle_keys(plan, bound, present, probe, runner, notes)
    excluded: list[tuple[Mapping[str, Any], str]] = []
    running: list[dict[str, Any]] = []
    ram = detect(ask_driver=False).memory.total_mib.value
    if ram is None:
        notes.append("how much RAM this process may use is not known: nothing is left out for its memory")
    prefetch = bound.present.get("prefetch") if bound is not None else None
    wrong = errors_of_values(plan, bound)
    for values in candidates(plan.space):
        bad = [text for name, value in values.items() if (text := wrong.get((name, str(value)))) is not None]
        reason = (
            bad[0]
            if bad
            else too_large(
                values,
                sample_bytes=probe["batch_bytes"] / max(probe["batch_samples"], 1),
                batch=probe["batch_samples"],
                prefetch=prefetch,
                ram_mib=ram,
            )
        )
        if reason is not None and settings_key(values) != settings_key(present):
            excluded.append((values, reason))
        else:
            running.append(values)
    chooser = random.Random(0)  # noqa: S311 - the order of trials, no secret
    # What is known of the present setting where the time is up before any round.
    results: dict[str, Try] = {settings_key(present): _result_of_setting(present, [probe], plan.seconds)}
    count = len(running)
    seconds, turn = plan.seconds, 0
    while running:
        turn += 1
        order = chooser.sample(running, len(running))
        # A sort keeps the others in their order; without the present one nothing can be said of them.
        order.sort(key=lambda values: settings_key(values) != settings_key(present))
        told = f"round {turn}: {len(order)} settings, {seconds:g} s each"
        # There and back, half of the time each: a machine that gets slower meanwhile is slower for all alike.
        there = [(f"round {turn}", values) for values in order]
        back = [(f"round {turn} back", values) for values in reversed(order)]
        entries = runner.run([*there, *back], seconds / 2, told)
        now = {
            settings_key(values): _result_of_setting(values, both, seconds)
            for values, *both in zip(order, entries, reversed(entries), strict=False)
            if any(entry is not NOT_RUN for entry in both)
        }
        results.update(now)
        ranked = sorted(
            (values for values in order if settings_key(values) in now and now[settings_key(values)].rate),
            key=lambda values: -(now[settings_key(values)].rate or 0.0),
        )
        if NOT_RUN in entries:
            left = count - len(results)
            what = (
                f"{left} of {counted(count, 'setting')} were not tried"
                if left
                else "the best were not tried longer"
            )
            notes.append(f"{what}: {_why_ended(plan, runner)}")
            break
        if len(ranked) <= 1:
            break
        running = ranked[: max(1, -(-len(ranked) // KEEP))]
        if len(running) == 1:
            break
        seconds *= KEEP
    # Where all of the last round failed, what ran before still counts.
    ran = [results[settings_key(values)] for values in ranked] or [
        one for one in results.values() if one.rate is not None
    ]
    best = max(ran, key=lambda one: one.rate or 0.0, default=None)
    if best is not None:

        def refused(values: Mapping[str, Any]) -> str | None:
            return too_large(
                values,
                sample_bytes=probe["batch_bytes"] / max(probe["batch_samples"], 1),
                batch=probe["batch_samples"],
                prefetch=prefetch,
                ram_mib=ram,
            )

        best = _search_beyond_edge(plan, best, results, runner, notes, refused)
    mine = results[settings_key(present)]
    if mine.rate is None:
        notes.append(f"the present setting failed in a round: {mine.error}")
    winner = best if best is not None and settings_key(best.values) != settings_key(present) else None
    pairs: list[tuple[float, float]] = []
    ratio = None
    runner.until = begin + plan.total_seconds
    if winner is not None:
        pairs, ratio = _confirm_winner(plan, present, winner.values, runner, notes)
    if runner.reused:
        notes.append(f"{runner.reused} results were taken over from an earlier search of the same things")
    return Found(
        source=str(
            plan.options.get("dataset") or f"built-in speech pipeline on {plan.options.get('data_path')}"
        ),
        space=plan.space,
        tried=tuple(results.values()),
        present=mine,
        winner=winner,
        ratio=ratio,
        pairs=tuple(pairs),
        excluded=tuple(excluded),
        cache=cache,
        notes=tuple(notes),
        bound=bound,
        changes=_changes_of_values(bound, winner.values) if winner is not None and bound is not None else (),
        code_changes=_code_changes(bound, winner.values) if winner is not None and bound is not None else (),
    )


def _why_ended(plan: Plan, runner: _TrialRunner) -> str:
    if runner.interrupted:
        return "the search was interrupted"
    return f"the time was up ({plan.total_seconds:g} s in all; --total-seconds gives more)"


def _without_idle_keys(
    plan: Plan,
    bound: Bound | None,
    present: dict[str, object],
    probe: Mapping[str, object],
    runner: _TrialRunner,
    notes: list[str],
) -> tuple[Plan, Bound | None, dict[str, object]]:
    """Return plan, config and present setting without keys that change nothing.

    Such a key leaves the dataset as it is; its concept is tried on the dataset itself, where that can be done.

    Raises:
        CfgfixError: Nothing is left to search.
    """
    from cfgfix.core.findings import format_key_path

    if bound is None or probe.get("graph") is None:
        return plan, bound, present
    others = {
        name: next(value for value in values if not same_value(value, present[name]))
        for name, values in plan.space.items()
        if name in bound.paths
        and name in (BY_CODE if probe.get("python_in_graph") else OF_THE_DATASET)
        and len(values) > 1
    }
    trials = [("reach", {**present, name: value}) for name, value in others.items()]
    entries = runner.run(trials, min(plan.seconds, REACH_SECONDS), "trying what reaches the dataset")
    idle = [name for name, entry in zip(others, entries, strict=True) if entry.get("graph") == probe["graph"]]
    if not idle:
        return plan, bound, present
    space = dict(plan.space)
    for name in idle:
        key = format_key_path(bound.paths[name])
        if name in BY_CODE:
            notes.append(
                f"{key} changes nothing in the dataset, so {name} is tried on it as the code makes it"
            )
            present = {**present, name: BY_CODE[name]}
            space[name] = _sorted_values(tuple(dict.fromkeys((*space[name], BY_CODE[name]))))
        else:
            notes.append(f"{key} changes nothing in the dataset, so {name} is not searched")
            present = {one: value for one, value in present.items() if one != name}
            del space[name]
    if not any(len(values) > 1 for values in space.values()):
        raise CfgfixError(f"there is nothing to search: {'; '.join(notes)}", path=plan.config)
    bound = replace(bound, paths={name: path for name, path in bound.paths.items() if name not in idle})
    runner.rebind(bound)
    return replace(plan, space=space), bound, present


def at_edge(values: Mapping[str, object], space: Mapping[str, Sequence[object]]) -> list[str]:
    """Return the concepts whose value is the largest of several values tried."""
    return [
        name
        for name, value in values.items()
        if (tried := _positive_counts(space, name)) and value == max(tried)
    ]


def at_lower_edge(values: Mapping[str, object], space: Mapping[str, Sequence[object]]) -> list[str]:
    """Return the concepts whose value is the smallest of several tried, and above one."""
    return [
        name
        for name, value in values.items()
        if (tried := _positive_counts(space, name)) and value == min(tried) and min(tried) > 1
    ]


def _positive_counts(space: Mapping[str, Sequence[object]], name: str) -> list[int]:
    """Return the positive values tried for a concept.

    Empty where a single value was tried; tf.data's own choice (-1) is left out.
    """
    tried = space.get(name, ())
    return [one for one in tried if type(one) is int and one > 0] if len(tried) > 1 else []


def _search_beyond_edge(
    plan: Plan,
    best: Try,
    results: dict[str, Try],
    runner: _TrialRunner,
    notes: list[str],
    refused: Callable[[Mapping[str, Any]], str | None],
) -> Try:
    """Return the best setting after going on beyond the edge of the tried values.

    A value that is the largest is doubled and one that is the smallest is halved, for as long as that gains. Values
    that the user named are the user's bounds: there the edge is only told.
    """
    edge = at_edge(best.values, plan.space)
    notes += [
        f"{name}: the best value, {best.values[name]}, is the largest that was tried; name larger ones to go on from there"
        for name in edge
        if name in plan.wanted
    ]
    low = at_lower_edge(best.values, plan.space)
    notes += [
        f"{name}: the best value, {best.values[name]}, is the smallest that was tried; name smaller ones to go on from there"
        for name in low
        if name in plan.wanted and name not in edge
    ]
    edge = [name for name in (*edge, *low) if name not in plan.wanted and name not in LEARNING]
    for turn in range(1, MOST_STEPS_BEYOND + 1):
        further = [
            values
            for name in edge
            if (next_one := best.values[name] // 2 if name in low else 2 * best.values[name]) >= 1
            and refused(values := {**best.values, name: next_one}) is None
            and settings_key(values) not in results
        ]
        if not further:
            break
        order = [dict(best.values), *further]
        # The best runs again beside them: the machine may have changed since.
        there = [(f"beyond {turn}", values) for values in order]
        back = [(f"beyond {turn} back", values) for values in reversed(order)]
        entries = runner.run([*there, *back], plan.seconds, "going on beyond the largest values")
        if NOT_RUN in entries:
            notes.append(
                f"{setting_text(best.values)} lies at the edge of what was tried, and what lies beyond was not: {_why_ended(plan, runner)}"
            )
            break
        now = [
            _result_of_setting(values, both, plan.seconds)
            for values, *both in zip(order, entries, reversed(entries), strict=False)
        ]
        results.update({settings_key(one.values): one for one in now[1:]})
        better = max(now[1:], key=lambda one: one.rate or 0.0)
        if not better.rate or not now[0].rate or better.rate < WORTH_GOING_ON * now[0].rate:
            break
        edge = [name for name in edge if better.values[name] != best.values[name]]
        notes.append(
            f"the best lay at the edge of what was tried, so {setting_text(better.values)} was tried, too"
        )
        best = better
    return best


def _result_of_setting(
    values: Mapping[str, Any], entries: Sequence[Mapping[str, Any]], seconds: float
) -> Try:
    """Return the result of a setting from its trials, as the mean of their rates.

    The trials took equal times; one that did not run is left out.
    """
    entries = [entry for entry in entries if entry is not NOT_RUN]
    for entry in entries:
        if entry["event"] == "failed":
            return Try(values, None, str(entry["error"]), seconds)
    rates = [float(entry["samples_per_second"]) for entry in entries]
    return Try(
        values, sum(rates) / len(rates), None, seconds, sum(int(entry["batches"]) for entry in entries)
    )


def _confirm_winner(
    plan: Plan, present: Mapping[str, Any], winner: Mapping[str, Any], runner: _TrialRunner, notes: list[str]
) -> tuple[list[tuple[float, float]], Interval | None]:
    """Run present and best setting in pairs; return the rates and their ratio.

    The order alternates. The ratio comes with its interval, and is None where paired runs failed.
    """
    from cfgfix.measure.statistics import paired_ratio

    trials: list[tuple[str, Mapping[str, Any]]] = []
    for number in range(plan.pairs):
        pair = [(f"pair {number}", present), (f"pair {number}", winner)]
        trials += pair if number % 2 == 0 else pair[::-1]
    entries = runner.run(trials, KEEP * plan.seconds, "the best against the present setting")
    rates: dict[tuple[str, str], float] = {}
    failures = []
    for (stage, values), entry in zip(trials, entries, strict=True):
        if entry is NOT_RUN:
            continue
        if entry["event"] == "failed":
            failures.append(str(entry["error"]))
        else:
            rates[stage, settings_key(values)] = float(entry["samples_per_second"])
    if failures:
        notes.append(f"{len(failures)} of the paired runs failed: {failures[0]}")
        return [], None
    pairs = [
        (rates[mine], rates[best])
        for number in range(plan.pairs)
        if (mine := (f"pair {number}", settings_key(present))) in rates
        and (best := (f"pair {number}", settings_key(winner))) in rates
    ]
    if len(pairs) < LEAST_PAIRS:
        notes.append(
            f"{counted(len(pairs), 'paired run')} instead of {plan.pairs} are too few to hold the best against the present setting: {_why_ended(plan, runner)}"
        )
        return pairs, None
    return pairs, paired_ratio([pair[0] for pair in pairs], [pair[1] for pair in pairs])


def _changes_of_values(bound: Bound, values: Mapping[str, Any]) -> tuple[tuple[str, str, Any, Any], ...]:
    from cfgfix.core.findings import format_key_path

    return tuple(
        (name, format_key_path(bound.paths[name]), bound.present[name], value)
        for name, value in values.items()
        if name in bound.paths and not same_value(value, bound.present[name])
    )


def _code_changes(bound: Bound, values: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the changes to make in the code for values that no config key sets."""
    return tuple(
        _IN_CODE[name].format("tf.data.AUTOTUNE" if value == -1 else value)
        for name, value in values.items()
        if name not in bound.paths and not same_value(value, BY_CODE.get(name))
    )


__all__ = [
    "OLDER_GRID",
    "Bound",
    "Found",
    "Plan",
    "Try",
    "bind",
    "candidates",
    "default_space",
    "fingerprint",
    "search",
    "setting_text",
    "too_large",
    "write_winner",
]
