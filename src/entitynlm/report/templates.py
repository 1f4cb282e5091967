"""HTML pages from the templates in ``resources/report``: one file each, with style and script, and all values escaped."""

from __future__ import annotations

from typing import Any

from entitynlm import __version__


def render_page(name: str, **values: Any) -> str:
    """A template with its values."""
    from jinja2 import Environment, PackageLoader

    loader = PackageLoader("entitynlm", "resources/report")
    templates = Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    templates.globals.update(shorten=shorten, version=__version__)
    return templates.get_template(name).render(values)


def shorten(name: str, longest: int = 22) -> str:
    """A name as a label."""
    return name if len(name) <= longest else name[: longest - 1] + "…"
