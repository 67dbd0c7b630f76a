"""Settings as text to show and to paste."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pinfill_service.agents.agent import ConfigFile, Value
from pinfill_service.agents.editors import editor_of


def text_of_files(files: Sequence[ConfigFile]) -> str:
    """What each of the files would hold if there was nothing else in it, below its path."""
    return "\n\n".join(f"{file.path}\n\n{text_of(file).rstrip()}" for file in files) + "\n"


def text_of(file: ConfigFile) -> str:
    """A file of an agent as Pinfill alone would write it."""
    editor, text = editor_of(file.format), ""
    for path, value in file.values.items():
        text = editor.write(text, path, editor.dump(value))
    return text


def tree_of(values: Mapping[tuple[str, ...], Value]) -> dict[str, Any]:
    """Values by their path of keys as nested dictionaries."""
    tree: dict[str, Any] = {}
    for (*parents, name), value in values.items():
        branch = tree
        for parent in parents:
            branch = branch.setdefault(parent, {})
        branch[name] = value
    return tree
