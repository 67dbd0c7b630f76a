"""A program that stands in for `pinfill serve` and misbehaves as it is told. Run as a script:

    fake_service.py --port PORT BEHAVIOUR [BEHAVIOUR ...]

The first start behaves as the first BEHAVIOUR says, the second as the second, and so on; then as the last one.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from pinfill_service import __version__
from pinfill_service.state_lock import state_lock

EMPTY: dict[str, dict[str, Any]] = {
    "pins": {"pins": []},
    "entries": {"entries": []},
    "requests": {"requests": [], "before": None},
    "savings": {"days": 30, "total": {}, "by_pin": [], "by_day": []},
    "models": {"models": []},
}


def status(version: str) -> dict[str, Any]:
    return {
        "version": version,
        "api_version": 1,
        "pid": os.getpid(),
        "started": time.time(),
        "uptime_seconds": 0.0,
        "model": None,
        "model_state": "unloaded",
        "activity": None,
        "memory": None,
        "disk": None,
        "pins": {},
        "saved_seconds_today": 0.0,
        "problems": [],
    }


class Handler(BaseHTTPRequestHandler):
    """Answers as the behaviour of this start says."""

    protocol_version = "HTTP/1.1"
    behaviour = "normal"
    hung = threading.Event()

    def do_GET(self) -> None:
        name = self.path.partition("?")[0].removeprefix("/pinfill/v1/")
        if self.hung.is_set():
            time.sleep(3600)
        if name == "/livez":
            self._answer({"status": "ok"})
        elif self.headers["Authorization"] != f"Bearer {os.environ['PINFILL_API_KEY']}":
            self._answer({"error": {"message": "no", "type": "x", "param": None, "code": "invalid_api_key"}}, 401)
        elif name == "status":
            self._status()
        elif name == "events":
            self._events()
        else:
            self._answer(EMPTY[name])

    def _status(self) -> None:
        if self.behaviour == "stranger":
            self._answer({"hello": "world"})
        else:
            self._answer(status("0.0.1" if self.behaviour == "old" else __version__))
        if self.behaviour == "hang":
            self.hung.set()

    def _events(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(b"retry: 1000\n\n")
        self.wfile.flush()
        time.sleep(3600)

    def _answer(self, value: dict[str, Any], code: int = 200) -> None:
        content = json.dumps(value).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *arguments: object) -> None:
        print(format % arguments, flush=True)


class Server(ThreadingHTTPServer):
    daemon_threads = True


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int)
    parser.add_argument("behaviours", nargs="+")
    options = parser.parse_args()
    behaviour = _behaviour(options.behaviours)
    print(f"this start: {behaviour}", flush=True)
    match behaviour:
        case "crash":
            sys.exit(3)
        case "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        case "refuse":
            print("error: There is no such thing. Make one.", file=sys.stderr)
            sys.exit(1)
    if behaviour != "deaf":
        threading.Thread(target=_end_with_parent, daemon=True).start()
    Handler.behaviour = behaviour
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with state_lock(Path(os.environ["PINFILL_HOME"]), options.port):
        if behaviour == "slow":
            _wait_for(Path(os.environ["PINFILL_HOME"]) / "go")
        with Server(("127.0.0.1", options.port), Handler) as server:
            if behaviour == "brief":
                threading.Thread(target=_crash_after_status, daemon=True).start()
            server.serve_forever()


def _behaviour(behaviours: list[str]) -> str:
    starts = Path(os.environ["PINFILL_HOME"]) / "starts"
    with starts.open("a") as file:
        file.write(f"{os.getpid()}\n")
    number = len(starts.read_text().splitlines())
    return behaviours[min(number, len(behaviours)) - 1]


def _wait_for(path: Path) -> None:
    while not path.exists():
        time.sleep(0.02)


def _crash_after_status() -> None:
    _wait_for(Path(os.environ["PINFILL_HOME"]) / "crash")
    os._exit(7)


def _end_with_parent() -> None:
    while os.read(0, 1):
        pass
    os._exit(0)


if __name__ == "__main__":
    main()
