"""What of the wheels a package keeps.

Of Qt only what the application uses: 245 MB of it are designers, QML and databases. Of everything else all but tests,
stubs, headers, and the notes of installers, which name folders of the machine that built the package.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import PurePosixPath

_DROPPED_SUFFIXES = (
    ".pyi",
    ".exe",
    ".h",
    ".hpp",
    ".cc",
    ".cpp",
    ".pxd",
    ".pyx",
    ".pyc",
    ".proto",
    ".lib",
    ".a",
    ".typed",
)
_DROPPED_FOLDERS = ("tests", "__pycache__", "include", "sboms")
_DROPPED_TREES = (
    "numpy/f2py",
    "onnx/backend/test",
    "onnxruntime/datasets",
    "onnxruntime/quantization",
    "onnxruntime/tools",
    "onnxruntime/transformers",
    "pyqtgraph/examples",
)
_METADATA = ("METADATA", "entry_points.txt", "top_level.txt", "licenses", "LICENSE*", "NOTICE*", "COPYING*", "AUTHORS*")

_LIBRARIES = ("Core", "DBus", "Gui", "Network", "OpenGL", "OpenGLWidgets", "Svg", "Widgets")  # OpenGL*: pyqtgraph's
_LANGUAGES = ("de", "zh_CN", "zh_TW")
_QT_ANYWHERE = (
    "__init__.py",
    "_config.py",
    "_git_pyside_version.py",
    "support/*.py",
    *(f"Qt{name}.abi3.so" for name in _LIBRARIES),
    *(f"Qt{name}.pyd" for name in _LIBRARIES),
    *(f"{folder}translations/qtbase_{language}.qm" for folder in ("Qt/", "") for language in _LANGUAGES),
)
_QT_LINUX = (
    "libpyside6.abi3.so.*",
    *(f"Qt/lib/libQt6{name}.so.6" for name in _LIBRARIES),
    *(f"Qt/lib/libQt6{name}.so.6" for name in ("WaylandClient", "WlShellIntegration", "XcbQpa")),
    *(f"Qt/lib/libicu{name}.so.*" for name in ("data", "i18n", "uc")),
    *(f"Qt/plugins/platforms/libq{name}.so" for name in ("xcb", "wayland", "offscreen")),
    *(f"Qt/plugins/imageformats/libq{name}.so" for name in ("svg", "ico", "jpeg", "gif")),
    "Qt/plugins/iconengines/libqsvgicon.so",
    "Qt/plugins/tls/*.so",
    "Qt/plugins/xcbglintegrations/*.so",
    "Qt/plugins/wayland-decoration-client/*.so",
    "Qt/plugins/wayland-graphics-integration-client/libqt-plugin-wayland-egl.so",
    "Qt/plugins/wayland-shell-integration/libxdg-shell.so",
    "Qt/plugins/platforminputcontexts/libcomposeplatforminputcontextplugin.so",
    "Qt/plugins/platforminputcontexts/libibusplatforminputcontextplugin.so",
    "Qt/plugins/platformthemes/libqxdgdesktopportal.so",
)
_QT_WINDOWS = (
    "pyside6.abi3.dll",
    "msvcp140*.dll",
    "vcruntime140*.dll",
    *(f"Qt6{name}.dll" for name in _LIBRARIES),
    *(f"plugins/platforms/q{name}.dll" for name in ("windows", "offscreen")),
    *(f"plugins/imageformats/q{name}.dll" for name in ("svg", "ico", "jpeg", "gif")),
    "plugins/iconengines/qsvgicon.dll",
    "plugins/styles/*.dll",
    "plugins/tls/*.dll",
)
_QT = (*_QT_ANYWHERE, *_QT_LINUX, *_QT_WINDOWS)


def keeps(path: PurePosixPath) -> bool:
    """Whether a file of a wheel, relative to site-packages, belongs into a package."""
    top, *rest = path.parts
    if top.endswith(".dist-info"):
        return bool(rest) and any(fnmatchcase(rest[0], pattern) for pattern in _METADATA)
    if top == "PySide6":
        inside = "/".join(rest)
        return any(inside.count("/") == pattern.count("/") and fnmatchcase(inside, pattern) for pattern in _QT)
    if path.suffix in _DROPPED_SUFFIXES or set(_DROPPED_FOLDERS) & set(path.parts[:-1]):
        return False
    return not any(path.is_relative_to(tree) for tree in _DROPPED_TREES)


def is_licence(path: PurePosixPath) -> bool:
    """Whether a kept file is the text of a licence or a notice; these are collected in one place."""
    if path.parts[0].endswith(".dist-info"):
        return len(path.parts) > 2 or path.name not in _METADATA
    return path.name.upper().startswith(("LICENSE", "LICENCE", "THIRDPARTYNOTICES", "NOTICE", "COPYING")) and (
        path.suffix != ".py"
    )
