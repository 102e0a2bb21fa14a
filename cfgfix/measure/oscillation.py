"""Whether a series oscillates, how long its period is, how strong, and what could cause it.

The test asks one question: does some period explain more of this series than periods explain in series that have the same
values and the same memory but no period? Its parts are published methods:

- A slow trend is taken out (a parabola), and values beyond five robust deviations are pulled in, so that neither a drift nor
  single outliers look periodic, while a spike every k batches still does. Where several values lie beyond, the series is
  tested once more with their heights kept.
- The score of a frequency is the H statistic (de Jager, Raubenheimer and Swanepoel 1989): the power of the frequency and its
  harmonics, at a charge of four per harmonic. It finds sines, squares, saws and trains of spikes alike, and prefers the
  fundamental to its harmonics and to its multiples.
- The largest score is compared with the largest scores of surrogate series (Theiler 1992). With independent noise these are
  shuffled values. Where the noise has memory (what remains after the best candidate is taken out decides), they are
  autoregressions driven by shuffled innovations (sieve bootstrap), and for long periods shuffled blocks of random length as
  well; the larger p-value counts.

`benchmarks/instruments.py` measures false alarms and detection rates.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from cfgfix.measure.statistics import Floats, clean, robust_deviation, winsorised

ALPHA = 0.01
"""Below this p-value a series oscillates. One in a hundred leaves room for noise with memory, whose rate is higher."""
DOUBT = 0.05
"""Between `ALPHA` and this the answer is "inconclusive": more batches decide."""
MIN_CYCLES = 3
"""A period must repeat this often within the series; two repetitions of anything look alike."""
MIN_SAMPLES = 24
"""Fewer values find only oscillations above three times the noise (benchmarks/instruments.py, detection table)."""
MAX_SAMPLES = 4096
"""Longer series are judged by their last part; periods above a third of this are not looked for."""
HARMONICS = 10
_OVERSAMPLING = 8
_FIRST_SURROGATES = 99
_ALL_SURROGATES = 499
_TREND_DEGREE = 2


class Outcome(enum.Enum):
    """How the test of a series ended."""

    OSCILLATING = "oscillating"
    NONE = "none"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class Oscillation:
    """The answer of the test for one series, with period and amplitude.

    Periods count values; amplitudes have the unit of the values.
    """

    outcome: Outcome
    reason: str
    samples: int
    p_value: float | None = None
    period: float | None = None
    period_interval: tuple[float, float] | None = None
    """95 % interval of the period."""
    phase: float | None = None
    """Index, within the first period, where the cycle is highest."""
    amplitude: float | None = None
    """Height of the mean cycle from trough to peak."""
    excess_share: float | None = None
    """Share of the total that lies above the level between the peaks: what a flat series would save."""
    detectable: float | None = None
    """Amplitude (trough to peak) of a sine that this series would have shown."""

    def as_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return {
            "outcome": self.outcome.value,
            "reason": self.reason,
            "samples": self.samples,
            "p_value": self.p_value,
            "period": self.period,
            "period_interval": list(self.period_interval) if self.period_interval else None,
            "phase": self.phase,
            "amplitude": self.amplitude,
            "excess_share": self.excess_share,
            "detectable_amplitude": self.detectable,
        }


END_OF_DATASET = "end of the dataset"
"""The name of the cause that comes once an epoch."""


@dataclass(frozen=True, slots=True)
class Cause:
    """An interval of the run that could make the oscillation."""

    name: str
    interval: float
    """In values of the series."""
    matches: bool
    """Whether the period agrees with the interval, or with the interval divided by a small whole number."""
    note: str

    def as_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return {"name": self.name, "interval": self.interval, "matches": self.matches, "note": self.note}


@dataclass(slots=True)
class _RowPeaks:
    """The best candidate of each row of a table of series."""

    score: Floats
    frequency: Floats
    harmonics: np.ndarray


def _trend_basis(count: int) -> Floats:
    table = np.polynomial.legendre.legvander(np.linspace(-1, 1, count), _TREND_DEGREE)
    return np.asarray(np.linalg.qr(table)[0], dtype=np.float64)


def _without_trend(rows: Floats, basis: Floats) -> Floats:
    return np.asarray(rows - (rows @ basis) @ basis.T, dtype=np.float64)


def _peaks_of_rows(rows: Floats) -> _RowPeaks:
    """Return the largest H statistic of each row, with its frequency and harmonics.

    All frequencies with at least MIN_CYCLES cycles are tried; rows must be centred.
    """
    count = rows.shape[1]
    spectrum = np.fft.rfft(rows, _OVERSAMPLING * count, axis=1)
    power = (spectrum.real**2 + spectrum.imag**2) / count
    variance = rows.var(axis=1)[:, None]
    power = np.divide(power, variance, out=np.zeros_like(power), where=variance > 0)
    end = power.shape[1]
    index = np.arange(MIN_CYCLES * _OVERSAMPLING, end)
    total = np.zeros((rows.shape[0], index.size))
    best = np.full_like(total, -np.inf)
    used = np.ones(total.shape, dtype=np.int64)
    for harmonic in range(1, HARMONICS + 1):
        fits = int(np.searchsorted(index * harmonic, end))
        if not fits:
            break
        total[:, :fits] += 2 * power[:, index[:fits] * harmonic]
        value = total[:, :fits] - 4 * harmonic + 4
        better = value > best[:, :fits]
        used[:, :fits][better] = harmonic
        best[:, :fits] = np.where(better, value, best[:, :fits])
    place = best.argmax(axis=1)
    row = np.arange(rows.shape[0])
    return _RowPeaks(best[row, place], index[place] / (_OVERSAMPLING * count), used[row, place])


def _highest_frequency(count: int) -> float:
    """Return the highest frequency to test a series of this length for.

    It lies a little above the Nyquist frequency, from which it cannot be told: a cycle of 12.01 values needs its
    sixth harmonic, too.
    """
    return 0.5 + 0.5 / count


def _cosines_and_sines(count: int, frequency: float, harmonics: int) -> Floats:
    """Return cosines and sines of a frequency and its harmonics, shape (count, 2k).

    Harmonics above the Nyquist frequency are left out.
    """
    order = np.arange(1, harmonics + 1)
    order = order[order * frequency <= _highest_frequency(count)]
    angle = 2 * math.pi * frequency * np.arange(count)[:, None] * order
    return np.concatenate([np.cos(angle), np.sin(angle)], axis=1)


def _cycle(series: Floats, frequency: float, harmonics: int) -> Floats:
    """Return the mean cycle laid over the whole series."""
    waves = _cosines_and_sines(series.size, frequency, harmonics)
    return np.asarray(waves @ np.linalg.lstsq(waves, series, rcond=None)[0], dtype=np.float64)


def _autoregression_of(rest: Floats, order: int) -> Floats:
    """Return the autoregression coefficients of the residuals of a fit.

    They are those of Yule and Walker, with the order chosen by AIC; the order is 0 where neighbours are independent.
    The first-order coefficient is raised by the known bias of short series with a trend taken out, (3 + 5 phi) / n
    (Kendall 1954, extended by simulation).
    """
    count = rest.size
    rest = rest - rest.mean()
    covariance = np.array([rest[: count - lag] @ rest[lag:] / count for lag in range(order + 1)])
    if covariance[0] <= 0 or np.max(np.abs(covariance[1:])) < covariance[0] / math.sqrt(count):
        return np.zeros(0)
    best, chosen = math.inf, np.zeros(0)
    for size in range(order + 1):
        if size:
            table = covariance[np.abs(np.subtract.outer(np.arange(size), np.arange(size)))]
            table = table + 1e-9 * covariance[0] * np.eye(size)
            phi = np.linalg.solve(table, covariance[1 : size + 1])
            left = covariance[0] - float(phi @ covariance[1 : size + 1])
        else:
            phi, left = np.zeros(0), float(covariance[0])
        cost = count * math.log(max(left, 1e-300)) + 2 * size
        if cost < best:
            best, chosen = cost, phi
    if chosen.size == 1 and chosen[0] > 0:
        chosen = np.minimum(chosen + (3 + 5 * chosen) / count, 0.98)
    return np.asarray(chosen, dtype=np.float64)


def _shuffle(series: Floats, rows: int, random: np.random.Generator) -> Floats:
    return np.asarray(random.permuted(np.tile(series, (rows, 1)), axis=1), dtype=np.float64)


def _autoregressive_series(series: Floats, phi: Floats, rows: int, random: np.random.Generator) -> Floats:
    """Return rows of random series with the autoregression `phi`.

    Their innovations are those of `series`, shuffled.
    """
    order = phi.size
    innovations = series.copy()
    for lag in range(1, order + 1):
        innovations[lag:] -= phi[lag - 1] * series[:-lag]
    innovations = innovations - innovations.mean()
    lead = 20 * order + 50
    drive = np.concatenate(
        [random.choice(innovations, (rows, lead)), _shuffle(innovations, rows, random)], axis=1
    )
    for place in range(order, drive.shape[1]):
        drive[:, place] += drive[:, place - order : place] @ phi[::-1]
    return np.asarray(drive[:, lead:], dtype=np.float64)


def _block_mean(count: int) -> float:
    return max(3.0, math.sqrt(count) / 1.5)


def _shuffled_blocks(series: Floats, rows: int, random: np.random.Generator) -> Floats:
    """Return rows of random series: pieces of the given series in another order."""
    length = _block_mean(series.size)
    table = np.empty((rows, series.size))
    for row in table:
        cuts = np.flatnonzero(random.random(series.size - 1) < 1 / length) + 1
        pieces = np.split(series, cuts)
        row[:] = np.concatenate([pieces[place] for place in random.permutation(len(pieces))])
    return table


class _SurrogateScores:
    """Draws the largest scores of surrogate series, of one kind."""

    def __init__(self, kind: str, series: Floats, phi: Floats, random: np.random.Generator) -> None:
        self._kind, self._series, self._phi, self._random = kind, series, phi, random
        self._basis = _trend_basis(series.size)
        self.scores = np.zeros(0)

    def draw(self, rows: int) -> None:
        """Add `rows` scores."""
        chunk = max(1, 400_000 // (self._series.size * _OVERSAMPLING) * 4)
        parts = [self.scores]
        while rows > 0:
            size = min(rows, chunk)
            if self._kind == "shuffle":
                table = _shuffle(self._series, size, self._random)
            elif self._kind == "memory":
                table = _without_trend(
                    _autoregressive_series(self._series, self._phi, size, self._random), self._basis
                )
            else:
                table = _shuffled_blocks(self._series, size, self._random)
            parts.append(_peaks_of_rows(table).score)
            rows -= size
        self.scores = np.concatenate(parts)

    def p_value(self, score: float) -> float:
        """Return the share of series that score at least as high as `score`.

        The series are the surrogates and the tested one.
        """
        return float((1 + np.sum(self.scores >= score)) / (1 + self.scores.size))


def _fundamental_of(series: Floats, frequency: float) -> tuple[float, int]:
    """Return the fundamental frequency of a candidate, and its number of harmonics.

    Of the candidate, its parts and its multiples, Schwarz's criterion prefers this pair. Noise at the odd harmonics
    of half the true frequency can lift a multiple of the period above it; each harmonic must earn two parameters.
    """
    count = series.size
    power = float(series @ series)
    best = (math.inf, frequency, 1)
    for multiple in (1 / 3, 1 / 2, *range(1, HARMONICS + 1)):
        candidate = frequency * multiple
        # The candidate itself is judged wherever its own look for a better place has led it: of three cycles just below the limit.
        if multiple != 1 and not MIN_CYCLES / count <= candidate <= 0.5:
            continue
        for harmonics in range(1, HARMONICS + 1):
            if harmonics > 1 and harmonics * candidate > _highest_frequency(count):
                break
            centre = _refine_frequency(series, candidate, harmonics)
            left = series - _cycle(series, centre, harmonics)
            cost = count * math.log(max(float(left @ left) / power, 1e-12)) + 2 * harmonics * math.log(count)
            if cost < best[0]:
                best = (cost, centre, harmonics)
    return best[1], best[2]


def _harmonics_at(series: Floats, frequency: float) -> int:
    """Return the number of harmonics that Schwarz's criterion prefers at a frequency."""
    costs = []
    for harmonics in range(1, HARMONICS + 1):
        if harmonics > 1 and harmonics * frequency > _highest_frequency(series.size):
            break
        left = series - _cycle(series, frequency, harmonics)
        power = max(float(left @ left), 1e-12 * float(series @ series))
        costs.append(series.size * math.log(power) + 2 * harmonics * math.log(series.size))
    return int(np.argmin(costs)) + 1


def _refine_frequency(series: Floats, frequency: float, harmonics: int) -> float:
    """Return the frequency near `frequency` whose waves explain most of the series."""
    width = 0.75 / series.size
    for _ in range(3):
        grid = np.linspace(max(frequency - width, 1e-6), min(frequency + width, 0.5), 41)
        gains = []
        for candidate in grid:
            waves = _cosines_and_sines(series.size, float(candidate), harmonics)
            fit = waves @ np.linalg.lstsq(waves, series, rcond=None)[0]
            gains.append(float(fit @ fit))
        frequency = float(grid[int(np.argmax(gains))])
        width /= 12
    return frequency


def _period_interval(series: Floats, frequency: float, harmonics: int, cycle: Floats) -> tuple[float, float]:
    """Return the 95 % interval of the period.

    The standard error of a frequency is sqrt(6 / n) * noise / (pi * n * amplitude) for a sine (Montgomery and O'Donoghue 1999);
    the h-th harmonic pins it h times better, so the amplitude is replaced by the root of the sum of (h * amplitude_h)**2.
    """
    waves = _cosines_and_sines(series.size, frequency, harmonics)
    weights = np.linalg.lstsq(waves, series, rcond=None)[0]
    half = weights.size // 2
    heights = np.hypot(weights[:half], weights[half:])
    lever = math.sqrt(float(np.sum((np.arange(1, half + 1) * heights) ** 2)))
    noise = float(np.std(series - cycle))
    error = math.sqrt(6 / series.size) * noise / (math.pi * series.size * lever) if lever else math.inf
    low, high = frequency - 1.96 * error, frequency + 1.96 * error
    return 1 / high, 1 / low if low > 0 else math.inf


@dataclass(slots=True)
class _SeriesView:
    """The result of the test for one form of a series."""

    series: Floats
    frequency: float
    p_value: float
    detectable: float


def _views_of_series(raw: Floats) -> tuple[Floats, Floats | None]:
    """Return a series without trend and outliers, and with its recurring outliers.

    Both forms are centred. The first form pulls all values to five robust deviations, so that outliers neither hide
    nor make a period. Where the disturbances of a busy machine are as frequent as the stalls that matter and a tenth
    as high, it makes both equal; so the second form, where at least MIN_CYCLES values lie beyond, keeps heights up to
    the MIN_CYCLES-th of each side.
    """
    basis = _trend_basis(raw.size)
    clipped = winsorised(raw)
    narrow = winsorised(_without_trend(clipped[None, :], basis)[0])
    rest = raw - (clipped - _without_trend(clipped[None, :], basis)[0])
    low, high = float(narrow.min()), float(narrow.max())
    wide = None
    if np.sum(rest > high) >= MIN_CYCLES or np.sum(rest < low) >= MIN_CYCLES:
        ordered = np.sort(rest)
        wide = np.clip(rest, min(low, ordered[MIN_CYCLES - 1]), max(high, ordered[-MIN_CYCLES]))
        wide = wide - wide.mean()
    return narrow - narrow.mean(), wide


def _compare_with_surrogates(series: Floats, seed: int) -> _SeriesView:
    """Return the best period of a series, tested against its surrogates."""
    count = int(series.size)
    peak = _peaks_of_rows(series[None, :])
    frequency, harmonics, score = float(peak.frequency[0]), int(peak.harmonics[0]), float(peak.score[0])
    # What the candidate leaves of its own cycle would look like memory: its frequency lies between those of the grid, and the
    # score, which charges little for a harmonic but looks at the wrong places for the high ones, may have left some out.
    frequency = _refine_frequency(series, frequency, harmonics)
    harmonics = _harmonics_at(series, frequency)
    cycle = _cycle(series, frequency, harmonics)
    phi = _autoregression_of(series - cycle, min(8, count // 12))
    random = np.random.default_rng(seed)
    kinds: tuple[str, ...] = ("memory",) if phi.size else ("shuffle",)
    if phi.size and frequency * _block_mean(count) < 1:
        # Wandering noise looks periodic at long periods; a short period would survive inside the blocks.
        kinds = ("memory", "blocks")
    nulls = [_SurrogateScores(kind, series, phi, random) for kind in kinds]
    p_value = 0.0
    for null in nulls:
        # A score that a tenth of the first surrogates reach cannot come below the limits with more of them.
        null.draw(_FIRST_SURROGATES)
        if null.p_value(score) < 0.1:
            null.draw(_ALL_SURROGATES - _FIRST_SURROGATES)
        p_value = max(p_value, null.p_value(score))
    threshold = max(float(np.quantile(null.scores, 1 - ALPHA)) for null in nulls)
    # A sine of amplitude A adds n A**2 / (2 variance) to the score of its frequency.
    detectable = 2 * math.sqrt(2 * max(threshold, 0.0) / count) * float(np.std(series - cycle))
    return _SeriesView(series, frequency, p_value, detectable)


def find_oscillation(values: ArrayLike, *, seed: int = 0) -> Oscillation:
    """Return whether an evenly spaced series oscillates, with period and amplitude.

    Args:
        values: The series, warm-up removed, such as seconds per batch.
        seed: Of the surrogates, so that the same series gives the same answer.

    Raises:
        ValueError: The values are not a series.
    """
    raw = clean(values)[-MAX_SAMPLES:]
    count = int(raw.size)
    if count < MIN_SAMPLES:
        return Oscillation(
            Outcome.INCONCLUSIVE, f"{count} values are too few to tell ({MIN_SAMPLES} needed)", count
        )
    if float(np.ptp(raw)) <= 1e-12 * max(1.0, float(np.max(np.abs(raw)))):
        return Oscillation(Outcome.NONE, "the values are all the same", count, p_value=1.0, detectable=0.0)
    narrow, wide = _views_of_series(raw)
    if float(narrow.std()) <= 1e-9 * float(np.std(raw)):
        return Oscillation(
            Outcome.NONE, "the values follow a smooth trend", count, p_value=1.0, detectable=0.0
        )
    view = _compare_with_surrogates(narrow, seed)
    p_value = view.p_value
    if wide is not None:
        other = _compare_with_surrogates(wide, seed)
        # Two tests: the smaller p-value counts double (Bonferroni).
        p_value = min(1.0, 2 * min(view.p_value, other.p_value))
        view = other if other.p_value <= view.p_value else view
    series, frequency, detectable = view.series, view.frequency, view.detectable
    if p_value > DOUBT:
        reason = f"no period stands out (p = {p_value:.2g})"
        return Oscillation(Outcome.NONE, reason, count, p_value=p_value, detectable=detectable)
    if p_value > ALPHA:
        reason = (
            f"a hint of a period near {1 / frequency:.3g} (p = {p_value:.2g}); measure more batches to decide"
        )
        return Oscillation(Outcome.INCONCLUSIVE, reason, count, p_value=p_value, detectable=detectable)
    frequency, harmonics = _fundamental_of(series, frequency)
    frequency = _refine_frequency(series, frequency, harmonics)
    cycle = _cycle(series, frequency, harmonics)
    period = 1 / frequency
    mean_cycle = _mean_cycle(raw, period)
    level = float(np.median(mean_cycle))
    excess = (
        float(np.sum(np.maximum(mean_cycle - level, 0))) / float(np.sum(mean_cycle))
        if np.sum(mean_cycle)
        else 0.0
    )
    first = cycle[: max(2, math.ceil(period))]
    return Oscillation(
        Outcome.OSCILLATING,
        f"repeats every {period:.3g} values (p = {p_value:.2g}, {count / period:.0f} cycles)",
        count,
        p_value=p_value,
        period=period,
        period_interval=_period_interval(series, frequency, harmonics, cycle),
        phase=float(np.argmax(first)),
        amplitude=float(np.ptp(mean_cycle)),
        excess_share=excess,
        detectable=detectable,
    )


def _mean_cycle(raw: Floats, period: float) -> Floats:
    """Return the mean cycle of the values, in at most 32 parts.

    There are as many parts as the period has values. Each part is a median, so that an outlier in one cycle does not
    shape the mean cycle.
    """
    parts = max(2, min(32, round(period)))
    straight = np.polynomial.Polynomial.fit(np.arange(raw.size), winsorised(raw), 1)
    level = raw - straight(np.arange(raw.size)) + float(np.median(raw))
    part = (np.arange(raw.size) / period % 1 * parts).astype(np.int64) % parts
    return np.array([np.median(level[part == place]) for place in range(parts) if np.any(part == place)])


def find_causes(
    found: Oscillation,
    intervals: Mapping[str, float],
    values: ArrayLike | None = None,
    *,
    first_index: int = 0,
) -> tuple[Cause, ...]:
    """Return for each known interval of a run whether it explains an oscillation.

    Intervals that are infinite or shorter than one value are left out.

    Args:
        found: The answer of `find_oscillation`.
        intervals: What could cause it and how often it happens, in values: checkpoint, log, evaluation, shuffle refill...
        values: The series the answer came from; then the height at the events is compared with the rest.
        first_index: Number of values of the run before the first of the series, so that events can be placed.

    Returns:
        Intervals that agree first. An interval longer than a third of the series cannot be judged and says so.
    """
    causes = []
    series = clean(values) if values is not None else None
    for name, interval in intervals.items():
        if not math.isfinite(interval) or interval < 1:
            continue
        if found.outcome is not Outcome.OSCILLATING or found.period is None:
            causes.append(Cause(name, interval, False, "no oscillation to explain"))
            continue
        if interval * MIN_CYCLES > found.samples:
            causes.append(
                Cause(
                    name,
                    interval,
                    False,
                    f"not judged: fewer than {MIN_CYCLES} of these intervals were measured",
                )
            )
            continue
        low, high = found.period_interval or (found.period, found.period)
        # The interval of the period, never narrower than one value of drift over the whole series.
        slack = found.period**2 / found.samples / 2
        divisor = next((d for d in (1, 2, 3, 4) if low - slack <= interval / d <= high + slack), None)
        if divisor is None:
            causes.append(Cause(name, interval, False, f"period {found.period:.3g} is not {interval:g}"))
            continue
        note = f"period {found.period:.3g} agrees with every {interval:g}"
        if divisor > 1:
            note += f" ({divisor} peaks per interval)"
        if series is not None and divisor == 1:
            note += "; " + _at_events(series, interval, first_index)
        causes.append(Cause(name, interval, True, note))
    return tuple(sorted(causes, key=lambda cause: not cause.matches))


def _at_events(series: Floats, interval: float, first_index: int) -> str:
    """Return a line on the phase of an interval with the highest values.

    The line says by how much these exceed the values of the other phases.
    """
    steps = max(2, round(interval))
    phase = (np.arange(series.size) + first_index) % steps
    heights = np.array(
        [np.median(series[phase == place]) if np.any(phase == place) else -np.inf for place in range(steps)]
    )
    place = int(np.argmax(heights))
    others = float(np.median(series[phase != place]))
    factor = heights[place] / others if others else math.inf
    spread = robust_deviation(series[phase != place])
    apart = (heights[place] - others) / spread if spread else math.inf
    return f"values {place} (mod {steps}) are {factor:.2g} times the others ({apart:.2g} robust deviations)"
