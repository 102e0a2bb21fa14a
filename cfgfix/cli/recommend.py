"""`cfgfix recommend`: a settings block for a machine, every value with its reason."""

from __future__ import annotations

import os
from typing import Any

import click

from cfgfix.advice.recommend import Advice, recommend
from cfgfix.config.dialects.dialect import Dialect
from cfgfix.config.dialects.view import View
from cfgfix.core.errors import CfgfixError, did_you_mean
from cfgfix.core.visible import json_text, visible
from cfgfix.hardware.model import Hardware
from cfgfix.settings.reader import Settings

EMPTY = "empty"
"""The name of the text that stands for no config."""


@click.command("recommend")
@click.argument("config", required=False)
@click.option(
    "--hardware",
    "request",
    help="The machine: auto (this one), a profile such as rtx4090x2,cpus=16,ram=64, or a file. By default the settings' one, else this one.",
)
@click.option(
    "--dialect",
    help="Whose keys to use; by default those of CONFIG, else of the config that the code here opens.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the values, reasons and sources as JSON.")
def command(*, config: str | None, request: str | None, dialect: str | None, as_json: bool) -> None:
    """Print settings for a machine as YAML, every value with its reason.

    The reasons are comments. CONFIG tells sizes that the values depend on (lengths, image sizes, number of samples) and is
    not changed.
    """
    from cfgfix.settings.reader import discover

    settings = discover(".")
    machine, line = machine_for(request, settings, fallback="auto", config=config)
    assert machine is not None
    view, schema, used = view_of(config, dialect, settings, machine)
    advice = recommend(view, machine, schema)
    if not advice.choices and not advice.left_out:
        raise _nothing_to_recommend(view, used)
    if as_json:
        click.echo(json_text(as_data(advice, machine, used), indent=2))
        return
    from cfgfix import __version__
    from cfgfix.advice.block import render

    heading = [
        f"Recommended by cfgfix {__version__} for {line.removeprefix('hardware: ')}; {_owner_text(view, used, config)}",
        "A value without a measurement or a document behind it is not here; what follows each reason in brackets is its source.",
    ]
    click.echo(render(advice, heading), nl=False)


def _nothing_to_recommend(view: View, used: Dialect) -> CfgfixError:
    """Return the error for a config without settings that depend on a machine."""
    path = view.document.source.path
    if path != EMPTY and view.meanings is not None:
        return CfgfixError(
            "no key of it reaches a setting that depends on a machine",
            path=path,
            hint=f"`cfgfix explain {visible(path)}` tells what each key reaches; batch sizes and the like stand in the code",
        )
    return CfgfixError(
        f"{path if path != EMPTY else f'the dialect {used.name}'} has none of the settings that depend on a machine",
        hint="name another config, or a dialect with --dialect",
    )


def _owner_text(view: View, used: Dialect, config: str | None) -> str:
    """Return a sentence on whose keys and sizes a block has."""
    from cfgfix.advice.own_configs import has_code

    path = config or view.document.source.path
    if path == EMPTY and used.confidence == "low" and has_code():
        return "the code here opens no config that is known, so the keys are common spellings and none of its own."
    if path == EMPTY and used.confidence == "low":
        return "no config is known here, so the keys are common spellings: name your config to have its own."
    if path == EMPTY:
        return f"keys of {used.title}."
    if view.meanings is not None:
        return f"keys and sizes of {visible(path)}, as the code reads them."
    if used.confidence == "low":
        return f"keys and sizes of {visible(path)}."
    return f"keys of {used.title}. Sizes are those of {visible(os.path.basename(path))}."


def as_data(advice: Advice, machine: Hardware, dialect: Dialect) -> dict[str, Any]:
    """Return a recommendation as plain data."""
    from cfgfix.core.findings import format_key_path

    return {
        "version": 1,
        "hardware": machine.label,
        "dialect": dialect.name,
        "settings": [
            {
                "key": format_key_path(item.path),
                "concept": item.concept,
                "value": item.value,
                "reason": item.reason,
                "source": item.basis,
            }
            for item in advice.choices
        ],
        "left_out": [
            {"key": format_key_path(item.path), "concept": item.concept, "reason": item.reason}
            for item in advice.left_out
        ],
    }


def machine_for(
    request: str | None, settings: Settings, *, fallback: str | None, config: str | None = None
) -> tuple[Hardware | None, str]:
    """Return the machine to judge by, with a line on how it was chosen.

    It is the option's, else the settings', else that of the job that runs a config, else `fallback`. The machine is
    None where none is meant.

    Raises:
        CfgfixError: No machine is meant, where one is needed, or it is not known.
    """
    from cfgfix.advice.own_configs import machine_of_config
    from cfgfix.hardware.presets import resolve_hardware

    by_job = machine_of_config(config) if request is None and settings.hardware is None else None
    if by_job is not None:
        return by_job
    wanted = request or settings.hardware or fallback
    if wanted is not None:
        wanted = settings.profiles.get(wanted, wanted)
    base = None if request else settings.root
    machine, line = resolve_hardware(wanted, base_dir=base)
    if machine is None and fallback is not None:
        raise CfgfixError(
            "there is no machine to recommend for", hint="use --hardware auto, a profile or a file"
        )
    return machine, line


def view_of(
    config: str | None, wanted: str | None, settings: Settings, machine: Hardware | None
) -> tuple[View, Any, Dialect]:
    """Return a view of a config (or of an empty one), with its schema and dialect.

    Where no dialect is named the keys are those of the config as its code knows them; without a config, those of the
    config in the working folder of which the code says most.

    Raises:
        CfgfixError: The config cannot be read, or no dialect is named and none fits.
    """
    from cfgfix.advice.own_configs import most_telling, own_config
    from cfgfix.config.dialects.dialect import schema_data
    from cfgfix.config.document.compose import Kind, compose
    from cfgfix.config.loaders.scalars import LOADERS
    from cfgfix.config.schema.validate import MISSING, Schema
    from cfgfix.core.source_file import SourceFile, read_source
    from cfgfix.settings.project_dialects import known_dialects

    if wanted is None:
        own = own_config(config, machine) if config else most_telling(machine)
        if own is not None:
            return own.view, own.schema, own.dialect
    source = read_source(config) if config else SourceFile.from_bytes(b"{}\n", EMPTY)
    document = compose(source)
    if document.problem is not None:
        raise CfgfixError(document.problem.message, path=config)
    if not document.roots or document.roots[0].kind != Kind.MAPPING:
        raise CfgfixError("holds no mapping", path=config)
    known = known_dialects(settings)
    name = wanted or settings.dialect
    if name is not None:
        found = known.get(name)
        if found is None:
            raise CfgfixError(
                f"unknown dialect {name!r}",
                hint=did_you_mean(name, known, f"there are {', '.join(sorted(known))}"),
            )
    elif config:
        raise CfgfixError("is in no dialect that cfgfix knows", path=config, hint="name one with --dialect")
    else:
        found = known["generic"]
    data = schema_data(found)
    schema = Schema.load(data, found.name) if data is not None else None

    def look(fact: str) -> Any:
        value = machine.lookup(fact) if machine is not None else None
        return None if value is None else value.value

    view = View(
        document,
        0,
        found,
        LOADERS[settings.loader or found.loader],
        default=schema.default if schema is not None and found.defaults == "schema" else None,
        missing=MISSING,
        hardware=look if machine is not None else None,
    )
    return view, schema, found
