"""What a profile of a machine may say: its cards, numbers and kinds of storage, each checked; and a machine of which nothing is said."""

from __future__ import annotations

from cfgfix.core.errors import CfgfixError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfgfix.hardware.model import Hardware
    from cfgfix.hardware.table import GpuRow


def find_card(name: str) -> GpuRow | None:
    """Return the card with an id, alias or product name, or None.

    A product name of several cards is refused with their ids.

    Raises:
        CfgfixError: It is the name of several cards.
    """
    from cfgfix.hardware import table

    row = table.find_gpu(name)
    if row is not None:
        return row
    rows = table.find_by_product_name(name)
    if len(rows) > 1:
        ids = ", ".join(found.id for found in rows)
        raise CfgfixError(f"{name!r} is the name of several cards", hint=f"write one of {ids}")
    return rows[0] if rows else None


def similar_names_hint(name: str) -> str:
    """Return a hint with the known names nearest to an unknown one."""
    from cfgfix.hardware import table

    number, cross, rest = name.lower().partition("x")
    if cross and number.strip().isdigit() and table.find_gpu(rest) is not None:
        return f"write the count last: {rest.strip()}x{number.strip()}"
    near = table.suggestions(name)
    left, cross, digits = name.lower().rpartition("x")
    if not near and cross and digits.isdigit():
        near = table.suggestions(left)
    listed = "cfgfix hardware --list shows every name"
    return f"did you mean {' or '.join(near)}? {listed}" if near else listed


def check_number(value: object) -> float:
    """Return a value that is a positive, finite number.

    Raises:
        ValueError: It is none; the text continues a sentence that starts with what the number is.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        from cfgfix.hardware.saved import kind_of

        raise ValueError(f"must be a number, not {kind_of(value)}")  # noqa: TRY004 - one error kind for all
    if not 0 < value < 2**53:
        raise ValueError(f"must be a finite number above 0, not {str(value)[:40]}")
    return float(value)


def check_storage(value: object) -> str:
    """Return a value that is a known kind of storage.

    Raises:
        ValueError: It is none; the text continues a sentence that starts with what the value is.
    """
    from cfgfix.hardware.model import STORAGE_KINDS

    if isinstance(value, str) and value in STORAGE_KINDS:
        return value
    from cfgfix.hardware.saved import kind_of, suggestion

    if not isinstance(value, str):
        raise ValueError(f"must be one of {', '.join(STORAGE_KINDS)}, not {kind_of(value)}")  # noqa: TRY004 - one error kind for all
    raise ValueError(
        f"must be one of {', '.join(STORAGE_KINDS)}, not {value[:40]!r}{suggestion(value, list(STORAGE_KINDS))}"
    )


def blank(label: str, origin: str, reason: str) -> Hardware:
    """Return a machine with every value unknown, for the reason given."""
    from cfgfix.hardware.model import Cpu, Hardware, Memory, Storage, unknown

    return Hardware(
        label=label,
        origin=origin,
        gpus=(),
        gpu_count=unknown(reason),
        cpu=Cpu(logical=unknown(reason), usable=unknown(reason), limited_by="", amx_bf16=unknown(reason)),
        memory=Memory(
            total_mib=unknown(reason), available_mib=unknown(reason), limited_by="", shm_mib=unknown(reason)
        ),
        storage=Storage(kind=unknown(reason), read_mbs=unknown(reason)),
        host_ram_mib=unknown(reason),
        has_quota=unknown(reason),
        tf_reserve_mib=unknown("TF_DEVICE_MIN_SYS_MEMORY_IN_MB is not known to be set"),
    )
