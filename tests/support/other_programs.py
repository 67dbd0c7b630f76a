"""A home folder with models of other programs in it, laid out as those do."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from pinfill_service.models.discovery import find_models
from pinfill_service.models.discovery_places import Machine
from pinfill_service.models.found import FoundModel
from tests.support.raw_gguf import llama


class Home:
    """A home folder with other programs' models in it."""

    def __init__(self, folder: Path, system: str = "linux") -> None:
        self.folder = folder
        self.environment: dict[str, str] = {}
        self.system = system
        self.content = llama().content()  # of Ollama's models

    def found(self) -> list[FoundModel]:
        return find_models(self.machine())

    def machine(self) -> Machine:
        return Machine(self.folder, self.environment, self.system)

    def gguf(self, place: str, **changed: bytes) -> Path:
        path = self.folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        return llama(**changed).write(path)

    def write(self, place: str, content: Any) -> Path:
        path = self.folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    def ollama(self, tag: str, root: str = ".ollama/models", **layers: Any) -> Path:
        """A manifest at `HOST/NAMESPACE/NAME/TAG`; `layers` are digests by kind, "file" standing for a good one."""
        good = self.blob(root) if "file" in layers.values() else None
        listed = [
            {"mediaType": f"application/vnd.ollama.image.{kind}", "digest": good if digest == "file" else digest}
            for kind, digest in layers.items()
        ]
        return self.write(f"{root}/manifests/{tag}", {"schemaVersion": 2, "layers": listed})

    def blob(self, root: str = ".ollama/models", separator: str = "-") -> str:
        digest = hashlib.sha256(self.content).hexdigest()
        path = self.folder / root / "blobs" / f"sha256{separator}{digest}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.content)
        return f"sha256:{digest}"
