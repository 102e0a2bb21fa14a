"""Hold what would be released against the tree, and use it as someone who installs it would.

    python tools/check_release.py [--python PATH ...] [--wheel-only] [--contents-only] [--keep FOLDER]

Builds the wheel and the source distribution; holds their contents and metadata against the checkout; builds the wheel again
from the source distribution and compares the two; then installs each into an empty environment of every interpreter that
pyproject.toml names and this machine has, and runs the commands that need no extra. Needs `build`, `packaging` and
`readme-renderer[md]`, which the `dev` extra brings.
"""

from __future__ import annotations

import argparse
import ast
import base64
import csv
import email.parser
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from packaging.metadata import Metadata
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
HEAVY = (
    "tensorflow",
    "numpy",
    "jsonschema",
    "libcst",
    "ruamel",
    "click",
    "psutil",
    "pynvml",
    "importlib.metadata",
)
"""What a check of a clean config has no use for."""
PROBE = """
import sys
from cfgfix.__main__ import main
try:
    main()
except SystemExit as ended:
    print("\\n" + " ".join(sys.modules))
    raise
"""
SDIST_NEEDS = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile", "mkdocs.yml", "pyproject.toml",
               "hatch_build.py", ".pre-commit-hooks.yaml", ".ci/run")  # fmt: skip
SDIST_FOLDERS = (
    "cfgfix",
    "rules",
    "schemas",
    "configs",
    "tests",
    "benchmarks",
    "docs",
    "examples",
    "tools",
    "fuzz",
)


class WrongError(Exception):
    """Something is not as it has to be."""


def project() -> dict[str, object]:
    """Return the `[project]` table of this checkout."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    table: dict[str, object] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return table


def tree(*folders: str) -> dict[str, bytes]:
    """Return the files of folders of the checkout, without what tools leave there."""
    found = {}
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            parts = path.relative_to(ROOT).parts
            left = {"__pycache__", ".peers", "node_modules", ".hypothesis"} & set(parts)
            if path.is_file() and not left and "_compiled" not in parts:
                found["/".join(parts)] = path.read_bytes()
    if (ROOT / ".git").exists() and shutil.which("git"):
        ignored = subprocess.run(
            ["git", "ls-files", "--others", "--ignored", "--exclude-standard", "-z", *folders],
            cwd=ROOT, check=True, capture_output=True, text=True,
        ).stdout.split("\0")  # fmt: skip
        for name in ignored:
            found.pop(name, None)
    return found


def build(source: Path, into: Path, *kinds: str, isolated: bool = True) -> list[Path]:
    """Build `--wheel`, `--sdist` or both, each from `source`, and return the files."""
    command = [sys.executable, "-m", "build", "--outdir", str(into), *kinds, str(source)]
    if not isolated:
        command.insert(3, "--no-isolation")
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise WrongError(f"{' '.join(command)} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return sorted(into.iterdir())


def wheel_files(path: Path) -> dict[str, bytes]:
    """Return what a wheel holds."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}


def sdist_files(path: Path) -> dict[str, bytes]:
    """Return what a source distribution holds, without its outer folder."""
    found = {}
    with tarfile.open(path) as archive:
        for member in archive:
            if not member.isfile():
                raise WrongError(f"{path.name}: {member.name} is no plain file")
            stream = archive.extractfile(member)
            assert stream is not None
            found[member.name.partition("/")[2]] = stream.read()
    return found


def same(what: str, expected: Mapping[str, bytes], found: Mapping[str, bytes]) -> None:
    """Raise if two sets of files are not the same."""
    for name in expected:
        if name not in found:
            raise WrongError(f"{what}: {name} is missing")
        if expected[name] != found[name]:
            raise WrongError(f"{what}: {name} differs")
    more = sorted(set(found) - set(expected))
    if more:
        raise WrongError(f"{what}: holds {', '.join(more[:5])} too")


def check_wheel(files: Mapping[str, bytes]) -> None:
    """Hold a wheel's contents against the checkout: all that is used, and nothing else."""
    rest = dict(files)
    information = {name: rest.pop(name) for name in files if name.split("/")[0].endswith(".dist-info")}
    compiled = {name: rest.pop(name) for name in files if re.fullmatch(r"cfgfix/_compiled/\w+\.py", name)}
    data = {
        name[len("cfgfix/_data/") :]: rest.pop(name) for name in files if name.startswith("cfgfix/_data/")
    }
    same("wheel, package", tree("cfgfix"), rest)
    same("wheel, rules and schemas", tree("rules", "schemas"), data)
    for needed in ("cfgfix/py.typed", "cfgfix/__main__.py"):
        if needed not in files:
            raise WrongError(f"wheel: {needed} is missing")
    with_schema = [path.parent.name for path in (ROOT / "schemas").glob("*/schema.json")]
    tables = {
        "rules",
        "dialects",
        "parameters",
        *(f"schema_{name.replace('-', '_')}" for name in with_schema),
    }
    same(
        "wheel, compiled tables",
        {f"cfgfix/_compiled/{name}.py": b"" for name in tables},
        dict.fromkeys(compiled, b""),
    )
    for name, content in compiled.items():
        ast.parse(content, name)
    for identifier in re.findall(
        r"^id: (\w+)", "\n".join(text.decode() for text in data.values()), re.MULTILINE
    ):
        if identifier.encode() not in compiled["cfgfix/_compiled/rules.py"]:
            raise WrongError(f"wheel: rule {identifier} is not in the compiled rules")
    names = {name.partition("/")[2] for name in information}
    missing = {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"} - names
    if missing:
        raise WrongError(f"wheel: {', '.join(sorted(missing))} is missing")
    check_record(files)


def check_record(files: Mapping[str, bytes]) -> None:
    """Hold the list of a wheel's files against the files."""
    (record,) = (content for name, content in files.items() if name.endswith(".dist-info/RECORD"))
    listed = {name: digest for name, digest, _ in csv.reader(io.StringIO(record.decode()))}
    if set(listed) != set(files):
        raise WrongError("wheel: RECORD does not list what is there")
    for name, digest in listed.items():
        made = base64.urlsafe_b64encode(hashlib.sha256(files[name]).digest()).rstrip(b"=").decode()
        if digest and digest != f"sha256={made}":
            raise WrongError(f"wheel: RECORD has another digest for {name}")


def check_sdist(files: Mapping[str, bytes]) -> None:
    """Hold a source distribution against the checkout: the whole project, tests and documentation with it."""
    expected = {**tree(*SDIST_FOLDERS), **{name: (ROOT / name).read_bytes() for name in SDIST_NEEDS}}
    made = {"PKG-INFO", ".gitignore"}
    same("sdist", expected, {name: content for name, content in files.items() if name not in made})


def named(requirement: Requirement) -> str:
    """Return a requirement's name and versions, spelt in one way."""
    return f"{canonicalize_name(requirement.name)}{requirement.specifier}"


def check_metadata(content: bytes) -> None:
    """Hold the metadata against pyproject.toml and README.md, and see that the README can be shown."""
    metadata = Metadata.from_email(content, validate=True)
    table = project()
    expected = {
        "name": table["name"],
        "version": table["version"],
        "summary": table["description"],
        "license_expression": table["license"],
        "requires_python": table["requires-python"],
        "classifiers": table["classifiers"],
        "provides_extra": list(table["optional-dependencies"]),  # type: ignore[call-overload]
        "license_files": ["LICENSE"],
    }
    for name, value in expected.items():
        found = getattr(metadata, name)
        if (sorted(found) != sorted(value)) if isinstance(value, list) else (str(found) != str(value)):  # type: ignore[type-var]
            raise WrongError(f"metadata: {name} is {found!r}, pyproject.toml says {value!r}")
    groups = {"": table["dependencies"], **table["optional-dependencies"]}  # type: ignore[dict-item]
    asked = {(extra, named(Requirement(text))) for extra, texts in groups.items() for text in texts}  # type: ignore[attr-defined]
    told = set()
    for item in metadata.requires_dist or []:
        extra = re.search(r"""extra == ['"]([^'"]+)""", str(item.marker or ""))
        told.add((extra[1] if extra else "", named(item)))
    if told != asked:
        raise WrongError(f"metadata: requirements differ from pyproject.toml: {sorted(told ^ asked)}")
    own = re.search(r'__version__ = "([^"]+)"', (ROOT / "cfgfix" / "__init__.py").read_text(encoding="utf-8"))
    if own is None or own[1] != table["version"]:
        raise WrongError("cfgfix.__version__ is not the version of pyproject.toml")
    if metadata.description_content_type != "text/markdown":
        raise WrongError("metadata: the description is not told to be Markdown")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    if (metadata.description or "").strip() != readme.strip():
        raise WrongError("metadata: the description is not the README")
    from readme_renderer import markdown

    shown = markdown.render(readme)
    if not shown or "<h1" not in shown:
        raise WrongError("the README cannot be shown by a package index")
    bounds = re.findall(r"Python :: (3\.\d+)", "\n".join(table["classifiers"]))  # type: ignore[arg-type]
    if not bounds or f">={bounds[0]}" != table["requires-python"]:
        raise WrongError("the lowest Python among the classifiers is not that of requires-python")


def check_entry_points(content: bytes) -> None:
    """See that the command is there."""
    scripts = email.parser.Parser().parsestr(
        content.decode().replace("[console_scripts]\n", "").replace(" = ", ": ")
    )
    if dict(scripts.items()) != project()["scripts"]:
        raise WrongError(f"entry points are {content.decode()!r}")


def check_contents(place: Path, *, isolated: bool = True) -> tuple[Path, Path]:
    """Build both distributions below a folder, hold them against the checkout; return wheel and source distribution."""
    (sdist,) = build(ROOT, place / "sdist", "--sdist", isolated=isolated)
    (wheel,) = build(ROOT, place / "wheel", "--wheel", isolated=isolated)
    files, source = wheel_files(wheel), sdist_files(sdist)
    check_wheel(files)
    check_sdist(source)
    (metadata,) = (content for name, content in files.items() if name.endswith(".dist-info/METADATA"))
    check_metadata(metadata)
    if source["PKG-INFO"] != metadata:
        raise WrongError("the metadata of the two distributions differs")
    (points,) = (content for name, content in files.items() if name.endswith(".dist-info/entry_points.txt"))
    check_entry_points(points)
    folder = place / "source"
    for name, content in source.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    (again,) = build(folder, place / "again", "--wheel", isolated=isolated)
    same("wheel from the source distribution", files, wheel_files(again))
    return wheel, sdist


def interpreters() -> Iterator[str]:
    """Yield an interpreter of each version that pyproject.toml names and this machine has."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for version in re.findall(r"Python :: (3\.\d+)'", str(project()["classifiers"])):
        candidates = [
            *map(str, sorted(pyenv.glob(f"{version}.*/bin/python"))),
            shutil.which(f"python{version}"),
        ]
        for candidate in candidates:
            if candidate and version_of(candidate).startswith(f"{version}."):
                yield candidate
                break
        else:
            print(f"Python {version}: not on this machine", flush=True)


def version_of(python: str) -> str:
    """Return the version of an interpreter, or an empty text where it does not run."""
    done = subprocess.run(
        [python, "-c", "import platform; print(platform.python_version())"],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout.strip()


class Installed:
    """An empty environment with one distribution installed, and a folder to work in."""

    def __init__(self, python: str, distribution: Path, place: Path) -> None:
        self.place, self.folder = place, place / "work"
        if os.path.realpath(python) == os.path.realpath(sys.executable):
            venv.create(place / "venv", with_pip=True)
        else:
            subprocess.run([python, "-m", "venv", str(place / "venv")], check=True)
        self.binaries = place / "venv" / ("Scripts" if os.name == "nt" else "bin")
        self.folder.mkdir()
        self.environment = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("CFGFIX_", "PYTHON")) and key not in {"VIRTUAL_ENV", "FORCE_COLOR"}
        }
        self.environment |= {
            "HOME": str(place),
            "XDG_CACHE_HOME": str(place / "cache"),
            "PYTHONUTF8": "1",
            "NO_COLOR": "1",
        }
        pip = [str(self.binaries / "python"), "-m", "pip", "--disable-pip-version-check"]
        subprocess.run([*pip, "install", "-q", str(distribution)], check=True, stderr=subprocess.DEVNULL)
        subprocess.run([*pip, "check"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def run(self, *command: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        """Run a command of the environment, and hold its exit code against the one it has to have."""
        done = subprocess.run(
            [str(self.binaries / command[0]), *command[1:]],
            cwd=self.folder, env=self.environment, check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        if done.returncode != code or "Traceback" in done.stderr:
            raise WrongError(
                f"{' '.join(command)} ended with {done.returncode}, not {code}\n{done.stdout}{done.stderr}"
            )
        return done

    def cfgfix(self, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        """Run the installed command."""
        return self.run("cfgfix", *arguments, code=code)


def expect(condition: object, what: str) -> None:
    """Raise with these words unless something holds."""
    if not condition:
        raise WrongError(what)


def use(place: Installed) -> None:
    """Do with an installed cfgfix what its users do, without any extra."""
    for name in ("speech.yaml", "clean.yaml"):
        shutil.copyfile(ROOT / "configs" / name, place.folder / name)
    machine = ("--hardware", "rtx4090,cpus=8,ram=32")
    fitting = ("--hardware", "rtx4090,cpus=16,ram=64")
    version = place.cfgfix("--version").stdout
    expect(version == f"cfgfix {project()['version']}\n", f"--version says {version!r}")
    home = place.run("python", "-c", "import cfgfix; print(cfgfix.__file__)").stdout
    expect(str(place.place) in home, f"cfgfix comes from {home}")

    found = place.cfgfix("check", "speech.yaml", *machine, "--output-format", "concise", code=1).stdout
    for rule in ("YML001", "HWR001", "CFG006"):
        expect(rule in found, f"check does not find {rule}:\n{found}")
    names = set(
        place.run("python", "-c", PROBE, "check", "clean.yaml", *fitting).stdout.splitlines()[-1].split()
    )
    place.cfgfix("check", "clean.yaml", *fitting)
    heavy = {name for name in names if name in HEAVY or name.split(".")[0] in HEAVY}
    expect(not heavy, f"a clean check imports {', '.join(sorted(heavy))}")
    tables = {name for name in names if name.startswith("cfgfix._compiled.")}
    expect(
        {"cfgfix._compiled.rules", "cfgfix._compiled.dialects"} <= tables,
        f"a check uses {tables or 'no table'}",
    )

    before = (place.folder / "speech.yaml").read_text(encoding="utf-8")
    place.cfgfix("--fix", "speech.yaml", *machine, code=1)
    after = (place.folder / "speech.yaml").read_text(encoding="utf-8")
    expect("learning_rate: 1.0e-4" in after and after != before, f"--fix wrote:\n{after}")
    place.cfgfix("--fix", "speech.yaml", *machine, code=1)
    expect(
        (place.folder / "speech.yaml").read_text(encoding="utf-8") == after,
        "a second --fix changes something",
    )

    (place.folder / "train.py").write_text(
        "import tensorflow as tf\n\n\ndef make(files):\n"
        "    data = tf.data.Dataset.from_tensor_slices(files)\n"
        "    return data.map(lambda f: tf.numpy_function(open, [f], tf.string)).batch(4)\n",
        encoding="utf-8",
    )
    expect(
        "TFD001" in place.cfgfix("check", "train.py", code=1).stdout, "check does not find TFD001 in train.py"
    )

    shutil.copytree(ROOT / "rules", place.folder / "families")
    for family in ("yaml", "config", "hardware", "schema"):
        place.cfgfix("rules", "test", f"families/{family}")
    shutil.rmtree(place.folder / "families")
    count = len(list((ROOT / "rules").glob("*/[A-Z]*.yaml")))
    listed = place.cfgfix("rules", "--json").stdout
    expect(listed.count('"id":') == count, f"rules lists {listed.count(chr(34) + 'id' + chr(34))} of {count}")
    expect("HWR001" in place.cfgfix("explain", "HWR001").stdout, "explain does not know HWR001")
    place.cfgfix("explain", "batch_size", "--hardware", "rtx4090")
    place.cfgfix("recommend", "--hardware", "rtx4090")
    place.cfgfix("hardware")
    place.cfgfix("hardware", "--list")
    expect("$schema" in place.cfgfix("schema", "--dialect", "myxtts").stdout, "schema prints no schema")
    place.cfgfix("schema", "--settings")
    place.cfgfix("completion", "bash")
    place.cfgfix("init", "--yes")
    expect(
        (place.folder / "cfgfix.toml").exists() or (place.folder / "pyproject.toml").exists(),
        "init writes nothing",
    )
    place.cfgfix("check", "clean.yaml", "--show-settings")
    for extra, command in (
        ("lsp", ("lsp",)),
        ("tf", ("profile", "data", "--dataset", "train:make")),
        ("tf", ("profile", "devices")),
        ("tf", ("diagnose", "clean.yaml")),
        ("tf", ("report", "out", "clean.yaml")),
        ("tf", ("tune", "clean.yaml", "--dataset", "train:make")),
    ):
        told = place.cfgfix(*command, code=2).stderr
        expect(f"cfgfix[{extra}]" in told, f"{' '.join(command)} does not name its extra:\n{told}")
    place.cfgfix("tf-env")


def main() -> int:
    """Check all of it, and say what was checked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--python", action="append", help="an interpreter to install for, instead of those found"
    )
    parser.add_argument(
        "--wheel-only", action="store_true", help="install the wheel and not the source distribution"
    )
    parser.add_argument("--contents-only", action="store_true", help="install nothing")
    parser.add_argument("--keep", type=Path, help="put the distributions into this folder")
    options = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory(prefix="cfgfix-release-") as name:
            wheel, sdist = check_contents(Path(name))
            print(f"{wheel.name}, {sdist.name}: contents and metadata are right", flush=True)
            for number, python in enumerate(
                [] if options.contents_only else options.python or interpreters()
            ):
                for distribution in [wheel] if options.wheel_only else [wheel, sdist]:
                    place = Path(name) / f"{number}-{distribution.suffix[1:]}"
                    place.mkdir()
                    use(Installed(python, distribution, place))
                    shutil.rmtree(place)
                    print(f"Python {version_of(python)}: {distribution.name} installs and works", flush=True)
            if options.keep:
                options.keep.mkdir(parents=True, exist_ok=True)
                for distribution in (wheel, sdist):
                    shutil.copy(distribution, options.keep)
    except WrongError as wrong:
        print(f"error: {wrong}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
