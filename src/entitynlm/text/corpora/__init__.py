"""Corpora as folders: the catalogue, downloads, splits, statistics."""

from entitynlm.text.corpora.corpus import Corpus, open_corpus

__all__ = ["Corpus", "open_corpus"]
