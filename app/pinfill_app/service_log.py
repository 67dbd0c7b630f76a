"""What the service prints, in a file that does not grow without end."""

from __future__ import annotations

from datetime import datetime
from logging import LogRecord
from logging.handlers import RotatingFileHandler
from pathlib import Path

FILE = "service.log"
BYTES = 1 << 20
OLD_FILES = 3


class ServiceLog:
    """`home`/service.log, service.log.1 and so on. The newest line is the last one of the first file."""

    def __init__(self, home: Path) -> None:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path = home / FILE
        self._handler = RotatingFileHandler(
            self.path, maxBytes=BYTES, backupCount=OLD_FILES, encoding="utf-8", delay=True
        )

    def write(self, line: str) -> None:
        self._handler.handle(LogRecord("service", 0, "", 0, line, None, None))

    def write_error(self, line: str) -> None:
        """What the service cannot say itself any more, in a line like its own."""
        self.write(f"{datetime.now():%Y-%m-%d %H:%M:%S,%f}"[:-3] + f" ERROR pinfill_app: {line}")

    def close(self) -> None:
        self._handler.close()
