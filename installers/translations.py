"""Brings the translations up to date with the texts in the code.

    python installers/translations.py

New texts come into app/pinfill_app/translations/*.ts as unfinished, those that are gone leave, and the .qm files that
the application loads are made from the rest. It needs lrelease, which comes with PySide6. (lupdate does not see texts
behind the short names that the code uses.)
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
CODE = ROOT / "app" / "pinfill_app"
FOLDER = CODE / "translations"
LANGUAGES = ("de", "zh_CN")
SHORT_NAMES = ("tr", "translate")  # of QCoreApplication.translate

Message = tuple[str, str]  # context, source text


class NotTranslatableError(Exception):
    """A text that is put together before it is looked up, which no translation can be found for."""


def messages(folder: Path = CODE) -> list[Message]:
    """Every text of the application, once, in order. Raises NotTranslatableError."""
    found: dict[Message, None] = {}
    for path in sorted(folder.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for message in _in(tree, "", path, _contexts_of_helpers(tree)):
            found[message] = None
    return sorted(found)


def _in(node: ast.AST, context: str, path: Path, helpers: dict[str, str]) -> Iterator[Message]:
    for child in ast.iter_child_nodes(node):
        inside = child.name if isinstance(child, ast.ClassDef) else context
        if isinstance(child, ast.Call):
            yield from _of_call(child, context, path, helpers)
        if not (isinstance(child, ast.FunctionDef) and child.name in helpers):
            yield from _in(child, inside, path, helpers)


def _of_call(call: ast.Call, context: str, path: Path, helpers: dict[str, str]) -> Iterator[Message]:
    function, texts = call.func, call.args
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if name in helpers:
        yield helpers[name], _text(texts[0], path)
    elif name in SHORT_NAMES and isinstance(function, ast.Attribute) and len(texts) == 1:
        yield context, _text(texts[0], path)
    elif name in SHORT_NAMES and len(texts) == 2:
        yield _text(texts[0], path), _text(texts[1], path)


def _text(node: ast.expr, path: Path) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    raise NotTranslatableError(f"{path}:{node.lineno} is no plain text: it would never be translated.")


def _contexts_of_helpers(tree: ast.Module) -> dict[str, str]:
    """Functions such as _tr(text), which look a text up in one context: the context by the function's name."""
    helpers = {}
    for function in tree.body:
        if isinstance(function, ast.FunctionDef) and function.name.endswith("tr") and len(function.args.args) == 1:
            for node in ast.walk(function):
                if isinstance(node, ast.Call) and len(node.args) == 2 and isinstance(node.args[0], ast.Constant):
                    helpers[function.name] = str(node.args[0].value)
    return helpers


def read(language: str) -> dict[Message, str | None]:
    """The translations of a .ts file; None for one that is not finished."""
    path = FOLDER / f"pinfill_{language}.ts"
    if not path.exists():
        return {}
    found: dict[Message, str | None] = {}
    for context in ElementTree.parse(path).getroot().iter("context"):
        for message in context.iter("message"):
            translation = message.find("translation")
            finished = translation is not None and translation.get("type") is None
            text = (translation.text or "") if finished and translation is not None else None
            found[context.findtext("name", ""), message.findtext("source", "")] = text
    return found


def write(language: str, translations: dict[Message, str | None]) -> Path:
    """Writes a .ts file, always the same way."""
    root = ElementTree.Element("TS", version="2.1", language=language, sourcelanguage="en")
    contexts: dict[str, ElementTree.Element] = {}
    for (name, source), text in sorted(translations.items()):
        if name not in contexts:
            contexts[name] = ElementTree.SubElement(root, "context")
            ElementTree.SubElement(contexts[name], "name").text = name
        message = ElementTree.SubElement(contexts[name], "message")
        ElementTree.SubElement(message, "source").text = source
        translation = ElementTree.SubElement(message, "translation")
        if text is None:
            translation.set("type", "unfinished")
        else:
            translation.text = text
    ElementTree.indent(root, " ")
    path = FOLDER / f"pinfill_{language}.ts"
    text = ElementTree.tostring(root, encoding="unicode")
    path.write_text(f'<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE TS>\n{text}\n', encoding="utf-8")
    return path


def release(path: Path) -> None:
    """Makes the .qm file of a .ts file, without what is unfinished."""
    program = Path(sys.executable).parent / "pyside6-lrelease"
    subprocess.run([str(program), "-silent", str(path), "-qm", str(path.with_suffix(".qm"))], check=True)


def main() -> int:
    """Returns 1 while something is not translated."""
    wanted, missing = messages(), 0
    for language in LANGUAGES:
        known = read(language)
        translations = {message: known.get(message) for message in wanted}
        release(write(language, translations))
        unfinished = [message for message, text in translations.items() if text is None]
        missing += len(unfinished)
        print(f"{language}: {len(wanted) - len(unfinished)} of {len(wanted)} texts are translated.")
        for context, source in unfinished:
            print(f"  {context}: {source}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
