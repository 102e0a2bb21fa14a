"""`cfgfix schema`: the JSON Schema of a config, from a dialect or from the class that loads it."""

from __future__ import annotations

import json

import click

from cfgfix.errors import CfgfixError


@click.command("schema")
@click.option(
    "--from",
    "spec",
    metavar="FILE:CLASS",
    help="Read the class that loads the config: path/to/config.py:Class or package.module:Class.",
)
@click.option("--dialect", help="Print the schema of a dialect that cfgfix knows.")
@click.option("--output", "-o", type=click.Path(dir_okay=False), help="Write the schema to this file.")
def schema(*, spec: str | None, dialect: str | None, output: str | None) -> None:
    """Print the JSON Schema of a config.

    Without options the schema that the settings name is printed.
    """
    if spec is not None and dialect is not None:
        raise CfgfixError("--from and --dialect exclude each other")
    data = _of_dialect(dialect) if dialect is not None else _of_class(spec)
    text = json.dumps(data, indent=2, ensure_ascii=False) + "\n"
    if output is None:
        click.echo(text, nl=False)
        return
    try:
        with open(output, "w", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as error:
        raise CfgfixError(f"cannot be written: {error.strerror}", path=output) from error


def _of_dialect(name: str) -> object:
    from cfgfix.dialects.dialect import dialects, schema_data

    known = dialects()
    if name not in known:
        import difflib

        near = difflib.get_close_matches(name, known, 1)
        raise CfgfixError(
            f"no dialect is called {name!r}",
            hint=f"did you mean {near[0]!r}?" if near else f"known: {', '.join(sorted(known))}",
        )
    data = schema_data(known[name])
    if data is None:
        raise CfgfixError(f"the dialect {name} has no schema")
    return data


def _of_class(spec: str | None) -> object:
    from cfgfix.engine import names_class
    from cfgfix.schema.infer import infer
    from cfgfix.settings import discover

    settings = discover(".")
    if spec is not None:
        return infer(spec, ".", settings.source_roots).schema
    if settings.schema is None:
        raise CfgfixError(
            "which schema?", hint="name a class with --from FILE:CLASS, or a dialect with --dialect NAME"
        )
    if names_class(settings.schema):
        return infer(settings.schema, settings.root, settings.source_roots).schema
    import os

    from cfgfix.files import read_source

    path = os.path.join(settings.root, settings.schema)
    try:
        data: object = json.loads(read_source(path).text)
    except (ValueError, RecursionError) as error:
        raise CfgfixError(f"is not JSON: {error}", path=path) from error
    return data
