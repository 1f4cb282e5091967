"""The report page: self-contained, escaped, bounded, and with the figures of the tables in it."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result
from typer.testing import CliRunner

from entitynlm.errors import ConfigError, DataError
from entitynlm.interfaces.cli import app
from entitynlm.interfaces.report import page as report_page
from entitynlm.interfaces.report.contents import make_report
from entitynlm.interfaces.report.drawings import average_in_bins, place_nodes
from entitynlm.interfaces.report.page import find_level, write_page
from entitynlm.lm.surprisal import measure_surprisal
from entitynlm.text.document import Document, Mention
from support.small_bundles import make_bundle
from support.small_model import STORY, store_model

VOID = {"meta", "br", "input", "hr", "line", "rect", "circle", "polyline"}
NASTY = "</script><script>alert('x')</script>"


class Page(HTMLParser):
    """Checks that elements are closed in order, and notes what is loaded from elsewhere."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.loaded: list[str] = []
        self.scripts = 0
        self.text: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.loaded += [value or "" for name, value in attrs if name in ("src", "href", "srcset", "data")]
        self.scripts += tag == "script"
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open and self.open.pop() == tag, tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("script", "style"):
            self.text.append(data)


def make_page(document: Document, **options: object) -> str:
    pretrained, _ = make_bundle(**options)
    tables = measure_surprisal(pretrained, document, samples=3, repeats=2)
    return write_page(make_report(pretrained, tables), title=f"A {NASTY} title", model="small")


def test_what_was_found_on_the_way_is_no_report() -> None:
    pretrained, _ = make_bundle(std=0.6)
    bare = make_document(8).with_mentions(())
    tables = measure_surprisal(pretrained, bare, samples=3, repeats=2)
    assert tables.mentions
    with pytest.raises(ConfigError, match="hindsight=True"):
        make_report(pretrained, tables)


def make_document(sentences: int = 3) -> Document:
    tokens = ("Ann", "saw", "Bo", ".") * sentences
    mentions = [Mention(4 * i, 4 * i + 1, "a") for i in range(sentences)]
    mentions += [Mention(4 * i + 2, 4 * i + 3, f"b{i % 5}") for i in range(sentences)]
    return Document("d", tokens, tuple((4 * i, 4 * i + 4) for i in range(sentences)), tuple(mentions))


def test_a_page_is_whole_and_needs_nothing_else() -> None:
    page = make_page(make_document())
    parsed = Page(page)
    assert not parsed.open and not parsed.loaded
    assert not re.search(r"https?://|@import|url\(", page)
    assert "Ann saw Bo." in "".join(parsed.text)
    assert page.count("<svg") >= 3


def test_whatever_a_text_holds_is_only_text() -> None:
    tokens = ("Ann", NASTY, "<b>", "&amp;", '"', "Bo", "</span>")
    document = Document(
        "d", tokens, mentions=(Mention(0, 2, NASTY), Mention(5, 7, "b"), Mention(4, 5, NASTY))
    )
    page = make_page(document)
    parsed = Page(page)
    assert not parsed.open and parsed.scripts == 2
    assert "alert('x')</script>" not in page.replace(NASTY.replace("'", "&#x27;"), "")
    data = re.search(r'id="mentions">(.*?)</script>', page, re.DOTALL)
    assert data and "alert" in json.loads(data[1])["rows"][0]["who"]


def test_the_figures_are_those_of_the_tables() -> None:
    pretrained, _ = make_bundle()
    tables = measure_surprisal(pretrained, make_document())
    report = make_report(pretrained, tables)
    page = write_page(report, title="t", model="m")
    shown = re.findall(r'data-v="([^"]*)"', page)
    expected = [row.surprisal for row in tables.tokens if row.surprisal is not None]
    assert [float(values.split(",")[0]) for values in shown] == pytest.approx(expected, abs=0.006)
    assert report.characters[0].mentions == 3 and report.characters[0].name == "Ann"
    assert [(pair.first, pair.second, pair.sentences) for pair in report.cooccurrences] == [
        (1, 2, 1),
        (1, 3, 1),
        (1, 4, 1),
    ]
    assert report.movements[0].character.entity == "a" and len(report.movements[0].gates) == 3
    ranked = [found.row.referent_surprisal for found in report.surprises]
    assert ranked == sorted(ranked, reverse=True)


def test_a_long_text_makes_a_bounded_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_page, "MOST_TOKENS", 50)
    page = make_page(make_document(100))
    assert "350 more tokens" in page
    assert not Page(page).open
    assert page.count('class="t ') <= 50


@pytest.mark.parametrize(
    "document",
    [
        Document("one", ("Ann",)),
        Document("marks", (".", "!")),
        Document("alone", ("Ann", "ran"), mentions=(Mention(0, 1, "a"),)),
    ],
    ids=lambda document: document.id,
)
def test_short_texts(document: Document) -> None:
    assert not Page(make_page(document)).open


def test_paragraphs_are_kept() -> None:
    text = "Ann ran.\r\n\r\nBo ran."
    offsets = ((0, 3), (4, 7), (7, 8), (12, 14), (15, 18), (18, 19))
    tokens = tuple(text[a:b] for a, b in offsets)
    document = Document("d", tokens, ((0, 3), (3, 6)), text=text, offsets=offsets)
    body = re.search(r'aria-label="The text">(.*?)</section>', make_page(document), re.DOTALL)
    assert body and body[1].count("<p>") == 2


def test_levels_and_bins() -> None:
    assert [find_level(bits) for bits in (0, 3, 3.1, 100)] == [0, 0, 1, 8]
    assert average_in_bins(np.array([1.0, np.nan, 3.0, 5.0]), 10).tolist() == [3.0]
    assert len(average_in_bins(np.arange(1000.0), 10)) == 10
    places = place_nodes(5, [(0, 1, 3), (1, 2, 1), (3, 4, 1)])
    assert np.abs(places).max() <= 1 + 1e-9 and len(np.unique(places.round(6), axis=0)) == 5
    assert np.array_equal(places, place_nodes(5, [(0, 1, 3), (1, 2, 1), (3, 4, 1)]))
    assert np.isfinite(place_nodes(1, [])).all()


# -- the verb ----------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return store_model(tmp_path_factory.mktemp("model"))


def run(model: Path, *arguments: object, text: str | None = None) -> Result:
    options = ["report", "--model", str(model), "--samples", "3", *map(str, arguments)]
    return CliRunner().invoke(app, options, input=text)


def test_the_verb_writes_a_page(model: Path, tmp_path: Path) -> None:
    file, out, figures = tmp_path / "my story.txt", tmp_path / "r.html", tmp_path / "r.json"
    file.write_text(STORY)
    result = run(model, file, "--out", out, "--json", figures, "--base", "nats")
    assert result.exit_code == 0, result.output
    assert "open it in a browser" in result.stdout
    page = out.read_text()
    assert "<title>my story</title>" in page and "nats per word" in page and not Page(page).open
    assert json.loads(figures.read_text())["tokens"] == 15


def test_one_of_several_documents(model: Path, tmp_path: Path) -> None:
    lines = [json.dumps({"id": name, "sentences": [["Ann", "saw", name]]}) for name in ("first", "second")]
    (tmp_path / "two.jsonl").write_text("\n".join(lines) + "\n")
    out = tmp_path / "r.html"
    assert run(model, tmp_path / "two.jsonl", "--out", out).exit_code == 0
    assert ">first</i>" in out.read_text()
    assert run(model, tmp_path / "two.jsonl", "--out", out, "--document", "second").exit_code == 0
    assert ">second</i>" in out.read_text()
    wrong = run(model, tmp_path / "two.jsonl", "--document", "third")
    assert isinstance(wrong.exception, DataError) and "first, second" in str(wrong.exception)


def test_nothing_to_report_on(model: Path) -> None:
    result = run(model, text="")
    assert isinstance(result.exception, DataError) and "no word" in str(result.exception)
