"""`cfgfix schema`: the JSON Schema of a config, or of the settings."""

from __future__ import annotations

import json

import click

from cfgfix.cli.completing import dialect_names
from cfgfix.errors import CfgfixError, UnreadableError


@click.command("schema")
@click.option(
    "--dialect",
    shell_complete=dialect_names,
    help="Print the schema of a dialect: its own, or one of the keys that cfgfix knows the meaning of.",
)
@click.option("--settings", is_flag=True, help="Print the schema of cfgfix.toml and [tool.cfgfix].")
@click.option("--output", "-o", type=click.Path(dir_okay=False), help="Write the schema to this file.")
def schema(*, dialect: str | None, settings: bool, output: str | None) -> None:
    """Print a JSON Schema, with descriptions and defaults, as editors and validators read it.

    Without options the schema that the settings name is printed.
    """
    if settings and dialect is not None:
        raise CfgfixError("--settings and --dialect exclude each other")
    if settings:
        from cfgfix import settings_schema

        data: object = settings_schema.schema()
    elif dialect is not None:
        data = _of_dialect(dialect)
    else:
        data = _of_settings()
    text = json.dumps(data, indent=2, ensure_ascii=False) + "\n"
    if output is None:
        click.echo(text, nl=False)
        return
    try:
        with open(output, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
    except OSError as error:
        raise UnreadableError(f"cannot be written: {error.strerror}", path=output) from error


def _of_dialect(name: str) -> object:
    from cfgfix.engine import known_dialects
    from cfgfix.schema.publish import published
    from cfgfix.settings import discover

    known = known_dialects(discover("."))
    if name not in known:
        import difflib

        near = difflib.get_close_matches(name, known, 1)
        raise CfgfixError(
            f"no dialect is called {name!r}",
            hint=f"did you mean {near[0]!r}?" if near else f"known: {', '.join(sorted(known))}",
        )
    return published(known[name])


def _of_settings() -> object:
    import os

    from cfgfix.files import read_source
    from cfgfix.settings import discover

    settings = discover(".")
    if settings.schema is None:
        if settings.dialect is not None:
            return _of_dialect(settings.dialect)
        raise CfgfixError("which schema?", hint="name a dialect with --dialect NAME, or --settings")
    path = os.path.join(settings.root, settings.schema)
    try:
        data: object = json.loads(read_source(path).text)
    except (ValueError, RecursionError) as error:
        raise CfgfixError(f"is not JSON: {error}", path=path) from error
    return data
