"""Values of configs that code asks for in a way that their object does not support."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.core.findings import format_key_path
from cfgfix.usage.declared_options import OptionVerdict
from cfgfix.usage.program_runs import ProjectRuns


def access_verdicts(project: ProjectRuns) -> Iterator[OptionVerdict]:
    """Yield verdicts on accesses that the object of a config does not support.

    These are attributes of dictionaries, entries of objects and hidden names.
    """
    told: set[tuple[object, ...]] = set()
    for result in project.results:
        for item in result.run.wrong_access:
            place = (item.spot.path, item.spot.place, item.name)
            if place in told:
                continue
            told.add(place)
            effect = f": {item.error}" if item.error else ", and that is what is taken"
            key = format_key_path((*item.section.path, item.name))
            yield OptionVerdict(
                "wrong-access",
                item.spot,
                {"name": item.name, "key": key, "how": item.how, "effect": effect},
            )
