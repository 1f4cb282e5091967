"""The spaCy component: found by its entry point, batches, DocBin, texts that spaCy cuts in its own way."""

from pathlib import Path

import pytest
import spacy

from support.small_model import store_model

TEXTS = ["Ann saw Bo. She ran. Ann saw it.", "  \n", "", "Bo ran.  Ann saw Bo and he ran."]


@pytest.fixture(scope="module")
def nlp(tmp_path_factory: pytest.TempPathFactory):  # type: ignore[no-untyped-def]
    folder = store_model(tmp_path_factory.mktemp("model"))
    made = spacy.blank("en")
    made.add_pipe("entitynlm", config={"model": str(folder), "singletons": True, "surprisal": True})
    return made


def test_clusters_surprisal_and_resolved_text(nlp) -> None:  # type: ignore[no-untyped-def]
    doc = nlp(TEXTS[0])
    keys = [key for key in doc.spans if key.startswith("coref_clusters_")]
    assert keys and keys[0] == "coref_clusters_1"
    assert [[span.text for span in cluster] for cluster in doc._.coref_clusters] == [
        [span.text for span in doc.spans[key]] for key in keys
    ]
    assert all(token._.surprisal > 0 for token in doc if token.text.isalpha())
    assert doc[3]._.surprisal is None and doc[3].text == "."  # this model does not read punctuation
    assert isinstance(doc._.resolved_text, str)


def test_batches_give_what_single_texts_give(nlp) -> None:  # type: ignore[no-untyped-def]
    batched = list(nlp.pipe(TEXTS, batch_size=2))
    assert [doc.text for doc in batched] == TEXTS
    for doc, text in zip(batched, TEXTS, strict=True):
        again = nlp(text)
        assert {key: [s.text for s in group] for key, group in doc.spans.items()} == {
            key: [s.text for s in group] for key, group in again.spans.items()
        }
        assert [token._.surprisal for token in doc] == [token._.surprisal for token in again]


def test_processes_share_the_texts(nlp) -> None:  # type: ignore[no-untyped-def]
    shared = list(nlp.pipe(TEXTS, n_process=2, batch_size=1))
    assert [doc._.resolved_text for doc in shared] == [nlp(text)._.resolved_text for text in TEXTS]


def test_results_survive_bytes_and_docbin(nlp) -> None:  # type: ignore[no-untyped-def]
    doc = nlp(TEXTS[0])
    copies = [spacy.tokens.Doc(nlp.vocab).from_bytes(doc.to_bytes())]
    packed = spacy.tokens.DocBin(store_user_data=True, docs=[doc])
    copies += spacy.tokens.DocBin().from_bytes(packed.to_bytes()).get_docs(nlp.vocab)
    for copy in copies:
        assert [[s.text for s in c] for c in copy._.coref_clusters] == [
            [s.text for s in c] for c in doc._.coref_clusters
        ]
        assert [token._.surprisal for token in copy] == [token._.surprisal for token in doc]


def test_the_pipeline_is_stored_and_loaded(nlp, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    nlp.to_disk(tmp_path)
    again = spacy.load(tmp_path)
    assert again.pipe_names == ["entitynlm"]
    assert len(again(TEXTS[0])._.coref_clusters) == len(nlp(TEXTS[0])._.coref_clusters)


def test_pronouns_are_resolved() -> None:
    from entitynlm.interfaces.spacy_component import get_resolved_text

    doc = spacy.blank("en")("Ann lost her key. She called Bo. He helped her.")
    span = spacy.tokens.Span
    doc.spans["coref_clusters_1"] = [span(doc, 0, 1), span(doc, 2, 3), span(doc, 5, 6), span(doc, 11, 12)]
    doc.spans["coref_clusters_2"] = [span(doc, 7, 8), span(doc, 9, 10)]
    assert get_resolved_text(doc) == "Ann lost Ann's key. Ann called Bo. Bo helped Ann."


def test_sentences_are_found_where_spacy_has_none() -> None:
    from entitynlm.interfaces.spacy_component import read_doc

    doc = spacy.blank("en")("Ann ran.  She saw Bo.\n\nIt ran.")
    document, places = read_doc(doc)
    assert [document.tokens[a:b] for a, b in document.sentences] == [
        ("Ann", "ran", "."),
        ("She", "saw", "Bo", "."),
        ("It", "ran", "."),
    ]
    assert [doc[place].text for place in places] == list(document.tokens)
