"""Family files in other formats, and back: transformers' response templates."""

from tagsmith.convert.losses import Loss
from tagsmith.convert.read_template import ReadFamily, from_response_template
from tagsmith.convert.readers import Reader
from tagsmith.convert.write_template import ResponseTemplate, to_response_template

__all__ = [
    "Loss",
    "ReadFamily",
    "Reader",
    "ResponseTemplate",
    "from_response_template",
    "to_response_template",
]
