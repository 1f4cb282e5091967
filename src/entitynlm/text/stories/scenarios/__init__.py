"""The scenarios that stories are about, one module each."""

from __future__ import annotations

from entitynlm.text.stories.plot import Scenario
from entitynlm.text.stories.scenarios.baking import BAKING
from entitynlm.text.stories.scenarios.bicycle import BICYCLE
from entitynlm.text.stories.scenarios.camping import CAMPING
from entitynlm.text.stories.scenarios.doctor import DOCTOR
from entitynlm.text.stories.scenarios.football import FOOTBALL
from entitynlm.text.stories.scenarios.garden import GARDEN
from entitynlm.text.stories.scenarios.library import LIBRARY
from entitynlm.text.stories.scenarios.mystery import MYSTERY
from entitynlm.text.stories.scenarios.pet import PET
from entitynlm.text.stories.scenarios.restaurant import RESTAURANT
from entitynlm.text.stories.scenarios.shopping import SHOPPING
from entitynlm.text.stories.scenarios.train import TRAIN

SCENARIOS: tuple[Scenario, ...] = (
    BAKING,
    BICYCLE,
    CAMPING,
    DOCTOR,
    FOOTBALL,
    GARDEN,
    LIBRARY,
    MYSTERY,
    PET,
    RESTAURANT,
    SHOPPING,
    TRAIN,
)
