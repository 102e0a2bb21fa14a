"""`cfgfix schema`: the JSON Schema of a config, from a dialect or from the class that loads it, or of the settings."""

from __future__ import annotations

import json

import click

from cfgfix.cli.completing import dialect_names
from cfgfix.core.errors import CfgfixError, did_you_mean
from cfgfix.core.visible import json_text
from cfgfix.core.writing import write_whole


@click.command("schema")
@click.option(
    "--from",
    "spec",
    metavar="FILE:CLASS",
    help="Read the class that loads the config: path/to/config.py:Class or package.module:Class.",
)
@click.option(
    "--dialect",
    shell_complete=dialect_names,
    help="Print the schema of a dialect: its own, or one of the keys that cfgfix knows the meaning of.",
)
@click.option("--settings", is_flag=True, help="Print the schema of cfgfix.toml and [tool.cfgfix].")
@click.option("--output", "-o", type=click.Path(dir_okay=False), help="Write the schema to this file.")
def schema(*, spec: str | None, dialect: str | None, settings: bool, output: str | None) -> None:
    """Print a JSON Schema, with descriptions and defaults, for editors.

    Validators read it too. Without options the schema that the settings name is printed. A class is read, never run.
    """
    if sum((spec is not None, dialect is not None, settings)) > 1:
        raise CfgfixError("--from, --dialect and --settings exclude each other")
    if settings:
        from cfgfix.settings import schema as settings_schema

        data: object = settings_schema.schema()
    elif dialect is not None:
        data = _schema_of_dialect(dialect)
    else:
        data = _schema_of_class(spec)
    text = json_text(data, indent=2) + "\n"
    if output is None:
        click.echo(text, nl=False)
        return
    write_whole(output, text)


def _schema_of_dialect(name: str) -> object:
    from cfgfix.config.schema.publish import published
    from cfgfix.settings.project_dialects import known_dialects
    from cfgfix.settings.reader import discover

    known = known_dialects(discover("."))
    if name not in known:
        raise CfgfixError(
            f"no dialect is called {name!r}",
            hint=did_you_mean(name, known, f"known: {', '.join(sorted(known))}"),
        )
    return published(known[name])


def _schema_of_class(spec: str | None) -> object:
    """Return the schema of a class, or else of the class that the settings name."""
    from cfgfix.config.schema.infer import infer
    from cfgfix.lint.targets import names_class
    from cfgfix.settings.reader import discover

    settings = discover(".")
    if spec is not None:
        return infer(spec, ".", settings.source_roots).schema
    if settings.schema is None:
        if settings.dialect is not None:
            return _schema_of_dialect(settings.dialect)
        raise CfgfixError(
            "which schema?", hint="name a class with --from FILE:CLASS, or a dialect with --dialect NAME"
        )
    if names_class(settings.schema):
        return infer(settings.schema, settings.root, settings.source_roots).schema
    import os

    from cfgfix.core.source_file import read_source

    path = os.path.join(settings.root, settings.schema)
    try:
        data: object = json.loads(read_source(path).text)
    except (ValueError, RecursionError) as error:
        raise CfgfixError(f"is not JSON: {error}", path=path) from error
    return data
