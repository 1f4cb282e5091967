"""spaCy Docs: round trips, and documents that spaCy's own users made."""

import spacy
from hypothesis import given, settings

from entitynlm.text.document import Document, Mention
from entitynlm.text.formats.spacy_docs import from_spacy, to_spacy
from support.strategies import documents

VOCAB = spacy.vocab.Vocab()

STORY = Document(
    "story",
    ("Marta", "can't", "find", "her dog", ".", "It", "sleeps", "!"),
    ((0, 5), (5, 8)),
    (Mention(0, 1, "m"), Mention(3, 4, "m", head=3), Mention(3, 4, "dog"), Mention(5, 6, "dog")),
    {"dog": "animal"},
    text="Marta can't find her dog. It\nsleeps!",
    offsets=((0, 5), (6, 11), (12, 16), (17, 24), (24, 25), (26, 28), (29, 35), (35, 36)),
    columns={
        "pos": ("NNP", None, "VB", "NN", ".", "PRP", "VBZ", "."),
        "upos": ("PROPN", None, "VERB", "NOUN", "PUNCT", "PRON", "VERB", "PUNCT"),
        "lemma": ("Marta", "can", "find", "dog", ".", "it", "sleep", "!"),
        "deprel": ("nsubj", "aux", "root", "obj", "punct", "nsubj", "root", "punct"),
        "speaker": ("Ann",) * 8,
    },
    heads=(2, 2, -1, 2, 2, 6, -1, 6),
    meta={"genre": "tale"},
)


@settings(max_examples=60)
@given(documents())
def test_round_trip_is_exact(document: Document) -> None:
    assert from_spacy(to_spacy(document, VOCAB)) == document


def test_docs_are_kept_in_a_docbin() -> None:
    packed = spacy.tokens.DocBin(docs=[to_spacy(STORY, VOCAB)], store_user_data=True).to_bytes()
    (doc,) = spacy.tokens.DocBin().from_bytes(packed).get_docs(VOCAB)
    assert from_spacy(doc) == STORY


def test_spacy_users_find_things_where_they_look() -> None:
    doc = to_spacy(STORY, VOCAB)
    assert [token.text for token in doc] == list(STORY.tokens)
    assert doc[:5].text == "Marta can't find her dog."
    assert [token.tag_ for token in doc][:3] == ["NNP", "", "VB"]
    assert [token.pos_ for token in doc][3] == "NOUN"
    assert [token.lemma_ for token in doc][6] == "sleep"
    assert [sentence.text for sentence in doc.sents] == ["Marta can't find her dog.", "It sleeps!"]
    groups = {key: [span.text for span in group] for key, group in doc.spans.items()}
    assert groups == {"coref_clusters_1": ["Marta", "her dog"], "coref_clusters_2": ["her dog", "It"]}
    assert doc.spans["coref_clusters_2"][0].label_ == "animal"


def test_groups_that_are_changed_in_spacy_are_read_changed() -> None:
    doc = to_spacy(STORY, VOCAB)
    doc.spans["coref_clusters_1"] = [doc[0:1]]
    doc.spans["coref_clusters_3"] = [doc[2:3]]
    changed = from_spacy(doc)
    assert changed.columns["speaker"] == STORY.columns["speaker"]
    assert {entity.id: [m.span for m in entity.mentions] for entity in changed.entities} == {
        "1": [(0, 1)],
        "3": [(2, 3)],
        "dog": [(3, 4), (5, 6)],
    }


def test_words_changed_in_spacy() -> None:
    doc = to_spacy(STORY, VOCAB)
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[3:5])
    assert len(from_spacy(doc, "new")) == 7


def test_a_doc_of_someone_else() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    doc = nlp("Dr. Ode\n\nlost his key. He   wept.")
    doc.spans["coref_clusters_2"] = [doc.char_span(0, 9), doc.char_span(14, 17), doc.char_span(23, 25)]
    doc.spans["coref_clusters_10"] = [doc.char_span(14, 21)]
    doc.spans["coref_head_clusters_1"] = [doc.char_span(18, 21)]
    doc.spans["coref_clusters_11"] = [doc[2:3]]
    document = from_spacy(doc, "mine")
    assert document.id == "mine"
    assert "\n\n" not in document.tokens
    assert document.text == doc.text
    assert all(document.words(i, i + 1) == word for i, word in enumerate(document.tokens))
    spoken = {e.id: [document.words(*m.span) for m in e.mentions] for e in document.entities}
    assert spoken == {"2": ["Dr. Ode", "his", "He"], "10": ["his key"]}
    assert [document.words(*span) for span in document.sentences][-1] == "He   wept."


def test_a_doc_without_sentences_is_one() -> None:
    assert from_spacy(spacy.blank("en")("One. Two.")).sentences == ((0, 4),)


def test_heads_climb_over_white_space() -> None:
    doc = spacy.tokens.Doc(VOCAB, words=["a", "\n", "b"], heads=[1, 2, 2], deps=["x", "y", "z"])
    document = from_spacy(doc)
    assert document.tokens == ("a", "b")
    assert document.heads == (1, -1)
