"""What is said of newer versions, the same in the notice, beside the tray and in the settings."""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import QCoreApplication

from pinfill_app.releases import HOMEPAGE, LATEST, NoRelease, Release
from pinfill_service import __version__

DEB = Path("/usr/lib/pinfill")  # where the .deb puts its Python
TAR = Path(".local", "lib", "pinfill")  # below the home folder: install.sh


def is_out(release: Release) -> str:
    """Pinfill 1.3 is out."""
    return QCoreApplication.translate("updates", "Pinfill {} is out.").format(release.version)


def how_to_update(release: Release) -> str:
    """What to fetch and to do with it; empty where it is not known how this Pinfill was installed."""
    tr, prefix = QCoreApplication.translate, Path(sys.prefix)
    if prefix == DEB:
        words = tr("updates", "Download {0} there, and type in its folder:\nsudo apt-get install ./{0}")
        return words.format(f"pinfill_{release.version}_amd64.deb")
    if prefix == Path.home() / TAR:
        words = tr("updates", "Download {} there, unpack it, and run its install.sh.")
        return words.format(f"pinfill-{release.version}-linux-x86_64.tar.gz")
    if sys.platform == "win32" and (prefix / "pinfill.py").exists():
        return tr("updates", "Download {} there, and start it.").format(f"pinfill-{release.version}-setup.exe")
    return ""


def what_came_of_it(outcome: Release | NoRelease) -> str:
    """The answer to whether a newer version is out, or why there is none and what to do."""
    tr = QCoreApplication.translate
    if isinstance(outcome, Release):
        if outcome.is_newer:
            return is_out(outcome)
        if outcome.version == __version__:
            return tr("updates", "This is the newest version, {}.").format(__version__)
        return tr("updates", "This is {}; the newest release is {}.").format(__version__, outcome.version)
    words = {
        NoRelease.NONE_PUBLISHED: tr("updates", "No release is published at {home}."),
        NoRelease.UNREACHABLE: tr(
            "updates", "{host} cannot be reached. Look at the network and the proxy, then check again."
        ),
        NoRelease.INSECURE: tr(
            "updates",
            "{host} cannot be reached safely. Look at this machine's clock and certificates, then check again.",
        ),
        NoRelease.TOO_LATE: tr("updates", "{host} takes too long. Check again later."),
        NoRelease.REFUSED: tr(
            "updates",
            "{host} does not answer now, perhaps because this network asks often. Check again in an hour.",
        ),
        NoRelease.NOT_UNDERSTOOD: tr("updates", "The answer of {host} is not understood. Look at {home} yourself."),
    }
    return words[outcome].format(host=LATEST.host(), home=HOMEPAGE)
