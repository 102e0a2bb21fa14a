"""What a shell may complete a begun value to."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem

from cfgfix.core.errors import CfgfixError
from cfgfix.output.formats import FORMATS


def rules(_ctx: click.Context, _param: click.Parameter, begun: str) -> list[CompletionItem]:
    """Offer rule ids and families, and names for begun small letters.

    Of several after commas the last is completed.
    """
    done, comma, last = begun.rpartition(",")
    return [
        CompletionItem(f"{done}{comma}{name}", help=text)
        for name, text in (*_rule_families(), *_rule_names())
        if name.startswith((last, last.upper()) if last else last)
        and (bool(last) or name[-1:].isdigit() or name.isupper())
    ]


def topics(_ctx: click.Context, _param: click.Parameter, begun: str) -> list[CompletionItem]:
    """Offer the rules and concepts that can be explained."""
    from cfgfix.config.dialects.dialect import dialects

    concepts = sorted({concept for dialect in dialects().values() for concept in dialect.concepts})
    offers = [*_rule_names(), *((name, "a concept, whatever a project calls its key") for name in concepts)]
    return [
        CompletionItem(name, help=text) for name, text in offers if name.startswith((begun, begun.upper()))
    ]


def machines(_ctx: click.Context, _param: click.Parameter, begun: str) -> list[CompletionItem]:
    """Offer the machines that the settings name, then those cfgfix knows."""
    from cfgfix.hardware.presets import profile_names
    from cfgfix.settings.reader import discover

    try:
        own = discover(".").profiles
    except CfgfixError:
        own = {}
    offers = [
        ("auto", "this machine"),
        ("none", "judge by no machine"),
        *((("all", "every profile of the settings"),) if own else ()),
        *own.items(),
        *profile_names(),
    ]
    return [CompletionItem(name, help=text) for name, text in offers if name.startswith(begun)]


def dialect_names(_ctx: click.Context, _param: click.Parameter, begun: str) -> list[CompletionItem]:
    """Offer the dialects."""
    from cfgfix.config.dialects.dialect import dialects

    return [
        CompletionItem(name, help=dialect.title)
        for name, dialect in sorted(dialects().items())
        if name.startswith(begun)
    ]


def loaders(_ctx: click.Context, _param: click.Parameter, begun: str) -> list[str]:
    """Offer the loaders that a program may read its configs with."""
    from cfgfix.config.loaders.scalars import LOADERS

    return [name for name in sorted(LOADERS) if name.startswith(begun)]


def formats(_ctx: click.Context, _param: click.Parameter, begun: str) -> list[str]:
    """Offer the output formats."""
    return [name for name in FORMATS if name.startswith(begun)]


def _rule_names() -> list[tuple[str, str]]:
    from cfgfix.rules.catalogue import builtin

    found = builtin().rules
    return [*((rule.id, rule.summary) for rule in found), *((rule.name, rule.summary) for rule in found)]


def _rule_families() -> list[tuple[str, str]]:
    from cfgfix.rules.catalogue import builtin

    return [
        ("ALL", "all rules"),
        *((name, "all rules of the family") for name in sorted({rule.family for rule in builtin().rules})),
    ]


BY_OPTION = {
    "select": rules,
    "ignore": rules,
    "extend_select": rules,
    "hardware": machines,
    "output_format": formats,
    "dialect": dialect_names,
    "loader": loaders,
}
"""What completes the value of an option of `check` and `fix`."""
