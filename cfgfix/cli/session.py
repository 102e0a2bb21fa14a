"""`with cfgfix.profile():` says what the time of the training inside it goes to."""

from __future__ import annotations

import json
import os
import sys
from types import TracebackType
from typing import TYPE_CHECKING, Any

from cfgfix.core.errors import CfgfixError

if TYPE_CHECKING:
    from typing_extensions import Self


class profile:  # noqa: N801 - used as a statement: `with cfgfix.profile():`
    """Observe the training steps of the body, and print at its end what they took their time for.

    The body runs whole and as it is; nothing is imported, started or stopped. An exception in it goes through.

    Args:
        path: Also write the whole result there, as JSON.
        data_seconds: How long each run over the dataset by itself may take at the end, where the steps waited for data; 0: none.
        quiet: Print nothing.

    Attributes:
        found: The result in its JSON form; None where there was no training to speak of.
    """

    def __init__(self, path: str | None = None, *, data_seconds: float = 5.0, quiet: bool = False) -> None:
        self.found: dict[str, Any] | None = None
        self._path, self._data_seconds, self._quiet = path, data_seconds, quiet
        self._observation: Any = None
        self._machine: Any = None

    def __enter__(self) -> Self:
        from cfgfix.measure.data import MachineLoad
        from cfgfix.measure.observe import Observation

        self._machine = MachineLoad()
        self._observation = Observation()
        self._observation.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        from cfgfix.cli.profile import form_of
        from cfgfix.core.terminal import Paint, wants_colour
        from cfgfix.core.writing import write_whole
        from cfgfix.measure.data import usable_cpus
        from cfgfix.measure.pace import Load
        from cfgfix.measure.run_profile import RunPlan
        from cfgfix.measure.training import analyse
        from cfgfix.output.profile import render

        self._observation.__exit__(kind, error, trace)
        if error is not None:
            return
        own, elsewhere = self._machine.shares()
        plan = RunPlan(data_seconds=self._data_seconds)
        load = Load(usable_cpus(), own, elsewhere)
        try:
            found = analyse(self._observation, plan, load, source="this program").as_dict()
            self.found = form_of(found, None)
            if self._path is not None:
                write_whole(self._path, json.dumps(self.found, indent=2) + "\n")
        except CfgfixError as failure:
            sys.stderr.write(f"cfgfix.profile: {failure}\n")
            return
        if not self._quiet:
            paint = Paint(on=wants_colour("auto", os.environ, terminal=sys.stderr.isatty()))
            sys.stderr.write(render({**found, "verdicts": self.found["verdicts"]}, paint))
