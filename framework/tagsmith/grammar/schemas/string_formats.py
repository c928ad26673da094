"""The formats of JSON Schema that text is held to, as patterns."""

from __future__ import annotations

_HEX = "[0-9a-fA-F]"
_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_DATE = "[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
_TIME = (
    "(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]{1,9})?"
    "(?:Z|[+\\-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
)
_LABEL = "[a-zA-Z0-9](?:[a-zA-Z0-9\\-]{0,61}[a-zA-Z0-9])?"
_URI_CHARS = "[a-zA-Z0-9\\-._~:/?#@!$&'()*+,;=%]"

FORMATS = {
    "date": _DATE,
    "time": _TIME,
    "date-time": f"{_DATE}T{_TIME}",
    "uuid": f"{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}",
    "ipv4": f"{_OCTET}(?:\\.{_OCTET}){{3}}",
    "hostname": f"{_LABEL}(?:\\.{_LABEL})*",
    "email": f"[a-zA-Z0-9._%+\\-]{{1,64}}@{_LABEL}(?:\\.{_LABEL})*",
    "uri": f"[a-zA-Z][a-zA-Z0-9+.\\-]*:{_URI_CHARS}+",
    "uri-reference": f"{_URI_CHARS}*",
}
"""What a format asks, as far as a pattern says it, in characters that begin no markup."""

NOT_IN_TEXT = {"duration", "ipv6", "json-pointer", "relative-json-pointer", "uri-template"}
"""Formats that are held in JSON alone."""
