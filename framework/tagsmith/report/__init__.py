"""One output for people: a page that shows what each character became, and colour in a terminal.

`build_report` reads the output, `render_page` writes it as one HTML file that needs nothing else,
`render_terminal` as coloured text.
"""

from tagsmith.report.model import Report, Step, Tag, build_report
from tagsmith.report.page import render_page
from tagsmith.report.terminal import render_terminal

__all__ = ["Report", "Step", "Tag", "build_report", "render_page", "render_terminal"]
