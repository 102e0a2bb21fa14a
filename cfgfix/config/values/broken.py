"""Files that do not load: tabs, a start that YAML keeps for itself, a bad escape.

A repair is tried on a copy of the text until the copy loads; only then is it offered. Tabs are also looked for in
files that libyaml reads, since the parser behind `yaml.safe_load` and ruamel.yaml refuse a tab wherever it
separates, even at the end of a line.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise

from cfgfix.config.document.compose import Document, Node, compose
from cfgfix.config.document.compose import Kind as NodeKind
from cfgfix.config.values.context import Context
from cfgfix.config.values.texts import looks_like_path, single_quoted
from cfgfix.core.edits import Edit, ReplaceText, splice
from cfgfix.rules.hit import Hit, Span

MAX_CODE_POINTS = 256 * 1024
"""Longest text for which repairs are tried: each try parses the file, at about 100 ms for one of this size."""
MAX_TRIES = 60
"""Most tries for one file."""
MAX_RELATED = 10
"""Most further places that one finding names."""

_ESCAPE = "starts an escape that YAML does not have"


def problems(context: Context) -> Iterator[tuple[str, Hit]]:
    """Yield the first fault of a file that does not load, with a repair if possible.

    Nothing is yielded for a fault that no check here is about.
    """
    document = context.document
    problem = document.problem
    assert problem is not None
    text = document.source.text
    kind = problem.kind
    at = problem.offset
    tab = kind == "tab-indentation" or (kind == "syntax" and text[at : at + 1] == "\t")
    escape = kind == "syntax" and _ESCAPE in problem.message
    if kind == "undefined-alias" and ("!include" in text or "!join" in text):
        # The anchor stands in another file, which a project's own loader brings in.
        return
    if not (tab or escape or kind in ("special-start", "undefined-alias")):
        return
    repair = _TextRepair(document)
    found = repair.tabs() if tab else repair.rest([])
    values: dict[str, object] = {"loader": context.loader.title}
    if tab:
        name = "tab_indentation"
        values["problem"] = "is a tab; YAML takes only spaces there"
    elif escape:
        name = "double_quoted_backslash"
        values["problem"] = "holds an escape that YAML does not have, so the file does not load"
    else:
        name = "special_plain_start"
        values["problem"] = (
            "refers to an anchor that is nowhere in this file"
            if kind == "undefined-alias"
            else f"starts with `{text[at : at + 1]}`, which a plain value may not"
        )
    end = at + 1
    while tab and end < len(text) and text[end] == "\t":
        end += 1
    if not tab:
        line_end = re.compile(r"[\r\n]|\s#|$").search(text, at)
        end = max(end, line_end.start() if line_end else end)
    if found is None:
        yield name, Hit(Span(at, end), values, no_fix=repair.reason)
        return
    edits, safe = found
    first = next((edit for edit in edits if edit.start <= at <= edit.end), edits[0])
    if not tab:
        at, end = first.start, first.end
    related = tuple(Span(edit.start, edit.end, label="and here") for edit in edits if edit is not first)[
        :MAX_RELATED
    ]
    yield (
        name,
        Hit(
            Span(at, end),
            values,
            tuple(ReplaceText(edit.start, edit.end, edit.new) for edit in edits),
            related,
            confidence="medium" if kind == "undefined-alias" else None,
            safety="safe" if safe else "unsafe",
        ),
    )


class _TextRepair:
    """Tries repairs of a text until it loads; edits have offsets in the original text."""

    def __init__(self, document: Document) -> None:
        self.source = document.source
        self.text = document.source.text
        self.tries = 0
        self.reason = "the file has further faults; mend those first"

    def load(self, edits: list[Edit]) -> Document | None:
        """Return the document with some edits made, or None after too many tries."""
        self.tries += 1
        if self.tries > MAX_TRIES or len(self.text) > MAX_CODE_POINTS:
            self.reason = "the file is too large or has too many faults to try repairs"
            return None
        return compose(self.source.with_text(splice(self.text, edits)))

    def tabs(self) -> tuple[list[Edit], bool] | None:
        """Return edits that replace tabs of the indentation, and whether they are certain.

        They are where there is only one way to read the tabs. None where no repair loads.
        """
        lines = list(_indented_by_tabs(self.text))
        best: list[Edit] | None = None
        shape: object = None
        single = True
        tried: set[tuple[str, ...]] = set()
        for width, style in _tab_widths(self.text):
            indents = tuple(_respaced_blanks(text, width, style) for _start, _end, text in lines)
            if indents in tried:
                continue
            tried.add(indents)
            edits = [Edit(start, end, new) for (start, end, _text), new in zip(lines, indents, strict=True)]
            repaired = self.rest(edits)
            if repaired is None:
                continue
            document = self.load(repaired[0])
            if document is None:
                break
            own = [_shape_of_tree(root) for root in document.roots]
            single = single and repaired[1] and (best is None or own == shape)
            if best is None:
                best, shape = repaired[0], own
        return None if best is None else (best, single)

    def rest(self, edits: list[Edit]) -> tuple[list[Edit], bool] | None:
        """Return the edits with those for all other faults, and whether they are certain.

        None where a fault cannot be mended.
        """
        safe = True
        while True:
            document = self.load(edits)
            if document is None:
                return None
            if document.problem is None:
                return self._edits_of_tabs(document, edits), safe
            found = self._mended_document(document, edits)
            if found is None:
                problem = document.problem
                self.reason = f"the file has another fault in line {problem.line}: {problem.message}"
                return None
            edits, certain = found
            safe = safe and certain

    def _mended_document(self, document: Document, edits: list[Edit]) -> tuple[list[Edit], bool] | None:
        problem = document.problem
        assert problem is not None
        text = document.source.text
        at = problem.offset
        if problem.kind in ("special-start", "undefined-alias"):
            spans = [
                (span, _quoted_value(text[span[0] : span[1]]), _is_text(text[span[0] : span[1]]))
                for span in _plain_spans(text, at)
            ]
        elif problem.kind == "syntax" and _ESCAPE in problem.message:
            spans = [item for item in (_quoted_span(text, at),) if item is not None]
        elif problem.kind == "syntax" and text[at : at + 1] == "\t":
            end = at
            while text[end : end + 1] == "\t":
                end += 1
            spans = [((at, end), " ", True)]
        else:
            return None
        for (start, end), new, certain in spans:
            original = _to_original(start, edits), _to_original(end, edits)
            if original[0] is None or original[1] is None:
                continue
            candidate = sorted([*edits, Edit(original[0], original[1], new)], key=lambda edit: edit.start)
            after = self.load(candidate)
            if after is None:
                return None
            if after.problem is None or after.problem.offset > at + len(new):
                return candidate, certain
        return None

    def _edits_of_tabs(self, document: Document, edits: list[Edit]) -> list[Edit]:
        """Return the edits with those for tabs between tokens, which only libyaml takes."""
        more = list(edits)
        for start, end in structural_tabs(document):
            original = _to_original(start, edits), _to_original(end, edits)
            if original[0] is not None and original[1] is not None:
                at_end = document.source.text[end : end + 1] in ("", "\r", "\n")
                more.append(Edit(original[0], original[1], "" if at_end else " "))
        return sorted(more, key=lambda edit: edit.start)


def _to_original(offset: int, edits: list[Edit]) -> int | None:
    """Return the offset in the original text for an offset in the edited text.

    None inside a replacement.
    """
    shift = 0
    for edit in edits:
        start = edit.start + shift
        if offset < start or (offset == start and edit.new):
            break
        shift += len(edit.new) - (edit.end - edit.start)
        if offset < edit.end + shift:
            return None
    return offset - shift


def _indented_by_tabs(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and text of each indentation with a tab.

    Lines of block scalars are left out.
    """
    header: int | None = None
    inside: int | None = None
    for match in re.finditer(r"([ \t]*)([^\r\n]*)(?:\r\n|\r|\n|$)", text):
        blanks, rest = match.group(1), match.group(2)
        spaces = len(blanks) - len(blanks.lstrip(" "))
        if header is not None:
            if not rest and spaces == len(blanks):
                continue
            if inside is None and spaces > header:
                inside = spaces
            if inside is not None and spaces >= inside:
                continue
            if rest:
                header = inside = None
        if "\t" in blanks:
            yield match.start(1), match.end(1), blanks if rest else ""
        if rest and re.search(r"(?:^|[\s:\-?])[|>][-+0-9]{0,2}(?:\s+#.*|\s*)$", rest):
            header, inside = spaces, None


def _tab_widths(text: str) -> list[tuple[int, str]]:
    """Return width and style of each way to read a tab, the likeliest first.

    The likeliest width is the file's own indentation step.
    """
    indents = [len(match.group(1)) for match in re.finditer(r"^( *)[^\s#]", text, re.MULTILINE)]
    steps = [after - before for before, after in pairwise(indents) if after > before]
    own = max(set(steps), key=steps.count) if steps else 2
    widths = list(dict.fromkeys((own, 2, 4, 8, 3, 1)))
    return [(width, style) for width in widths for style in ("add", "drop", "stops")]


def _respaced_blanks(blanks: str, width: int, style: str) -> str:
    if not blanks:
        return ""
    if style == "stops":
        return blanks.expandtabs(width)
    if style == "drop" and blanks.startswith(" "):
        return " " * blanks.count(" ")
    return blanks.replace("\t", " " * width)


def _shape_of_tree(root: Node) -> object:
    """Return the content of a tree without its offsets, for comparison."""
    if root.kind == NodeKind.MAPPING:
        return (
            "{",
            root.tag,
            root.anchor,
            tuple((_shape_of_tree(key), _shape_of_tree(value)) for key, value in root.items),
        )
    if root.kind == NodeKind.SEQUENCE:
        return ("[", root.tag, root.anchor, tuple(_shape_of_tree(item) for item in root.items))
    return (root.kind, root.tag, root.anchor, root.style, root.text)


def _plain_spans(text: str, at: int) -> list[tuple[int, int]]:
    """Return the spans that an unquoted value starting at an offset may have.

    It may be a key, go up to the end of the line, or end within brackets.
    """
    stop = re.compile(r"\s+#|\s*(?:[\r\n]|$)").search(text, at)
    end = stop.start() if stop else len(text)
    spans = []
    key = re.compile(r"\s*:(?=\s|$)").search(text, at, end + 1)
    if key is not None and key.start() > at:
        spans.append((at, key.start()))
    spans.append((at, end))
    flow = re.compile(r"\s*[,\]}]").search(text, at, end)
    if flow is not None and flow.start() > at:
        # In brackets the value ends with the comma; outside of them a comma is part of it.
        opened = text.count("[", 0, at) + text.count("{", 0, at) > text.count("]", 0, at) + text.count(
            "}", 0, at
        )
        spans.insert(0 if opened else len(spans), (at, flow.start()))
    return [span for span in dict.fromkeys(spans) if span[1] > span[0]]


def _is_text(value: str) -> bool:
    """Tell whether a value can only be text, such as `*.txt`, which names no anchor."""
    return value[0] in "@`%" or (value[0] == "*" and any(char in value[1:] for char in "./*?"))


def _quoted_value(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _quoted_span(text: str, at: int) -> tuple[tuple[int, int], str, bool] | None:
    """Return span and single-quoted spelling of the text around a bad escape.

    With them comes whether the repair is certain. None where no such text is found.
    """
    line = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    start = at
    while True:
        start = text.rfind('"', line, start)
        if start < 0:
            return None
        if start == line or text[start - 1] in " \t[{,(:-":
            break
    closing = re.compile(r'"(?:[^"\\\r\n]|\\[^\r\n])*"').match(text, start)
    if closing is None:
        return None
    body = text[start + 1 : closing.end() - 1]
    meant = single_quoted(body)
    if meant is None:
        return None
    sure = looks_like_path(body, "") or not re.search(r"\\[ntr0abefvxuUNLP_ /]", body.replace("\\\\", ""))
    return (start, closing.end()), meant[1], sure


def structural_tabs(document: Document) -> list[tuple[int, int]]:
    """Return the spans of tabs outside of quoted text, block scalars and comments."""
    text = document.source.text
    at = text.find("\t")
    if at < 0:
        return []
    starts: list[int] = []
    ends: list[int] = []
    closed: set[int] = set()
    pending = list(reversed(document.roots))
    while pending:
        node = pending.pop()
        if node.flow:
            closed.add(node.end)
        if node.kind == NodeKind.MAPPING:
            pending += [part for entry in reversed(node.items) for part in reversed(entry)]
        elif node.kind == NodeKind.SEQUENCE:
            pending += reversed(node.items)
        elif node.kind == NodeKind.SCALAR and node.style:
            start = node.value_start
            if node.style in "|>":
                start = _line_end(text, start)
            starts.append(start)
            ends.append(_line_end(text, node.end) if node.style in "|>" else node.end)
    found = []
    while at >= 0:
        end = at
        while text[end : end + 1] == "\t":
            end += 1
        index = bisect_right(starts, at) - 1
        if index >= 0 and at < ends[index]:
            at = text.find("\t", ends[index])
            continue
        line = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
        free = max(line, ends[index] if index >= 0 else 0)
        mark = text.find("#", free, at)
        while mark >= 0 and mark != free and text[mark - 1] not in " \t" and mark not in closed:
            mark = text.find("#", mark + 1, at)
        if mark >= 0:
            at = text.find("\t", _line_end(text, at))
            continue
        found.append((at, end))
        at = text.find("\t", end)
    return found


def _line_end(text: str, at: int) -> int:
    stop = re.compile(r"[\r\n]|$").search(text, at)
    return stop.start() if stop else len(text)


def separating_tabs(context: Context) -> Iterator[tuple[str, Hit]]:
    """Yield the tabs between tokens in a file that libyaml reads.

    The parser of `yaml.safe_load` refuses them.
    """
    document = context.document
    spans = structural_tabs(document)
    if context.loader.yaml_version == "1.2":
        flow = _flow_spans(document)
        spans = [span for span in spans if not any(start < span[0] < end for start, end in flow)]
    if not spans:
        return
    text = document.source.text
    changes = []
    inside_text = False
    for start, end in spans:
        before = text[start - 1 : start]
        after = text[end : end + 1]
        inside_text = inside_text or (before not in ("", " ", "\r", "\n", ":", "-", ",", "[", "{", "'", '"') and after not in ("", " ", "\r", "\n", "#", ":", ",", "]", "}"))  # fmt: skip
        changes.append(ReplaceText(start, end, "" if after in ("", "\r", "\n") else " "))
    first = spans[0]
    values: dict[str, object] = {
        "loader": context.loader.title,
        "problem": "is a tab; its parser takes only spaces there (libyaml is more tolerant)",
    }
    yield (
        "tab_indentation",
        Hit(
            Span(*first),
            values,
            tuple(changes),
            tuple(Span(start, end, label="and here") for start, end in spans[1 : MAX_RELATED + 1]),
            safety="unsafe" if inside_text else None,
        ),
    )


def _flow_spans(document: Document) -> list[tuple[int, int]]:
    found = []
    pending = list(document.roots)
    while pending:
        node = pending.pop()
        if node.flow:
            found.append((node.start, node.end))
        elif node.kind == NodeKind.MAPPING:
            pending += [part for entry in node.items for part in entry]
        elif node.kind == NodeKind.SEQUENCE:
            pending += node.items
    return found
