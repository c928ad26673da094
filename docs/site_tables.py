"""For mkdocs: a pipe in the code of a cell, which GitHub wants escaped and the site does not."""

from __future__ import annotations

import re
from typing import Any

CODE_IN_ROW = re.compile(r"`[^`\n]*`")


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The page as the site's Markdown writes it."""
    return re.sub(r"^\|.*$", _row, markdown, flags=re.MULTILINE)


def _row(row: re.Match[str]) -> str:
    return CODE_IN_ROW.sub(lambda code: code[0].replace("\\|", "|"), row[0])
