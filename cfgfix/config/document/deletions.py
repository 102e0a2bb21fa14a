"""Edits that delete entries, in block and flow style."""

from __future__ import annotations

from cfgfix.config.document.compose import (
    ALIAS,
    BREAKS,
    MAPPING,
    SEQUENCE,
    Node,
)
from cfgfix.config.document.edit_plan import EditPlan, Group
from cfgfix.config.document.refusals import Refusal, RefusalReason
from cfgfix.core.edits import DeleteKey, Edit
from cfgfix.core.findings import format_key_path


class Deletions(EditPlan):
    """Makes edits that delete entries."""

    def note_deletion(self, change: DeleteKey) -> None:
        """Note the entry that a change deletes, grouped by its collection."""
        shown = format_key_path(change.path)
        if not change.path:
            raise Refusal(RefusalReason.NOT_FOUND, "a document cannot be deleted")
        steps = self.steps(change.path, change.document)
        parent = steps[-1].parent
        index = self.entry_index(parent, change, steps[-1], shown)
        entry = parent.items[index]
        self.touch(steps[:-1])
        self.removed.add((id(parent), id(entry if isinstance(entry, Node) else entry[1])))
        group = self.groups.setdefault(id(parent), Group(parent, steps))
        if index in group.deleted:
            raise Refusal(RefusalReason.CONFLICT, f"{shown} would be deleted twice")
        self.require_unused_anchors(entry, shown)
        group.deleted.add(index)

    def require_unused_anchors(self, entry: tuple[Node, Node] | Node, shown: str) -> None:
        """Refuse to delete an entry with an anchor that an alias outside the entry names."""
        if not self.document.aliases:
            return
        waiting = [entry] if isinstance(entry, Node) else list(entry)
        inside: dict[int, Node] = {}
        while waiting:
            node = waiting.pop()
            inside[id(node)] = node
            if node.kind is MAPPING:
                waiting.extend(child for pair in node.items for child in pair)
            elif node.kind is SEQUENCE:
                waiting.extend(node.items)
        within: dict[int, int] = {}
        for node in inside.values():
            if node.kind is ALIAS:
                within[id(node.target)] = within.get(id(node.target), 0) + 1
        for key, node in inside.items():
            if self.uses.get(key, 0) > within.get(key, 0):
                raise Refusal(
                    RefusalReason.ANCHOR_USED, f"{shown} holds &{node.anchor}, which is used elsewhere"
                )

    def delete(self, group: Group) -> None:
        """Delete the entries of one collection."""
        node = group.node
        everything = len(group.deleted) == len(node.items)
        if node.flow:
            self.delete_in_flow(node, group.deleted)
        elif everything:
            self.delete_all_of_block(group)
        else:
            for index in sorted(group.deleted):
                self.delete_in_block(node, index, group.deleted)

    def delete_in_block(self, node: Node, index: int, deleted: set[int]) -> None:
        """Delete one entry of several in a block collection.

        Its lines, with the comment on the last of them.
        """
        at = self.at
        start, end = self.entry_start(node, index), self.entry_end(node, index)
        if not at.rest_is_comment(end):
            raise Refusal(RefusalReason.LAYOUT, "something else follows on the entry's last line")
        line_start, line_end = at.line_start(start), at.line_end(end)
        if not self.text[line_start:start].strip(" \t"):
            self.delete_lines(line_start, line_end)
            return
        # The entry stands behind the dash of a list, `- a: 1`, or behind anchor and tag: what follows moves up.
        if index + 1 in deleted or index + 1 >= len(node.items):
            raise Refusal(RefusalReason.LAYOUT, "several entries on the line of a dash")
        following = self.entry_start(node, index + 1)
        if at.column(following) != at.column(start) or at.has_comment(line_end, following):
            raise Refusal(RefusalReason.LAYOUT, "a comment stands between the entry and the next one")
        self.edits.append(Edit(start, following, ""))

    def delete_all_of_block(self, group: Group) -> None:
        """Replace a block collection by an empty one in flow style."""
        at = self.at
        node = group.node
        empty = "{}" if node.kind is MAPPING else "[]"
        first, last = self.entry_start(node, 0), self.entry_end(node, len(node.items) - 1)
        if not at.rest_is_comment(last):
            raise Refusal(RefusalReason.LAYOUT, "something else follows on the entry's last line")
        for index in range(len(node.items) - 1):
            if at.has_comment(self.entry_end(node, index), self.entry_start(node, index + 1)):
                gap = self.text[at.line_end(self.entry_end(node, index)) : self.entry_start(node, index + 1)]
                if "#" in gap:
                    raise Refusal(RefusalReason.LAYOUT, "comments stand between the entries")
        line_start, line_end = at.line_start(first), at.line_end(last)
        behind = self.owner_end(group)
        if behind is None or self.text[line_start:first].strip(" \t"):
            # The root, or entries that begin on the line of their owner: the place itself becomes the empty one.
            self.edits.append(Edit(first, line_end, empty))
            return
        self.edits.append(Edit(behind, behind, " " + empty))
        self.delete_lines(line_start, line_end)

    def delete_lines(self, start: int, end: int) -> None:
        """Delete whole lines, with one line break."""
        following = self.at.after_break(end)
        if following == end and start > 0 and not self.is_after_block_scalar(start):
            # The file has no final line break, and keeps having none: the break before the lines goes.
            self.edits.append(Edit(self.at.before_break(start), end, ""))
        else:
            self.edits.append(Edit(start, following, ""))

    def owner_end(self, group: Group) -> int | None:
        """Return the offset behind the colon or dash that a block collection belongs to.

        None for a root without anchor or tag.
        """
        node = group.node
        if node.start != node.value_start:
            return self.properties_end(node)
        if len(group.steps) < 2:
            return None
        key = group.steps[-2].key
        if key is not None:
            colon = self.at.skip_blank(key.end)
            if self.text[colon : colon + 1] != ":":
                raise Refusal(RefusalReason.COMPLEX_KEY, "the mapping's own key is not a simple key")
            return colon + 1
        dash = self.entry_start(group.steps[-2].parent, self.position(group.steps[-2]))
        return dash + 1

    def properties_end(self, node: Node) -> int:
        """Return where anchor and tag of a node end."""
        offset = node.start
        end = offset
        while offset < node.value_start and self.text[offset] in "&!":
            while offset < node.value_start and self.text[offset] not in " \t" + BREAKS:
                offset += 1
            end = offset
            offset = self.at.skip_blank(offset)
        return end

    def delete_in_flow(self, node: Node, deleted: set[int]) -> None:
        """Delete entries within braces or brackets, with the commas that parted them."""
        self.require_brackets(node)
        for index in sorted(deleted):
            if index - 1 not in deleted:
                stop = index
                while stop in deleted:
                    stop += 1
                self.delete_run(node, index, stop)

    def delete_run(self, node: Node, first: int, stop: int) -> None:
        """Delete the entries `first` to `stop` (exclusive) of a flow collection."""
        at = self.at
        start = self.flow_start(node, first)
        end = self.flow_end(node, stop - 1)
        comma = at.skip_blank(end)
        has_comma = self.text[comma : comma + 1] == ","
        for index in range(first, stop - 1):
            gap = self.text[self.flow_end(node, index) : self.flow_start(node, index + 1)]
            if "#" in gap:
                raise Refusal(RefusalReason.LAYOUT, "comments stand between the entries")
        last = comma + 1 if has_comma else end
        if at.has_comment(end, last):
            raise Refusal(RefusalReason.LAYOUT, "a comment stands between the entry and its comma")
        own_lines = not at.prefix(start).strip(" \t") and at.rest_is_comment(last)
        if own_lines:
            if not has_comma and first > 0:
                # The comma before it would be left over.
                before = at.skip_blank(self.flow_end(node, first - 1))
                if self.text[before : before + 1] != ",":
                    raise Refusal(RefusalReason.LAYOUT, "the comma before the entry was not found")
                self.edits.append(Edit(before, before + 1, ""))
            line_end = at.line_end(last)
            self.edits.append(Edit(at.line_start(start), at.after_break(line_end), ""))
            return
        if stop < len(node.items):
            following = self.flow_start(node, stop)
            if at.has_comment(last, following) or any(char in self.text[last:following] for char in BREAKS):
                while self.text[last : last + 1] in (" ", "\t"):
                    last += 1
                self.edits.append(Edit(start, last, ""))
            else:
                self.edits.append(Edit(start, following, ""))
            return
        if first > 0:
            previous = self.flow_end(node, first - 1)
            if at.has_comment(previous, start):
                raise Refusal(RefusalReason.LAYOUT, "a comment stands between the entry and the one before")
            self.edits.append(Edit(previous, end, ""))
            return
        self.edits.append(Edit(start, last, ""))
