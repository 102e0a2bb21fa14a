"""Writing the winner of a search into the config."""

from __future__ import annotations

from cfgfix.core.errors import UnreadableError
from cfgfix.diagnose.search_result import Found
from cfgfix.diagnose.search_space import Bound, Plan, yaml_value

# applying


def write_winner(path: str, found: Found) -> None:
    """Write the winning values of a search into the config.

    The editor makes the edit, and a proof shows that nothing else changes.

    Raises:
        UnreadableError: The edit cannot be made or proven, would bring a new error, or the file has changed meanwhile; it is
            then as it was.
        ValueError: The search proves no gain.
    """
    from cfgfix.config.document.editor import plan
    from cfgfix.config.document.proof import ProofError, prove
    from cfgfix.config.document.refusals import Refusal
    from cfgfix.core.edits import Change, InsertKey, SetValue, splice
    from cfgfix.core.source_file import read_source, replace_atomically

    if not found.gain or found.winner is None or found.bound is None:
        raise ValueError("only a setting whose gain is proven is written")
    if found.code_changes:
        raise UnreadableError(
            f"the better setting needs a change to the code, so it was left as it is: {'; '.join(found.code_changes)}",
            path=path,
        )
    bound = found.bound
    document = bound.document
    changes: list[Change] = []
    for name, _, _, value in found.changes:
        key = bound.paths[name]
        if document.find(key) is not None:
            changes.append(SetValue(key, value))
        else:
            changes.append(InsertKey(key[:-1], str(key[-1]), value))
    try:
        edits = plan(document, changes)
        text = splice(document.source.text, edits)
        prove(document, text, changes, edits, bound.loader)
    except (Refusal, ProofError) as refusal:
        raise UnreadableError(f"the better setting cannot be written: {refusal}", path=path) from refusal
    data = document.source.encode(text)
    before = _errors_in_text(document.source.encode(document.source.text), path)
    if new := sorted(_errors_in_text(data, path) - before):
        raise UnreadableError(f"the better setting would bring a new error: {', '.join(new)}", path=path)
    current = read_source(path)
    if current.text != document.source.text or current.stamp is None:
        raise UnreadableError("changed during the search; it was left as it is", path=path)
    replace_atomically(path, data, current.stamp)


def errors_of_values(plan: Plan, bound: Bound | None) -> dict[tuple[str, str], str]:
    """Return the values that rules would call errors in the config, with reasons.

    They could not be written, so they are not tried.
    """
    found: dict[tuple[str, str], str] = {}
    if bound is None or plan.config is None:
        return found
    before = _errors_in_text(bound.text_with({}), plan.config)
    for name, values in plan.space.items():
        for value in values:
            if new := _errors_in_text(bound.text_with({name: value}), plan.config) - before:
                found[name, str(value)] = (
                    f"the rules call {name} {yaml_value(value)} an error: {', '.join(sorted(new))}"
                )
    return found


def _errors_in_text(data: bytes, path: str) -> set[str]:
    """Return the errors that rules find in a config's text, as rule and key path."""
    from cfgfix.core.findings import Severity, format_key_path
    from cfgfix.lint import runner as engine

    report = engine.check(engine.Request(stdin=data, stdin_name=path))
    return {
        f"{found.rule} {format_key_path(found.key_path) if found.key_path else found.message}"
        for found in report.findings()
        if found.severity is Severity.ERROR
    }
