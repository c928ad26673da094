"""How much one page shows. Where a limit cuts something, the page says so; raw text is whole."""

from __future__ import annotations

DELTA = 4
"""Characters of a delta, unless told otherwise: about a token."""
MAX_STEPS = 2_000
"""Deltas of a page; a longer text is fed in longer ones."""
MAX_ITEMS = 500
"""Tool calls, citations and diagnostics, of each kind."""
MAX_EVENTS_OF_STEP = 20
"""Events that are listed for one delta."""
MAX_SHOWN = 300
"""Characters of one event, or of one source, in a list."""
MAX_JSON = 200_000
"""Characters of a JSON view."""
MAX_MARKS = 100_000
"""Stretches of white space that are marked in the raw text."""
