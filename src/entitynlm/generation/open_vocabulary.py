"""Words of an open vocabulary during generation: how they are spelled at their place, and where sentences end.

A language model whose pieces carry white space decides itself where a space is; an inserted name gets a space unless an opening
bracket or quotation mark stands before it. Such models read no ``</s>``: a sentence ends after its final mark and the quotation
marks and brackets that close right after it.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.encoding.preprocessing import unescape_word
from entitynlm.model.encoding.tokenizer import Tokenizer
from entitynlm.text.detokenization import STRAIGHT_QUOTES, TIGHT_AFTER, is_attached
from entitynlm.text.english import TITLES

MOST_PIECES = 24
"""A word with more pieces than this is redrawn."""

FINAL_MARKS = tuple(".!?…。！？")
CLOSING_MARKS = "\"'”’»)]}"
BROKEN = "\ufffd"  # bytes that are no character


class OpenVocabulary:
    """Words that may be generated with a tokenizer of several pieces per word, by their keys."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self._words: dict[int, str] = {}
        self._never, self._no_mention = self._list_excluded()

    def _list_excluded(self) -> tuple[Tensor, Tensor]:
        """List the pieces that are never drawn, and those that begin no word of a mention because a sentence ends there."""
        never = torch.from_numpy(np.asarray(self.tokenizer.never_generated, dtype=np.int64))
        whole = [piece for piece in range(len(self.tokenizer)) if self.tokenizer.ends_word(piece)]
        texts = [self.tokenizer.write([piece]) or "" for piece in whole]
        pairs = zip(whole, texts, strict=True)
        ending = [piece for piece, text in pairs if _strip(text).endswith(FINAL_MARKS)]
        return never, torch.tensor([*never.tolist(), *ending], dtype=torch.int64)

    def learn(self, word: str) -> int:
        """Add a word that may be generated; returns its key."""
        key = int(self.tokenizer.encode([word])[0])
        self._words[key] = word
        return key

    def learn_text(self, text: EncodedDocument) -> None:
        """Add the words of a prompt, which mentions of its entities may repeat."""
        assert text.pieces is not None and text.piece_bounds is not None
        pieces = np.split(text.pieces, text.piece_bounds[1:-1])
        for key, own in zip(text.x.tolist(), pieces, strict=True):
            if key not in self._words and len(own):
                self._words[key] = self.tokenizer.join(own.tolist())

    def __getitem__(self, key: int) -> str:
        return self._words[key]

    def exclude(self, log_probs: Tensor, *, opens_mention_word: bool) -> Tensor:
        """Take the pieces that may not come next out of a distribution."""
        log_probs[self._no_mention if opens_mention_word else self._never] = -torch.inf
        return log_probs

    # -- words that are put in -----------------------------------------------------------------------------------------

    def spell(self, key: int, before: Sequence[int] | None) -> tuple[int, ...]:
        """Spell a word after the pieces ``before`` it (None: at the start of a text)."""
        word, pieces = self._words[key], self.tokenizer.pieces(self._words[key])
        if is_attached(word):
            return pieces
        if before is not None and not self._opens(self.tokenizer.write(before) or ""):
            return pieces
        alone = self.tokenizer.encode_pieces([word])
        assert alone is not None
        return tuple(alone[0].tolist())

    @staticmethod
    def _opens(text: str) -> bool:
        """Tell whether the next word follows without a space: after "(", or a quotation mark that itself follows a space."""
        mark, rest = text[-1:], text[:-1]
        return mark in TIGHT_AFTER or (
            mark in STRAIGHT_QUOTES and (rest.isspace() or rest[-1:] in TIGHT_AFTER)
        )

    # -- words that were drawn -------------------------------------------------------------------------------------------

    def is_whole(self, pieces: Sequence[int], before: Sequence[int] | None = None, *, one_line: bool) -> bool:
        """Tell whether a word is complete and printable, and stands apart from the word ``before`` it.

        :param one_line: whether there must be no line break before it.
        """
        if not self.tokenizer.ends_word(pieces[-1]):
            return False
        text = self.tokenizer.write(pieces) or ""
        shown = text.strip()
        good = bool(shown) and shown.isprintable() and BROKEN not in shown
        if text[:1].isalpha() and before is not None and (self.tokenizer.write(before) or "")[-1:].isalpha():
            return False
        return good and not (one_line and "\n" in text)

    def fits_quotation(self, pieces: Sequence[int], before: Sequence[int] | None, *, quoting: bool) -> bool:
        """Tell whether the straight quotation marks of a word close the open quotation, or open one where none is open.

        A mark with white space before it opens a quotation, any other closes one, except for the first of a text.
        """
        text = self.tokenizer.write(pieces) or ""
        if '"' not in text or before is None:
            return "''" not in text
        return quoting != text[0].isspace() and text.count('"') == 1

    def ends_sentence(self, x: int, pieces: Sequence[int], previous: int) -> bool:
        """Tell whether a sentence ends with a word; ``previous`` is the word before it: "Mr." and "J." end none."""
        if not _strip(self.tokenizer.write(pieces) or "").endswith(FINAL_MARKS):
            return False
        last = unescape_word(self._words.get(previous, "")) if self._words.get(x) == "." else ""
        return not (f"{last.lower()}." in TITLES or (len(last) == 1 and last.isupper() and last != "I"))

    def closes_sentence(self, pieces: Sequence[int]) -> bool:
        """Tell whether a word consists of marks that belong to the sentence before it, such as a closing quotation mark."""
        text = self.tokenizer.write(pieces) or ""
        return bool(text) and not _strip(text)


def _strip(text: str) -> str:
    """Strip the quotation marks and brackets that close at the end of a text."""
    return text.rstrip(CLOSING_MARKS)
