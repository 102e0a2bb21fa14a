"""Cards and machines by the names that schedulers and clouds have for them: `nvidia-tesla-t4`, `gpu:v100`, `g5.xlarge`."""

from __future__ import annotations

from cfgfix.core.records import dataclass
from cfgfix.hardware import table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfgfix.hardware.table import GpuRow

_MAKERS = ("nvidia", "tesla", "geforce", "quadro", "gpu")
_LINES = ("", "rtx", "gtx")
"""What is left out where a card is called by its number alone."""
_CLOUDS = ("aws", "gcp", "azure")


@dataclass(frozen=True, slots=True)
class SpokenCard:
    """A card that a job asks for.

    Attributes:
        card: Its id in the table.
        said: What the job calls it, where that may be another card, too.
        count: How many the machine has; None where a card is named alone.
    """

    card: str
    said: str
    count: int | None


def spoken_card(name: str) -> SpokenCard | None:
    """Return the card that a scheduler's or cloud's name means, or None.

    A name of several cards means the one with the most memory: what is too large for that is so for all.
    """
    plain = table.normalise(name.replace(".", "-"))
    bare = plain
    for maker in _MAKERS:
        bare = bare.removeprefix(maker)
    for tried in dict.fromkeys((plain, *(f"{line}{bare}" for line in _LINES))):
        row = table.find_gpu(tried)
        if row is None:
            continue
        others = [] if table.normalise(row.id) == tried else _cards_of_family(tried, row)
        largest = max([row, *others], key=lambda item: item.memory_gib or 0)
        return SpokenCard(
            largest.id, name if len({item.memory_gib for item in [row, *others]}) > 1 else "", None
        )
    return None


def _cards_of_family(name: str, row: GpuRow) -> list[GpuRow]:
    """Return the cards whose ids begin with a wider name that they share."""
    alias = next((item for item in (*row.aliases, row.id) if table.normalise(item) == name), row.id)
    return [item for item in table.gpu_rows() if item.id.startswith(f"{alias}-") and "laptop" not in item.id]


def spoken_machine(name: str) -> SpokenCard | None:
    """Return the card of a cloud's machine type, or None."""
    plain = name.lower().removeprefix("standard_").replace(".", "-")
    for cloud in _CLOUDS:
        machine = table.find_machine(f"{cloud}-{plain}")
        if machine is not None and machine.gpu is not None and machine.gpu_fraction is None:
            return SpokenCard(machine.gpu, "", machine.gpu_count)
    return None
