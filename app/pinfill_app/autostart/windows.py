"""The Run key of the registry. Not yet verified on Windows."""

from __future__ import annotations

import subprocess
import sys

from PySide6.QtCore import QCoreApplication

from pinfill_app.autostart import AutostartError, start_command

KEY = r"Software\Microsoft\Windows\CurrentVersion\Run"
NAME = "Pinfill"


def _not_changed(error: OSError) -> str:
    return QCoreApplication.translate("autostart", "The registry cannot be changed: {}.").format(error.strerror)


if sys.platform == "win32":
    import winreg

    class RunKey:
        """Implements Autostart."""

        def is_on(self) -> bool:
            try:
                with winreg.OpenKey(winreg.HKEY_CURRENT_USER, KEY) as key:
                    winreg.QueryValueEx(key, NAME)
            except OSError:
                return False
            return True

        def turn_on(self) -> None:
            try:
                with winreg.CreateKey(winreg.HKEY_CURRENT_USER, KEY) as key:
                    winreg.SetValueEx(key, NAME, 0, winreg.REG_SZ, subprocess.list2cmdline(start_command()))
            except OSError as error:
                raise AutostartError(_not_changed(error)) from error

        def turn_off(self) -> None:
            try:
                with winreg.OpenKey(winreg.HKEY_CURRENT_USER, KEY, 0, winreg.KEY_SET_VALUE) as key:
                    winreg.DeleteValue(key, NAME)
            except FileNotFoundError:
                pass
            except OSError as error:
                raise AutostartError(_not_changed(error)) from error
