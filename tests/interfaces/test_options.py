"""Options: groups become options, docstrings become help, and checks refuse what can't be meant."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from entitynlm.errors import ConfigError, DataError, ModelError
from entitynlm.interfaces import options


@dataclass(frozen=True)
class Size:
    """A group."""

    width: Annotated[int, typer.Option(min=1, help="How wide.")] = 3
    height: Annotated[int, typer.Option(help="How high.")] = 4


def paint(*, name: Annotated[str, typer.Argument()], size: Size, bold: bool = False) -> None:
    """Paint something.

    More on it.

    Example: paint house

    :param name: What to paint,
        in [one] word.
    :param bold: With a broad brush.
    """
    typer.echo(f"{name} {size.width}x{size.height} {bold}")


def run(*words: str) -> Any:
    app = typer.Typer()
    app.command()(options.make_command(paint))
    return CliRunner().invoke(app, words)


def test_the_fields_of_a_group_are_options_and_the_verb_gets_the_group() -> None:
    assert run("house", "--width", "5", "--bold").stdout == "house 5x4 True\n"
    assert run("house", "--width", "0").exit_code == 2
    assert run("house", "--no-bold").exit_code == 2


def test_what_a_verb_returns_is_no_group() -> None:
    def measure(*, side: int = 1) -> Size:
        """Return a dataclass."""
        return Size(side, side)

    assert options.make_command(measure)(side=2) == Size(2, 2)


def test_help_stands_in_the_docstring() -> None:
    def do() -> None: ...

    do.__doc__ = "Do it.\n\nExample: x\n\n:param a: One\n    two.\n:param b: Three."
    text, helps = options.split_docstring(do)
    assert text == "Do it.\n\nExample: x"
    assert helps == {"a": "One two.", "b": "Three."}
    assert options.make_command(paint).__doc__ == "Paint something.\n\nMore on it.\n\nExample: paint house"


def test_help_for_what_is_no_parameter_is_a_mistake_of_ours() -> None:
    def wrong() -> None:
        """Do it.

        :param nothing: There is no such parameter.
        """

    with pytest.raises(TypeError, match="nothing"):
        options.make_command(wrong)


def test_outputs_go_where_something_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (None, "-", tmp_path / "new" / "folder" / "x.json", tmp_path / "file", tmp_path):
        assert options.check_writable(path) == path
    with pytest.raises(DataError, match="is a file, not a folder"):
        options.check_writable(tmp_path / "file" / "x.json")


def test_names_that_mean_nothing_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no model here"):
        options.check_model(tmp_path)
    with pytest.raises(DataError, match="no such file or folder"):
        options.check_exists(tmp_path / "nothing")
    with pytest.raises(ConfigError, match="no device 'abacus'"):
        options.check_device("abacus")
    assert options.check_model("entitynlm-en") == "entitynlm-en"
