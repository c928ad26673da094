"""What cohere_melody and Tagsmith's two engines make of inputs it is weak on: a Markdown table.

    python examples/compare_melody.py

Every reader runs in a process of its own, so that one which dies or hangs is seen to. The bare
library is used as its own documentation shows: preset cmd3, one filter for each text.
"""

from __future__ import annotations

import json
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import metadata
from typing import Any

PATIENCE = 30
"""Seconds after which a reader is taken to hang."""
FAMILY = "cohere-command-a"
COLUMNS = ("bare cohere_melody", "Tagsmith, native", "Tagsmith, melody")

SR, ER = "<|START_RESPONSE|>", "<|END_RESPONSE|>"
ST, ET = "<|START_THINKING|>", "<|END_THINKING|>"
SA, EA = "<|START_ACTION|>", "<|END_ACTION|>"
F = '{"tool_call_id":"0","tool_name":"f","parameters":{"a":1}}'
G = '{"tool_call_id":"1","tool_name":"g","parameters":{"q":"x"}}'
F_CALL, G_CALL = ("0", "f", '{"a":1}'), ("1", "g", '{"q":"x"}')


@dataclass
class Reading:
    """What a text says: calls as (id, name, arguments), citations as (start, end, text, places)."""

    content: str = ""
    reasoning: str = ""
    calls: list[tuple[str, str, str]] = field(default_factory=list)
    citations: list[tuple[int, int, str, list[tuple[int, int]]]] = field(default_factory=list)


@dataclass(frozen=True)
class Row:
    """One input: its text, the size of the deltas it comes in (0: one), and what is right."""

    name: str
    text: Callable[[], str]
    right: Callable[[], Reading]
    size: int = 0
    stop: tuple[str, ...] = ()


def action(*found: str) -> str:
    return f"{SA}[{','.join(found)}]{EA}"


def f_with(value: str) -> str:
    return F.replace("1", value)


def calls(*found: tuple[str, str, str], content: str = "") -> Callable[[], Reading]:
    return lambda: Reading(content=content, calls=list(found))


ROWS = [
    Row(
        "12 000 citations in one write",
        lambda: SR + "<co>a</co: 0:[1]>" * 12_000 + ER,
        lambda: Reading(
            content="a" * 12_000, citations=[(i, i + 1, "a", [(0, 1)]) for i in range(12_000)]
        ),
    ),
    Row(
        "7 000 calls in one write",
        lambda: action(*[F] * 7_000),
        lambda: Reading(calls=[F_CALL] * 7_000),
    ),
    Row(
        "string argument of 150 kB",
        lambda: action(f_with(json.dumps("x" * 150_000))),
        calls(("0", "f", f'{{"a":"{"x" * 150_000}"}}')),
    ),
    Row(
        "argument `[{}, {}, ...]` of 20 kB",
        lambda: action(f_with("[" + "{}," * 6_500 + "{}]")),
        calls(("0", "f", f'{{"a":[{"{}," * 6_500}{{}}]}}')),
    ),
    Row(
        "200 kB of text after a call, by 4 characters",
        lambda: action(F) + "x" * 200_000,
        calls(F_CALL, content="x" * 200_000),
        size=4,
    ),
    Row(
        "80 kB of blanks, by 4 characters",
        lambda: f"{SR}a{' ' * 80_000}b{ER}",
        lambda: Reading(content=f"a{' ' * 80_000}b"),
        size=4,
    ),
    Row(
        "80 kB after an unclosed `<co>`, by 4 characters",
        lambda: f"{SR}a<co>{'x' * 80_000}{ER}",
        lambda: Reading(content="a" + "x" * 80_000),
        size=4,
    ),
    Row(
        "6 000 thinking blocks in one write",
        lambda: f"{ST}a{ET}" * 6_000,
        lambda: Reading(reasoning="a" * 6_000),
    ),
    Row(
        "stop string after an unclosed `<co>`",
        lambda: f"<co>abcdef{ER}xSTOP",
        lambda: Reading(content="abcdefx"),
        stop=("STOP",),
    ),
    Row(
        "lone surrogate",
        lambda: f"{SR}a\ud800b{ER}",
        lambda: Reading(content="a\ud800b"),
    ),
    Row(
        "`<` inside a cited span, by character",
        lambda: f"{SR}a <co>b < c</co: 0:[1]> d{ER}",
        lambda: Reading(content="a b < c d", citations=[(2, 7, "b < c", [(0, 1)])]),
        size=1,
    ),
    Row(
        "blanks in the list of positions",
        lambda: f"{SR}<co>a</co: 0: [1, 2], 1:[0]>{ER}",
        lambda: Reading(content="a", citations=[(0, 1, "a", [(0, 1), (0, 2), (1, 0)])]),
    ),
    Row(
        "a citation in the second answer block",
        lambda: f"{SR}abc{ER}{SR} <co>d</co: 0:[0]>{ER}",
        lambda: Reading(content="abc d", citations=[(4, 5, "d", [(0, 0)])]),
    ),
    Row(
        '`"parameters": {}`',
        lambda: action(F.replace('{"a":1}', "{}")),
        calls(("0", "f", "{}")),
    ),
    Row(
        "a call without parameters, then another",
        lambda: action('{"tool_call_id":"0","tool_name":"f"}', G),
        calls(("0", "f", "{}"), G_CALL),
    ),
    Row(
        "an id that is a number",
        lambda: action(F.replace('"0"', "0")),
        calls(F_CALL),
    ),
    Row(
        "name before id, two calls",
        lambda: action(
            '{"tool_name":"f","tool_call_id":"0","parameters":{"a":1}}',
            '{"tool_name":"g","tool_call_id":"1","parameters":{"q":"x"}}',
        ),
        calls(F_CALL, G_CALL),
    ),
    Row(
        "parameters first",
        lambda: action('{"parameters":{"a":1},"tool_name":"f","tool_call_id":"0"}'),
        calls(F_CALL),
    ),
    Row(
        "a marker inside an argument",
        lambda: action(f_with(f'"see {EA}."')),
        calls(("0", "f", f'{{"a":"see {EA}."}}')),
    ),
    Row(
        "`1e999` in a call, then another call",
        lambda: action(f_with("1e999"), G),
        calls(("0", "f", '{"a":1e999}'), G_CALL),
    ),
    Row(
        "cut off after a backslash in the second call",
        lambda: f"{SA}[{F},{G.partition('x')[0]}\\",
        calls(F_CALL, ("1", "g", '{"q":"\\')),
    ),
    Row(
        "text after a call",
        lambda: action(F) + "One moment.",
        calls(F_CALL, content="One moment."),
    ),
    Row(
        "the turn's end token",
        lambda: f"{SR}Hi<|END_OF_TURN_TOKEN|>",
        lambda: Reading(content="Hi"),
    ),
]


def deltas_of(row: Row) -> list[str]:
    text = row.text()
    size = row.size or len(text)
    return [text[start : start + size] for start in range(0, len(text), size)]


def read_bare(row: Row, deltas: list[str]) -> tuple[Reading, list[str]]:
    """The library alone."""
    import cohere_melody

    options = cohere_melody.PyFilterOptions().cmd3()
    if row.stop:
        options = options.with_exclusive_stops(list(row.stop))
    reader = cohere_melody.PyFilter(options)
    results = [reader.write_decoded(delta) for delta in deltas] + [reader.flush_partials()]
    found: dict[int, list[str]] = {}
    for result in results:
        for call in result.tool_calls:
            parts = found.setdefault(call.index, ["", "", ""])
            parts[:] = (
                parts[0] + call.id,
                parts[1] + call.name,
                parts[2] + call.arguments,
            )
    return Reading(
        content="".join(result.content or "" for result in results),
        reasoning="".join(result.reasoning or "" for result in results),
        calls=[(parts[0], parts[1], parts[2]) for parts in found.values()],
        citations=[
            (
                cited.start_index,
                cited.end_index,
                cited.text,
                [(s.tool_call_index, i) for s in cited.sources for i in s.tool_result_indices],
            )
            for result in results
            for cited in result.citations
        ],
    ), []


def read_tagsmith(engine: str, row: Row, deltas: list[str]) -> tuple[Reading, list[str]]:
    """One of Tagsmith's engines."""
    import tagsmith

    parser = tagsmith.get_family(FAMILY).parser(engine=engine, stop=row.stop)
    for delta in deltas:
        parser.feed(delta)
    parser.finish()
    message = parser.message
    return Reading(
        content=message.content or "",
        reasoning=message.reasoning or "",
        calls=[(call.id, call.name, call.arguments) for call in message.tool_calls],
        citations=[(c.start, c.end, c.text, list(c.positions)) for c in message.citations],
    ), sorted({d.code.value for d in message.diagnostics if d.code.value.startswith("engine-")})


def judge(right: Reading, found: Reading, codes: list[str]) -> str:
    """`right`, or the first part that is not and what came instead; then the engine's codes."""
    parts = ("content", "reasoning", "calls", "citations")
    wrong = [part for part in parts if getattr(right, part) != getattr(found, part)]
    verdict = f"wrong {wrong[0]}: {shown(getattr(found, wrong[0]))}" if wrong else "right"
    return ", ".join([verdict, *(f"`{code}`" for code in codes)])


def shown(value: Any) -> str:
    if not value:
        return "none"
    text = value if isinstance(value, str) else "; ".join(" ".join(map(str, v)) for v in value)
    short = text if len(text) < 70 else text[:67] + "..."
    return f"`{short.replace('|', chr(92) + '|')}`"


def read_one(reader: str, row: Row) -> dict[str, Any]:
    read = read_bare if reader == "bare" else partial(read_tagsmith, reader)
    deltas = deltas_of(row)
    start = time.perf_counter()
    try:
        found, codes = read(row, deltas)
    except BaseException as error:
        # A panic in Rust is no Exception.
        return {"verdict": f"raises `{type(error).__name__}`"}
    seconds = time.perf_counter() - start
    return {"verdict": judge(row.right(), found, codes), "seconds": f"{seconds:.2f}"}


def read_rows(reader: str, rows: Sequence[Row]) -> None:
    """Print a line for each row; the first, untimed reading pays for imports."""
    read_one(reader, Row("warm-up", lambda: "Hi", Reading))
    for row in rows:
        print(json.dumps(read_one(reader, row)), flush=True)


def run_apart(reader: str, first: int, last: int) -> list[dict[str, Any]]:
    """Have a new process read these rows, and see what becomes of it."""
    command = [sys.executable, __file__, reader, str(first), str(last)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        return [{"verdict": f"no answer in {PATIENCE} s"}] * (last - first)
    if done.returncode > 0:
        sys.stderr.write(done.stderr)
    results = [json.loads(line) for line in done.stdout.splitlines()]
    end = "fails" if done.returncode >= 0 else f"dies ({signal.Signals(-done.returncode).name})"
    missing = last - first - len(results)
    return results + [{"verdict": f"**the process {end}**"}] * missing


def table() -> list[str]:
    """The Markdown lines. The bare library may end its process, so each row gets a new one."""
    count = len(ROWS)
    columns = [
        [result for i in range(count) for result in run_apart("bare", i, i + 1)],
        run_apart("native", 0, count),
        run_apart("melody", 0, count),
    ]
    lines = [f"| input | {' | s | '.join(COLUMNS)} | s |", "|---" * 7 + "|"]
    for row, *results in zip(ROWS, *columns, strict=True):
        cells = [cell for r in results for cell in (r["verdict"], r.get("seconds", ""))]
        lines.append(f"| {' | '.join([row.name, *cells])} |")
    return lines


def main(arguments: list[str]) -> None:
    if arguments:
        reader, first, last = arguments
        read_rows(reader, ROWS[int(first) : int(last)])
        return
    print("\n".join(table()))
    version = metadata.version("cohere-melody")
    print(f"\ncohere_melody {version}, CPython {platform.python_version()}, {platform.machine()}.")


if __name__ == "__main__":
    main(sys.argv[1:])
