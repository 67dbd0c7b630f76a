"""The page of activity: requests that run and have run, what the doctor found, pinning a request's beginning."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QMenu, QPlainTextEdit
from pytestqt.qtbot import QtBot

from pinfill_app.failure import Failure, FailureKind
from pinfill_app.models.request_row import BAR_COLUMN
from pinfill_app.service_state import ServiceState
from pinfill_app.windows.activity import ActivityPage
from pinfill_service.api.schemas import manage
from tests.support.pages import Asked, Shown, detail, english, request, shown

CLOCK = manage.Finding(
    kind="clock",
    position_tokens=210,
    segment="system",
    before="The current time is 10:40. You are",
    after="The current time is 10:41. You are",
    explanation='A date or time in "system" differs.',
    suggestion="Move the date or time to the last message, or leave it out.",
)
SLOW = request(
    "slow", client="goose", prompt_tokens=4_510, cached_tokens=210, processed_tokens=4_300, finding=CLOCK, pin="rubric"
)
STARTED = manage.RequestStartedEvent(
    id="now", route="/", client="goose", model="m", prompt_tokens=100, cached_tokens=40, miss_reason=None
)
Activity = Shown[ActivityPage]


@pytest.fixture
def activity(qtbot: QtBot, home: Path) -> Iterator[Activity]:
    with english(), shown(qtbot, ActivityPage, home) as made:
        segments = {"system": 1_880, "message 1 (user)": 2_620, "generation prompt": 10}
        made.client.answers["GET", "requests", "slow"] = detail(SLOW, segments)
        yield made


def cells(activity: Activity, row: int = 0) -> list[str]:
    table = activity.page.table
    return [table.data(table.index(row, column)) for column in range(table.columnCount())]


def known(qtbot: QtBot, activity: Activity, request_id: str = "slow") -> None:
    activity.page.shown(select=request_id)
    qtbot.waitUntil(lambda: activity.page.detail.pin.isEnabled())


def test_requests_that_run_come_first_and_become_those_that_have_ended(activity: Activity) -> None:
    activity.have(requests=(SLOW,))
    activity.store.running.start(STARTED)
    activity.store.progress_changed.emit()
    assert [row.id for row in activity.page.table.rows] == ["now", "slow"]
    assert cells(activity)[1:] == ["goose", "m", "", "running", "40", "60", "40 %"]
    activity.page.shown(select="now")
    activity.store.running.progress(manage.RequestProgressEvent(id="now", done=100, total=100))
    activity.store.progress_changed.emit()
    assert "answering" in cells(activity) and not activity.page.detail.pin.isEnabled()
    activity.store.running.finish("now")
    activity.have(requests=(request("now", prompt_tokens=100, cached_tokens=40, processed_tokens=60), SLOW))
    assert [row.id for row in activity.page.table.rows] == ["now", "slow"] and "0.4 s" in cells(activity)
    chosen = activity.page.view.chosen
    assert chosen is not None and chosen.summary is not None
    assert activity.client.asked[-1] == Asked("GET", ("requests", "now"))


def test_the_selected_request_shows_the_finding_with_both_texts(qtbot: QtBot, activity: Activity) -> None:
    activity.have(requests=(request("quick"), SLOW))
    known(qtbot, activity)
    panel = activity.page.detail
    assert panel.finding.text() == 'Left what is cached at token 210, in "system". ' + CLOCK.explanation
    assert panel.suggestion.text() == CLOCK.suggestion and panel.texts.isVisible()
    assert [underlined(pane) for pane in panel.texts._panes] == ["10:40.", "10:41."]
    assert (
        "210 cached, 4,300 new, of 4,510 tokens" in panel.facts.text() and "smollm2-135m@rubric" in panel.facts.text()
    )
    activity.page.shown(select="quick")
    assert not panel.texts.isVisible() and not panel.finding.text() and not panel.pin.isEnabled()


def test_what_is_different_is_marked_without_colour_too(qtbot: QtBot, activity: Activity) -> None:
    after = CLOCK.after.replace("The", "\N{PUSHPIN} The")
    changed = CLOCK.model_copy(update={"before": CLOCK.before.replace("The", "\N{PUSHPIN} The"), "after": after})
    activity.have(requests=(SLOW.model_copy(update={"finding": changed}),))
    activity.page.shown(select="slow")
    pane = activity.page.detail.texts._panes[1]
    assert underlined(pane) == "10:41." and "10:41." in pane.accessibleDescription()
    activity.page.detail.texts.show_texts("now it is late", "now it is early")
    assert underlined(pane) == "early"
    activity.page.detail.texts.show_texts("one two three", "one 2 and 3")
    assert underlined(pane) == "2 and 3" and pane.accessibleDescription() == "Different: 2 and 3"
    activity.page.detail.texts.show_texts("red and blue", "green and yellow")
    assert underlined(pane) == "greenyellow" and pane.accessibleDescription() == "Different: green, yellow"


def underlined(pane: QPlainTextEdit) -> str:
    """What is bold and underlined."""
    document, marked = pane.document(), ""
    for place in range(document.characterCount() - 1):
        cursor = pane.textCursor()
        cursor.setPosition(place + 1)
        if cursor.charFormat().fontUnderline() and cursor.charFormat().fontWeight() == QFont.Weight.Bold:
            marked += document.characterAt(place)
    return marked


def rules(on: bool) -> manage.SettingsView:
    dates = manage.PromptRule(
        name="dates",
        title="Dates stand behind",
        description="It moves dates.",
        default=False,
        on=on,
        prevents=["clock"],
    )
    return manage.SettingsView(values={}, changeable=[], needs_restart=[], rules=[dates])


def test_a_rule_that_helps_is_offered_until_it_is_on(qtbot: QtBot, activity: Activity) -> None:
    activity.client.answers["GET", "settings"] = rules(on=False)
    activity.client.answers["PATCH", "settings"] = Failure(FailureKind.REFUSED, "settings.toml cannot be written.")
    activity.have(requests=(SLOW, request("quick")))
    activity.page.shown(select="slow")
    offer = activity.page.offer
    qtbot.waitUntil(offer.isVisible)
    assert offer.question.text() == 'Turn on the rule "Dates stand behind"?' and not offer.description.isVisible()
    offer.why.click()
    assert offer.description.isVisible() and offer.description.text() == "It moves dates."
    offer.turn_on.click()
    qtbot.waitUntil(lambda: "cannot be written" in activity.page.notices.texts.get("rule", ""))
    assert activity.client.asked[-1] == Asked("PATCH", ("settings",), {"rules": {"dates": True}}) and offer.isVisible()
    activity.client.answers["PATCH", "settings"] = rules(on=True)
    offer.turn_on.click()
    qtbot.waitUntil(lambda: not offer.isVisible())
    assert "from now on" in activity.page.notices.texts["rule"]
    activity.page.shown(select="quick")
    assert not offer.isVisible()


def test_a_finding_of_which_only_the_place_is_kept(activity: Activity) -> None:
    kept = manage.Finding(kind="clock", position_tokens=1_210, segment="system")
    activity.have(requests=(SLOW.model_copy(update={"finding": kept}),))
    activity.page.shown(select="slow")
    assert cells(activity)[4] == "left what is cached at token 1,210"
    assert activity.page.detail.finding.text() == 'Left what is cached at token 1,210, in "system".'
    assert not activity.page.detail.texts.isVisible() and not activity.page.detail.suggestion.isVisible()


def test_the_beginning_of_a_request_is_pinned_up_to_a_segment(qtbot: QtBot, activity: Activity) -> None:
    activity.have(requests=(SLOW,))
    known(qtbot, activity)
    actions = activity.page.detail.menu.actions()
    assert [action.text() for action in actions] == ["system: 1,880 tokens", "message 1 (user): 4,500 tokens"]
    actions[1].trigger()
    assert activity.pages == [("prefixes", {"pin_request": "slow", "up_to": "message 1 (user)"})]
    activity.page.view.menu_asked.emit(QPoint(0, 0))
    (menu,) = (each for each in activity.page.findChildren(QMenu) if each.isVisible())
    assert set(actions) < set(menu.actions()) and menu.actions()[-1].text() == "Columns"
    menu.close()


def test_a_long_conversation_offers_its_first_segments_and_all_the_others(qtbot: QtBot, activity: Activity) -> None:
    segments = {f"message {number} (user & co)": 10 for number in range(90)}
    activity.client.answers["GET", "requests", "slow"] = detail(SLOW, segments)
    activity.have(requests=(SLOW,))
    known(qtbot, activity)
    actions = activity.page.detail.menu.actions()
    assert len(actions) == 22 and actions[0].text() == "message 0 (user && co): 10 tokens"
    assert actions[-1].text() == "70 more..."
    actions[-1].trigger()
    assert activity.pages == [("prefixes", {"pin_request": "slow", "up_to": None})]


def test_a_request_whose_text_is_forgotten_says_so(qtbot: QtBot, activity: Activity) -> None:
    activity.client.answers["GET", "requests", "slow"] = detail(SLOW, {"system": 1_880}, remembered=False)
    activity.have(requests=(SLOW,))
    activity.page.shown(select="slow")
    qtbot.waitUntil(lambda: "Send it again" in activity.page.detail.pin.toolTip())
    assert not activity.page.detail.pin.isEnabled()


def test_a_detail_that_cannot_be_had_is_told_and_the_finding_still_shown(qtbot: QtBot, activity: Activity) -> None:
    activity.client.answers["GET", "requests", "slow"] = Failure(FailureKind.REFUSED, "There is no request slow.")
    activity.have(requests=(SLOW, request("quick")))
    activity.page.shown(select="slow")
    qtbot.waitUntil(lambda: "no request slow" in activity.page.notices.texts.get("detail", ""))
    assert activity.page.detail.texts.isVisible()
    activity.page.shown(select="quick")
    assert "detail" not in activity.page.notices.texts


def test_failures_and_cancellations_are_words(activity: Activity) -> None:
    failed = request("a", error="kv_memory", generated_tokens=0)
    activity.have(requests=(failed, request("b", finish_reason="cancelled")))
    assert cells(activity)[4] == "failed: kv_memory" and cells(activity)[-1] == "\N{EN DASH}"
    assert cells(activity, 1)[4] == "cancelled"


def test_an_empty_page_says_what_to_do(activity: Activity) -> None:
    assert "http://127.0.0.1:7463/v1" in activity.page.empty.words
    activity.say(ServiceState.STOPPED)
    assert "not running (stopped)" in activity.page.empty.words
    activity.say(ServiceState.LOADING)
    assert "loading the model" in activity.page.empty.words


def test_a_hidden_page_draws_nothing_until_it_is_shown(activity: Activity) -> None:
    activity.page.hide()
    activity.have(requests=(SLOW,))
    assert not activity.page.table.rows
    activity.page.show()
    assert len(activity.page.table.rows) == 1


def test_everything_is_drawn_at_any_size(activity: Activity) -> None:
    activity.have(requests=tuple(request(str(number), finding=CLOCK) for number in range(500)))
    activity.page.shown(select="0")
    index = activity.page.table.index(0, BAR_COLUMN)
    assert "12,310 cached" in activity.page.table.data(index, 3)  # Qt.ToolTipRole
    for width, height in ((300, 200), (2000, 1400)):
        activity.page.resize(width, height)
        assert not activity.page.grab().isNull()
