"""The report page: self-contained, escaped, bounded, and with the figures of the tables in it."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result
from typer.testing import CliRunner

from entitynlm.api import name_entities
from entitynlm.characters.character import list_characters
from entitynlm.errors import DataError
from entitynlm.interfaces.cli import app
from entitynlm.lm.surprisal import measure_surprisal
from entitynlm.report import page as report_page
from entitynlm.report.contents import ShownEntity, make_report
from entitynlm.report.drawings import average_in_bins, lay_out_network, place_labels, place_nodes
from entitynlm.report.page import cut_blocks, find_level, nest_mentions, write_page
from entitynlm.text.document import Document, Mention
from support.explorer import CHROMIUM, DRIVER, WHY_NOT, run_chromium
from support.small_bundles import make_bundle
from support.small_model import STORY

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
        found = [value or "" for name, value in attrs if name in ("src", "href", "srcset", "data")]
        self.loaded += [value for value in found if not value.startswith("#")]
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
    tables = measure_surprisal(pretrained, document, samples=3, repeats=2, mentions="sampled")
    return write_page(make_report(tables), title=f"A {NASTY} title", model="small")


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
    assert page.count("<svg") >= 2


def test_on_a_phone_the_cast_comes_before_the_text() -> None:
    """There ``main`` is one block, so that what stands first in the page is seen first."""
    page = make_page(make_document())
    assert page.index('<aside id="cast"') < page.index('<section id="text"')
    narrow = re.search(r"@media \(max-width: 860px\) \{(.*?)\n\}", page, re.DOTALL)
    assert narrow and "main { display: block; }" in narrow[1]


def test_unknown_words_are_hatched_and_the_page_says_so() -> None:
    document = Document("d", ("Ann", "saw", "Zebedee", "."), mentions=(Mention(0, 1, "a"),))
    page = make_page(document)
    assert re.findall(r'<i class="t h\d oov" [^>]*>([^<]*)<', page) == ["Zebedee"]
    # as particular as the shading of surprisal, and after it, so that the shading does not hide it
    assert page.index(".surprisal .h8 {") < page.index(
        ".t.oov, .hint .oov { background-image: repeating-linear-"
    )
    assert "hatched</span>: not in the vocabulary" in page
    assert "hatched" not in make_page(make_document())


def test_whatever_a_text_holds_is_only_text() -> None:
    tokens = ("the", NASTY, "<b>", "&amp;", '"', "Bo", "</span>")
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
    report = make_report(tables)
    page = write_page(report, title="t", model="m")
    shown = re.findall(r'data-v="([^"]*)"', page)
    expected = [row.surprisal for row in tables.tokens if row.surprisal is not None]
    assert [float(values.split(",")[0]) for values in shown] == pytest.approx(expected, abs=0.006)
    assert report.characters[0].mentions == 3 and report.characters[0].name == "Ann"
    assert report.cooccurrences == {(1, 2): 1, (1, 3): 1, (1, 4): 1}
    assert report.movements[0].character.entity == "a" and len(report.movements[0].gates) == 3
    ranked = [row.referent_surprisal for row, _ in report.surprises]
    assert ranked == sorted(ranked, reverse=True)


def test_a_long_text_is_shown_as_a_whole_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_page, "BLOCK_TOKENS", 20)
    monkeypatch.setattr(report_page, "LONG", 300)
    page = make_page(make_document(100))
    assert not Page(page).open
    assert page.count('<i class="t') == 400
    assert 3 <= page.count('<div class="block">') <= 8
    assert 'class="entities surprisal long"' in page and "content-visibility: auto" in page
    assert 'surprisal long"' not in make_page(make_document(3))


def test_blocks_are_cut_between_sentences_and_mentions_with_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_page, "BLOCK_TOKENS", 4)
    document = make_document(10)
    starts = cut_blocks(document, [" "] * len(document))
    assert starts == [0, 12, 24, 36]
    _, closed = nest_mentions((Mention(6, 14, "a"), Mention(20, 21, "b")), [*starts, 40])
    assert closed == {12: 1, 21: 1}


def test_mentions_in_mentions_are_elements_in_elements() -> None:
    inner, outer, crossing = Mention(1, 2, "a"), Mention(0, 4, "b"), Mention(3, 6, "c")
    opened, closed = nest_mentions((outer, inner, crossing, Mention(0, 1, "a")), [0, 9])
    assert opened == {0: [0, 3], 1: [1], 3: [2]}
    assert closed == {1: 1, 2: 1, 4: 2}  # the crossing one ends with the one that it crosses
    tokens = ("Ann", "'s", "Bo", "saw", "Ann", "'s", "hat")
    nested = (Mention(0, 3, "b"), Mention(0, 1, "a"), Mention(4, 7, "h"), Mention(4, 5, "a"))
    page = make_page(Document("d", tokens, mentions=nested))
    assert not Page(page).open
    assert page.count('<span class="m') == 4 and "<b>4</b> mentions · <b>3</b> entities" in page
    rows = json.loads(re.search(r'id="mentions">(.*?)</script>', page, re.DOTALL)[1])["rows"]  # type: ignore[index]
    assert [set(row) == {"who"} for row in rows] == [False, True, False, True]  # P sees no mention in another


def test_the_network_leaves_out_who_is_mentioned_once() -> None:
    document = make_document(6)  # Ann in all six sentences, b0 twice, the others once
    pretrained, _ = make_bundle()
    report = make_report(measure_surprisal(pretrained, document))
    network = lay_out_network(report.characters, report.cooccurrences)
    assert [(node["who"].entity, node["who"].mentions) for node in network["nodes"]] == [("a", 6), ("b0", 2)]
    assert [(edge["a"], edge["b"], edge["sentences"]) for edge in network["edges"]] == [(0, 1, 2)]


def test_names_in_the_network_keep_off_lines() -> None:
    who = ShownEntity(1, "a", "Ann", None, (0,))
    nodes = [{"who": who, "x": 200.0, "y": y, "radius": 8.0} for y in (50.0, 250.0)]
    place_labels(nodes, [(0, 1, 1)], 400)
    assert nodes[0]["label_y"] < 50 and nodes[1]["label_y"] > 250


def test_how_entities_change_is_told() -> None:
    pretrained, _ = make_bundle()
    report = make_report(measure_surprisal(pretrained, make_document(6)))
    first, second = report.movements
    assert 0 <= first.moved <= 2
    assert report.mentions[second.turn].start == 4 * 5 + 2  # its second mention
    page = write_page(report, title="t", model="m")
    told = " ".join(page[page.index('id="changes"') :].split())
    assert "6 mentions. From the first to the last, its vector turns by" in told


def test_the_section_about_characters() -> None:
    text = "“ I saw Bo , ” said Ann . “ He laughed , ” she said . Ann laughed ."
    tokens = tuple(text.split())
    ann = [tokens.index("Ann"), tokens.index("she"), len(tokens) - 3]
    mentions = [Mention(at, at + 1, "a") for at in ann]
    mentions += [Mention(at, at + 1, "b") for at in (tokens.index("Bo"), tokens.index("He"))]
    document = Document(
        "d", tokens, ((0, 9), (9, 17), (17, 20)), tuple(mentions), entity_types={"a": "person", "b": "person"}
    )
    page = make_page(document)
    section = re.search(r'<section class="panel" id="characters">(.*?)</section>', page, re.DOTALL)
    assert section
    shown = " ".join("".join(Page(section[1]).text).split())
    assert "2 quotations were found, 2 with a speaker" in shown
    assert "Ann female" in shown and "say, laugh" in shown and "Bo male" in shown
    assert "What Ann says (2)" in shown and "I saw Bo" in shown


def test_one_quotation_is_counted_as_one() -> None:
    tokens = tuple("“ I saw Bo , ” said Ann . Ann laughed .".split())
    mentions = (Mention(3, 4, "b"), Mention(7, 8, "a"), Mention(9, 10, "a"))
    document = Document("d", tokens, ((0, 9), (9, 12)), mentions, entity_types={"a": "person", "b": "person"})
    assert "1 quotation was found, 1 with a speaker" in make_page(document)


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


@pytest.mark.skipif(not (CHROMIUM and DRIVER), reason=WHY_NOT)
@pytest.mark.xdist_group("browser")
def test_a_phone_scrolls_tables_and_nothing_else(tmp_path: Path) -> None:
    pytest.importorskip("selenium", reason="the browser tests need selenium: pip install 'entitynlm[dev]'")
    path = tmp_path / "r.html"
    path.write_text(make_page(make_document(6)))
    look = """const scrolled = [...document.querySelectorAll('.scrolled')];
    return {wide: document.documentElement.scrollWidth, folded: !document.querySelector('#changes details').open,
    hidden: scrolled.filter((one) => one.scrollWidth <= one.clientWidth || one.tabIndex < 0).length,
    shadows: scrolled.every((one) => getComputedStyle(one).backgroundImage.includes('gradient')),
    tip: document.querySelector('.facts abbr').title}"""
    with run_chromium(width=390, height=800) as browser:
        browser.get(path.as_uri())
        found = browser.execute_script(look)
        browser.find_element("css selector", "a[href='#changes']").click()
        assert browser.execute_script("return document.querySelector('#changes details').open")
        assert [one for one in browser.get_log("browser") if one["level"] == "SEVERE"] == []
    assert found["wide"] <= 390 and found["folded"] and found["shadows"] and found["hidden"] == 0
    assert "A word of probability one half has 1 bit" in found["tip"]


def test_report_characters_and_the_interface_call_everybody_the_same() -> None:
    document = make_document(6)
    pretrained, _ = make_bundle()
    report = make_report(measure_surprisal(pretrained, document))
    names = {who.entity: who.name for who in report.characters}
    assert names == name_entities(document)
    cast = list_characters(document)
    assert cast.characters and all(who.name == names[who.id] for who in cast.characters)


# -- the verb ----------------------------------------------------------------------------------------------------------------


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
    told = json.loads(figures.read_text())
    assert told["tokens"] == 15 and told["samples"] == 3 and told["model"] == str(model)
    measured = f"model {model.name}, model hash {told['model_hash']}, samples 3, repeats 8, base nats, seed 0"
    assert f"Figures measured by entitynlm {told['entitynlm']}, {measured}" in page and str(model) not in page


def test_one_of_several_documents(model: Path, tmp_path: Path) -> None:
    lines = [json.dumps({"id": name, "sentences": [["Ann", "saw", name]]}) for name in ("first", "second")]
    (tmp_path / "two.jsonl").write_text("\n".join(lines) + "\n")
    out = tmp_path / "r.html"
    assert run(model, tmp_path / "two.jsonl", "--out", out).exit_code == 0
    assert ">first</i>" in out.read_text()
    assert run(model, tmp_path / "two.jsonl", "--out", out, "--document", "second", "--force").exit_code == 0
    assert ">second</i>" in out.read_text()
    wrong = run(model, tmp_path / "two.jsonl", "--document", "third")
    assert isinstance(wrong.exception, DataError) and "first, second" in str(wrong.exception)


def test_report_and_annotate_agree(tmp_path: Path) -> None:
    """Of one text, by the packaged model: as many mentions and entities, also those inside of others."""
    (tmp_path / "s.txt").write_text(
        "Anna lost her key. Her brother Ben found it in his coat, and Anna's mother thanked him. She was glad."
    )
    counts = []
    for verb in ("annotate", "report"):
        out = ("--out", f"{tmp_path}/{verb}.{'jsonl' if verb == 'annotate' else 'html'}")
        figures = tmp_path / f"{verb}.json"
        more = ("--samples", "2", "--repeats", "1") if verb == "report" else ()
        arguments = [
            verb,
            f"{tmp_path}/s.txt",
            "--model",
            "entitynlm-en",
            "--json",
            str(figures),
            *out,
            *more,
        ]
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0, result.output
        found = json.loads(figures.read_text())
        found = found["documents"][0] if verb == "annotate" else found
        entities = found["entities"]
        counts.append((found["mentions"], entities if isinstance(entities, int) else len(entities)))
    assert counts[0] == counts[1] and counts[0][0] > 8
    page = (tmp_path / "report.html").read_text()
    assert f"<b>{counts[0][0]}</b> mentions · <b>{counts[0][1]}</b> entities" in page
    assert page.count('<span class="m') == counts[0][0]


def test_nothing_to_report_on(model: Path) -> None:
    result = run(model, text="")
    assert isinstance(result.exception, DataError) and "no word" in str(result.exception)
