"""Texts that end, hang or starve a process which gives them to cohere_melody as they are, each with
what a parser must make of it. Run as a program, it parses them all on a small stack.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

SMALL_STACK = 1 << 20
"""Bytes: what some servers give a thread. The library overflows it eight times sooner."""

SR, ER = "<|START_RESPONSE|>", "<|END_RESPONSE|>"
ST, ET = "<|START_THINKING|>", "<|END_THINKING|>"
SA, EA = "<|START_ACTION|>", "<|END_ACTION|>"


def action(*arguments: str) -> str:
    calls = (
        f'{{"tool_call_id": "{i}", "tool_name": "f", "parameters": {text}}}'
        for i, text in enumerate(arguments)
    )
    return f"{SA}[{', '.join(calls)}]{EA}"


@dataclass(frozen=True)
class Killer:
    """`text(n)` for the size `n`, and what there is in the message: counts and diagnostics."""

    size: int
    text: Callable[[int], str]
    expect: Callable[[int], dict[str, object]]
    codes: tuple[str, ...] = ()


KILLERS = {
    "citations": Killer(
        3_000,
        lambda n: SR + "<co>a</co: 0:[1]>" * n + ER,
        lambda n: {"content": n, "citations": n},
    ),
    "empty citations": Killer(
        4_000, lambda n: SR + "<co></co: 0:[1]>" * n + ER, lambda n: {"citations": n}
    ),
    "malformed citations": Killer(
        3_000,
        lambda n: SR + "<co></co: >" * n + ER,
        lambda n: {},
        ("malformed-citation",),
    ),
    "calls": Killer(2_000, lambda n: action(*['{"a": 1}'] * n), lambda n: {"tool_calls": n}),
    "calls without arguments": Killer(
        2_000, lambda n: action(*["{}"] * n), lambda n: {"tool_calls": n}
    ),
    "long argument": Killer(
        200_000,
        lambda n: action(f'{{"a": "{"x" * n}"}}'),
        lambda n: {"tool_calls": 1, "arguments": n + 9},
    ),
    "array of objects": Killer(
        20_000,
        lambda n: action(f'{{"a": [{"{}," * n}{{}}]}}'),
        lambda n: {"tool_calls": 1, "arguments": 3 * n + 11},
    ),
    "array never closed": Killer(
        20_000,
        lambda n: SA + "[{}`" * n,
        lambda n: {"content": 4 * n},
        ("malformed-call",),
    ),
    "text in the tool region": Killer(
        100_000,
        lambda n: SA + "x" * n + EA,
        lambda n: {"content": n},
        ("malformed-call",),
    ),
    "text after calls": Killer(
        200_000,
        lambda n: action("{}") + "x" * n,
        lambda n: {"tool_calls": 1},
        ("engine-drop",),
    ),
    "text after the answer": Killer(
        200_000, lambda n: f"{SR}a{ER}" + "x" * n, lambda n: {"content": 1}, ("engine-drop",)
    ),
    "citations after the answer": Killer(
        5_000,
        lambda n: f"{SR}a{ER}" + "<co>b</co: 0:[1]>" * n,
        lambda n: {"content": 1},
        ("engine-drop",),
    ),
    "text between answers": Killer(
        2_000,
        lambda n: f"{SR}a{ER}<co>xyz" * n,
        lambda n: {"content": n},
        ("engine-drop",),
    ),
    "run of blanks": Killer(
        200_000,
        lambda n: f"{SR}a{' ' * n}b",
        lambda n: {"content": n + 2},
        ("engine-handover",),
    ),
    "cited span never closed": Killer(
        200_000,
        lambda n: f"{SR}<co>{'x' * n}",
        lambda n: {"content": n},
        ("engine-handover", "unclosed-citation"),
    ),
    "thinking blocks": Killer(4_000, lambda n: f"{ST}a{ET}" * n, lambda n: {"reasoning": n}),
    "stop in a cited span": Killer(
        1,
        lambda n: f"{SR}<co>abcdef{ER}{SR}xSTOP",
        lambda n: {"content": 7},
        ("unclosed-citation",),
    ),
    "lone surrogates": Killer(
        10_000, lambda n: SR + "\ud800<" * n + ER, lambda n: {"content": 2 * n}
    ),
}


def measured(name: str, scale: float = 1) -> dict[str, object]:
    """What the melody engine makes of one killer in one feed, and the processor time it takes."""
    import tagsmith

    killer = KILLERS[name]
    text = killer.text(max(1, int(killer.size * scale)))
    family = tagsmith.get_family("cohere-command-a")
    start = time.process_time()
    message = family.parse(text, engine="melody", stop=["STOP"] if "STOP" in text else None)
    seconds = time.process_time() - start
    found = {
        "content": len(message.content or ""),
        "reasoning": len(message.reasoning or ""),
        "tool_calls": len(message.tool_calls),
        "citations": len(message.citations),
        "arguments": max((len(call.arguments) for call in message.tool_calls), default=0),
    }
    codes = sorted({diagnostic.code.value for diagnostic in message.diagnostics})
    return {"name": name, "found": found, "codes": codes, "seconds": seconds}


def main() -> None:
    """Print a line of JSON for each killer: its result, its times at full and at quarter size."""
    for name in KILLERS:
        quarter = measured(name, 0.25)["seconds"]
        sys.stdout.write(json.dumps({**measured(name), "quarter": quarter}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    threading.stack_size(SMALL_STACK)
    thread = threading.Thread(target=main)
    thread.start()
    thread.join()
    sys.exit(0)
