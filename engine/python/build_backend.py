"""setuptools' backend (PEP 517), with the setuptools of the interpreter where there is one.

pip hides the interpreter's packages from a build and fetches those that pyproject.toml requires. This backend finds what
is installed all the same, and requires what is missing alone, so that a machine without network can build.
"""

import importlib.util
import site
import sys
from pathlib import Path

sys.path += [folder for folder in site.getsitepackages() if folder not in sys.path]


def _is_here(module):
    return importlib.util.find_spec(module) is not None


def _missing():
    missing = []
    if not _is_here("pybind11") and not any(Path("/usr").glob("*/cmake/pybind11")):  # CMake finds a distribution's
        missing.append("pybind11>=2.10")
    major = 0
    if _is_here("setuptools"):
        import setuptools

        major = int(setuptools.__version__.split(".")[0])
    if major < 61:
        missing.append("setuptools>=61")
    if major < 71 and not _is_here("wheel"):  # newer ones need it no more
        missing.append("wheel")
    return missing


def get_requires_for_build_wheel(config_settings=None):
    return _missing()


def get_requires_for_build_editable(config_settings=None):
    return _missing()


def get_requires_for_build_sdist(config_settings=None):
    return _missing()


def _backend():
    from setuptools import build_meta

    return build_meta


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    return _backend().prepare_metadata_for_build_wheel(metadata_directory, config_settings)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return _backend().build_wheel(wheel_directory, config_settings, metadata_directory)


def build_sdist(sdist_directory, config_settings=None):
    return _backend().build_sdist(sdist_directory, config_settings)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return _backend().build_editable(wheel_directory, config_settings, metadata_directory)
