"""The runner of all experiments: models in its folder are not trained again, so the same call continues a stopped one.

Models trained on another corpus or with other settings are never overwritten, because they may have taken hours.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from entitynlm.config import Mode
from entitynlm.errors import ConfigError
from entitynlm.model.packaged import CONFIG_FILE
from entitynlm.model.pretrained import Pretrained, load_pretrained
from entitynlm.progress import SILENT, Progress
from entitynlm.text.document import Document
from entitynlm.training.recipe import check_stored, train_pretrained
from entitynlm.training.settings import Settings

Documents = Mapping[str, Sequence[Document]]  # documents by split


@dataclass(frozen=True)
class Runner:
    """Trains models in a folder; an experiment with a given model needs no runner."""

    folder: Path | None = None
    device: str = "cpu"
    progress: Progress = SILENT

    def locate(self, name: str) -> Path:
        if self.folder is None:
            raise ConfigError("this experiment needs a folder for its models")
        return self.folder / name

    def train(
        self, name: str, documents: Documents, settings: Settings, *, parts: Sequence[Mode], seed: int
    ) -> Pretrained:
        """Load the model in the folder ``name``, and train the ``parts`` that it lacks; a stopped training is an interrupt."""
        folder = self.locate(name)
        stored = load_pretrained(folder, device=self.device) if (folder / CONFIG_FILE).exists() else None
        if stored is not None:
            known = [*documents["train"], *documents["dev"]]
            check_stored(stored, known, settings, seed=seed, folder=folder)
        missing = [part for part in parts if stored is None or part not in stored.parts]
        if stored is not None and not missing:
            return stored
        trained = train_pretrained(
            documents["train"],
            documents["dev"],
            settings,
            parts=missing,
            base=stored,
            seed=seed,
            device=self.device,
            folder=folder,
            resume=True,
            progress=self.progress,
        )
        if trained is None:
            raise KeyboardInterrupt
        return trained
