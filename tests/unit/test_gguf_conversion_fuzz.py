"""A GGUF model that is wrong in any value is converted, or refused in one sentence: nothing else happens."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinfill_service.models.gguf_file import GgufError
from pinfill_service.models.gguf_import import convert_gguf
from tests.support.gguf_mutation import changes
from tests.support.tiny_gguf import TinyLlama

CRASHES = Path(__file__).parents[1] / "fixtures" / "gguf_crashes"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    model = TinyLlama(layers=1, hidden=32, heads=2, kv_heads=1, feed_forward=32, vocabulary=260)
    return model.write(tmp_path_factory.mktemp("fuzz") / "tiny.gguf")


def convert(path: Path) -> None:
    """Converts, or is refused as every file may be."""
    folder = path.with_suffix(".out")
    folder.mkdir()
    try:
        convert_gguf(path, folder)
    except GgufError as error:
        assert str(error) and "\n" not in str(error) and len(str(error)) < 600
    finally:
        shutil.rmtree(folder)


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_a_model_with_changed_values_is_converted_or_refused(tiny: Path, data: st.DataObject) -> None:
    content = tiny.read_bytes()
    path = tiny.with_name("changed.gguf")
    path.write_bytes(data.draw(changes(content)).applied_to(content))
    convert(path)


@pytest.mark.parametrize("path", sorted(CRASHES.glob("*.gguf")), ids=lambda path: path.stem)
def test_files_that_once_broke_the_conversion_are_refused(path: Path, tmp_path: Path) -> None:
    with pytest.raises(GgufError):
        convert_gguf(path, tmp_path)
