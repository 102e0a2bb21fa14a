"""Loan records as they come out of the catalogue: mixed columns in one table."""
import numpy as np

BRANCHES = ["central", "harbour", "hill", "mobile"]
COLUMNS = ["pages", "year", "copies", "branch", "is_new", "waiting"]


def catalogue(n, seed):
    rng = np.random.default_rng(seed)
    table = np.empty((n, len(COLUMNS)), dtype=object)
    table[:, 0] = rng.integers(60, 900, n)
    table[:, 1] = rng.integers(1950, 2025, n)
    table[:, 2] = rng.integers(1, 12, n)
    table[:, 3] = rng.choice(BRANCHES, n)
    table[:, 4] = rng.random(n) < 0.2
    table[:, 5] = rng.poisson(2.0, n)
    late = 0.004 * table[:, 0].astype(float) + 0.8 * table[:, 5].astype(float)
    late = late - 0.1 * table[:, 2].astype(float) + rng.normal(0, 0.5, n)
    return table, (late > 3.0).astype("float32")


def encode(table):
    """Replaces the branch name by four indicator columns."""
    branch = table[:, COLUMNS.index("branch")]
    onehot = np.stack([(branch == b).astype("float32") for b in BRANCHES], axis=1)
    rest = np.delete(table, COLUMNS.index("branch"), axis=1)
    rest[:, 0] = rest[:, 0] / 500
    rest[:, 1] = (rest[:, 1] - 1990) / 25
    return np.concatenate([rest, onehot], axis=1)
