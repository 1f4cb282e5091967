"""The state of a story before its next word: a prompt was read, and a cast was added to its entities.

Plans and continuations start from it. It draws no words, so it works for models with a closed vocabulary too.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch

from entitynlm.coref.annotation import annotate_document, can_annotate
from entitynlm.discourse.naming import choose_names
from entitynlm.errors import ConfigError
from entitynlm.inference.readings import Readings, ReadText, make_row
from entitynlm.inference.story_state import StoryState, read_along
from entitynlm.model.encoding.encoder import EncodedDocument, Encoder
from entitynlm.model.encoding.preprocessing import normalise_word
from entitynlm.model.encoding.tokenizer import EncodedWords
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.model.noise import DrawnNoise, Noise
from entitynlm.model.pretrained import Pretrained
from entitynlm.text.detokenization import ends_sentence, join_tokens
from entitynlm.text.document import Document, Span
from entitynlm.text.segmentation import segment_text


class StoryOpening:
    """The state after a prompt (None: after nothing) and a cast, with the names of the entities.

    :ivar names: name of each entity by its number.
    :ivar spans: mentions of each entity in the prompt, by its number.
    """

    def __init__(
        self, pretrained: Pretrained, prompt: Document | None, cast: Sequence[str], draws: torch.Generator
    ) -> None:
        self.network, self.encoder = pretrained.get("generative").eval(), pretrained.encoder
        self.noise = DrawnNoise(draws)
        self.prompt = prompt
        self.names: dict[int, tuple[str, ...]] = {}
        self.spans: dict[int, list[Span]] = {}
        self.encoded: EncodedDocument | None = None
        if prompt is None or not prompt.tokens:
            self.state = begin_story(self.network)
        else:
            self.state = self._read_prompt(pretrained, prompt)
        for member in cast:
            if self.find_entity(member) is None:
                self._add_entity(segment_text(member).tokens)

    @property
    def begins_sentence(self) -> bool:
        """Tell whether the next word is the first one of a sentence."""
        return self.prompt is None or ends_sentence(self.prompt.tokens)

    def _read_prompt(self, pretrained: Pretrained, prompt: Document) -> StoryState:
        """Read the prompt with its mentions, which are found where it has none."""
        text = ReadText(self.encoder, prompt)
        if not prompt.mentions and can_annotate(pretrained):
            text = text.with_mentions(annotate_document(pretrained, prompt, encoded=text.encoded))
            self.prompt = prompt = text.document
        encoded, originals = text.encoded, text.originals
        entities = dict.fromkeys(mention.entity for mention in originals)
        numbers = {entity: number for number, entity in enumerate(entities, start=1)}
        for mention in originals:
            self.spans.setdefault(numbers[mention.entity], []).append(mention.span)
        for entity, mention in choose_names(prompt, originals).items():
            self.names[numbers[entity]] = prompt.tokens[mention.start : mention.end]
        if len(encoded) and encoded.origin[-1] < 0 and not self.begins_sentence:
            encoded = encoded.cut(len(encoded) - 1)  # the text breaks off: its sentence goes on
        self.encoded = encoded
        return read_prompt(self.network, encoded, self.noise, ended=self.begins_sentence)

    @torch.no_grad()
    def _add_entity(self, name: tuple[str, ...]) -> None:
        """Add a member of the cast: an entity whose vector is updated with its name, which the story has not mentioned.

        Its type is the most probable one by equation 3 after the prompt.
        """
        words, network = encode_name(self.encoder, name), self.network
        if len(words) > self.encoder.max_length:
            longest = self.encoder.max_length
            raise ConfigError(f"the name {' '.join(name)!r} has more than the {longest} words of a mention")
        assert self.state.hidden is not None
        mention_type = 1 + int(self.state.hidden.log_types[0, 1:].argmax())
        reading = network.backbone.read([words])
        noise = self.noise.draw(np.zeros(1), network.config.hidden_size)
        vector = network.create_entity(torch.tensor([mention_type]), noise)[0]
        for row in reading.after[0]:
            vector = network.update(vector, network.project_update(reading.table[int(row)]))
        self.state = self.state.add_entity(mention_type, vector.cpu().numpy())
        self.names[self.state.history.entities] = name

    def require_entity(self, name: str) -> int:
        """Find the entity of a name, or raise an error."""
        if (found := self.find_entity(name)) is not None:
            return found
        called = ", ".join(join_tokens(words)[0] for words in self.names.values()) or "none"
        raise ConfigError(f"no entity is called {name!r}; the text has: {called}; the cast may add others")

    def find_entity(self, name: str) -> int | None:
        """Find the entity of a name: by the full name, else by one of its words."""
        wanted = [word.lower() for word in segment_text(name).tokens]
        for number, words in self.names.items():
            if [word.lower() for word in words] == wanted:
                return number
        for number, words in self.names.items() if self.prompt is not None else ():
            if set(wanted) <= {word.lower() for word in words}:
                return number
        return None


@torch.no_grad()
def begin_story(network: EntityNetwork) -> StoryState:
    """Return the state before the first word of a text."""
    carry = network.backbone.start()
    hidden = make_row(network, network.backbone.state(carry)[0])
    return StoryState.begin(network, hidden, carry=carry, hidden=hidden)


@torch.no_grad()
def read_prompt(network: EntityNetwork, prompt: EncodedDocument, noise: Noise, *, ended: bool) -> StoryState:
    """Read a prompt with its mentions; returns the state after it.

    :param ended: whether the prompt ends with the end of a sentence.
    """
    if not len(prompt):
        return begin_story(network)
    readings = Readings(prompt)
    chunks = readings.read(network)
    for step in read_along(network, prompt, chunks, noise=noise, starts_only=True):
        state = step.after
    carry = readings.get_carry(network)
    pieces = None
    if prompt.pieces is not None and prompt.piece_bounds is not None:
        spelled = np.split(prompt.pieces, prompt.piece_bounds[1:-1])
        pieces = next(tuple(own.tolist()) for own in reversed(spelled) if len(own))
    # A prompt may end inside a mention only if its annotation says so; the story then goes on from its end.
    return replace(
        state,
        history=replace(state.history, remaining=0),
        open_type=0,
        sentence=state.sentence + int(ended),
        pieces=pieces,
        carry=carry,
        hidden=make_row(network, network.backbone.state(carry)[0]),
    )


def encode_name(encoder: Encoder, words: Sequence[str]) -> EncodedWords:
    """Encode the words of a name as a text of their own, without the end of a sentence."""
    recipe, tokenizer = encoder.recipe, encoder.tokenizer
    normal = [normalise_word(word, lowercase=recipe.lowercase, numbers=recipe.numbers) for word in words]
    x, sentence = tokenizer.encode(normal), np.zeros(len(normal), dtype=np.int64)
    spelled = tokenizer.encode_pieces(normal, np.ones(len(normal), dtype=np.bool_))
    if spelled is None:
        return EncodedWords(x, sentence)
    return EncodedWords(x, sentence, *spelled)


NEW_ACTOR = ""  # the name of an entity that has none yet, as in entity prediction


def plan_next(
    pretrained: Pretrained,
    prompt: Document | None = None,
    cast: tuple[str, ...] = (),
    *,
    new_entities: bool = True,
    seed: int = 0,
) -> list[tuple[str, float]]:
    """Predict the next entity: (name, probability) of all candidates, the likeliest first; :data:`NEW_ACTOR` is any new entity.

    The probabilities are equation 4 at the next word, given that a mention starts there; no word is drawn. The model predicts the
    next entity well (Table 3 of the paper), better than a small model writes prose.

    :param new_entities: whether an entity that is neither in the prompt nor in the cast is a candidate.
    """
    opening = StoryOpening(pretrained, prompt, cast, torch.Generator(device="cpu").manual_seed(seed))
    assert opening.state.hidden is not None
    probs = opening.state.expect(opening.state.hidden, 0).referents()
    names = {number: join_tokens(words)[0] for number, words in opening.names.items()}
    candidates = [(names.get(n, f"#{n}"), float(probs[n])) for n in range(1, len(probs))]
    if new_entities or not candidates:
        candidates.append((NEW_ACTOR, float(probs[0])))
    total = sum(probability for _, probability in candidates)
    return sorted(((name, own / total) for name, own in candidates), key=lambda pair: -pair[1])
