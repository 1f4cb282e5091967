"""9. Surprisal and annotation of a text of about 2,000 tokens by the small packaged model, against a scoring pass of it."""

import numpy as np

from benchmarks.data import load_documents
from benchmarks.figures import Context, Figure
from benchmarks.timing import Contestant, median_ratio, race
from entitynlm.coref.annotation import annotate_document
from entitynlm.inference.scoring import score_document
from entitynlm.lm.surprisal import SURPRISAL_REPEATS, SURPRISAL_SAMPLES, measure_surprisal
from entitynlm.model.pretrained import load_pretrained
from entitynlm.text.document import Document

NAME = "surprisal"
MODEL = "entitynlm-en"
TOKENS = 2_024


def make_text(context: Context, size: int = TOKENS) -> Document:
    """About ``size`` tokens: sentences of several documents, one after the other, without their mentions."""
    tokens: list[str] = []
    sentences: list[tuple[int, int]] = []
    for document in load_documents(context.data):
        for start, end in document.sentences:
            if len(tokens) + end - start > context.choose(size, max(20, size // 10)):
                return Document("text", tuple(tokens), tuple(sentences))
            sentences.append((len(tokens), len(tokens) + end - start))
            tokens += document.tokens[start:end]
    return Document("text", tuple(tokens), tuple(sentences))


def run(context: Context) -> list[Figure]:
    text, pretrained = make_text(context), load_pretrained(MODEL)
    encoder, network = pretrained.encoder, pretrained.get("generative")

    def score() -> int:
        score_document(network, encoder.encode(text), encoder.show_words(text))
        return len(text)

    def measure() -> int:
        measure_surprisal(pretrained, text)
        return len(text)

    def annotate() -> int:
        annotate_document(pretrained, text)
        return len(text)

    contestants: dict[str, Contestant] = {"pass": score, "surprisal": measure, "annotate": annotate}
    laps = race(contestants, context.choose(5, 1))
    errors = [row.error for row in measure_surprisal(pretrained, text).tokens if row.error is not None]
    what = f"of {len(text):,} tokens ÷ a scoring pass"
    ratios = {name: median_ratio(laps["pass"], laps[name]) for name in ("surprisal", "annotate")}
    particles = f"surprisal {what}, {SURPRISAL_SAMPLES} × {SURPRISAL_REPEATS} particles"
    return [
        Figure("surprisal_vs_pass", ratios["surprisal"], particles, must=12, aim=8, most=True),
        Figure("surprisal_error", float(np.mean(errors)), "… its mean standard error", "bits"),
        Figure("annotate_vs_pass", ratios["annotate"], f"annotation {what}", must=6, aim=3, most=True),
    ]
