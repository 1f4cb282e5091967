"""Learn the weights of the speaker model: ``python scripts/train_speakers.py --data DIR --annotations DIR... [--write]``.

``--data`` holds ``pdnc``, ``litbank`` and ``litbank-quotations``. ``--annotations`` are folders with a file NOVEL.jsonl for each
novel of PDNC, as ``entitynlm annotate NOVEL/novel_text.txt --to jsonl`` writes it: speakers are learned over the entities that a
model finds, not over annotated ones. Learned from PDNC's training novels (every third of them a second time without its
paragraphs, which tokenised texts have lost) and LitBank's training documents with their annotated entities; measured on PDNC's
development novels.
"""

import argparse
import json
import random
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import save_file
from scipy.optimize import linear_sum_assignment
from torch import Tensor, nn

from entitynlm.characters.book_scores import measure_book
from entitynlm.discourse.conversations import Conversation
from entitynlm.discourse.discourse import Discourse, read_discourse
from entitynlm.discourse.speaker_features import Dialogue
from entitynlm.discourse.speakers import (
    ANSWERS,
    FIRST_OTHER,
    GOES_ON,
    IMPOSSIBLE,
    JOINS,
    SPEAKER_WEIGHTS,
    SpeakerModel,
    find_speakers,
    read_conversations,
)
from entitynlm.discourse.speech_tags import TagReader
from entitynlm.text.corpora.pdnc import Novel, list_novels, read_novel
from entitynlm.text.document import Document, Quotation
from entitynlm.text.formats.registry import read_documents
from measure_quotations import read_quoted_documents

BATCH = 48
PASSAGE_WEIGHT = 3
"""How often LitBank's conversations, which are few, are read."""


@dataclass(frozen=True)
class Example:
    """A conversation and the place of each quotation's speaker among its participants, -1 where it is not known."""

    conversation: Conversation
    speakers: list[int]


def label(conversations: Sequence[Conversation], speakers: dict[int, str]) -> Iterator[Example]:
    for conversation in conversations:
        places = {who: place for place, who in enumerate(conversation.participants)}
        numbers = range(conversation.first, conversation.first + len(conversation.steps))
        found = [places.get(speakers.get(number, ""), -1) for number in numbers]
        if max(found) >= 0:
            yield Example(conversation, found)


def find_entities(novel: Novel, document: Document, dialogue: Dialogue) -> dict[int, str]:
    """The entity that speaks each found quotation: characters are mapped one to one to entities by names and tags."""
    assert document.offsets is not None
    names: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for mention in document.mentions:
        names[document.offsets[mention.end - 1][1]].append(
            (document.offsets[mention.start][0], mention.entity)
        )
    votes: Counter[tuple[str, str]] = Counter()
    for (start, end), who in novel.find_names().items():
        near = [(end - begin, entity) for begin, entity in names[end] if begin <= start <= begin + 14]
        if near:
            votes[min(near)[1], who] += 10
    parts = sorted(
        ((start, end, number) for number, q in enumerate(novel.quotations) for start, end in q.parts)
    )
    # quotations name some characters by an alias
    main_names = {alias: who.name for who in reversed(novel.characters) for alias in (*who.aliases, who.name)}
    main_names |= {who.name: who.name for who in novel.characters}
    reader, said, place = TagReader(dialogue), {}, 0
    for number, (first, last) in enumerate(dialogue.quotations):
        start, end = document.offsets[first][0], document.offsets[last - 1][1]
        while place < len(parts) and parts[place][1] <= start:
            place += 1
        overlaps = [
            (min(end, b) - max(start, a), q) for a, b, q in parts[place : place + 6] if a < end and b > start
        ]
        if overlaps:
            quotation = novel.quotations[max(overlaps, key=lambda pair: pair[0])[1]]
            said[number] = main_names.get(quotation.speaker, quotation.speaker)
            tag = reader.read(number)
            if tag is not None and tag.entity is not None and quotation.kind != "implicit":
                votes[tag.entity, said[number]] += 10 if quotation.kind == "explicit" else 3
    entities, characters = (sorted({pair[side] for pair in votes}) for side in (0, 1))
    table = np.array([[votes[entity, who] for who in characters] for entity in entities])
    rows, columns = linear_sum_assignment(-table)
    mapped = {characters[c]: entities[r] for r, c in zip(rows, columns, strict=True) if table[r, c]}
    return {number: mapped[who] for number, who in said.items() if who in mapped}


def list_novel_examples(novel: Novel, document: Document, twice: bool) -> Iterator[Example]:
    discourse = read_discourse(document)
    dialogue = Dialogue.of_document(discourse, document)
    speakers = find_entities(novel, document, dialogue)
    yield from label(read_conversations(dialogue), speakers)
    if twice:
        bare = Dialogue.of_document(Discourse(document, [0], discourse.quotations), document)
        yield from label(read_conversations(bare), speakers)


def list_passage_examples(document: Document) -> Iterator[Example]:
    discourse = read_discourse(document, [quotation.span for quotation in document.quotations])
    speakers = {number: q.speaker for number, q in enumerate(document.quotations) if q.speaker is not None}
    yield from label(read_conversations(Dialogue.of_document(discourse, document)), speakers)


class Network(nn.Module):
    """The conditional random field of ``discourse/speakers.py``, for training."""

    def __init__(self, features: Sequence[str], steps: Sequence[str], hidden: int, dropout: float) -> None:
        super().__init__()
        self.features = {name: row for row, name in enumerate(features)}
        self.steps = {name: row for row, name in enumerate(steps)}
        self.linear = nn.Linear(len(features), 1, bias=False)
        self.hidden = nn.Linear(len(features), hidden)
        self.output = nn.Linear(hidden, 1, bias=False)
        self.dropout = nn.Dropout(dropout)
        self.step_weights = nn.Parameter(torch.zeros(len(steps), 4))
        nn.init.zeros_(self.linear.weight)

    def make_batch(self, examples: Sequence[Example]) -> tuple[Tensor, ...]:
        """Inputs (B, Q, K, F), whether participants are there (B, K), speakers, steps, whether quotations are there (B, Q)."""
        size = len(examples), max(len(e.speakers) for e in examples)
        people = max(len(e.conversation.participants) for e in examples)
        inputs = torch.zeros(*size, people, len(self.features))
        there, speakers = torch.zeros(size[0], people, dtype=torch.bool), torch.full(size, -1)
        steps, quoted = torch.zeros(size, dtype=torch.long), torch.zeros(size, dtype=torch.bool)
        for b, example in enumerate(examples):
            there[b, : len(example.conversation.participants)] = True
            for q, row in enumerate(example.conversation.features):
                quoted[b, q], speakers[b, q] = True, example.speakers[q]
                steps[b, q] = self.steps.get(example.conversation.steps[q], 0)
                for k, found in enumerate(row):
                    known = [(self.features[n], value) for n, value in found.items() if n in self.features]
                    inputs[b, q, k, [column for column, _ in known]] = torch.tensor(
                        [value for _, value in known]
                    )
        return inputs, there, speakers, steps, quoted

    def sum_readings(self, scores: Tensor, there: Tensor, steps: Tensor, quoted: Tensor) -> Tensor:
        """(B,) log of the sum over all readings of a conversation."""
        batch, count, people = scores.shape
        scores = scores.masked_fill(~there[:, None], IMPOSSIBLE)
        state = torch.cat([torch.full((batch, people, people), IMPOSSIBLE), scores[:, 0, :, None]], 2)
        same = torch.eye(people, dtype=torch.bool)
        for q in range(1, count):
            weights = self.step_weights[steps[:, q]][:, :, None, None]
            change = torch.where(same, weights[:, ANSWERS], weights[:, JOINS])
            change = torch.cat([change, weights[:, FIRST_OTHER].expand(batch, 1, people)], 1)
            changed = torch.logsumexp(state[..., None] + change[:, None], 2).masked_fill(same, IMPOSSIBLE)
            changed = torch.cat([changed.transpose(1, 2), torch.full((batch, people, 1), IMPOSSIBLE)], 2)
            following = torch.logaddexp(changed, state + weights[:, GOES_ON]) + scores[:, q, :, None]
            state = torch.where(quoted[:, q, None, None], following, state)
        return torch.logsumexp(state.flatten(1), 1)

    def loss(self, batch: Sequence[Tensor]) -> Tensor:
        inputs, there, speakers, steps, quoted = batch
        scores = (self.linear(inputs) + self.output(self.dropout(torch.relu(self.hidden(inputs))))).squeeze(
            -1
        )
        wrong = (speakers >= 0)[..., None] & (torch.arange(scores.shape[2]) != speakers[..., None])
        clamped = scores.masked_fill(wrong, IMPOSSIBLE)
        return (
            self.sum_readings(scores, there, steps, quoted) - self.sum_readings(clamped, there, steps, quoted)
        ).sum() / (speakers >= 0).sum()

    def to_model(self) -> SpeakerModel:
        weights = {
            "linear": self.linear.weight[0],
            "hidden": self.hidden.weight,
            "bias": self.hidden.bias,
            "output": self.output.weight[0],
            "steps": self.step_weights,
        }
        return SpeakerModel({n: v.detach().numpy() for n, v in weights.items()}, self.features, self.steps)


def train(examples: Sequence[Example], options: argparse.Namespace) -> SpeakerModel:
    torch.manual_seed(options.seed)
    random.seed(options.seed)
    features = sorted(
        {name for e in examples for row in e.conversation.features for found in row for name in found}
    )
    steps = sorted({step for e in examples for step in e.conversation.steps})
    network = Network(features, steps, options.hidden, options.dropout)
    ordered = sorted(examples, key=lambda e: len(e.speakers))
    batches = [network.make_batch(ordered[i : i + BATCH]) for i in range(0, len(ordered), BATCH)]
    others = [p for p in network.parameters() if p is not network.step_weights]
    groups = [
        {"params": others, "weight_decay": 0.01},
        {"params": [network.step_weights], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups)
    rates = [options.rate, 10 * options.rate]
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rates, options.epochs * len(batches))
    for epoch in range(options.epochs):
        random.shuffle(batches)
        total = 0.0
        for batch in batches:
            optimizer.zero_grad()
            loss = network.loss(batch)
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 5.0)
            optimizer.step()
            schedule.step()
            total += loss.item()
        print(
            f"epoch {epoch + 1}: {total / len(batches):.4f}, {time.process_time():.0f} CPU-seconds",
            flush=True,
        )
    return network.to_model()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--annotations", type=Path, nargs="+", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--hidden", type=int, default=24)
    parser.add_argument("--dropout", type=float, default=0.2)
    parser.add_argument("--rate", type=float, default=0.01)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--write", action="store_true", help="write the weights into the package")
    options = parser.parse_args()
    torch.set_num_threads(1)
    passages = read_quoted_documents(options.data / "litbank", options.data / "litbank-quotations", "train")
    examples = PASSAGE_WEIGHT * [
        example for document in passages for example in list_passage_examples(document)
    ]
    for folder in options.annotations:
        for place, path in enumerate(list_novels(options.data / "pdnc", "train")):
            if (file := folder / f"{path.name}.jsonl").is_file():
                (document,) = read_documents(file)
                examples += list_novel_examples(read_novel(path), document, twice=place % 3 == 0)
    print(f"{len(examples)} conversations, {sum(len(e.speakers) for e in examples)} quotations", flush=True)
    model = train(examples, options)
    for folder in options.annotations:
        rows = []
        for path in list_novels(options.data / "pdnc", "dev"):
            if (file := folder / f"{path.name}.jsonl").is_file():
                (document,) = read_documents(file)
                dialogue = Dialogue.of_document(read_discourse(document), document)
                spoken = zip(dialogue.quotations, find_speakers(dialogue, model), strict=True)
                quoted = document.with_quotations([Quotation(*span, who) for span, who in spoken])
                rows.append(measure_book(read_novel(path), quoted))
                print(folder.name, path.name, rows[-1]["speakers"], flush=True)
        if rows:
            means = {
                name: sum(row[name] or 0.0 for row in rows) / len(rows)
                for name in rows[0]
                if "speaker" in name
            }
            print(folder.name, "mean", {name: round(value, 2) for name, value in means.items()}, flush=True)
    if options.write:
        names = {"features": json.dumps(list(model.features)), "steps": json.dumps(list(model.steps))}
        save_file(
            {n: np.ascontiguousarray(v) for n, v in model.weights.items()}, SPEAKER_WEIGHTS, metadata=names
        )


if __name__ == "__main__":
    main()
