"""What of an error a client may see: never where the server keeps its files, nor its secrets."""

from __future__ import annotations

import re
from collections.abc import Callable

from tagsmith.wording import shortened

MAX_ERROR = 2000
"""The longest error text that is told, in characters."""

_EXTENSION = (
    r"\.(?:py[cdoi]?|so|dll|exe|c|cc|cpp|cu|h|rs|go|js|ts|java|jar|sh|json|jsonl|ya?ml|toml|ini|cfg|"
    r"conf|env|txt|log|md|csv|db|sqlite|sock|pem|key|crt|pt|bin|gguf|safetensors|jinja|lock)\b"
)
_NAME = r"[^\s/\\\"'`<>|:;,()\[\]{}*?]+"
# A name with spaces in it goes on where a separator follows: /Users/Jo Doe/x.
_SPACED = rf"{_NAME}(?: [\w.-]+(?=[/\\])){{0,2}}"
_ROUTE = r"v\d+(?:/|\b)"
# Not inside a word or a path. A scheme's two slashes begin no path, other two may.
_ROOT = rf"(?<![\w/\\.~])(?:/|(?<!:)//)(?!{_ROUTE})"
# What stands for a folder: ~, ~jo, ., .., $HOME, ${HOME}.
_FOLDER = r"(?<![\w/\\.~$])(?:~[\w.-]*|\.{1,2}|\$[A-Za-z_]\w*|\$\{\w+\})/"
# Strings within strings have each backslash twice.
_DRIVE = r"(?:(?<!\w)[A-Za-z]:|%\w+%)(?:\\+|/(?!/))"

_Replacement = str | Callable[[re.Match[str]], str]
_RULES: tuple[tuple[re.Pattern[str], _Replacement], ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        # Tracebacks.
        (r"Traceback \(most recent call last\):\s*", ""),
        (r"(?:\n[ \t]{0,8})?File \"[^\"\n]*\", line \d+(?:, in [^\n]*(?:\n[ \t]+[^\n]*)?)?", ""),
        # Secrets.
        (r"(?i)\b(bearer|basic)\s+[\w.~+/=-]{6,}", r"\1 <secret>"),
        (
            r"(?i)((?:api[_-]?key|access[_-]?key|token|secret|password|passwd|authorization)"
            r"[\"']?\s*[:=]\s*[\"']?)(?!bearer|basic)[\w.~+/=-]{6,}",
            r"\1<secret>",
        ),
        (r"\b(?:sk-|pk-|hf_|gh[pousr]_|xox[a-z]-|AKIA|AIza|eyJ)[\w.-]{10,}", "<secret>"),
        (r"(://)[^\s/@\"'<>]+@", r"\1<secret>@"),
        # Addresses.
        (r" at 0x[0-9a-fA-F]+", ""),
        (r"\b0x[0-9a-fA-F]{7,16}\b", "<address>"),
        # Paths: quoted ones may hold anything; then URLs, Windows, homes, POSIX.
        (
            rf"([\"'`])(?:/(?!{_ROUTE})[^\"'`\n/]+/|~[\w.-]*/|[A-Za-z]:[\\/]|\\\\)[^\"'`\n]*\1",
            r"\1<path>\1",
        ),
        (rf"\bfile:/+(?:{_SPACED}[/\\]?)*", "<path>"),
        (rf"{_DRIVE}(?:{_SPACED}[\\/]+)*(?:{_NAME})?", "<path>"),
        (rf"(?<![\w\\])\\{{2,4}}(?:{_SPACED}\\+)+(?:{_NAME})?", "<path>"),
        (rf"{_FOLDER}(?:{_SPACED}/)*(?:{_NAME})?", "<path>"),
        (rf"{_ROOT}(?:{_SPACED}/)+(?:{_NAME})?", "<path>"),
        (rf"{_ROOT}[\w.-]*\w{_EXTENSION}", "<path>"),
        (rf"(?<![\w/\\:.<-])[\w.-]+(?:/[\w.-]+)*/[\w.-]*\w{_EXTENSION}", "<path>"),
    )
)


def safe_error(text: str) -> str:
    """An error's text without memory addresses, tracebacks, file paths and secrets.

    What a client needs is kept: the error's own words, routes of an API, names of models.

    >>> safe_error("boom <Foo at 0x7fabc0deface> reading /srv/models/x.py")
    'boom <Foo> reading <path>'
    >>> safe_error("401 from /v1/completions: Bearer abcdef123456")
    '401 from /v1/completions: Bearer <secret>'
    """
    text = shortened(text, 4 * MAX_ERROR)
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return shortened(text.strip(), MAX_ERROR) or "internal error"
