"""The page: one HTML file that holds all it needs and asks no network for anything."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from string import Template

from tagsmith.report.characters import with_signs
from tagsmith.report.limits import MAX_STEPS
from tagsmith.report.markup import data_island, element, escape, json_view
from tagsmith.report.message import diagnostics_view, json_views, message_view
from tagsmith.report.model import Report, Tag
from tagsmith.report.raw import legend, marks_of, notes, raw_view
from tagsmith.report.steps import find_moments, playback, steps_view
from tagsmith.report.wording import counted


def render_page(report: Report) -> str:
    """A report as one HTML file, to be written in UTF-8.

    What it says depends on the report alone. It works from a disk or a server, and but for the
    slider without its script; its content security policy forbids every request.

    >>> import tagsmith
    >>> from tagsmith.report import build_report
    >>> page = render_page(build_report(tagsmith.get_family("cohere-command-a"), "Hello!"))
    >>> page[:15]
    '<!doctype html>'
    """
    moments = find_moments(report.steps)
    name = with_signs(report.name)
    marks = marks_of(report.text)
    style, script = _asset("page.css"), _asset("page.js")
    return Template(_asset("page.html")).substitute(
        policy=_policy(style, script),
        style=style,
        script=script,
        title=escape(f"{name}, read as {report.family_title}"),
        name=escape(name),
        family=escape(report.family_title),
        facts=_facts(report),
        legend=legend(report),
        raw=raw_view(report, marks),
        raw_notes=notes(report, marks),
        message=message_view(report.message, moments),
        last_step=len(report.steps),
        steps=steps_view(report),
        steps_note=_steps_note(report),
        diagnostics=diagnostics_view(report.message),
        json=json_views(report.message),
        tag=_tag(report.tag),
        playback=data_island("playback", playback(report)),
    )


def _asset(name: str) -> str:
    return files("tagsmith.report").joinpath(name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


def _facts(report: Report) -> str:
    message = report.message
    facts = {
        "Family": element("code", escape(report.family_id)),
        "Output": counted(len(report.text), "character"),
        "Read in": counted(len(report.steps) - 1, "delta"),
        "Tool calls": f"{len(message.tool_calls):,}",
        "Citations": f"{len(message.citations):,}",
        "Diagnostics": f"{len(message.diagnostics):,}",
        "Finish reason": element("code", escape(str(message.finish_reason))),
    }
    pairs = [
        element("div", element("dt", name), element("dd", value)) for name, value in facts.items()
    ]
    return element("dl", *pairs, class_="facts")


def _steps_note(report: Report) -> str:
    return element(
        "p",
        f"Deltas of {counted(report.delta, 'character')}. A page holds {MAX_STEPS:,} deltas at "
        "most: those of a long text are longer.",
        class_="note",
    )


def _tag(tag: Tag) -> str:
    if tag.value is None:
        return element("p", "It cannot be built: ", escape(str(tag.reason)), class_="note")
    view = json_view(tag.value, "tagsmith structural-tag prints it whole.")
    return _not_enforced(tag) + element("details", element("summary", "The tag, as JSON"), view)


def _not_enforced(tag: Tag) -> str:
    if not tag.not_enforced:
        return ""
    lines = [element("li", escape(line)) for line in tag.not_enforced]
    return element("p", "It does not hold:") + element("ul", *lines, class_="missing")
