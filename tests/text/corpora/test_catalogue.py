"""The catalogue of corpora, and lists of hashes."""

import pytest

from entitynlm.errors import ConfigError, DataError
from entitynlm.files import read_hash_list
from entitynlm.text.corpora.catalogue import CATALOGUE, get_entry


def test_every_entry_says_how_to_get_the_corpus() -> None:
    assert next(iter(CATALOGUE)) == "stories"
    for name, entry in CATALOGUE.items():
        assert entry.name == name and entry.description and entry.licence and entry.documents > 0
        assert name in entry.how_to_get or entry.home in entry.how_to_get
        assert entry.files or not entry.url


def test_local_paths_are_mapped_to_those_of_the_source() -> None:
    assert get_entry("gum").remote_path("conllu/GUM_a.conllu") == "dep/GUM_a.conllu"
    assert get_entry("novels").remote_path("1_novel.txt") == "original/1_novel.txt"
    assert get_entry("litbank").remote_path("LICENSE") == "LICENSE"


def test_an_unknown_corpus_is_refused_with_the_names() -> None:
    with pytest.raises(ConfigError, match=r"no corpus 'gun' .* stories, inscript"):
        get_entry("gun")


def test_a_damaged_list_of_hashes_is_refused() -> None:
    assert read_hash_list(f"{'a' * 64}  data/x.txt\n") == {"data/x.txt": "a" * 64}
    with pytest.raises(DataError, match="line 1: not a line of a SHA-256 list"):
        read_hash_list("abc  x")
