"""The scenarios that stories are about, one module each."""

from __future__ import annotations

from entitynlm.data.stories.plot import Scenario
from entitynlm.data.stories.scenarios.baking import BAKING
from entitynlm.data.stories.scenarios.bicycle import BICYCLE
from entitynlm.data.stories.scenarios.camping import CAMPING
from entitynlm.data.stories.scenarios.doctor import DOCTOR
from entitynlm.data.stories.scenarios.football import FOOTBALL
from entitynlm.data.stories.scenarios.garden import GARDEN
from entitynlm.data.stories.scenarios.library import LIBRARY
from entitynlm.data.stories.scenarios.mystery import MYSTERY
from entitynlm.data.stories.scenarios.pet import PET
from entitynlm.data.stories.scenarios.restaurant import RESTAURANT
from entitynlm.data.stories.scenarios.shopping import SHOPPING
from entitynlm.data.stories.scenarios.train import TRAIN

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
