"""Starting from a language model that has read more text than is annotated.

Annotated documents are few and plain text is plenty. What P, its proposals and the LSTM without entities have in common is the
word side: embeddings, the LSTM of equation 2 and, for P, the softmax of equation 6. An ``rnnlm`` part that was trained on plain
text hands all of it on; what is about entities starts from Glorot's rule, as always.
"""

from __future__ import annotations

from entitynlm.errors import ConfigError
from entitynlm.model.pretrained import Network
from entitynlm.model.rnnlm import LanguageModel


def copy_word_side(source: LanguageModel, network: Network) -> list[str]:
    """Put the source's embeddings, LSTM and softmax into a network; the names of the parameters that were set.

    The backward LSTM of the look-ahead proposal starts as a copy of the forward one: it reads other sequences, but of the same
    words through the same embeddings.
    """
    own = network.state_dict()
    given = source.state_dict()
    backward = {
        name.replace("reader.lstm.", "reader.backward_lstm."): value
        for name, value in given.items()
        if name.startswith("reader.lstm.")
    }
    fitting = {name: value for name, value in {**backward, **given}.items() if name in own}
    for name, value in fitting.items():
        if own[name].shape != value.shape:
            raise ConfigError(
                f"{name} is {tuple(value.shape)} in the model to start from and {tuple(own[name].shape)} here: "
                "take the same hidden_size, embedding_size, layers, softmax and tied"
            )
    network.load_state_dict({**own, **fitting})
    return sorted(fitting)
