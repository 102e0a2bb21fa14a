"""Every point of the grid, and the extra trials."""
import dataclasses
import itertools
import json
import sys

import yaml

from flare import Trial


def trials(plan):
    base = Trial(**plan["base"])
    grid = plan.get("grid") or {}
    for point in itertools.product(*grid.values()):
        yield dataclasses.replace(base, **dict(zip(grid, point)))
    yield from (Trial(**extra) for extra in plan.get("extra", ()))


def main(path):
    with open(path) as stream:
        plan = yaml.safe_load(stream)
    results = sorted((trial.run() for trial in trials(plan)), key=lambda row: row["loss"])
    with open("results.json", "w") as out:
        json.dump(results[:plan["keep_best"]], out, indent=1)
    print(len(results), results[0])


if __name__ == "__main__":
    main(sys.argv[1])
