"""The shipped catalogue is right, and a wrong one is refused in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from pinfill_service.models.catalog import CatalogError, HuggingFaceSource, PypiSource, load_catalog
from pinfill_service.resources import ResourceMissingError, resource
from pinfill_service.settings import DEFAULT_MODEL

GOOD = """
[[model]]
name = "tiny"
title = "Tiny"
licence = "MIT"
context_length = 64
size_bytes = 10
[[model.source]]
type = "huggingface"
repo = "who/tiny"
file = "tiny.gguf"
revision = "0123456789012345678901234567890123456789"
"""


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "catalog.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_default_model_is_in_the_shipped_catalogue() -> None:
    model = load_catalog().find(DEFAULT_MODEL)

    assert model.licence == "Apache-2.0"
    assert model.context_length == 8192
    assert [type(source) for source in model.source] == [PypiSource, HuggingFaceSource]
    assert model.sha256 is not None


def test_an_unknown_name_is_answered_with_the_names_there_are(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match=r"no model 'huge'\. It has: tiny\."):
        load_catalog(write(tmp_path, GOOD)).find("huge")


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ('name = "tiny"', 'name = "../tiny"', "model.0.name"),
        ('name = "tiny"', 'name = "tiny@pin"', "model.0.name"),
        ('name = "tiny"', 'name = "tiny."', "model.0.name"),
        ("size_bytes = 10", "size_bytes = 0", "model.0.size_bytes"),
        ("size_bytes = 10", 'size_bytes = 10\nsha256 = "abc"', "model.0.sha256"),
        ('licence = "MIT"', 'license = "MIT"', "model.0.licence"),
        ('file = "tiny.gguf"', 'file = "../tiny.gguf"', "model.0.source.0.huggingface.file"),
        ('file = "tiny.gguf"', 'file = "C:/tiny.gguf"', "model.0.source.0.huggingface.file"),
        ('revision = "0123', 'revision = "main0123', "model.0.source.0.huggingface.revision"),
        ('type = "huggingface"', 'type = "ftp"', "model.0.source.0"),
    ],
)
def test_a_malformed_catalogue_is_one_sentence(tmp_path: Path, old: str, new: str, where: str) -> None:
    assert old in GOOD
    with pytest.raises(CatalogError) as caught:
        load_catalog(write(tmp_path, GOOD.replace(old, new)))

    assert f"is not a model catalogue: {where}: " in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_name_given_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="names tiny twice"):
        load_catalog(write(tmp_path, GOOD + GOOD))


@pytest.mark.parametrize("text", ["[[model", "\x00"])
def test_what_is_not_toml_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(CatalogError, match="cannot be read"):
        load_catalog(write(tmp_path, text))


def test_a_missing_catalogue_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="cannot be read"):
        load_catalog(tmp_path / "none.toml")


def test_a_missing_resource_says_to_install_again() -> None:
    with pytest.raises(ResourceMissingError, match=r"lacks resources/no-such-file\. Install it again"):
        resource("no-such-file")
