"""Each word is used, is explained once, and means one thing."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / "src" / "handful"
WORDS = re.findall(r"^\| ([a-z ]+) \| ", (ROOT / "docs" / "words.md").read_text(), re.MULTILINE)
WORDS = [word for word in WORDS if word != "word"]
NAMES = "\n".join(
    node.name if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) else node.arg
    for path in HOME.rglob("*.py")
    for node in ast.walk(ast.parse(path.read_text()))
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.arg)
)
MODULES = "\n".join(path.stem for path in HOME.rglob("*.py"))
SPELLED = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", f"{NAMES}\n{MODULES}").lower()


def is_name(word: str) -> bool:
    """Whether the code calls something by this word, alone or among others: a class, function, argument or module."""
    return re.search(rf"(?:^|_|\b){word.replace(' ', '_')}(?:e?s|d|ed|ing)?(?:_|\b|$)", SPELLED) is not None


@pytest.mark.parametrize("word", WORDS)
def test_the_code_uses_every_word_that_is_explained(word: str) -> None:
    assert is_name(word)


def test_a_word_that_the_code_does_not_use_would_be_noticed() -> None:
    assert is_name("lease")
    assert not is_name("booth")


def test_every_word_is_explained_once() -> None:
    assert len(WORDS) > 60
    assert sorted(WORDS) == sorted(set(WORDS))
    assert {"lease", "worker", "provisional", "settle", "late", "standing"} <= set(WORDS)


def types_in(source: str) -> list[str]:
    """The public classes and type aliases of a module: an alias is a name with capital and small letters."""
    names = []
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef):
            names.append(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names += [target.id for target in targets if isinstance(target, ast.Name)]
    return [name for name in names if re.fullmatch(r"[A-Z]\w*[a-z]\w*", name)]


def test_no_two_public_classes_or_type_aliases_have_the_same_name() -> None:
    homes = defaultdict(list)
    for path in HOME.rglob("*.py"):
        for name in types_in(path.read_text()):
            homes[name].append(str(path.relative_to(HOME)))
    assert {name: files for name, files in homes.items() if len(files) > 1} == {}


def test_classes_and_aliases_would_be_noticed_and_private_names_and_constants_are_not() -> None:
    source = "class Row: ...\nRows = list[Row]\nInts: TypeAlias = list[int]\n_Own = int\nMOST = 3\nT = TypeVar('T')\n"
    assert types_in(source) == ["Row", "Rows", "Ints"]
