"""What people install, made as a front end such as pip makes it: an archive of the source, and a wheel from it."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
LEFT_OUT = shutil.ignore_patterns(
    ".*", "build", "dist", "site", "out", "__pycache__", "*.egg-info", "*.db*", "*.nb[ci]"
)


def copied(folder: Path) -> Path:
    """The source without what earlier builds and runs left in it."""
    return Path(shutil.copytree(ROOT, folder / "source", ignore=LEFT_OUT))


def built(what: str, source: Path, into: Path) -> Path:
    """`what` is "sdist" or "wheel"; the file that setuptools made of the source."""
    call = f"import sys; from setuptools import build_meta; print(build_meta.build_{what}(sys.argv[1]))"
    into.mkdir(parents=True, exist_ok=True)
    ran = subprocess.run(
        [sys.executable, "-c", call, str(into)], cwd=source, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return into / ran.stdout.splitlines()[-1]


def unpacked(sdist: Path, into: Path) -> Path:
    """The folder that is in the archive."""
    with tarfile.open(sdist) as archive:
        if hasattr(tarfile, "data_filter"):  # from 3.11.4 on
            archive.extractall(into, filter="data")
        else:
            archive.extractall(into)
    (folder,) = into.iterdir()
    return folder


def requirements(extra: str = "") -> list[Requirement]:
    """What `pip install handful` or `handful[extra]` asks for, from the project's own file."""
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    listed = project["optional-dependencies"][extra] if extra else project["dependencies"]
    return [Requirement(line) for line in listed]


def needed(wanted: list[Requirement]) -> dict[str, metadata.Distribution]:
    """The distributions that these requirements bring, and those that they bring, and so on; as installed here."""
    found: dict[str, metadata.Distribution] = {}
    left = list(wanted)
    while left:
        requirement = left.pop()
        name = requirement.name.lower().replace("_", "-")
        if name not in found:
            found[name] = metadata.distribution(name)
            lines = map(Requirement, found[name].requires or ())
            left += [line for line in lines if line.marker is None or line.marker.evaluate({"extra": ""})]
    return found


def plain_environment(folder: Path, wheel: Path) -> Path:
    """A virtual environment with the wheel and what it requires, without extras; gives its `handful` command.

    What it requires is linked from here, so that it takes no network and no time; all else is out of its sight.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    for distribution in needed(requirements()).values():
        for top in {file.parts[0] for file in distribution.files or ()} - {"..", "__pycache__"}:
            link = site / top
            if not link.exists():
                link.symlink_to(Path(str(distribution.locate_file(top))))
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin/python"), "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--quiet", "--no-index", str(wheel)], check=True)
    return folder / "bin/handful"
