"""What is drawn: icons, the bar, the tray's icon on light and dark panels; and the words beside them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPalette
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QPushButton,
    QRadioButton,
    QSpinBox,
    QToolButton,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from pinfill_app import icons
from pinfill_app.client import Client
from pinfill_app.running import RunningRequest
from pinfill_app.service_state import ServiceState
from pinfill_app.settings import AppSettings
from pinfill_app.state import Store
from pinfill_app.supervisor import Supervisor
from pinfill_app.theme import Theme, cached_color, failure_color, is_dark, processed_color, readable, use_theme
from pinfill_app.tray import Tray
from pinfill_app.tray_icon import SIZES, Look, Sign, draw
from pinfill_app.widgets.cached_bar import CachedBar
from pinfill_app.widgets.elided_label import ElidedLabel
from pinfill_app.widgets.form import Note
from pinfill_app.widgets.plain_view import DiffColors, PlainView
from pinfill_app.widgets.primary_button import PrimaryButton
from pinfill_app.windows.notices import Notice, Notices
from pinfill_service.api.schemas.manage import PinProgressEvent
from pinfill_service.resources import resource
from tests.support import pages
from tests.support.desktop import QUICK, scripted

role = QPalette.ColorRole
LOOKS = [Look(sign) for sign in Sign] + [Look(Sign.READY, percent) for percent in (0, 50, 100)]
PANELS = {"light": QColor("#f2f2f2"), "dark": QColor("#202020")}


@pytest.fixture(autouse=True)
def system_theme(qtbot: QtBot) -> Iterator[None]:
    yield
    use_theme(Theme.SYSTEM)


def luminance(color: QColor) -> float:
    """Relative luminance (WCAG 2.2)."""
    parts = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in color.getRgbF()[:3])
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))


def contrast(one: QColor, other: QColor) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def on(panel: QColor, look: Look, size: int) -> QImage:
    image = QImage(size, size, QImage.Format.Format_RGB32)
    image.fill(panel)
    painter = QPainter(image)
    painter.drawPixmap(0, 0, draw(look, size))
    painter.end()
    return image


def pixels(image: QImage) -> list[QColor]:
    return [image.pixelColor(x, y) for x in range(image.width()) for y in range(image.height())]


@pytest.mark.parametrize("panel", PANELS)
@pytest.mark.parametrize("size", SIZES[:4])
def test_every_state_has_an_icon_of_its_own_that_stands_out(panel: str, size: int) -> None:
    images = [on(PANELS[panel], look, size) for look in LOOKS]
    for number, image in enumerate(images):
        clear = sum(contrast(pixel, PANELS[panel]) >= 2.5 for pixel in pixels(image))
        assert clear >= size * size * 0.06, (LOOKS[number], clear)
        assert all(image != other for other in images[:number])


def test_the_ring_fills_with_what_is_prefilled() -> None:
    def teal(percent: int) -> int:
        image = on(PANELS["light"], Look(Sign.READY, percent), 64)
        return sum(pixel.hue() in range(170, 200) and pixel.saturation() > 150 for pixel in pixels(image))

    amounts = [teal(percent) for percent in (0, 25, 50, 75, 100)]
    assert amounts == sorted(amounts) and amounts[4] - amounts[0] > 300


@pytest.mark.parametrize("theme", [Theme.LIGHT, Theme.DARK])
def test_the_colours_that_mean_something_can_be_told_apart(theme: Theme) -> None:
    use_theme(theme)
    palette = QApplication.palette()
    assert is_dark(palette) == (theme is Theme.DARK)
    ground = palette.color(QPalette.ColorRole.Base)
    assert contrast(cached_color(palette), ground) >= 3 and contrast(failure_color(palette), ground) >= 4.5
    assert contrast(processed_color(palette), ground) >= 2.5
    assert contrast(palette.color(QPalette.ColorRole.WindowText), palette.color(QPalette.ColorRole.Window)) >= 7


def every_icon() -> list[str]:
    return sorted(path.stem for path in resource("icons").glob("*.svg"))


@pytest.mark.parametrize("name", every_icon())
def test_every_icon_is_drawn_in_the_colour_it_is_given(qtbot: QtBot, name: str) -> None:
    root = ElementTree.fromstring(resource(f"icons/{name}.svg").read_text(encoding="utf-8"))
    assert root.get("viewBox") == "0 0 24 24" and root.get("stroke") == "currentColor"
    image = icons.pixmap(name, 24, QColor("#ff0000")).toImage()
    drawn = [pixel for pixel in pixels(image) if pixel.alpha() > 200]
    assert len(drawn) >= 12 and all((pixel.red() > 240, pixel.green(), pixel.blue()) == (True, 0, 0) for pixel in drawn)


def test_icons_follow_the_theme(qtbot: QtBot) -> None:
    use_theme(Theme.LIGHT)
    button = QPushButton()
    qtbot.addWidget(button)
    icons.set_icon(button, "stop")
    dark = pixels(button.icon().pixmap(24, 24).toImage())
    use_theme(Theme.DARK)
    icons.retint()
    light = pixels(button.icon().pixmap(24, 24).toImage())
    assert max(pixel.lightness() for pixel in dark if pixel.alpha() > 200) < 60
    assert min(pixel.lightness() for pixel in light if pixel.alpha() > 200) > 180


def test_the_bar_is_cached_then_processed_then_open(qtbot: QtBot) -> None:
    bar = CachedBar()
    qtbot.addWidget(bar)
    bar.resize(100, 10)
    bar.set_tokens(500, 250, 1_000)
    image, palette = bar.grab().toImage(), bar.palette()
    ratio = image.width() / 100
    at = [image.pixelColor(int(place * ratio), image.height() // 2) for place in (25, 60, 90)]
    assert at[:2] == [cached_color(palette), processed_color(palette)] and at[2] not in at[:2]
    assert "500 cached, 250 new" in bar.accessibleDescription()
    bar.set_tokens(0, 0, 0)  # nothing is known yet
    bar.grab()


def test_the_tray_tells_the_state(qtbot: QtBot, home: Path) -> None:
    store, supervisor = Store(Client()), Supervisor(scripted(home), QUICK)
    menu = QMenu()
    tray = Tray(store, supervisor, menu)
    assert tray.look == Look(Sign.STOPPED) and tray.tool_tip == "Pinfill - stopped"
    supervisor._set(ServiceState.READY)
    store._on_status(pages.status(None))
    assert tray.look == Look(Sign.WAITING) and tray.tool_tip == "Pinfill - ready - no model is loaded"
    values = {"pins": {"warm": 3, "cold": 1}, "saved_seconds_today": 1_260.0}
    store._on_status(pages.status().model_copy(update=values))
    assert tray.look == Look(Sign.READY)
    assert tray.tool_tip == "Pinfill - ready - 3 pins warm - 21 min saved today"
    store.running.pin_progress(PinProgressEvent(name="p", done=1, total=4, seconds_left=None))
    assert tray.look == Look(Sign.READY, 25)
    store.running.requests["a"] = RunningRequest("a", "c", "m", 0, 6, 6)  # decoding: there is nothing to prefill
    assert tray.look == Look(Sign.READY, 25)
    supervisor._set(ServiceState.FAILED, "why")
    assert tray.look.sign is Sign.FAILED and tray.tool_tip == "Pinfill - failed"
    tray.deleteLater()


def test_a_notice_that_was_read_does_not_come_back_until_it_is_news(qtbot: QtBot) -> None:
    notices = Notices()
    qtbot.addWidget(notices)
    notices.show_notice("port", Notice("Port 1"))
    notices.show_notice("key", Notice("Key"))
    notices.show_notice("port", Notice("Port 2"))
    assert notices.texts == {"key": "Key", "port": "Port 2"}
    cross = notices._lines["port"][1].findChildren(QToolButton)[-1]
    qtbot.mouseClick(cross, Qt.MouseButton.LeftButton)
    notices.show_notice("port", Notice("Port 2"))
    assert notices.texts == {"key": "Key"}
    notices.withdraw("port")
    notices.show_notice("port", Notice("Port 2"))
    assert notices.texts == {"key": "Key", "port": "Port 2"}


def test_settings_are_kept_and_nonsense_is_the_default(qtbot: QtBot, home: Path) -> None:
    settings = AppSettings(home)
    assert (settings.theme, settings.log_level, settings.notifications) == (Theme.SYSTEM, "info", True)
    settings.theme, settings.log_level, settings.notifications = Theme.DARK, "debug", False
    settings.save()
    again = AppSettings(home)
    assert (again.theme, again.log_level, again.notifications) == (Theme.DARK, "debug", False)
    (home / "app.ini").write_text("[General]\ntheme=purple\nlog_level=loud\ngeometry=7\n")
    fresh = AppSettings(home)
    fresh._values.sync()
    assert (fresh.theme, fresh.log_level, fresh.geometry.isEmpty()) == (Theme.SYSTEM, "info", True)


TEXTS = [  # and what they stand on
    *((role.WindowText, role.Window), (role.Text, role.Base), (role.ButtonText, role.Button)),
    *((role.HighlightedText, role.Highlight), (role.PlaceholderText, role.Base)),
    *((role.Link, role.Base), (role.LinkVisited, role.Base)),
]


def faint(palette: QPalette) -> list[str]:
    """Which texts cannot be read."""
    found = []
    for group in (QPalette.ColorGroup.Active, QPalette.ColorGroup.Inactive, QPalette.ColorGroup.Disabled):
        for text, below in TEXTS:
            ground = palette.color(group, below)
            if contrast(on_ground(palette.color(group, text), ground), ground) < 4.5:
                found.append(f"{group.name} {text.name}")
    return found


def on_ground(color: QColor, ground: QColor) -> QColor:
    image = QImage(1, 1, QImage.Format.Format_RGB32)
    image.fill(ground)
    painter = QPainter(image)
    painter.fillRect(image.rect(), color)
    painter.end()
    return image.pixelColor(0, 0)


@pytest.mark.parametrize("theme", [Theme.LIGHT, Theme.DARK])
def test_no_text_is_faint_whether_it_is_disabled_selected_a_hint_or_a_link(qtbot: QtBot, theme: Theme) -> None:
    use_theme(theme)
    assert faint(QApplication.palette()) == []
    link, window = QApplication.palette().link().color(), QApplication.palette().window().color()
    assert contrast(link, window) >= 4.5


colors = st.integers(0, 0xFFFFFF).map(QColor.fromRgb)


@given(st.tuples(colors, colors, colors, colors, colors))
def test_a_desktop_with_faint_colours_is_made_readable(qapp: QApplication, chosen: tuple[QColor, ...]) -> None:
    palette = QPalette(*chosen[:2])
    for role_, color in zip((role.Base, role.Highlight, role.HighlightedText), chosen[2:], strict=True):
        palette.setColor(role_, color)
    made = readable(palette)
    assert faint(made) == [] and readable(made) == made


@pytest.mark.parametrize("theme", [Theme.LIGHT, Theme.DARK])
def test_every_line_of_a_difference_can_be_read(qtbot: QtBot, theme: Theme) -> None:
    use_theme(theme)
    view = PlainView("What changes")
    qtbot.addWidget(view)
    colors = DiffColors(view)
    view.show_text("--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\n same")
    ground, block, seen = view.palette().color(role.Base), view.document().begin(), set[str]()
    colors.rehighlight()
    while block.isValid():
        for part in block.layout().formats():
            color = part.format.foreground().color()
            seen.add(color.name())
            assert contrast(on_ground(color, ground), ground) >= 4.5, block.text()
        block = block.next()
    assert len(seen) == 3


def test_notes_and_primary_buttons_follow_the_theme(qtbot: QtBot) -> None:
    use_theme(Theme.DARK)
    page, note, button = QWidget(), Note("Explains it."), PrimaryButton("Pin")
    qtbot.addWidget(page)
    layout = QVBoxLayout(page)
    layout.addWidget(note)
    layout.addWidget(button)
    page.show()
    for theme in (Theme.LIGHT, Theme.DARK, Theme.LIGHT):
        use_theme(theme)
        QApplication.processEvents()
        palette, window = note.palette(), QApplication.palette().color(role.Window)
        assert contrast(on_ground(palette.color(role.WindowText), window), window) >= 4.5
        palette = button.palette()
        assert contrast(palette.color(role.ButtonText), palette.color(role.Button)) >= 4.5
        assert button.palette().color(role.Base) == QApplication.palette().color(role.Base)


@pytest.mark.parametrize("theme", [Theme.LIGHT, Theme.DARK])
@pytest.mark.parametrize("kind", [QLineEdit, QComboBox, QSpinBox, QPlainTextEdit, QPushButton, QRadioButton])
def test_it_is_seen_where_a_control_ends(qtbot: QtBot, theme: Theme, kind: type[QWidget]) -> None:
    use_theme(theme)
    page, control = QWidget(), kind()
    qtbot.addWidget(page)
    QVBoxLayout(page).addWidget(control)
    page.resize(page.sizeHint())
    image, ground = page.grab().toImage(), QApplication.palette().window().color()
    middle = [image.pixelColor(x, image.height() // 2) for x in range(image.width() // 2)]
    assert max(contrast(pixel, ground) for pixel in middle) >= 3  # WCAG 2.2, 1.4.11


@pytest.mark.parametrize("theme", [Theme.LIGHT, Theme.DARK])
def test_a_box_that_is_not_ticked_is_seen_in_both_themes(qtbot: QtBot, theme: Theme) -> None:
    use_theme(theme)
    menu, page = QMenu(), QWidget()
    qtbot.addWidget(menu)
    qtbot.addWidget(page)
    menu.addAction("").setCheckable(True)
    QVBoxLayout(page).addWidget(QCheckBox())
    ground = QApplication.palette().color(QPalette.ColorRole.Base)
    for widget in (menu, page):
        widget.resize(widget.sizeHint())
        image = widget.grab().toImage()
        inside = image.rect().adjusted(3, 3, -3, -3)  # a menu has a frame, which is as clear
        assert max(contrast(pixel, ground) for pixel in pixels(image.copy(inside))) >= 3, widget  # WCAG 2.2, 1.4.11
        assert contrast(image.pixelColor(inside.topLeft()), ground) < 1.5  # outside of the box


def test_a_label_as_wide_as_it_wants_to_be_shows_all_of_its_text(qtbot: QtBot) -> None:
    label = ElidedLabel()
    qtbot.addWidget(label)
    for length in range(1, 60):
        text = ("use as model: tiny@rubric " * 3)[:length].strip()
        label.show_text(text)
        width = label.sizeHint().width()
        assert label.fontMetrics().elidedText(text, Qt.TextElideMode.ElideMiddle, width) == text
