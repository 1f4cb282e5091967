"""A stored model with random parameters that reads names, pronouns and what else the small bundles know."""

from pathlib import Path
from typing import Any

from entitynlm.model.pretrained import save_pretrained
from support.small_bundles import add_resolver, make_bundle

STORY = "Ann saw Bo. She ran. It ran, and Bo saw Zoe.\n"


def store_model(folder: Path, **options: Any) -> Path:
    """Write a small bundle with all parts, a resolver included, into ``folder``."""
    pretrained = add_resolver(make_bundle(**options)[0])
    save_pretrained(pretrained, folder)
    return folder
