"""How machines are told which file it is: from where the command runs, with slashes."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote


def shown_path(file: str) -> str:
    """The path from the working directory, where the file stands below it.

    >>> shown_path("families/acme.yaml"), shown_path(str(Path.cwd() / "a" / "b.yaml"))
    ('families/acme.yaml', 'a/b.yaml')
    """
    path = Path(file)
    try:
        return path.absolute().relative_to(Path.cwd()).as_posix()
    except ValueError:
        return path.as_posix()


def uri_of(file: str) -> tuple[str, bool]:
    """The same as a URI, and whether it is relative to the working directory.

    >>> uri_of("my families/acme.yaml"), uri_of("/etc/acme.yaml")
    (('my%20families/acme.yaml', True), ('file:///etc/acme.yaml', False))
    """
    path = Path(shown_path(file))
    if path.is_absolute():
        return path.as_uri(), False
    # A colon in the first part of a relative reference would be taken for a scheme.
    return quote(os.fsencode(path.as_posix())), True
