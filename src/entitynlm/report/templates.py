"""HTML pages from the templates in ``resources/report``: one file each, with style and script, and all values escaped."""

from functools import cache
from typing import TYPE_CHECKING, Any

from entitynlm import __version__

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def load_templates() -> "Environment":
    from jinja2 import Environment, PackageLoader

    loader = PackageLoader("entitynlm", "resources/report")
    templates = Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    templates.globals.update(shorten=shorten, version=__version__)
    return templates


def render_page(name: str, **values: Any) -> str:
    """A template with its values."""
    return load_templates().get_template(name).render(values)


def render_drawing(name: str, **values: Any) -> str:
    """One of the drawings with its values, as SVG."""
    drawings: Any = load_templates().get_template("drawings.html").module
    return str(getattr(drawings, name)(**values))


def shorten(name: str, longest: int = 22) -> str:
    """A name as a label."""
    return name if len(name) <= longest else name[: longest - 1] + "…"
