"""What Acme asks of a family file, beyond what Tagsmith does."""

from collections.abc import Iterator

from tagsmith.lint.rules import Finding, LintSubject


def no_title(subject: LintSubject) -> Iterator[Finding]:
    """Every family has a name that people use."""
    if subject.spec.title is None:
        yield Finding("give the family a title", subject.locate(["id"]))
