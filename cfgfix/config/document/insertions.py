"""Edits that insert entries, in block and flow style and where nothing is yet."""

from __future__ import annotations

from cfgfix.config.document.compose import (
    ALIAS,
    BREAKS,
    MAPPING,
    SCALAR,
    Node,
    Step,
    deref,
)
from cfgfix.config.document.edit_plan import EditPlan, Group
from cfgfix.config.document.refusals import Refusal, RefusalReason
from cfgfix.config.document.spelling import spell, spell_text
from cfgfix.core.edits import Edit, InsertKey
from cfgfix.core.findings import format_key_path


class Insertions(EditPlan):
    """Makes edits that insert entries."""

    def note_insertion(self, change: InsertKey) -> None:
        """Note the key that a change inserts, grouped by its mapping."""
        path = change.path
        shown = format_key_path((*path, change.key))
        if path:
            steps = self.steps(path, change.document)
            node = steps[-1].value
        else:
            steps = []
            found = self.document.find((), change.document)
            if found is None:
                self.insert_into_empty_file(change)
                return
            node = found[1]
        if node.kind is ALIAS:
            if not self.shared:
                raise Refusal(
                    RefusalReason.INHERITED,
                    f"{format_key_path(path)} stands for &{node.anchor}: add the key there",
                )
            node = deref(node)
        self.require_unshared(node, shown)
        if node.kind is MAPPING:
            if self.document.trace((*path, change.key), change.document) is not None:
                raise Refusal(RefusalReason.KEY_EXISTS, f"the key {shown} exists already")
        elif node.kind is not SCALAR or node.style or node.value_start != node.end or node.tag is not None:
            raise Refusal(
                RefusalReason.NOT_A_MAPPING, f"{format_key_path(path) or 'the document'} is not a mapping"
            )
        self.require_values(node, change.value, shown)
        group = self.groups.setdefault(id(node), Group(node, steps))
        if node.kind is SCALAR and not group.inserted:
            self.claim_value(node, format_key_path(path))
        self.touch(steps)
        self.claim_name(node, change.key)
        group.inserted.append(change)

    def entry(self, change: InsertKey, key_style: str = "") -> str:
        """Return the text of a new entry: key, colon and value."""
        key = spell_text(change.key, key_style)
        self.require_simple_key(key)
        return f"{key}: {spell(change.value)}"

    def insert_into_empty_file(self, change: InsertKey) -> None:
        """Write the first key of an empty file."""
        if change.document != 0 or self.document.roots or change.after is not None:
            raise Refusal(RefusalReason.NOT_FOUND, "there is no such document")
        if any(edit.start == len(self.text) for edit in self.edits):
            raise Refusal(RefusalReason.CONFLICT, "two changes fill the empty file")
        if "---" in self.text or "%" in self.text.replace("#", "\n#").split("\n#")[0]:
            raise Refusal(RefusalReason.LAYOUT, "the file has document marks but no content")
        newline = self.document.source.newline
        lead = newline if self.text and self.text[-1] not in BREAKS else ""
        self.edits.append(Edit(len(self.text), len(self.text), f"{lead}{self.entry(change)}{newline}"))

    def insert(self, group: Group) -> None:
        """Insert the new keys of one mapping."""
        node = group.node
        if node.kind is SCALAR:
            self.insert_into_nothing(group)
        elif node.flow:
            self.insert_into_flow(group)
        else:
            self.insert_into_block(group)

    def after_index(self, node: Node, change: InsertKey) -> int:
        """Return the index of the entry that a new key is put after."""
        if change.after is None:
            return len(node.items) - 1
        for index in range(len(node.items) - 1, -1, -1):
            key = deref(node.items[index][0])
            if key.kind is SCALAR and key.text == change.after:
                return index
        raise Refusal(RefusalReason.NOT_FOUND, f"there is no key {change.after} to put {change.key} after")

    def insert_into_block(self, group: Group) -> None:
        """Insert keys into a mapping in block style."""
        at = self.at
        node = group.node
        places: dict[int, list[str]] = {}
        first = self.entry_start(node, 0)
        prefix = at.prefix(first)
        if "\t" in prefix:
            raise Refusal(RefusalReason.LAYOUT, "there is a tab before the first key")
        indentation = " " * len(prefix)
        for change in group.inserted:
            places.setdefault(self.after_index(node, change), []).append(indentation + self.entry(change))
        for index, lines in places.items():
            end = self.entry_end(node, index)
            if not at.rest_is_comment(end):
                raise Refusal(RefusalReason.LAYOUT, "something else follows on the line of the entry before")
            line_end = at.line_end(end)
            newline = at.break_at(end) if line_end < len(self.text) else at.newline
            if newline not in ("\n", "\r\n", "\r"):
                raise Refusal(
                    RefusalReason.LAYOUT, "the line ends with a line break that only YAML 1.1 knows"
                )
            following = at.after_break(line_end)
            if following == line_end:
                if self.is_after_block_scalar(line_end):
                    raise Refusal(
                        RefusalReason.LAYOUT, "the file ends within a text block, without a line break"
                    )
                self.edits.append(Edit(line_end, line_end, "".join(newline + line for line in lines)))
            else:
                self.edits.append(Edit(following, following, "".join(line + newline for line in lines)))

    def insert_into_flow(self, group: Group) -> None:
        """Insert keys into a mapping in braces."""
        node = group.node
        self.require_brackets(node)
        if not node.items:
            entries = ", ".join(self.entry(change) for change in group.inserted)
            if any(change.after is not None for change in group.inserted):
                raise Refusal(RefusalReason.NOT_FOUND, "the mapping is empty")
            offset = node.value_start + 1
            self.edits.append(Edit(offset, offset, entries))
            return
        places: dict[int, list[str]] = {}
        for change in group.inserted:
            index = self.after_index(node, change)
            style = node.items[index][0].style
            places.setdefault(index, []).append(self.entry(change, style if style in ("'", '"') else ""))
        for index, entries_after in places.items():
            self.insert_after_flow_entry(node, index, entries_after)

    def insert_after_flow_entry(self, node: Node, index: int, entries: list[str]) -> None:
        """Insert entries after an entry in braces."""
        at = self.at
        end = self.flow_end(node, index)
        key: Node = node.items[index][0]
        if key.kind is SCALAR and not key.style and key.value_start == key.end:
            raise Refusal(RefusalReason.COMPLEX_KEY, "the entry before has an empty key")
        start = key.start
        prefix = at.prefix(start)
        # An empty value ends with its colon, which must not run into the comma.
        gap = " " if self.text[end - 1 : end] == ":" else ""
        if prefix.strip(" ") or self.at.line_start(start) <= node.value_start:
            self.edits.append(Edit(end, end, gap + "".join(", " + entry for entry in entries)))
            return
        comma = at.skip_blank(end)
        if self.text[comma : comma + 1] == "," and not at.has_comment(end, comma):
            if at.rest_is_comment(comma + 1):
                line_end = at.line_end(comma)
                newline = self.plain_break(line_end)
                lines = "".join(f"{newline}{prefix}{entry}," for entry in entries)
                self.edits.append(Edit(line_end, line_end, lines))
                return
            self.edits.append(Edit(end, end, gap + "".join(", " + entry for entry in entries)))
            return
        if at.rest_is_comment(end) and self.text[comma : comma + 1] != ",":
            line_end = at.line_end(end)
            newline = self.plain_break(line_end)
            lines = ",".join(f"{newline}{prefix}{entry}" for entry in entries)
            if line_end == end:
                self.edits.append(Edit(end, end, gap + "," + lines))
            else:
                self.edits.append(Edit(end, end, gap + ","))
                self.edits.append(Edit(line_end, line_end, lines))
            return
        self.edits.append(Edit(end, end, gap + "".join(", " + entry for entry in entries)))

    def plain_break(self, line_end: int) -> str:
        """Return the line break of a line; refuse one that only YAML 1.1 knows."""
        newline = self.at.break_at(line_end)
        if newline not in ("\n", "\r\n", "\r"):
            raise Refusal(RefusalReason.LAYOUT, "the line ends with a line break that only YAML 1.1 knows")
        return newline

    def insert_into_nothing(self, group: Group) -> None:
        """Write the first keys of a mapping that has no value yet, as in `section:`."""
        at = self.at
        node = group.node
        if any(change.after is not None for change in group.inserted):
            raise Refusal(RefusalReason.NOT_FOUND, "the mapping is empty")
        entries = [self.entry(change) for change in group.inserted]
        step = group.steps[-1] if group.steps else None
        behind_colon = self.text[node.end - 1 : node.end] == ":" or node.start < node.end
        if step is None or not behind_colon:
            if step is not None and step.key is None and self.text[node.end - 1 : node.end] == "-":
                self.edits.append(Edit(node.end, node.end, " {" + ", ".join(entries) + "}"))
                return
            raise Refusal(RefusalReason.LAYOUT, "there is no place where a mapping could be written")
        if step.parent.flow or step.key is None or not at.rest_is_comment(node.end):
            self.edits.append(Edit(node.end, node.end, " {" + ", ".join(entries) + "}"))
            return
        prefix = at.prefix(self.entry_start(step.parent, self.pair_position(step)))
        if "\t" in prefix:
            raise Refusal(RefusalReason.LAYOUT, "there is a tab before the key")
        indentation = " " * (len(prefix) + self.indentation_step())
        line_end = at.line_end(node.end)
        newline = self.plain_break(line_end)
        lines = "".join(f"{newline}{indentation}{entry}" for entry in entries)
        self.edits.append(Edit(line_end, line_end, lines))

    def pair_position(self, step: Step) -> int:
        """Return the index of the mapping entry that a step leads to."""
        return next(index for index, pair in enumerate(step.parent.items) if pair[1] is step.value)

    def indentation_step(self) -> int:
        """Return the number of spaces by which the file indents.

        That of its first nested mapping; two where there is none.
        """
        for _, key, value, parent, _ in self.document.walk():
            if key is None or value.kind is not MAPPING or value.flow or parent.flow or not value.items:
                continue
            step = self.at.column(value.items[0][0].start) - self.at.column(key.start)
            if 0 < step <= 8:
                return step
        return 2
