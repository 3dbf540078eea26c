#!/usr/bin/env python3
"""Build the MPI library and its launcher, and lay them out with the header and the compilers.

The wheel's build uses this file. To work on the library:

    python pep517/native.py --into DIR [--debug]

makes DIR/bin (cellcc, cellcxx, cellrun; mpicc, mpicxx, mpiexec, mpirun), DIR/include/mpi.h and DIR/lib/libmpi_abi.so.1.
`cellweave/mpi` in the wheel has the same layout. What is up to date is not built again. Several builds may run at the
same time, because files appear whole.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = ROOT / "pep517" / "scripts"
INCLUDE = ROOT / "python" / "cellweave" / "mpi" / "include"
SONAME = "libmpi_abi.so.1"

# The file that `-lmpi_abi` finds. A wheel has no symbolic links; the linker reads this file instead.
LINKER_SCRIPT = f"/* The linker goes on to the library beside this file. */\nINPUT({SONAME})\n"


def run(command: list[str], what: str) -> str:
    """Run a command and give its output; end the program when it fails."""
    try:
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    except FileNotFoundError:
        sys.exit(f"cellweave: {what} needs `{command[0]}`, which is not on PATH")
    if done.returncode != 0:
        sys.exit(f"cellweave: {what} failed: {' '.join(command)}")
    return done.stdout


def put(path: Path, content: bytes, mode: int = 0o644) -> None:
    """Write a file whole, so that others see the old one or the new one; do nothing when it is the same."""
    if path.is_file() and path.read_bytes() == content and path.stat().st_mode & 0o777 == mode:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with os.fdopen(handle, "wb") as file:
        file.write(content)
    os.chmod(name, mode)
    os.replace(name, path)


def cargo(debug: bool) -> tuple[Path, Path, Path]:
    """Build the crates; give the static library, the launcher, and the folder of what the tables became."""
    profile = "dev" if debug else "mpi"
    command = ["cargo", "build", "--quiet", "--profile", profile]
    command += ["--package", "cellweave-mpi", "--package", "cellweave-launch"]
    command += ["--lib", "--bins", "--message-format", "json-render-diagnostics"]
    products: dict[str, Path] = {}
    made = Path()
    for line in run(command, "building the MPI library").splitlines():
        message = json.loads(line)
        if message["reason"] == "compiler-artifact" and message["target"]["name"] in ("mpi", "cellrun"):
            for name in message["filenames"]:
                products[Path(name).name] = Path(name)
        if message["reason"] == "build-script-executed" and "crates/mpi#" in message["package_id"]:
            made = Path(message["out_dir"])
    return products["libmpi.a"], products["cellrun"], made


def link(archive: Path, exports: Path, debug: bool) -> Path:
    """Link the shared library beside the static one that it is made of; one for each compiler."""
    compiler = shlex.split(os.environ.get("CC", "cc"))
    library = archive.with_name(f"{SONAME}-{hashlib.sha256(shlex.join(compiler).encode()).hexdigest()[:8]}")
    parts = [archive, exports, Path(__file__)]
    if library.is_file() and all(part.stat().st_mtime_ns < library.stat().st_mtime_ns for part in parts):
        return library
    with tempfile.TemporaryDirectory(dir=archive.parent, prefix=".link-") as folder:
        linked = f"{folder}/{SONAME}"
        # Take every object of the archive: nothing else is linked that asks for one by name. --gc-sections drops what
        # no exported name reaches. -Bsymbolic-functions binds the jump from MPI_X to PMPI_X here.
        flags = ["-shared", "-o", linked, "-Wl,--whole-archive", str(archive), "-Wl,--no-whole-archive"]
        flags += [f"-Wl,-soname,{SONAME}", f"-Wl,--version-script={exports}", "-Wl,-Bsymbolic-functions"]
        flags += ["-Wl,--gc-sections", "-Wl,-z,defs", "-Wl,-z,relro,-z,now", "-Wl,-z,nodelete", "-Wl,-O1"]
        flags += [] if debug else ["-Wl,--strip-debug"]
        run([*compiler, *flags, "-lgcc_s", "-lpthread", "-lm", "-ldl", "-lc"], f"linking {SONAME}")
        os.replace(linked, library)
    return library


def version() -> str:
    """The workspace's version."""
    match = re.search(r'^version = "(.+)"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)
    assert match is not None, "Cargo.toml has no version"
    return match[1]


def stripped(program: Path, debug: bool) -> bytes:
    """A program's file without the parts for debuggers."""
    if debug or shutil.which("strip") is None:
        return program.read_bytes()
    with tempfile.NamedTemporaryFile(dir=program.parent, prefix=".strip-") as file:
        run(["strip", "-o", file.name, str(program)], "stripping the launcher")
        return Path(file.name).read_bytes()


def build(into: Path, debug: bool = False) -> None:
    """Build everything and lay it out in a folder."""
    archive, launcher, made = cargo(debug)
    library = link(archive, made / "exports.map", debug)
    put(into / "lib" / SONAME, library.read_bytes(), 0o755)
    put(into / "lib" / "libmpi_abi.so", LINKER_SCRIPT.encode())
    put(into / "lib" / "version", f"{version()}\n".encode())
    description = (SCRIPTS / "cellweave-mpi.pc.in").read_text().replace("@VERSION@", version())
    put(into / "lib" / "pkgconfig" / "cellweave-mpi.pc", description.encode())
    for header in (made / "mpi.h", INCLUDE / "cell.h"):
        put(into / "include" / header.name, header.read_bytes())
    put(into / "bin" / "cellrun", stripped(launcher, debug), 0o755)
    for name in ("cellcc", "cellcxx", "mpicc", "mpicxx"):
        put(into / "bin" / name, (SCRIPTS / "cellcc").read_bytes(), 0o755)
    for name in ("mpiexec", "mpirun"):
        put(into / "bin" / name, (SCRIPTS / "mpiexec").read_bytes(), 0o755)


def stage(package: Path, data: Path, debug: bool) -> None:
    """Build into the package's folder, and put the programs for an environment's `bin` where maturin packs them."""
    build(package, debug)
    put(data / "scripts" / "cellrun", (package / "bin" / "cellrun").read_bytes(), 0o755)
    for name in ("cellcc", "cellcxx"):
        put(data / "scripts" / name, (SCRIPTS / "inside.py").read_bytes(), 0o755)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Build the MPI library, its launcher and its compilers into a folder.")
    parser.add_argument(
        "--into", type=Path, required=True, metavar="DIR", help="the folder: it gets bin, include and lib"
    )
    parser.add_argument(
        "--debug", action="store_true", help="cargo's profile dev, and nothing stripped: quick to build"
    )
    arguments = parser.parse_args()
    build(arguments.into.resolve(), arguments.debug)


if __name__ == "__main__":
    main()
