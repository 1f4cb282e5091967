"""Features of recency, frequency and form."""

import numpy as np

from entitynlm.prediction.contexts import (
    NUMBER_OF_BUCKETS,
    SIZE,
    extract_candidate_features,
    extract_contexts,
    extract_shallow_features,
)
from support.tea_stories import make_tea_story


def test_features_have_a_row_for_each_candidate_and_one_for_a_new_entity() -> None:
    story = make_tea_story(1)
    for context in extract_contexts(story, [0, 13, len(story)]):
        features = extract_candidate_features(context)
        assert features.shape == (len(context.candidates) + 1, SIZE)
        assert np.isfinite(features).all()
        shallow = extract_shallow_features(context)
        assert (shallow[:-1].sum(axis=1) == 4).all()  # one bucket of each quantity
        assert shallow[-1].sum() == 1
        assert features[:, NUMBER_OF_BUCKETS].tolist() == [0] * len(context.candidates) + [1]
