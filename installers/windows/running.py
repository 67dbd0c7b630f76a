"""Which programs run from the folder of an installation, and their end: what Setup asks before it replaces files.

    python.exe running.py list FOLDER    prints them; exit code 10 when there are some
    python.exe running.py stop FOLDER    ends them; prints "application" first when the tray application was among them

The application is asked to quit, as `pinfill app --quit` does, and ends its service in order; it is terminated when it
does not. A service ends in order when the application that started it is gone, and is given time for that.
"""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import psutil

SOME = 10
SECONDS = 30
EXIT_SECONDS = 3  # for a process that has done everything it had to do
COMMAND = "pinfill.py"  # in the folder


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
    if everything:  # one that was started in a terminal is not told from other commands
        ask_to_quit(folder, seconds)
    _, left = psutil.wait_procs(applications, timeout=EXIT_SECONDS)
    end(left)
    _, left = psutil.wait_procs(running(folder), timeout=seconds if applications else 0)
    end(left)
    psutil.wait_procs(left, timeout=seconds)
    return bool(applications)


def ask_to_quit(folder: Path, seconds: float) -> None:
    """Returns when it has ended, or does not listen: one of another state folder, or of an older version."""
    command = [sys.executable, str(folder / COMMAND), "app", "--quit"]
    null = subprocess.DEVNULL
    with contextlib.suppress(subprocess.TimeoutExpired):
        subprocess.run(command, stdin=null, stdout=null, stderr=null, timeout=seconds, check=False)


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
