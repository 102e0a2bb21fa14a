"""A topic as a page of text: who recommends what, where they disagree, what was measured, and what to do here."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from cfgfix.advice.recommend import Advice, Choice, memory_use, tier_of
from cfgfix.advice.topics import Topic
from cfgfix.config.dialects.derived import MIB, autotune_ram_bytes
from cfgfix.config.dialects.view import View
from cfgfix.core.findings import format_key_path
from cfgfix.hardware.model import Hardware
from cfgfix.hardware.presets import summary
from cfgfix.rules.evidence import Table, tables
from cfgfix.rules.expression import format_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Line = tuple[int, str]
"""Depth of indentation and text."""


def recommendations(topic: Topic, hardware: Hardware | None) -> list[Line]:
    """Return lines on every recommendation of a topic, with its source.

    Those by memory say what they mean for this machine.
    """
    gib = _hardware_value(hardware, "gpu.total_gib")
    ram = _hardware_value(hardware, "memory.ram_gib")
    lines: list[Line] = []
    for item in topic.recommendations:
        text = item.says
        if item.tiers and gib is not None:
            here = tier_of(dict(item.tiers), gib)
            text += (
                f" - for this card ({gib:.3g} GiB): {here}"
                if here is not None
                else f" - nothing for a card of {gib:.3g} GiB"
            )
        if item.least_ram_gib is not None and ram is not None:
            enough = "is met" if ram >= 0.92 * item.least_ram_gib else "is not met"
            text += f" - {enough} here ({ram:.3g} GiB)"
        if item.worth:
            text += f" (worth: {item.worth})"
        lines += [(1, f"- {item.source}:"), (3, text)]
    return lines


def measured_facts(topic: Topic) -> list[Line]:
    """Return lines on the measurements of a topic, with tables and machines."""
    lines: list[Line] = []
    places: dict[str, list[str]] = {}
    for item in topic.measured:
        lines.append((1, f"- {item.says}"))
        for table in tables(item.script, item.table or "") if item.script else ():
            lines += table_text(table)
            places.setdefault(table.circumstances, []).append(table.script)
    for place, scripts in places.items():
        lines.append((1, f"{', '.join(dict.fromkeys(scripts))}: {place}"))
    return lines


def table_text(table: Table) -> list[Line]:
    """Return a table as its title and one paragraph of rows."""
    title, *rows, _ = table.lines()
    return [(3, f"{title}:"), (5, "; ".join(rows))]


def recommendation_lines(topic: Topic, advice: Advice | None, view: View, hardware: Hardware) -> list[Line]:
    """Return lines on the values recommended for a machine, with their reasons."""
    lines: list[Line] = []
    for concept in topic.concepts if advice is not None else ():
        for item in advice.about(concept) if advice is not None else ():
            if isinstance(item, Choice):
                lines.append((1, f"{format_key_path(item.path)}: {_value_text(item.value)}"))
                lines += [(3, f"why: {item.reason}"), (3, f"source: {item.basis}")]
            else:
                lines += [
                    (1, f"{format_key_path(item.path)}: no value recommended"),
                    (3, f"why: {item.reason}"),
                ]
    lines += _fact_lines(topic, advice, view, hardware)
    if topic.instead:
        lines.append((1, topic.instead))
    return lines


def machine_lines(hardware: Hardware) -> list[Line]:
    """Return lines on the machine's facts behind recommendations, with sources."""
    lines: list[Line] = [(1, summary(hardware))]
    rows: tuple[tuple[str, str, Callable[[Any], str]], ...] = (
        ("cpu.usable", "usable CPUs", lambda value: f"{value:g}"),
        ("memory.ram_mib", "host memory", lambda value: f"{value / 1024:.4g} GiB"),
        (
            "gpu.total_mib",
            "memory of a card",
            lambda value: f"{value / 1024:.4g} GiB, as the driver reports it",
        ),
        ("gpu.usable_mib", "of which TensorFlow takes", lambda value: f"about {value / 1024:.4g} GiB"),
        ("gpu.cc", "compute capability", lambda value: f"{value / 10:.1f}"),
    )
    for name, title, form in rows:
        found = hardware.lookup(name)
        if found is None or (name.startswith("gpu.") and not hardware.gpus):
            continue
        if found.value is None:
            lines.append((1, f"{title}: not known ({found.source})"))
        else:
            lines.append((1, f"{title}: {form(found.value)} ({found.source})"))
    if hardware.gpus:
        reached = [size for size in _TIERS if hardware.reaches(size)]
        if reached:
            lines.append(
                (
                    1,
                    f"memory tier: {max(reached)} GB (a tier counts as reached from 0.92 of its nominal size, since cards report a little less)",
                )
            )
    return lines


_TIERS = (4, 8, 12, 16, 24, 32, 40, 48, 80)
"""The sizes that the guides' tables and this page speak of."""


def _fact_lines(topic: Topic, advice: Advice | None, view: View, hardware: Hardware) -> Iterable[Line]:
    if topic.name == "batch_size":
        yield from _batch_facts(advice, view, hardware)
    elif topic.name == "ram":
        yield from _ram_facts(advice, view, hardware)
    elif topic.name == "gpu_topology":
        yield from _topology_lines(hardware)
    elif topic.name == "gpu_memory":
        for index, _ in enumerate(hardware.gpus):
            found = hardware.lookup(f"gpus[{index}].usable_mib")
            if found is not None and found.value is not None:
                yield (1, f"GPU {index}: TensorFlow may use about {found.value:.0f} MiB ({found.source})")


def _batch_facts(advice: Advice | None, view: View, hardware: Hardware) -> Iterable[Line]:
    chosen = (
        next((item.value for item in advice.choices if item.concept == "batch_size"), None)
        if advice
        else None
    )
    element = _operand_value(view, "element_bytes")
    batch = chosen if isinstance(chosen, int) else _operand_value(view, "batch_size")
    if isinstance(element, int) and isinstance(batch, int):
        size = element * batch
        text = f"bytes of a padded batch: {batch} x {format_bytes(element)} = {format_bytes(size)}"
        usable = _hardware_value(hardware, "gpu.usable_mib")
        if usable is not None:
            text += (
                f", {100 * size / (usable * MIB):.2g} % of the card: the inputs do not decide, activations do"
            )
        yield (1, text)
    if advice is not None:
        for name, held, share in memory_use(advice, view, hardware):
            of_ram = f", {100 * share:.2g} % of the host's memory" if share is not None else ""
            yield (1, f"beside it in host memory: {name}, {format_bytes(held)}{of_ram}")


def _ram_facts(advice: Advice | None, view: View, hardware: Hardware) -> Iterable[Line]:
    ram = _hardware_value(hardware, "memory.ram_mib")
    total = 0.0
    for name, held, _ in memory_use(advice, view, hardware) if advice is not None else ():
        total += held
        yield (1, f"{name}: {format_bytes(held)}")
    if total:
        share = f", {100 * total / (ram * MIB):.2g} % of {format_bytes(ram * MIB)}" if ram else ""
        yield (
            1,
            f"what these settings hold together: {format_bytes(total)}{share}; a cache and a shuffle buffer of decoded samples come on top",
        )
    host = _hardware_value(hardware, "host_ram_mib")
    if host is not None:
        yield (
            1,
            f"AUTOTUNE's buffers may take up to {format_bytes(autotune_ram_bytes(host * MIB))} where the host's {format_bytes(host * MIB)} are free; set options.autotune.ram_budget in a container",
        )


def _topology_lines(hardware: Hardware) -> Iterable[Line]:
    if not hardware.gpus:
        yield (1, f"{hardware.label} has no GPU")
        return
    for index, _ in enumerate(hardware.gpus):
        facts = [
            f"GPU {index}: {_hardware_value(hardware, f'gpus[{index}].name') or 'a card of unknown name'}"
        ]
        pcie = _hardware_value(hardware, f"gpus[{index}].pcie")
        link = _hardware_value(hardware, f"gpus[{index}].nvlink_gbs")
        facts.append(f"PCIe {pcie}" if pcie else "PCIe not known")
        facts.append("NVLink not known" if link is None else f"NVLink {link:g} GB/s" if link else "no NVLink")
        yield (1, ", ".join(facts))
    if len(hardware.gpus) > 1 and not any(
        _hardware_value(hardware, f"gpus[{i}].nvlink_gbs") for i in range(len(hardware.gpus))
    ):
        yield (
            1,
            "without NVLink gradients travel over PCIe: 100 million parameters are 400 MB a step; at 10 GB/s that is 40 ms (arithmetic)",
        )


def _hardware_value(hardware: Hardware | None, name: str) -> Any:
    found = hardware.lookup(name) if hardware is not None else None
    return None if found is None else found.value


def _operand_value(view: View, name: str) -> Any:
    from cfgfix.rules.expression import Missing

    try:
        return view.value(name)
    except Missing:
        return None


def _value_text(value: Any) -> str:
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
