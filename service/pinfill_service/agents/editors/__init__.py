"""Editing configuration that people wrote: single values change, everything else stays as it is, byte for byte."""

from __future__ import annotations

from pinfill_service.agents.agent import Format
from pinfill_service.agents.editors.editor import Editor
from pinfill_service.agents.editors.json_text import JsonEditor
from pinfill_service.agents.editors.toml_text import TomlEditor
from pinfill_service.agents.editors.yaml_text import YamlEditor

_EDITORS: dict[Format, Editor] = {Format.json: JsonEditor(), Format.toml: TomlEditor(), Format.yaml: YamlEditor()}


def editor_of(kind: Format) -> Editor:
    """The editor for one way of writing."""
    return _EDITORS[kind]
