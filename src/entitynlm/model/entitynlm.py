"""EntityNLM on one page: the parameters and every equation of the paper's section 2, in the paper's order.

A word x_t comes with R_t (``mention_type``: 0 outside of mentions, else in one; with types, of which type), E_t (``entity``) and
L_t (``remaining`` words of the mention, counting this one). One step of the generative story (section 2.2):

    1. if the last mention is finished (l_{t-1} = 1): choose r_t (eq. 3); if it is not 0, choose e_t among the entities so far
       and a new one (eq. 4, 7), set e_current to the entity's vector, choose the length l_t (eq. 5);
    2. otherwise continue: l_t = l_{t-1} - 1, r_t = r_{t-1}, e_t = e_{t-1};
    3. choose the word x_t from h_{t-1} and e_current (eq. 6);
    4. read it: h_t (eq. 2);
    5. if r_t is not 0, update the entity's vector with h_t (eq. 8) and set e_current to it;
    6. leave all other entities as they are.

The equations below are vectorised over any leading dimensions and are used as they stand by the fast path (``batch``) and by the
samplers; the slow twin (``reference``, the executable specification) writes them out once more, word by word. With
``mode = "causal"`` the same equations make the proposal Q of section 5.1: step 3 is left out, step 4 moves to the front, and h_t
takes the place of h_{t-1}. With ``mode = "lookahead"`` h_t has moreover read the words to come, and a length is scored by the
two ends of its span besides equation 5 (ours, not the paper's).

Equations 1 and 2 are the language model's (``backbones``). Its h may have another size than e and r (ours; in the paper they have
one): then equations 3, 4 and 5 are about :meth:`project_state` of h, equation 8 is about :meth:`project_update` of h, and W_e of
equation 6 leads back to the size of h. On a pretrained language model W_e starts at zero, so that P(X) starts as its own.

N positions · M mentions · D size of h · S columns of a state (D, or more where a backbone gives several layers) · d size of e and
r, D = d unless ``entity_size`` is set.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from entitynlm.config import ModelConfig
from entitynlm.model.backbones.base import Backbone, draw_mask, initialise, make_backbone
from entitynlm.model.batch.scan import SMALLEST_NORM
from entitynlm.model.encoding.copying import AHEAD, STRING_MATCHES
from entitynlm.model.encoding.tokenizer import EncodedWords
from entitynlm.model.encoding.word_classes import WordClasses
from entitynlm.model.features import count_mention_positions, make_feature_set
from entitynlm.model.standardisation import Standardisation

COPY_EDGES = (1, 2, 3, 5, 9)

FIRST_RADIUS = 8.0
"""Of the sphere that projected states are put on; it is learned."""


class EntityNetwork(nn.Module):
    """The parameters θ and the equations that use them."""

    def __init__(
        self, config: ModelConfig, pieces: int, start: int, classes: WordClasses | None = None
    ) -> None:
        """``pieces`` is how many the tokenizer has (with a vocabulary: its words), ``start`` the one read before any word."""
        super().__init__()
        self.config = config
        self.feature_set = make_feature_set(config.features)
        self.backbone: Backbone = make_backbone(config, pieces, start, classes)  # eq. 1 and 2
        D, S, d = self.backbone.hidden_size, self.backbone.state_size, config.entity_dim
        self.type_embeddings = nn.Parameter(torch.empty(config.mention_types + 1, d))  # r of eq. 3 and 7
        self.W_r = nn.Parameter(torch.empty(d, d))
        self.W_entity = nn.Parameter(torch.empty(d, d))
        self.w_dist = nn.Parameter(torch.empty(self.feature_set.size))
        self.W_length = nn.Parameter(torch.empty(config.max_length, 2 * d))
        self.W_delta = nn.Parameter(torch.empty(d, d))
        self.W_ends = nn.Parameter(torch.empty(d, d)) if config.mode == "lookahead" else None
        self.string_match_weights: nn.Parameter | None = None
        if config.copying and config.mode != "generative":
            self.string_match_weights = nn.Parameter(torch.empty(STRING_MATCHES))
        if config.mode == "generative":
            self.W_e = nn.Parameter(torch.empty(D, config.word_rank or d))
            self.W_thin = nn.Parameter(torch.empty(config.word_rank, d)) if config.word_rank else None
            if config.mention_positions:
                self.position_embeddings = nn.Parameter(torch.empty(count_mention_positions(config), D))
            if config.copying:
                self.w_copy = nn.Parameter(torch.empty(2, D))
                self.copy_bias = nn.Parameter(torch.empty(2, len(COPY_EDGES)))
        sphere = config.projection == "sphere"
        self.W_state = nn.Parameter(torch.empty(d, S)) if d != S or sphere else None
        self.W_update = nn.Parameter(torch.empty(d, S)) if config.separate_update else None
        units, projections = config.projection_units, 1 + config.separate_update
        self.W_inner = nn.ParameterList(torch.empty(units, S) for _ in range(projections if units else 0))
        self.W_outer = nn.ParameterList(torch.empty(d, units) for _ in self.W_inner)
        initialise(self)
        if sphere:
            self.scaling = Standardisation(S)
            self.radii = nn.Parameter(torch.full((2,), FIRST_RADIUS))
        if self.backbone.pretrained and config.mode == "generative":
            nn.init.zeros_(self.W_e)
            if config.mention_positions:
                nn.init.zeros_(self.position_embeddings)

    def project_state(self, h: Tensor) -> Tensor:
        """h in the size of e, for equations 3, 4 and 5: (…, S) → (…, d); h itself where they have one size."""
        return self._project(h, self.W_state, 0)

    def project_update(self, h: Tensor) -> Tensor:
        """h in the size of e, for equation 8; the same as :meth:`project_state` unless that is ``separate_update``."""
        return self.project_state(h) if self.W_update is None else self._project(h, self.W_update, 1)

    def _project(self, h: Tensor, weight: Tensor | None, which: int) -> Tensor:
        """W h, or c · y / ‖y‖ with y = W z (+ W_outer relu(W_inner z)) and z the standardised h."""
        if weight is None:
            return h
        if self.config.projection == "linear":
            return F.linear(h, weight)
        z = self._drop(self.scaling(h))
        y = F.linear(z, weight)
        if self.W_inner:
            y = y + F.linear(self._drop(F.relu(F.linear(z, self.W_inner[which]))), self.W_outer[which])
        return self._drop(self.radii[which] * y / y.norm(dim=-1, keepdim=True).clamp_min(SMALLEST_NORM))

    def _drop(self, values: Tensor) -> Tensor:
        if not self.training or self.config.dropout == 0:
            return values
        return values * draw_mask(values, self.config.dropout)

    @torch.no_grad()
    def fit_scaling(self, documents: Sequence[EncodedWords]) -> None:
        """Take the means and deviations of states, where these are standardised, from documents."""
        scalings = [part for part in self.modules() if isinstance(part, Standardisation)]
        if scalings and documents:
            states = self.backbone.read_raw(documents)
            for scaling in scalings:
                scaling.fit(states)

    # -- eq. 3: is the next word in a mention (and of which type)? -------------------------------------------------

    def log_prob_types(self, h: Tensor) -> Tensor:
        """log p(R_t = r | h) ∝ hᵀ W_r r for every r: (…, d) → (…, 1 + mention types)."""
        return F.log_softmax(F.linear(h, self.type_embeddings @ self.W_r.t()), dim=-1)

    # -- eq. 4: which entity? --------------------------------------------------------------------------------------

    def entity_query(self, h: Tensor) -> Tensor:
        """hᵀ W_entity, to be multiplied with entity vectors: (…, d) → (…, d)."""
        return h @ self.W_entity

    def score_distance(self, hot: Tensor) -> Tensor:
        """w_distᵀ f(e), with f(e) given by its hot buckets (…, W); the bucket number "size" means none (a new entity)."""
        return self.distance_weights()[hot.long()].sum(-1)

    def distance_weights(self) -> Tensor:
        """w_dist and, for the bucket "none", zero; then, where a proposal compares words (ours), weights of string matches."""
        parts = [self.w_dist, self.w_dist.new_zeros(1)]
        return torch.cat(parts if self.string_match_weights is None else [*parts, self.string_match_weights])

    @property
    def words_ahead(self) -> int | None:
        """How many words to come are compared with entities' words; None: no words are compared at all."""
        if self.string_match_weights is None:
            return None
        return AHEAD if self.config.mode == "lookahead" else 0

    # -- eq. 5: how long is the mention? ---------------------------------------------------------------------------

    def log_prob_lengths(self, h: Tensor, e: Tensor, ends: Tensor | None = None) -> Tensor:
        """log p(L_t = ℓ | h, e) ∝ W_length,ℓ · [h; e] for ℓ = 1 … max_length: (…, max_length).

        The look-ahead proposal adds hᵀ W_ends h_end for the state at the last word of each possible span, ``ends``
        (…, max_length, d).
        """
        scores = torch.cat([h, e], dim=-1) @ self.W_length.t()
        if ends is not None:
            assert self.W_ends is not None
            scores = scores + torch.einsum("...d,...ld->...l", h @ self.W_ends, ends)
        return F.log_softmax(scores, dim=-1)

    # -- eq. 6: which word? ----------------------------------------------------------------------------------------

    def log_prob_word(self, h: Tensor, We: Tensor, x: Tensor, positions: Tensor | None = None) -> Tensor:
        """log p(X_t = x | h + W_e e_current): h (N, D), We = W_e e_current (N, D), x (N,) → (N,).

        With ``mention_positions`` (ours, not the paper's) a vector for the word's place in its mention is added, ``positions``
        (N,). Where words have several pieces these are pieces, and p(word) is the product over those of a word.
        """
        return self.log_prob_piece(h + We, x, positions)

    def log_prob_piece(
        self, u: Tensor, pieces: Tensor, positions: Tensor | None = None, places: Tensor | None = None
    ) -> Tensor:
        """The same with u = h + W_e e_current (N, D) added up before; ``places`` (N,) are the pieces' places."""
        return self.backbone.log_prob(self._add_positions(u, positions), pieces, places)

    def log_prob_words(
        self, h: Tensor, We: Tensor, positions: Tensor | None = None, place: int = 0
    ) -> Tensor:
        """The whole distribution over words, or over the pieces at a place of a word: (N, V)."""
        return self.backbone.log_probs(self._add_positions(h + We, positions), place)

    def _add_positions(self, u: Tensor, positions: Tensor | None) -> Tensor:
        if not self.config.mention_positions:
            return u
        assert positions is not None
        return u + F.embedding(positions, self.position_embeddings)

    @property
    def words_see_entities(self) -> bool:
        """Whether words depend on mentions at all; on a pretrained language model they do not before they are trained."""
        added = [self.W_e, *([self.position_embeddings] if self.config.mention_positions else [])]
        return self.config.copying or any(bool(part.any()) for part in added)

    def project_entity(self, e: Tensor) -> Tensor:
        """W_e e: (…, d) → (…, D)."""
        return self.narrow_entity(e) @ self.W_e.t()

    def narrow_entity(self, e: Tensor) -> Tensor:
        """(…, d) → (…, rank of W_e): where that is a product of two thin matrices, what the first one makes of e."""
        return e if self.W_thin is None else e @ self.W_thin.t()

    # -- beside eq. 6 (ours): a mention may repeat what was said before of its entity -------------------------------

    def score_copying(self, h: Tensor) -> Tensor:
        """w · h for words that continue and for words that open a stretch of the entity's words: (…, D) → (…, 2)."""
        return F.linear(h, self.w_copy)

    def mix_copies(
        self, log_x: Tensor, scores: Tensor, opens: Tensor, copy_candidates: Tensor, copies: Tensor
    ) -> Tensor:
        """log((1-λ) p(x) + λ · copies / copy candidates) where there are candidates, log p(x) (N,) elsewhere.

        λ = σ(w · h + b), with w · h from :meth:`score_copying` (N, 2); there is a w and a row of b for each value of ``opens``
        (N,), and in that row a b for each number of ``copy_candidates`` (N,), in buckets. ``encoding.copying`` counts them.
        """
        spots = copy_candidates.nonzero().squeeze(1)
        if not len(spots):
            return log_x
        opens, copy_candidates, copies = opens[spots].long(), copy_candidates[spots], copies[spots]
        edges = torch.tensor(COPY_EDGES, device=copy_candidates.device)
        buckets = torch.bucketize(copy_candidates, edges, right=True) - 1
        z = scores[spots].gather(1, opens[:, None]).squeeze(1) + self.copy_bias[opens, buckets]
        plain = F.logsigmoid(-z) + log_x[spots]
        share = (
            (copies.double().clamp_min(0.5) / copy_candidates.double()).log().to(plain)
        )  # 0.5: any, not used
        repeated = torch.logaddexp(plain, F.logsigmoid(z) + share)
        return log_x.index_copy(0, spots, torch.where(copies > 0, repeated, plain))

    # -- eq. 7: a new entity ---------------------------------------------------------------------------------------

    def create_entity(self, mention_types: Tensor, noise: Tensor | None) -> Tensor:
        """u ~ N(r, σ²I) put on the unit ball: mention types (M,), standard normal noise (M, d) → (M, d)."""
        means = F.embedding(mention_types, self.type_embeddings)
        if self.config.new_entity == "zero":
            return torch.zeros_like(means)
        u = means if noise is None else means + self.config.sigma * noise.to(means)
        return u / u.norm(dim=-1, keepdim=True).clamp_min(SMALLEST_NORM)

    # -- eq. 8: an entity changes with every word of its mentions --------------------------------------------------

    def gate_query(self, h: Tensor) -> Tensor:
        """hᵀ W_δ, to be multiplied with the entity's vector: (…, d) → (…, d)."""
        return h @ self.W_delta

    def update(self, e: Tensor, h: Tensor) -> Tensor:
        """e' = (δ e + (1-δ) h) / ‖…‖ with δ = σ(hᵀ W_δ e): (…, d). The scan does the same for whole chains."""
        delta = torch.sigmoid((self.gate_query(h) * e).sum(-1, keepdim=True))
        u = delta * e + (1 - delta) * h
        return u / u.norm(dim=-1, keepdim=True).clamp_min(SMALLEST_NORM)
