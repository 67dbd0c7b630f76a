"""The application's language: the one that was chosen, or the system's.

The .ts files beside this one are for people, and the .qm files are made from them by installers/translations.py.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator

from pinfill_app.units import use_locale

FOLDER = Path(__file__).parent
LANGUAGES = ("de", "zh_CN")  # that the application is translated into


def use_language(application: QCoreApplication, chosen: str) -> None:
    """Shows texts and numbers in the `chosen` language from now on; "" is the system's. Call it before any widget is
    made. Qt's own texts follow as far as Qt has them.
    """
    use_locale()
    if chosen:
        QLocale.setDefault(QLocale(chosen))
    found = spoken()
    if found is None:
        return
    for folder, name in (
        (QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath), "qtbase"),
        (str(FOLDER), "pinfill"),
    ):
        translator = QTranslator(application)
        if translator.load(f"{name}_{found}", folder):
            application.installTranslator(translator)


def spoken() -> str | None:
    """The language that texts are shown in; None for English."""
    return language_of(QLocale())


def language_of(locale: QLocale) -> str | None:
    """The translation for a locale; None for English, which needs none, and for what there is no translation for."""
    if locale.language() is QLocale.Language.German:
        return "de"
    simplified = locale.script() in (QLocale.Script.SimplifiedHanScript, QLocale.Script.AnyScript)
    return "zh_CN" if locale.language() is QLocale.Language.Chinese and simplified else None
