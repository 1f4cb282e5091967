"""Corpora as folders: what there is, where it comes from, how it is divided, what is in it."""

from entitynlm.text.corpora.corpus import Corpus, open_corpus

__all__ = ["Corpus", "open_corpus"]
