"""The page of `tagsmith explain --html` in a real browser: what people see, hear and type.

`make test-browser` runs these; set `REPORT_SCREENSHOTS` to a directory to keep the pictures.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pages import CALLS, FAMILY, HOSTILE, LONG, hostile_html, hostile_report
from tagsmith.engine.spans import Span, SpanKind
from tagsmith.report import build_report, render_page
from tagsmith.report.wording import quoted

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 360, "height": 740}
NO_CHROMIUM = "these tests need Chromium; install it (Debian: apt-get install chromium)"
Opener = Callable[..., "Page"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.fail(NO_CHROMIUM)
    with sync_playwright() as playwright:
        # Each context has a profile of its own. A sandbox needs rights that a container has not.
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Opener]:
    """Opens a page; at the end nothing may have been asked of a network, and nothing said."""
    contexts, said, asked = [], [], []

    def _open(name: str, html: str | None = None, **options: Any) -> Page:
        file = tmp_path / "report.html"
        file.write_text(html or hostile_html(name), encoding="utf-8", newline="")
        context = browser.new_context(**{"viewport": WIDE, **options})
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: said.append(dialog.message))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(file.as_uri())
        return page

    yield _open
    for context in contexts:
        context.close()
    assert said == []
    assert {url.partition(":")[0] for url in asked} == {"file"}
    assert len(asked) == len(contexts)


def raw_text(page: Page) -> str:
    # As JSON: on its way from the browser a lone surrogate would be lost.
    text: str = json.loads(
        page.evaluate("JSON.stringify(document.getElementById('raw').textContent)")
    )
    return text


def message_of(page: Page) -> str:
    return page.locator("#message-pane").inner_text()


@pytest.mark.parametrize("name", HOSTILE)
def test_the_raw_text_is_the_output_to_the_letter(name: str, opened: Opener) -> None:
    assert raw_text(opened(name)) == HOSTILE[name]


@pytest.mark.parametrize("name", ["calls", "NUL", "terminal codes", "one long line"])
def test_without_a_script_all_but_the_slider_is_there(name: str, opened: Opener) -> None:
    page = opened(name, java_script_enabled=False)
    # Without the page's own script; this one is the test's.
    assert page.locator("#raw").text_content() == HOSTILE[name].replace("\0", "\ufffd")
    assert not page.locator("#slider").is_visible()
    assert page.get_by_text("The slider over the deltas needs JavaScript").is_visible()
    assert page.locator("#message-pane").is_visible()
    page.get_by_label("Labels").check()
    page.get_by_text("The tag, as JSON").click()
    assert page.locator(".json", has_text='"structural_tag"').is_visible()


def test_the_slider_goes_by_keyboard(opened: Opener) -> None:
    page, report = opened("calls"), hostile_report("calls")
    end = message_of(page)
    slider = page.get_by_role("slider", name="Delta")
    slider.focus()
    status = page.get_by_role("status")
    page.keyboard.press("Home")
    assert status.inner_text() == "Nothing is fed yet."
    assert "look both up" not in message_of(page)
    for step in report.steps:
        page.keyboard.press("ArrowRight")
        fed = quoted(step.fed) if step.fed else "the output ends"
        assert status.inner_text().startswith(f"{fed} → ")
        said = "".join(
            getattr(event, "text", "") for event in step.events if event.type == "reasoning"
        )
        assert said in message_of(page)
    assert message_of(page) == end
    page.keyboard.press("Home")
    page.keyboard.press("End")
    assert message_of(page) == end
    page.keyboard.press("ArrowLeft")
    assert "Finish reason" not in message_of(page)
    assert raw_text(page) == CALLS


@pytest.mark.parametrize("name", ["calls", "citations", "diagnostics", "long", "joined"])
def test_each_moment_shows_what_the_parser_had_said(name: str, opened: Opener) -> None:
    page, report = opened(name), hostile_report(name)
    shown: dict[str, str] = {}
    for number, step in enumerate(report.steps, 1):
        for event in step.events:
            if event.type in ("reasoning", "content"):
                shown[event.type] = shown.get(event.type, "") + event.text
            elif event.type == "tool-call-delta":
                part = f"call-{event.index}"
                shown[part] = shown.get(part, "") + event.arguments
        if number % max(1, len(report.steps) // 10) and number != len(report.steps):
            continue
        moment = page.evaluate(MOVE_TO, number)
        assert {part: text for part, text in moment["parts"].items() if text} == shown
        kinds = [event.type for past in report.steps[:number] for event in past.events]
        assert moment["calls"] == kinds.count("tool-call-start")
        assert moment["citations"] == kinds.count("citation")
        assert moment["current"] == f"step-{number}"


MOVE_TO = """(count) => {
  const slider = document.getElementById("slider");
  slider.value = count;
  slider.dispatchEvent(new Event("input"));
  const parts = [...document.querySelectorAll("[data-part]")];
  const seen = (selector) =>
    [...document.querySelectorAll(selector)].filter((item) => item.checkVisibility()).length;
  return {
    parts: Object.fromEntries(parts.map((part) => [part.dataset.part, part.textContent])),
    calls: seen(".calls > li"),
    citations: seen(".citations > li"),
    current: document.querySelector("[aria-current]").id,
  };
}"""


def test_a_megabyte_follows_the_slider(opened: Opener) -> None:
    report = build_report(FAMILY, LONG)
    page = opened("long", html=render_page(report))
    assert page.evaluate("document.getElementById('raw').textContent.length") == len(LONG)
    slider = page.get_by_role("slider")
    slider.press("PageDown")
    count = int(slider.input_value())
    assert 0 < count < len(report.steps)
    shown = page.evaluate("document.querySelector('[data-part=content]').textContent.length")
    assert 0 < shown < len(report.message.content or "")
    # Of all its blocks, only those that can be seen are laid out.
    laid_out = """[...document.querySelectorAll("#raw .part")].filter(
      (part) => part.firstElementChild.checkVisibility({ contentVisibilityAuto: true })
    ).length"""
    assert 0 < page.evaluate(laid_out) < 30


def test_the_delta_is_marked_in_the_raw_text(opened: Opener) -> None:
    page = opened("calls")
    page.evaluate(MOVE_TO, 2)
    step = hostile_report("calls").steps[1]
    marked = "[...CSS.highlights.get('delta')].map(String).join('')"
    assert page.evaluate(marked) == step.fed
    rest = "[...CSS.highlights.get('not-fed')].map(String).join('')"
    assert CALLS.endswith(page.evaluate(rest))
    page.get_by_role("slider").press("End")
    assert page.evaluate("CSS.highlights.size") == 0


@pytest.mark.parametrize("system", ["light", "dark"])
def test_the_theme_follows_the_system_and_the_switch(system: str, opened: Opener) -> None:
    page = opened("calls", color_scheme=system)
    dark = "getComputedStyle(document.documentElement).backgroundColor === 'rgb(21, 23, 27)'"
    assert page.evaluate(dark) is (system == "dark")
    for choice in ("Light", "Dark"):
        page.get_by_role("radio", name=choice).check()
        assert page.evaluate(dark) is (choice == "Dark")
    page.get_by_role("radio", name="System").check()
    assert page.evaluate(dark) is (system == "dark")


def page_of_every_kind() -> str:
    """A page with a span of each kind."""
    spans = [Span(at, at + 3, kind, f"{at:02} ") for at, kind in zip(AT, SpanKind, strict=True)]
    text = "".join(span.text for span in spans)
    return render_page(replace(build_report(FAMILY, text), spans=tuple(spans)))


AT = range(0, 3 * len(SpanKind), 3)


@pytest.mark.parametrize("name", ["calls", "citations", "diagnostics", "terminal codes", "kinds"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(name: str, theme: str, opened: Opener) -> None:
    """axe-core's rules, the contrast of WCAG AA among them, at the end and on the way."""
    from axe_playwright_python.sync_playwright import Axe

    html = page_of_every_kind() if name == "kinds" else hostile_html(name)
    page = opened(name, html=html, color_scheme=theme)
    page.get_by_label("Labels").check()
    page.get_by_label("White space").check()
    for summary in page.locator("summary").all():
        summary.click()
    for count in (int(page.get_by_role("slider").input_value()), 3):
        page.evaluate(MOVE_TO, count)
        results = Axe().run(page)
        assert results.violations_count == 0, results.generate_report()


def test_the_page_has_names_for_those_who_hear_it(opened: Opener) -> None:
    page = opened("diagnostics")
    for role in ("banner", "main", "contentinfo"):
        assert page.get_by_role(role).count() == 1
    for name in ("Raw text", "Message", "Events", "Diagnostics", "Structural tag"):
        assert page.get_by_role("region", name=name, exact=True).count() == 1
        assert page.get_by_role("heading", name=name, exact=True, level=2).count() == 1
    assert page.get_by_role("heading", level=1).count() == 1
    assert page.get_by_role("form", name="Playback").count() == 1
    assert page.get_by_role("group", name="Theme").count() == 1
    value = page.get_by_role("slider", name="Delta").get_attribute("aria-valuetext")
    total = len(HOSTILE["diagnostics"])
    assert value is not None
    assert value.endswith(f"and the end ({total} of {total} characters)")
    assert page.locator("#now").get_attribute("role") == "status"


def test_diagnostics_lead_to_their_place_and_back(opened: Opener) -> None:
    page = opened("diagnostics")
    sign = page.get_by_role("link", name="Diagnostic 2: unclosed-citation")
    sign.focus()
    page.keyboard.press("Enter")
    assert page.url.endswith("#diagnostic-2")
    page.locator("#diagnostic-2 a").press("Enter")
    assert page.url.endswith("#at-2")
    assert sign.is_visible()


def test_all_that_acts_is_reached_and_shows_its_focus(opened: Opener) -> None:
    page = opened("calls")
    reached = []
    for _ in range(40):
        page.keyboard.press("Tab")
        focus = page.evaluate(FOCUS)
        if focus["id"] == "slider" and "slider" in reached:
            break
        reached.append(focus["id"] or focus["text"])
        assert focus["outlined"], focus
    expected = {"theme-system", "labels", "spaces", "slider", "raw-pane", "message-pane"}
    assert expected | {"Skip to the raw text", "Chat Completions"} <= set(reached)


FOCUS = """() => {
  const element = document.activeElement;
  const shown = element.type === "radio" ? element.nextElementSibling : element;
  const style = getComputedStyle(shown);
  return {
    id: element.id,
    text: element.textContent,
    outlined: element === document.body || style.outlineStyle !== "none",
  };
}"""


@pytest.mark.parametrize("name", ["calls", "diagnostics", "one long line", "controls"])
@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_the_page_never_scrolls_sideways(name: str, size: dict[str, int], opened: Opener) -> None:
    page = opened(name, viewport=size)
    for summary in page.locator("summary").all():
        summary.click()
    page.get_by_label("Labels").check()
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    raw = page.locator("#raw-pane")
    assert raw.evaluate("pane => pane.scrollWidth - pane.clientWidth") <= 1


def test_labels_and_white_space_are_shown_on_demand(opened: Opener) -> None:
    page = opened("white space")
    label = "getComputedStyle(document.querySelector('#raw [data-kind]'), '::before')"
    mark = "getComputedStyle(document.querySelector('[data-kind=content] .line'), '::before')"
    assert page.evaluate(f"{label}.position") == "absolute"
    assert page.evaluate(f"{mark}.content") == "none"
    page.get_by_label("Labels").check()
    page.get_by_label("White space").check()
    assert page.evaluate(f"{label}.position") == "static"
    assert page.evaluate(f"{mark}.content") == '"↵"'
    assert raw_text(page) == HOSTILE["white space"]


def test_the_direction_of_writing_stays_in_its_span(opened: Opener) -> None:
    """What comes after a right-to-left override still stands to the right of it."""
    page = opened("direction")
    places = page.evaluate(
        """() => {
          const range = document.createRange();
          const nodes = [...document.querySelectorAll("#raw [data-kind]")]
            .flatMap((span) => [...span.childNodes]).filter((node) => node.data === "left");
          return nodes.flatMap((node) => [0, 1, 2, 3].map((at) => {
            range.setStart(node, at);
            range.setEnd(node, at + 1);
            return range.getBoundingClientRect().left;
          }));
        }"""
    )
    assert len(places) == 4
    assert places == sorted(places)


def test_print_shows_all(opened: Opener) -> None:
    page = opened("calls", color_scheme="dark")
    page.get_by_role("radio", name="Dark").check()
    page.emulate_media(media="print")
    assert not page.locator("#slider").is_visible()
    assert page.locator(".json").first.is_visible()
    background = "getComputedStyle(document.documentElement).backgroundColor"
    assert page.evaluate(background) == "rgb(255, 255, 255)"


@pytest.mark.parametrize("name", ["calls", "citations", "diagnostics"])
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_a_picture(
    name: str, theme: str, size: dict[str, int], opened: Opener, tmp_path: Path
) -> None:
    """For the eye; here it is enough that it is no blank."""
    page = opened(name, viewport=size, color_scheme=theme)
    page.get_by_role("slider").focus()
    page.keyboard.press("ArrowLeft")
    target = Path(os.environ.get("REPORT_SCREENSHOTS") or tmp_path)
    picture = target / f"{name}-{theme}-{size['width']}.png"
    page.evaluate("scrollTo(0, 0)")
    assert len(page.screenshot(path=picture)) > 10_000
