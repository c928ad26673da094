"""Writing families for their authors: plug-in packages, and drafts from chat templates."""

from tagsmith.authoring.draft import Draft, draft_family
from tagsmith.authoring.package import Package, package_from, package_like, write_package
from tagsmith.authoring.template_file import TemplateFile, parse_template, read_template

__all__ = [
    "Draft",
    "Package",
    "TemplateFile",
    "draft_family",
    "package_from",
    "package_like",
    "parse_template",
    "read_template",
    "write_package",
]
