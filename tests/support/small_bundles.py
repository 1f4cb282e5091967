"""Bundles with random parameters over a handful of invented words: nothing was trained, everything can be measured."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

import torch

from entitynlm.config import Mode, ModelConfig
from entitynlm.coref.resolver import Resolver
from entitynlm.coref.resolver_network import NetworkSizes
from entitynlm.coref.resolver_training import ResolverExample, read_states, train_network
from entitynlm.coref.word_inputs import WordList
from entitynlm.model.encoding.encoder import EncodedDocument, Encoder
from entitynlm.model.encoding.preprocessing import Recipe
from entitynlm.model.encoding.word_classes import assign_classes
from entitynlm.model.pretrained import Pretrained
from entitynlm.text.document import Document, Mention
from entitynlm.training.settings import ResolverSettings

TEXTS = (
    "Ann saw Bo . She ran .",
    "Bo saw Ann . He ran .",
    "Ann ran . Bo saw it .",
    "She saw it . Ann ran .",
    "He saw Bo . It ran .",
    "it ran . She saw Ann .",
    "Bo ran . Ann saw Bo .",
)
PEOPLE = {"ann": "ann", "she": "ann", "bo": "bo", "he": "bo", "it": "thing"}


def make_documents() -> list[Document]:
    """Two short sentences each, every name and pronoun a mention."""
    documents = []
    for number, text in enumerate(TEXTS):
        tokens = tuple(text.split())
        border = tokens.index(".") + 1
        mentions = tuple(
            Mention(i, i + 1, PEOPLE[token.lower()])
            for i, token in enumerate(tokens)
            if token.lower() in PEOPLE
        )
        documents.append(Document(f"d{number}", tokens, ((0, border), (border, len(tokens))), mentions))
    return documents


def make_bundle(
    *, std: float = 0.5, seed: int = 0, **options: Any
) -> tuple[Pretrained, list[EncodedDocument]]:
    """A bundle with all parts, and the documents as its encoder sees them."""
    documents = make_documents()
    encoder = Encoder.fit(documents, recipe=Recipe(), singletons="keep", max_length=2)
    encoded = [encoder.encode(document) for document in documents]
    classes = assign_classes([document.x for document in encoded], len(encoder.vocabulary))
    pretrained = Pretrained(encoder, classes)
    generator = torch.Generator().manual_seed(seed)
    for mode in get_args(Mode):
        settings = {"hidden_size": 5, "embedding_size": 4, "max_length": 2, "sigma": 0.0, **options}
        config = ModelConfig(mode=mode, **settings)
        network = pretrained.add(config)
        for parameter in network.parameters():
            parameter.data = std * torch.randn(parameter.shape, generator=generator)
        network.eval()
    return pretrained, encoded


def add_resolver(
    pretrained: Pretrained, documents: Sequence[Document] = (), *, epochs: int = 25
) -> Pretrained:
    """Train a small resolver into a bundle, which knows the documents by heart then."""
    documents = documents or make_documents()
    words = WordList.count(documents, fewest=1)
    types = sorted({name for document in documents for name in document.entity_types.values()})
    states = pretrained.get("generative").backbone.token_state_size
    sizes = NetworkSizes(
        states, len(words), len(types), projected=8, embedding=16, shape=4, lstm=12, span=20, pair=12, product=8,
        message=4, cluster=8, dropout=0.0,
    )  # fmt: skip
    read = zip(documents, read_states(pretrained, documents), strict=True)
    examples = [ResolverExample(document, own, words, types) for document, own in read]
    settings = ResolverSettings(epochs=epochs, rate=0.02, hidden_words=0.0, average=0.9)
    pretrained.set_component(Resolver(train_network(examples, sizes, settings), words, types))
    return pretrained


def cut_document(document: EncodedDocument, words: int) -> EncodedDocument:
    """The first words of a document: a few of them, so that all analyses can be listed, or none."""
    names = ("x", "r", "e", "l", "sentence", "origin")
    return replace(document, **{name: getattr(document, name)[:words] for name in names})
