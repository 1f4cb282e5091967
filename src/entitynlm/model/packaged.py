"""Model folders: found by name or path, and read only if every file has its recorded hash.

The package has two models: a small one, and one on a language model, which is installed separately. A folder lists the SHA-256 of
its files in ``SHA256SUMS`` (the format of ``sha256sum --check``).
"""

from pathlib import Path

from entitynlm.errors import DataError, MissingExtraError, ModelError
from entitynlm.files import HASH_LIST, hash_file, read_bounded, read_hash_list, read_json
from entitynlm.model.language_models import SMOLLM2, check_language_model, list_installs, strip_prefix

PACKAGED_MODELS = Path(__file__).resolve().parents[1] / "models"
CONFIG_FILE = "model.json"
SMALL = "entitynlm-en"
ON_SMOLLM2 = "entitynlm-en-smollm2"


def list_models() -> list[str]:
    """List the names of the models in the package."""
    return sorted(path.parent.name for path in PACKAGED_MODELS.glob(f"*/{CONFIG_FILE}"))


def find_model(name: str | Path) -> Path:
    """Find the folder of a model: a user's own, or a packaged one.

    A folder of that name wins over a packaged model, so that a user's own model is never hidden.
    """
    path, known = Path(name), list_models()
    if not path.exists() and str(name) in known:
        return PACKAGED_MODELS / path
    if not path.exists() and path.name == str(name):
        raise ModelError(
            f"{name}: there is no folder of this name, and no model of the package ({', '.join(known) or 'none'})"
        )
    return path


def hash_model(name: str) -> str:
    """Hash a model's list of hashes; a language model without a folder has its own digest."""
    if (language_model := strip_prefix(name)) is not None:
        from entitynlm.model.backbones.huggingface.weights import find_language_model

        return find_language_model(language_model).digest
    listed = find_model(name) / HASH_LIST
    return hash_file(listed if listed.is_file() else listed.with_name(CONFIG_FILE))


def find_file(folder: Path, name: str) -> Path:
    """Find a file of a model's folder, which may be missing; refuse devices, and names or links that leave the folder."""
    path = folder / name
    try:
        outside = not path.resolve().is_relative_to(folder.resolve())
        if outside or (path.exists() and not path.is_file()):
            what = "leads out of the model's folder" if outside else "is no file"
            raise ModelError(f"{path}: this {what}, so it is not read. Copy the files themselves (cp -rL)")
    except (OSError, ValueError, RuntimeError) as error:  # a loop of links, a name that can't be one
        raise ModelError(f"{folder}: it has no file that is called {name!r} ({error})") from error
    return path


def read_language_model(folder: Path) -> dict[str, str] | None:
    """Read ``model`` (name) and ``digest`` of the language model that a stored model needs; None if it needs none."""
    try:
        tokenizer = read_json(find_file(folder, CONFIG_FILE))["encoder"]["tokenizer"]
        return {key: str(tokenizer[key]) for key in ("model", "digest")}
    except (OSError, ValueError, KeyError, TypeError, ModelError):
        return None  # whatever else is wrong with the folder is said when it is loaded


def check_language_model_of(folder: Path) -> None:
    """Refuse a stored model whose language model is not installed, and say how to install it."""
    found = read_language_model(folder)
    if found is None:
        return
    try:
        check_language_model(found["model"])
    except (MissingExtraError, ModelError) as error:
        commands = list_installs() if found["model"] == SMOLLM2 else []
        advice = (
            f"install it with: {' && '.join(commands)}\nor use the small model: {SMALL}"
            if commands
            else error
        )
        raise ModelError(
            f"{folder.name} is built on the language model {found['model']}, which is not here; {advice}"
        ) from error


def check_hashes(folder: Path) -> bool:
    """Compare a folder's files with its list of hashes: False without a list, an error if a file differs."""
    manifest = find_file(folder, HASH_LIST)
    if not manifest.exists():
        return False
    try:
        files = read_hash_list(read_bounded(manifest).decode("utf-8"))
    except (OSError, ValueError, DataError) as error:
        raise ModelError(f"{manifest}: the list of hashes can't be read ({error})") from error
    for name, expected in files.items():
        try:
            found = hash_file(find_file(folder, name))
        except OSError as error:
            raise ModelError(f"{folder / name}: a file of the model is missing; {_advise(folder)}") from error
        if found != expected:
            raise ModelError(
                f"{folder / name}: this file is damaged or was changed (SHA-256 {found[:12]}…, expected "
                f"{expected[:12]}…); {_advise(folder)}"
            )
    return True


def _advise(folder: Path) -> str:
    if folder.parent == PACKAGED_MODELS:
        return "reinstall entitynlm"
    return f"copy the folder again, or remove its {HASH_LIST} if you changed the file yourself"
