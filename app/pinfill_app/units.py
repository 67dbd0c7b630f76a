"""Numbers with their units, as this person's locale writes them: 1,880 tokens, 87 MB, 0.4 s, 8 min 2 s."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QDateTime, QLocale

KB, MB, GB = 1_000, 1_000_000, 1_000_000_000


def use_locale() -> None:
    """The system's locale for all numbers; English where there is none, because "C" has no separators."""
    system = QLocale.system()
    english = QLocale(QLocale.Language.English, QLocale.Country.UnitedStates)
    QLocale.setDefault(english if system.language() is QLocale.Language.C else system)


def _tr(text: str) -> str:
    return QCoreApplication.translate("units", text)


def number(value: float, digits: int = 0) -> str:
    """A number with the locale's separators."""
    return QLocale().toString(float(value), "f", digits)


def tokens(count: int) -> str:
    """1 token; 1,880 tokens"""
    return _tr("{} token").format(number(count)) if count == 1 else _tr("{} tokens").format(number(count))


def size(count: int) -> str:
    """Bytes in decimal units: 12 bytes, 340 kB, 87 MB, 1.4 GB."""
    if count < KB:
        return _tr("{} bytes").format(number(count))
    if count < 999.5 * KB:
        return _tr("{} kB").format(number(count / KB))
    value, unit = (count / MB, _tr("{} MB")) if count < 999.5 * MB else (count / GB, _tr("{} GB"))
    return unit.format(number(value, 0 if value >= 9.95 else 1))


def duration(seconds: float) -> str:
    """0.03 s, 4.1 s, 12 s, 8 min 2 s, 3 h 12 min."""
    if seconds < 59.5:
        digits = 0 if seconds >= 9.95 or not seconds else 1 if abs(seconds) >= 0.0995 else 2
        return _tr("{} s").format(number(seconds, digits))
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return _tr("{} min {} s").format(number(minutes), number(rest))
    return _tr("{} h {} min").format(number(minutes // 60), number(minutes % 60))


def rough_duration(seconds: float) -> str:
    """A sum that nobody needs to the second: 4.1 s, 21 min, 3 h 12 min."""
    if seconds < 59.5:
        return duration(seconds)
    minutes = round(seconds / 60)
    return _tr("{} min").format(number(minutes)) if minutes < 60 else duration(minutes * 60)


def ago(seconds: float) -> str:
    """How long ago, in one unit: now, 2 min, 3 h, 5 d."""
    for limit, unit in ((86_400, _tr("{} d")), (3_600, _tr("{} h")), (60, _tr("{} min"))):
        if seconds >= limit:
            return unit.format(number(int(seconds // limit)))
    return _tr("now")


def clock(at: float) -> str:
    """A Unix time as the locale writes the time of day."""
    return QLocale().toString(QDateTime.fromSecsSinceEpoch(int(at)).time(), QLocale.FormatType.ShortFormat)


def clock_with_seconds(at: float) -> str:
    """10:42:07 AM"""
    locale, time = QLocale(), QDateTime.fromSecsSinceEpoch(int(at)).time()
    return locale.toString(time, locale.timeFormat(QLocale.FormatType.ShortFormat).replace("mm", "mm:ss"))


def rate(tokens_per_second: float) -> str:
    """620 tokens/s"""
    return _tr("{} tokens/s").format(number(tokens_per_second, 0 if tokens_per_second >= 9.95 else 1))


def percent(share: float) -> str:
    """0 to 1 as 48 %, rounded down: 100 % is all."""
    return _tr("{} %").format(number(int(share * 100)))
