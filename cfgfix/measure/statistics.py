"""Summaries of timing series: pure functions of arrays, with intervals, and a test for the steady state."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

MAD_TO_SIGMA = 1.4826
"""The median absolute deviation of normal noise times this is its standard deviation."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its interval, in the unit of the values."""

    value: float
    low: float
    high: float
    level: float = 0.95

    @property
    def excludes_zero(self) -> bool:
        """Whether the whole interval lies on one side of zero."""
        return self.low > 0 or self.high < 0

    def as_dict(self) -> dict[str, float]:
        """Return the fields for JSON."""
        return {"value": self.value, "low": self.low, "high": self.high, "level": self.level}


@dataclass(frozen=True, slots=True)
class Summary:
    """The summary statistics of one series.

    All are in the unit of the values except `count` and `robust_variation`.
    """

    count: int
    mean: float
    median: float
    p95: float
    p99: float
    low: float
    high: float
    deviation: float
    """Standard deviation; one outlier can rule it."""
    robust_deviation: float
    """Median absolute deviation scaled to a standard deviation; outliers do not move it."""
    mean_interval: Interval
    """The mean with its 95 % interval, from blocks, so that neighbours may depend on each other."""

    @property
    def variation(self) -> float:
        """The standard deviation over the mean, used by older thresholds.

        NaN for a mean of zero.
        """
        return self.deviation / self.mean if self.mean else math.nan

    @property
    def robust_variation(self) -> float:
        """Robust deviation over median; NaN for a median of zero."""
        return self.robust_deviation / self.median if self.median else math.nan

    def as_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return {
            "count": self.count,
            "mean": self.mean,
            "median": self.median,
            "p95": self.p95,
            "p99": self.p99,
            "min": self.low,
            "max": self.high,
            "std": self.deviation,
            "robust_std": self.robust_deviation,
            "cv": _number_or_none(self.variation),
            "robust_cv": _number_or_none(self.robust_variation),
            "mean_interval": self.mean_interval.as_dict(),
        }


@dataclass(frozen=True, slots=True)
class Steadiness:
    """The place where a series settles, and whether the rest still drifts."""

    steady: bool
    start: int
    """Index of the first value after the warm-up."""
    drift: float
    """Change over the part after the warm-up, as a share of its median; positive is getting slower."""
    p_value: float
    reason: str

    def as_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return {
            "steady": self.steady,
            "warmup": self.start,
            "drift": self.drift,
            "p_value": self.p_value,
            "reason": self.reason,
        }


def _number_or_none(value: float) -> float | None:
    return value if math.isfinite(value) else None


def clean(values: ArrayLike) -> Floats:
    """Return a one-dimensional float array without missing values.

    Raises:
        ValueError: The values are not a series of numbers.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"expected a series, got an array with {array.ndim} axes")
    return array[np.isfinite(array)]


def robust_deviation(values: ArrayLike) -> float:
    """Return the scaled median absolute deviation of a series.

    0 for an empty series.
    """
    array = clean(values)
    if not array.size:
        return 0.0
    return float(MAD_TO_SIGMA * np.median(np.abs(array - np.median(array))))


def lag_one(values: ArrayLike) -> float:
    """Return the correlation of neighbouring values in a series.

    0 for a constant or too short series.
    """
    array = clean(values)
    centred = array - array.mean() if array.size else array
    power = float(centred @ centred)
    return float(centred[1:] @ centred[:-1]) / power if array.size > 2 and power > 0 else 0.0


def block_length(values: ArrayLike) -> int:
    """Return the length of the blocks to resample a series in.

    1 for independent values, more for correlated ones. The length n**(1/3) * (2 rho / (1 - rho**2))**(2/3) is the
    optimal one for a first-order autoregression (Carlstein 1986).
    """
    array = clean(values)
    rho = min(abs(lag_one(array)), 0.98)
    if array.size < 8 or rho < 2 / math.sqrt(array.size):
        return 1
    length = math.pow(array.size, 1 / 3) * math.pow(2 * rho / (1 - rho**2), 2 / 3)
    return max(1, min(math.ceil(length), int(array.size) // 4))


def bootstrap(
    values: ArrayLike,
    statistic: str = "mean",
    *,
    level: float = 0.95,
    draws: int = 2000,
    seed: int = 0,
) -> Interval:
    """Return a mean or median with its percentile interval.

    Blocks of neighbours are resampled.

    Args:
        values: The series.
        statistic: `mean` or `median`.
        level: Coverage of the interval.
        draws: Resamples.
        seed: Of the resampling, so that the same series gives the same interval.

    Raises:
        ValueError: The series is empty.
    """
    array = clean(values)
    if not array.size:
        raise ValueError("an empty series has no mean")
    reduce: Any = {"mean": np.mean, "median": np.median}[statistic]
    point = float(reduce(array))
    if array.size == 1:
        return Interval(point, -math.inf, math.inf, level)
    random = np.random.default_rng(seed)
    length = block_length(array)
    count = -(-array.size // length)
    drawn = np.empty(draws)
    step = max(1, 2_000_000 // array.size)
    for start in range(0, draws, step):
        rows = min(step, draws - start)
        first = random.integers(0, array.size, (rows, count, 1))
        index = ((first + np.arange(length)) % array.size).reshape(rows, -1)[:, : array.size]
        drawn[start : start + rows] = reduce(array[index], axis=1)
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return Interval(point, float(low), float(high), level)


def summarise(values: ArrayLike, *, seed: int = 0) -> Summary:
    """Return the summary statistics of a series.

    Raises:
        ValueError: The series is empty.
    """
    array = clean(values)
    if not array.size:
        raise ValueError("an empty series has no summary")
    p95, p99 = np.quantile(array, [0.95, 0.99])
    return Summary(
        count=int(array.size),
        mean=float(array.mean()),
        median=float(np.median(array)),
        p95=float(p95),
        p99=float(p99),
        low=float(array.min()),
        high=float(array.max()),
        deviation=float(array.std(ddof=1)) if array.size > 1 else 0.0,
        robust_deviation=robust_deviation(array),
        mean_interval=bootstrap(array, seed=seed),
    )


def paired_difference(
    first: ArrayLike, second: ArrayLike, *, statistic: str = "median", level: float = 0.95, seed: int = 0
) -> Interval:
    """Return `second - first` for runs that were taken in pairs, with its interval.

    Raises:
        ValueError: The series differ in length or are empty.
    """
    left, right = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if left.shape != right.shape:
        raise ValueError("paired runs have the same number of values")
    return bootstrap(right - left, statistic, level=level, seed=seed)


def paired_ratio(first: ArrayLike, second: ArrayLike, *, level: float = 0.95, seed: int = 0) -> Interval:
    """Return `second / first` for runs that were taken in pairs.

    It is the median of the pairs' ratios, with its interval.

    Raises:
        ValueError: The series differ in length, are empty, or hold a value that is not positive.
    """
    left, right = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if left.shape != right.shape:
        raise ValueError("paired runs have the same number of values")
    if np.any(left <= 0) or np.any(right <= 0):
        raise ValueError("a ratio needs positive values")
    logs = bootstrap(np.log(right / left), "median", level=level, seed=seed)
    return Interval(math.exp(logs.value), math.exp(logs.low), math.exp(logs.high), level)


def winsorised(values: ArrayLike, spread: float = 5.0) -> Floats:
    """Return a series with its outliers moved to a limit.

    The limit lies `spread` robust deviations from the median. Where more than half of the values are equal the robust
    deviation is zero; then half the standard deviation serves.
    """
    array = clean(values)
    if not array.size:
        return array
    middle = float(np.median(array))
    scale = robust_deviation(array) or 0.5 * float(array.std())
    return np.clip(array, middle - spread * scale, middle + spread * scale)


def warmup_end(values: ArrayLike) -> int:
    """Return the index at which the warm-up of a series ends.

    The marginal standard error rule decides (White 1997): the cut makes the squared standard error of the mean of the
    rest smallest. Values are winsorised first, so that one late outlier does not decide. At most half of the series
    is cut.
    """
    array = winsorised(values)
    count = array.size
    if count < 10:
        return 0
    back = array[::-1]
    size = np.arange(1, count + 1)
    total, squares = np.cumsum(back), np.cumsum(back * back)
    errors = np.maximum(squares / size - (total / size) ** 2, 0) / size
    cuts = np.arange(0, count // 2 + 1)
    return int(cuts[np.argmin(errors[count - cuts - 1])])


def slope(values: ArrayLike) -> float:
    """Return the median slope per index over pairs half a series apart.

    This is Theil-Sen on a subset of the pairs.
    """
    array = clean(values)
    half = array.size // 2
    if half < 1:
        return 0.0
    return float(np.median(array[half:] - array[: array.size - half])) / half


def _ranks_of(values: Floats) -> Floats:
    order = np.argsort(values, kind="stable")
    ranks = np.empty(values.size)
    ranks[order] = np.arange(values.size)
    _, group, sizes = np.unique(values, return_inverse=True, return_counts=True)
    sums = np.bincount(group, weights=ranks)
    return np.asarray((sums / sizes)[group], dtype=np.float64)


def trend_p_value(values: ArrayLike) -> float:
    """Return the two-sided p-value of a monotone trend.

    It is that of the rank correlation with the index.

    The number of values is reduced for correlated neighbours, n * (1 - r) / (1 + r) (Bayley and Hammersley 1946).
    """
    array = clean(values)
    if array.size < 8 or float(np.ptp(array)) == 0:
        return 1.0
    index = np.arange(array.size, dtype=np.float64)
    ranks = _ranks_of(array)
    rho = float(np.corrcoef(index, ranks)[0, 1])
    line = np.polynomial.Polynomial.fit(index, ranks, 1)
    r = min(max(lag_one(ranks - line(index)), 0.0), 0.98)
    effective = array.size * (1 - r) / (1 + r)
    if effective <= 3:
        return 1.0
    z = abs(math.atanh(min(abs(rho), 1 - 1e-12))) * math.sqrt(effective - 3)
    return math.erfc(z / math.sqrt(2))


DRIFT_LIMIT = 0.10
"""A straight drift of this share over the window puts its mean 5 % from its end, the accuracy these instruments promise."""
DRIFT_ALPHA = 0.01


def steady_state(values: ArrayLike) -> Steadiness:
    """Return where a series settles and whether the rest is steady.

    Not steady is: still moving when half of the series is cut off, or a significant trend that changes the value by more than
    `DRIFT_LIMIT` over the rest.
    """
    array = clean(values)
    if array.size < 10:
        return Steadiness(False, 0, 0.0, 1.0, f"{array.size} values are too few to tell (10 needed)")
    start = warmup_end(array)
    rest = array[start:]
    middle = float(np.median(rest))
    drift = slope(rest) * rest.size / middle if middle else 0.0
    p_value = trend_p_value(rest)
    moving = p_value < DRIFT_ALPHA and abs(drift) > DRIFT_LIMIT
    if moving:
        way = "slower" if drift > 0 else "faster"
        reason = f"still getting {way}: {abs(drift):.0%} over the last {rest.size} values (p = {p_value:.2g})"
    else:
        reason = f"steady after {start} values" if start else "steady from the start"
    return Steadiness(not moving, start, drift, p_value, reason)
