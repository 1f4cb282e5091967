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
samplers; the slow twin in ``tests/support/slow_twin.py``, the executable specification, writes them out word by word. With
``mode = "causal"`` the same equations make the proposal Q of section 5.1: step 3 is left out, step 4 moves to the front, and
h_t takes the place of h_{t-1}.

Equations 1 and 2 are the language model's (``backbones``). Whatever is beyond the paper is in ``additions`` and enters at two
places: :meth:`project_state` and :meth:`project_update`, the state that equations 3, 4, 5 and 8 use (in the paper h itself),
and :meth:`project_entity` with ``additions``, what an entity adds to the prediction of a word.

N positions · M mentions · D size of h · S columns of a state (D, or more where a backbone gives several layers) · d size of e and
r, which is D in the paper.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from entitynlm.config import ModelConfig
from entitynlm.model.additions import Additions, make_entity_projection, make_projection, start_at_zero
from entitynlm.model.backbones.base import Backbone, initialise, make_backbone
from entitynlm.model.batch.scan import SMALLEST_NORM
from entitynlm.model.encoding.word_classes import WordClasses
from entitynlm.model.features import make_feature_set


class EntityNetwork(nn.Module):
    """The parameters θ and the equations that use them."""

    def __init__(
        self, config: ModelConfig, pieces: int, start: int, classes: WordClasses | None = None
    ) -> None:
        """``pieces`` is the tokenizer's number of pieces (in a vocabulary: words), ``start`` the piece read before any word."""
        super().__init__()
        self.config = config
        self.feature_set = make_feature_set(config.features)
        backbone, d = make_backbone(config, pieces, start, classes), config.hidden_size
        self.type_embeddings = nn.Parameter(torch.empty(config.mention_types + 1, d))  # r of eq. 3 and 7
        self.W_r = nn.Parameter(torch.empty(d, d))
        self.W_entity = nn.Parameter(torch.empty(d, d))
        self.w_dist = nn.Parameter(torch.empty(self.feature_set.size))
        self.W_length = nn.Parameter(torch.empty(config.max_length, 2 * d))
        self.W_delta = nn.Parameter(torch.empty(d, d))
        self.narrow_entity = make_entity_projection(config, backbone)
        if config.mode == "generative":  # Q predicts no words
            self.W_e = nn.Parameter(torch.empty(backbone.hidden_size, self.narrow_entity.size))
        self.additions = Additions(config, backbone.hidden_size)
        self.backbone: Backbone = backbone  # eq. 1 and 2
        self.projection = make_projection(config, backbone)
        initialise(self)
        start_at_zero(self)

    def project_state(self, h: Tensor) -> Tensor:
        """The state that equations 3, 4 and 5 use: (…, S) → (…, d), in the paper h itself."""
        return self.projection.project_state(h)

    def project_update(self, h: Tensor) -> Tensor:
        """The state with which equation 8 updates an entity: (…, S) → (…, d), in the paper h itself."""
        return self.projection.project_update(h)

    # -- eq. 3: is the next word in a mention (and of which type)? -------------------------------------------------

    def log_prob_types(self, h: Tensor) -> Tensor:
        """log p(R_t = r | h) ∝ hᵀ W_r r for every r: (…, d) → (…, 1 + mention types)."""
        return F.log_softmax(F.linear(h, self.type_embeddings @ self.W_r.t()), dim=-1)

    # -- eq. 4: which entity? --------------------------------------------------------------------------------------

    def entity_query(self, h: Tensor) -> Tensor:
        """hᵀ W_entity, to be multiplied with entity vectors: (…, d) → (…, d)."""
        return h @ self.W_entity

    def distance_weights(self) -> Tensor:
        """w_dist, whose entries at the hot buckets of f(e) add up to w_distᵀ f(e), and a zero for "none" (a new entity)."""
        return torch.cat([self.w_dist, self.w_dist.new_zeros(1)])

    # -- eq. 5: how long is the mention? ---------------------------------------------------------------------------

    def log_prob_lengths(self, h: Tensor, e: Tensor) -> Tensor:
        """log p(L_t = ℓ | h, e) ∝ W_length,ℓ · [h; e] for ℓ = 1 … max_length: (…, max_length)."""
        return F.log_softmax(torch.cat([h, e], dim=-1) @ self.W_length.t(), dim=-1)

    # -- eq. 6: which word? ----------------------------------------------------------------------------------------

    def project_entity(self, e: Tensor) -> Tensor:
        """W_e e: (…, d) → (…, D)."""
        return self.narrow_entity(e) @ self.W_e.t()

    def log_prob_piece(
        self, u: Tensor, pieces: Tensor, positions: Tensor | None = None, places: Tensor | None = None
    ) -> Tensor:
        """log p(X_t = x | u), u = h + W_e e_current (N, D), for words or (where words have several) pieces (N,) → (N,).

        ``positions`` (N,) are the places of words in their mentions, for networks that have vectors for them; ``places`` (N,)
        those of pieces in their words. p(word) is the product over its pieces.
        """
        return self.backbone.log_prob(self.additions.add_positions(u, positions), pieces, places)

    def log_prob_words(
        self, h: Tensor, We: Tensor, positions: Tensor | None = None, places: Tensor | int = 0
    ) -> Tensor:
        """The whole distribution over words, or over the pieces at a place, or (N,) places, of a word: (N, V)."""
        return self.backbone.log_probs(self.additions.add_positions(h + We, positions), places)

    # -- eq. 7: a new entity ---------------------------------------------------------------------------------------

    def create_entity(self, mention_types: Tensor, noise: Tensor | None) -> Tensor:
        """u ~ N(r, σ²I) put on the unit ball: mention types (M,), standard normal noise (M, d) → (M, d)."""
        means = F.embedding(mention_types, self.type_embeddings)
        if self.config.new_entity == "zero":  # the paper's ablation
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
