"""Experiment trackers that keep the settings of a run for the program to read."""

from __future__ import annotations

from cfgfix.code.inference.interpreter import writing
from cfgfix.code.inference.interpreter.models.outside import library_call
from cfgfix.code.inference.interpreter.objects import EITHER, Made, Mapping, Value
from cfgfix.code.inference.interpreter.run import Call, Model
from cfgfix.code.inference.interpreter.values import wrapped


def _tracker_settings(call: Call) -> Mapping:
    """Return the settings of the tracker's run.

    They begin empty and open, since a sweep may add to them.
    """
    run = call.run
    if run.tracked is None:
        run.tracked = Mapping(open=True, access=EITHER, absent="AttributeError", flavour="wandb")
    return run.tracked


def _start_tracker(call: Call) -> Value:
    """Start a tracker's run, with its settings as `wandb.config` and `run.config`."""
    made = library_call(call, call.name)
    settings = _tracker_settings(call)
    given = call.keywords.get("config")
    if given is not None:
        writing.update(call.frame, settings, wrapped(given, "wandb", EITHER, "AttributeError"), call.spot)
    if isinstance(made, Made):
        made.attributes["config"] = settings
    return made


def _add_settings(call: Call) -> Value:
    made = library_call(call, call.name)
    for value in call.args:
        writing.update(
            call.frame, _tracker_settings(call), wrapped(value, "wandb", EITHER, "AttributeError"), call.spot
        )
    return made


FUNCTIONS: dict[str, Model] = {"wandb.init": _start_tracker, "wandb.config.update": _add_settings}
