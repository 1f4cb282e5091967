"""The arrows of the tree hold: imports go one way, and only the interfaces talk to people."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import entitynlm
from entitynlm.config import load_toml

ROOT = Path(__file__).resolve().parents[1] / "src" / "entitynlm"
FOUNDATION = {
    "statistics", "compilation", "errors", "files", "config", "progress", "cache", "row_files", "results",
}  # fmt: skip
TASKS = {"text", "discourse", "model", "inference", "coref", "prediction", "lm", "generation"}
ARROWS = {  # package → what it may import, besides itself and the foundation
    "text": set(),
    "stories": {"text"},
    "discourse": {"text"},
    "characters": {"text", "discourse"},
    "model": {"text"},
    "inference": {"text", "model"},
    "training": {"text", "model"},
    "coref": {"text", "discourse", "model", "inference", "training"},
    "prediction": {"text", "model", "inference"},
    "lm": {"text", "model", "inference", "prediction"},
    "generation": {"text", "discourse", "model", "inference", "coref"},
    "experiments": {"text", "model", "training", "coref", "prediction", "lm"},
    "report": {"text", "discourse", "characters", "prediction", "lm"},
    "default_model": {"model"},
    "api": TASKS | {"characters", "default_model"},
    "explorer": {"text", "report", "api"},
    "interfaces": (TASKS - {"discourse"})
    | {"stories", "characters", "training", "experiments", "report", "default_model", "api", "explorer"},
}
UPWARD = {"text/document.py": {"discourse"}}  # methods of the public class, which import when they are called
PUBLIC = {  # what people import, and all that the explorer may
    "entitynlm", "entitynlm.api", "entitynlm.default_model", "entitynlm.errors", "entitynlm.progress", "entitynlm.report",
    "entitynlm.row_files", "entitynlm.text.document", "entitynlm.text.formats.registry",
}  # fmt: skip
MODULES = sorted(ROOT.rglob("*.py"))
BELOW_INTERFACES = [path for path in MODULES if path.relative_to(ROOT).parts[0] != "interfaces"]


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def imported_modules(path: Path) -> Iterator[str]:
    """Full names of all that a module imports, at the top or inside functions; relative imports resolved."""
    package = ["entitynlm", *path.relative_to(ROOT).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield from (f"{module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_follow_the_arrows(path: Path) -> None:
    room = path.relative_to(ROOT).parts[0].removesuffix(".py")
    if room in ("__init__", "__main__"):  # the package's fronts: public names, and the command line
        return
    allowed = FOUNDATION | {room} | ARROWS.get(room, set()) | UPWARD.get(name_of(path), set())
    own = [name.split(".")[1] for name in imported_modules(path) if name.startswith("entitynlm.")]
    assert [target for target in own if target not in allowed and target != "__version__"] == []


@pytest.mark.parametrize("path", sorted((ROOT / "explorer").glob("*.py")), ids=name_of)
def test_the_explorer_stands_on_the_public_interface(path: Path) -> None:
    own = {name for name in imported_modules(path) if name.startswith("entitynlm")}
    allowed = {f"{module}." for module in PUBLIC | {"entitynlm.explorer"}}
    front = {f"entitynlm.{name}" for name in entitynlm.__all__}
    allowed -= {"entitynlm."}
    assert {name for name in own - front if not any(f"{name}.".startswith(one) for one in allowed)} == set()


@pytest.mark.parametrize("path", BELOW_INTERFACES, ids=name_of)
def test_nothing_below_the_interfaces_prints_or_reads_the_environment(path: Path) -> None:
    roots = {name.split(".")[0] for name in imported_modules(path)}
    assert roots & {"argparse", "typer", "click", "rich"} == set()
    names = {
        node.func.id
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert names & {"print", "input"} == set()
    attributes = {
        node.attr
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
    }
    if name_of(path) not in ("cache.py", "default_model.py"):  # ENTITYNLM_CACHE and ENTITYNLM_MODEL
        assert attributes & {"environ", "getenv"} == set()


def test_every_room_has_its_arrows() -> None:
    rooms = {path.name for path in ROOT.iterdir() if path.is_dir() and any(path.glob("*.py"))}
    assert rooms <= set(ARROWS)


def test_no_folder_has_more_modules_than_a_reader_takes_in() -> None:
    """A file per verb aside."""
    folders = {path.parent for path in MODULES} - {ROOT / "interfaces" / "commands"}
    sizes = {name_of(folder): len([*folder.glob("[!_]*.py")]) for folder in folders}
    assert {name: size for name, size in sizes.items() if size > 16} == {}


VARIANTS = (  # modules of one interface, which have functions of one name
    "text/formats/", "model/backbones/", "experiments/table", "interfaces/commands/",
)  # fmt: skip


def list_definitions(kind: str) -> dict[str, dict[str, str]]:
    """Where each public class, function or constant is defined, by its name: module → what it is."""
    found: dict[str, dict[str, str]] = {}
    for path in MODULES:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            names: dict[str, str] = {}
            if kind == "class" and isinstance(node, ast.ClassDef):
                names = {node.name: "class"}
            elif kind == "function" and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                names = {node.name: "function"}
            elif kind == "constant" and isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                pairs = [pair for target in targets for pair in pair_constants(target, node.value)]
                names = {name: value for name, value in pairs if name.isupper()}
            for name, what in names.items():
                if not name.startswith("_"):
                    found.setdefault(name, {})[name_of(path)] = what
    return found


def pair_constants(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, str]]:
    """Each assigned name with its value, also in ``A, B = 1, 2``."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for one, own in zip(target.elts, value.elts, strict=True):
            yield from pair_constants(one, own)
    elif isinstance(target, ast.Tuple):
        yield from (
            (one.id, f"{ast.unparse(value)}[{n}]")
            for n, one in enumerate(target.elts)
            if isinstance(one, ast.Name)
        )
    elif isinstance(target, ast.Name):
        yield target.id, ast.unparse(value)


def test_no_class_name_has_two_meanings() -> None:
    assert {name: [*where] for name, where in list_definitions("class").items() if len(where) > 1} == {}


def test_no_type_alias_has_the_name_of_a_class() -> None:
    """Type variables aside, and options of the command line, which are called as what they choose."""
    classes = list_definitions("class")
    for path in MODULES:
        if path.relative_to(ROOT).parts[0] == "interfaces":
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and not ast.unparse(node.value).startswith("TypeVar("):
                names = [target.id for target in node.targets if isinstance(target, ast.Name)]
                assert [name for name in names if name in classes] == [], name_of(path)


def test_no_constant_name_has_two_values() -> None:
    assert {n: where for n, where in list_definitions("constant").items() if len({*where.values()}) > 1} == {}


def test_functions_share_a_name_only_as_variants_of_one_interface() -> None:
    def is_variant(modules: dict[str, str]) -> bool:
        return any(all(module.startswith(prefix) for module in modules) for prefix in VARIANTS)

    shared = {
        n: [*where]
        for n, where in list_definitions("function").items()
        if len(where) > 1 and not is_variant(where)
    }
    assert shared == {}


EQUATION_8 = {  # the page, the scan and the sampler's kernel; the slow twin is in tests/support
    "model/entitynlm.py",
    "model/batch/scan.py",
    "inference/state_tables.py",
}


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_equation_8_stands_where_it_belongs(path: Path) -> None:
    """Nobody else mixes an entity's vector with a hidden state: δ e + (1 - δ) h, with δ from the gate's query."""
    if name_of(path) in EQUATION_8:
        return
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            left, right = ast.unparse(node.left), ast.unparse(node.right)
            assert not any(f"(1 - {gate})" in right for gate in ("delta", "gate") if left.startswith(gate)), (
                ast.unparse(node)
            )
        if isinstance(node, ast.Attribute) and node.attr == "W_delta":
            raise AssertionError(f"{name_of(path)} uses W_delta")


def test_every_module_has_an_evident_test_file() -> None:
    """One of its own name, or the one that tests/modules.toml names."""
    tests = Path(__file__).parent
    own = {path.stem.removeprefix("test_") for path in tests.rglob("test_*.py")}
    elsewhere = load_toml(tests / "modules.toml")
    modules = {str(path.relative_to(ROOT).with_suffix("")): path.stem for path in ROOT.rglob("*.py")}
    for module, name in modules.items():
        if name not in ("__init__", "__main__"):
            assert name in own or module in elsewhere, f"{module}: name its test file in tests/modules.toml"
    for module, test in elsewhere.items():
        assert module in modules and (tests / test).is_file(), (
            f"{module} = {test}: there is no such module or test"
        )
