"""Which programs run from the folder of an installation, and their end: what Setup asks before it replaces files.

    python.exe running.py list FOLDER    prints them; exit code 10 when there are some
    python.exe running.py stop FOLDER    ends them; prints "application" first when the tray application was among them

A service that the application started ends in order when the application is gone, and is given time for that.
"""

import contextlib
import os
import sys
from pathlib import Path

import psutil

SOME = 10
SECONDS = 30


def running(folder: Path) -> list[psutil.Process]:
    """The processes whose program is in the folder, without this one."""
    found = []
    for process in psutil.process_iter():
        try:
            program = Path(process.exe())
        except (psutil.Error, OSError):
            continue
        if process.pid != os.getpid() and folder in program.parents:
            found.append(process)
    return found


def is_application(process: psutil.Process) -> bool:
    try:
        return "pinfill_app" in process.cmdline()
    except psutil.Error:
        return False


def stop(folder: Path, seconds: float = SECONDS) -> bool:
    """Ends them all, the application first, so that it starts no service again; says whether it was there."""
    everything = running(folder)
    applications = [process for process in everything if is_application(process)]
    end(applications)
    _, left = psutil.wait_procs(running(folder), timeout=seconds if applications else 0)
    end(left)
    psutil.wait_procs(left, timeout=seconds)
    return bool(applications)


def end(processes: list[psutil.Process]) -> None:
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.terminate()


def main(action: str, name: str) -> int:
    folder = Path(name).resolve()
    if action == "stop" and stop(folder):
        print("application")
    left = running(folder)
    for process in left:
        print(process.pid, process.name())
    return SOME if left else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
