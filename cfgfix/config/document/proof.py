"""The proof of an edit: what it was meant to do, and nothing else, seen by readers that do not trust one another.

The changes are made on the tree each reader gives of the text *before*; the result must equal its tree of the text
*after*. What loaded before must load after, and the comments must be there still.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from cfgfix.config.document.changed_entries import changed_entries
from cfgfix.config.document.compose import (
    DataError,
    Document,
    compose,
)
from cfgfix.config.document.intended_values import IntendedValues
from cfgfix.config.document.kept_comments import check_anchors, check_comments
from cfgfix.config.document.merging import order_of
from cfgfix.config.document.readers import Reader, ReadError, Slot, readers
from cfgfix.config.document.tree_differences import first_difference, without_merge_keys
from cfgfix.config.loaders.scalars import LOADERS, Loader
from cfgfix.core.edits import (
    Change,
    Edit,
    ProofError,
    ReplaceText,
    splice,
)
from cfgfix.core.errors import CfgfixError

__all__ = ["ProofError", "prove"]


def prove(
    before: Document,
    after_text: str,
    changes: Sequence[Change],
    edits: Sequence[Edit],
    loader: Loader,
    *,
    shared: bool = False,
    whole: bool = False,
) -> Document:
    """Return the parsed document after edits, proven to do what the changes mean.

    Nothing else may have changed.

    Args:
        before: The document the edit was planned on.
        after_text: The text that would be written.
        changes: What the edit means; all paths are those of `before`.
        edits: The edits that made `after_text` of the text of `before`.
        loader: The project's loader.
        shared: Whether values that other places share may change, there too.
        whole: Have the independent readers read the whole file, also where the entries concerned are enough.

    Raises:
        ProofError: The text is not that of the edits; it does not parse; a reader sees something else than the
            changes mean, loads no longer what it loaded before, or a comment is lost.
    """
    try:
        expected = splice(before.source.text, edits)
        after = compose(before.source.with_text(after_text))
    except (ValueError, CfgfixError) as error:
        raise ProofError("text", str(error)) from None
    if expected != after_text:
        raise ProofError("text", "the text differs outside the edits")
    if after.problem is not None:
        raise ProofError(
            "parse", f"the result would not parse: {after.problem.message} (line {after.problem.line})"
        )
    _check_meaning(before, after, changes, loader, shared=shared, whole=whole)
    _check_loads(before, after, loader)
    check_anchors(before, after, changes)
    check_comments(before, after, changes, edits)
    return after


def _check_meaning(
    before: Document, after: Document, changes: Sequence[Change], loader: Loader, *, shared: bool, whole: bool
) -> None:
    own, *independent = readers(loader)
    # It may itself be unable to read a scalar, before and after; the others then decide.
    with contextlib.suppress(ReadError):
        _compare_trees(own, before, after, changes, shared=shared)
    window = None if whole else changed_entries(before, after, changes)
    blind: list[str] = []
    for reader in independent:
        if window is not None:
            try:
                _compare_trees(reader, *window, changes, shared=shared)
            except ReadError:
                # A part may lean on the rest, by an alias for one.
                window = None
            else:
                continue
        try:
            _compare_trees(reader, before, after, changes, shared=shared)
        except ReadError:
            blind.append(reader.title)
    if blind and len(blind) == len(independent) and before.problem is None:
        titles = " nor ".join(blind)
        raise ProofError("parse", f"neither {titles} can read the file, so a change to it cannot be proven")


def _compare_trees(
    reader: Reader, before: Document, after: Document, changes: Sequence[Change], *, shared: bool
) -> None:
    """Compare one reader's tree after the edits with its tree before, changes made.

    Raises:
        ReadError: The reader could read the text neither before nor after, for the same reason.
        ProofError: It sees something else than was meant.
    """
    refused: ReadError | None = None
    intended: list[Slot] = []
    try:
        intended = reader.read(before)
    except ReadError as error:
        refused = error
    try:
        result = reader.read(after)
    except ReadError as error:
        if refused is not None and str(refused) == str(error):
            raise
        raise ProofError("parse", f"{reader.title} could not read the result: {error}") from None
    if refused is not None:
        # The fault that was repaired: now it reads the file, and there is nothing to compare with.
        return
    intended = IntendedValues(intended, changes, shared=shared).apply()
    if any(isinstance(change, ReplaceText) for change in changes):
        order = order_of(reader.loader)
        intended, result = without_merge_keys(intended, order), without_merge_keys(result, order)
    difference = first_difference(intended, _without_unintended_empty_slots(result, intended))
    if difference is not None:
        raise ProofError("meaning", f"{reader.title} would see another change: {difference}")


def _without_unintended_empty_slots(result: list[Slot], intended: list[Slot]) -> list[Slot]:
    """Return the result of a reader without an empty document that was not intended.

    In a file of comments ruamel.yaml sees one empty document, PyYAML none.
    """
    if not intended and len(result) == 1 and result[0].value is None:
        return []
    return result


def _check_loads(before: Document, after: Document, loader: Loader) -> None:
    """Check that loaders which could load the file before can load the result.

    Duplicate keys and all else that a tree allows count, too.

    Raises:
        ProofError: A loader would refuse the result.
    """
    for reader in {loader.name: loader, "pyyaml": LOADERS["pyyaml"], "ruamel": LOADERS["ruamel"]}.values():
        refusal = _refusal_of_loader(after, reader)
        # A loader names one fault at a time: behind a repaired duplicate key may stand the next one.
        if refusal is not None and before.problem is None and _refusal_of_loader(before, reader) is None:
            raise ProofError("loads", f"{reader.title} would no longer load the file: {refusal}")


def _refusal_of_loader(document: Document, loader: Loader) -> str | None:
    """Return the reason why a loader refuses a file, or None where it loads."""
    for number in range(len(document.roots)):
        try:
            document.data(loader, number)
        except DataError as error:
            return error.message
    return None
