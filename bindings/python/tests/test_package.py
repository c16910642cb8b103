"""What the package is made of."""

import pathlib
import subprocess
import sys

import nalm


def test_version_and_stubs():
    assert nalm.__version__
    folder = pathlib.Path(nalm.__file__).parent
    assert (folder / "py.typed").exists()
    stub = (folder / "_nalm.pyi").read_text()
    for name in ("class Trainer", "class Model", "def fit"):
        assert name in stub


def test_brings_the_libraries_that_it_needs():
    # Where there is nothing but Python and NumPy, there are the C and C++ libraries and nothing else.
    folder = pathlib.Path(nalm.__file__).parent
    extension = next(folder.glob("_nalm*.so"))
    lines = subprocess.run(["ldd", extension], capture_output=True, text=True, check=True).stdout.splitlines()
    system = ("linux-vdso", "libstdc++", "libm.", "libgcc_s", "libc.", "ld-linux", "libpthread", "libdl")
    for line in lines:
        name = line.strip().split(" ")[0]
        found = any(part in name for part in system) or f"=> {folder}/" in line
        assert found, f"{line.strip()} is neither in the package nor in every system"


def test_imports_nothing_but_numpy():
    script = "import nalm, sys; print([m for m in ('sklearn', 'pandas', 'torch', 'sympy', 'scipy') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_every_module_is_there():
    assert len(nalm.modules) >= 43
    assert nalm.modules["NMU"].operations == ["mul"]
    assert nalm.modules["NMU"].recipe["optimiser"]["kind"] == "adam"
