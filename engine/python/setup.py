"""Builds the package with CMake: the module and, as a part of it, the library from the sources two folders up.

SLIDE_MODULE in the environment names a module that has been built already, as by scripts/package.sh.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

SOURCES = Path(__file__).resolve().parent.parent.parent


class CMakeBuild(build_ext):
    def build_extension(self, extension):
        built = os.environ.get("SLIDE_MODULE") or self.build_module()
        target = Path(self.get_ext_fullpath(extension.name)).with_name(Path(built).name)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(built, target)

    def build_module(self):
        if not (SOURCES / "lsh" / "CMakeLists.txt").exists():
            raise SystemExit(f"setup.py: {SOURCES} does not hold the engine's sources; install from a checkout")
        folder = Path(self.build_temp).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        options = {
            "CMAKE_BUILD_TYPE": "Release",
            "Python_EXECUTABLE": sys.executable,
            "SLIDE_BUILD_PYTHON": "ON",
            "SLIDE_BUILD_PROGRAM": "OFF",
            "SLIDE_BUILD_TESTS": "OFF",
            "SLIDE_BUILD_BENCH": "OFF",
            "SLIDE_INSTALL": "OFF",
        }
        try:
            import pybind11
        except ImportError:
            pass  # CMake finds that of the distribution
        else:
            options["pybind11_DIR"] = pybind11.get_cmake_dir()
        generator = ["-G", "Ninja"] if shutil.which("ninja") else []
        given = [f"-D{name}={value}" for name, value in options.items()]
        subprocess.check_call(["cmake", "-S", str(SOURCES), "-B", str(folder), *generator, *given])
        jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL", str(len(os.sched_getaffinity(0))))
        subprocess.check_call(["cmake", "--build", str(folder), "--target", "slide_python", "-j", jobs])
        built = list((folder / "python" / "slide").glob("_slide*.so"))
        if len(built) != 1:
            raise SystemExit("setup.py: the build made no module; its output above says what is missing")
        return built[0]


def version():
    """The one of the whole project, which stands in its CMakeLists.txt."""
    text = (SOURCES / "CMakeLists.txt").read_text(encoding="utf-8")
    found = re.search(r"^project\(slide VERSION ([0-9.]+)", text, re.MULTILINE)
    if found is None:
        raise SystemExit(f"setup.py: {SOURCES / 'CMakeLists.txt'} names no version; install from a checkout")
    return found[1]


# Beside the other builds, for tests look at all sources in this folder.
work = SOURCES / "build" / "pip"
work.mkdir(parents=True, exist_ok=True)
setup(
    version=version(),
    ext_modules=[Extension("slide._slide", [])],
    cmdclass={"build_ext": CMakeBuild},
    options={
        "build": {"build_base": str(work)},
        "bdist": {"bdist_base": str(work / "bdist")},
        "egg_info": {"egg_base": str(work)},
    },
)
