"""Pinfill's values in the text of a configuration: put there, recognised, and taken back to what they were before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pinfill_service.agents.agent import Format, Value
from pinfill_service.agents.config_file import digest
from pinfill_service.agents.editors import editor_of
from pinfill_service.agents.editors.editor import Editor, Path
from pinfill_service.agents.record import Change

_EMPTY = ("", "null", "~", "{}")


def put(
    kind: Format, text: str, values: Mapping[Path, Value], known: Sequence[Change]
) -> tuple[str, tuple[Change, ...]]:
    """The text with the values in it, and what that changed, since before the `known` changes. Raises EditError."""
    editor, made = editor_of(kind), {change.path: change for change in known}
    depths = {path: _depth(editor, text, path, known) for path in values}
    dropped = [change for change in known if change.path not in values]  # of a connection to another model, say
    text, _ = take_back(kind, text, dropped)
    for change in dropped:
        del made[change.path]
    for path, value in values.items():
        source = editor.dump(value)
        before, written = editor.read(text, path), digest(editor.load(source))
        if path in made and is_ours(kind, text, made[path]):
            made[path] = made[path].model_copy(update={"written": written})
        else:
            made[path] = Change(path=path, before=before, written=written, depth=depths[path])
        if before is None or digest(editor.load(before)) != written:
            text = editor.write(text, path, source)
    return text, tuple(made.values())


def take_back(kind: Format, text: str, changes: Sequence[Change]) -> tuple[str, list[str]]:
    """The text with everything as it was before, but for what somebody changed since: those names are returned.

    Raises EditError.
    """
    editor, left = editor_of(kind), []
    for change in reversed(changes):
        if not is_ours(kind, text, change):
            left += [".".join(change.path)] if editor.read(text, change.path) is not None else []
        elif change.before is not None:
            text = editor.write(text, change.path, change.before)
        else:
            text = _prune(editor, editor.remove(text, change.path), change)
    return text, left


def is_ours(kind: Format, text: str, change: Change) -> bool:
    """Whether a value is the one that Pinfill wrote, however it is laid out now. Raises EditError."""
    editor = editor_of(kind)
    source = editor.read(text, change.path)
    return source is not None and digest(editor.load(source)) == change.written


def _prune(editor: Editor, text: str, change: Change) -> str:
    """Removes the mappings that were made for a value, as far as nobody else uses them."""
    for length in range(len(change.path) - 1, change.depth, -1):
        parent = change.path[:length]
        if editor.keys(text, parent) or (editor.keys(text, parent) is None and not _is_null(editor, text, parent)):
            break
        text = editor.remove(text, parent)
    return text


def _is_null(editor: Editor, text: str, path: Path) -> bool:
    return editor.read(text, path) in _EMPTY


def _depth(editor: Editor, text: str, path: Path, known: Iterable[Change]) -> int:
    """How many of the mappings on a path were there before Pinfill came."""
    depth = max((n for n in range(len(path)) if editor.keys(text, path[:n]) is not None), default=0)
    for change in known:
        shared = next((n for n, (a, b) in enumerate(zip(path, change.path, strict=False)) if a != b), len(path))
        if shared > change.depth:
            depth = min(depth, change.depth)
    return depth
