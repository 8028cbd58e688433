#!/usr/bin/env python3
"""Lets shared libraries run with an older glibc than the one that they were linked with.

glibc 2.34 gave pthread_create, dlsym and others new version names as it moved them into libc.so.6; the old names stand
for the same code. This script changes what FILEs ask for: a symbol of a version above NEWEST becomes the version that
has the same address in the C library that COMPILER links with. `__isoc23_strtol` and its kin (glibc 2.38) become the functions
without the prefix, which differ in numbers that begin with 0b. Only tables are rewritten, nothing moves.
usage: older_glibc.py FILE... [--newest 2.31] [--compiler c++]
Exit code: 0, 1 where a symbol has no older version; the file then is as before.
"""

import argparse
import re
import struct
import subprocess
import sys

ISO_C23 = "__isoc23_"
UNVERSIONED = 1  # in .gnu.version: the version that a library gives those who ask for none


def number_of(version):
    """(2, 34) of GLIBC_2.34, None of other versions."""
    found = re.fullmatch(r"GLIBC_(\d+)\.(\d+)(?:\.\d+)?", version)
    return (int(found[1]), int(found[2])) if found else None


class Elf:
    """The dynamic symbols of a 64-bit little-endian library, as offsets into its bytes."""

    def __init__(self, path):
        self.path = path
        with open(path, "rb") as file:
            self.bytes = bytearray(file.read())
        if self.bytes[:6] != b"\x7fELF\x02\x01":
            sys.exit(f"older_glibc.py: {path} is no little-endian 64-bit ELF file")
        at, size, count = self.read("<Q", 40), self.read("<H", 58), self.read("<H", 60)
        sections = [struct.unpack_from("<IIQQQQIIQQ", self.bytes, at + i * size) for i in range(count)]
        # By type: SHT_DYNSYM, SHT_GNU_versym, SHT_GNU_verneed. Each has one of its own, with (offset, size, link).
        tables = {kind: (offset, length, link) for _, kind, _, _, offset, length, link, *_ in sections}
        try:
            self.symbols, self.symbols_size, link = tables[11]
            self.versions, _, _ = tables[0x6FFFFFFF]
            self.needs, _, _ = tables[0x6FFFFFFE]
        except KeyError:
            sys.exit(f"older_glibc.py: {path} has no versions of symbols")
        self.strings = sections[link][4]

    def read(self, form, at):
        return struct.unpack_from(form, self.bytes, at)[0]

    def text(self, offset):
        at = self.strings + offset
        return self.bytes[at : self.bytes.index(0, at)].decode()

    def needed(self):
        """(library, place of its entry, [(version, index, place)]) for each library of which versions are needed."""
        place = self.needs
        while True:
            _, count, name, first, following = struct.unpack_from("<HHIII", self.bytes, place)
            versions, at = [], place + first
            for _ in range(count):
                _, _, index, text, step = struct.unpack_from("<IHHII", self.bytes, at)
                versions.append((self.text(text), index, at))
                at += step
            yield self.text(name), place, versions
            if following == 0:
                return
            place += following

    def undefined(self):
        """(name, place of the symbol, place of its version's index)"""
        for i in range(1, self.symbols_size // 24):
            place = self.symbols + 24 * i
            if self.read("<H", place + 6) == 0:
                yield self.text(self.read("<I", place)), place, self.versions + 2 * i

    def keep_versions(self, place, kept):
        """Leaves of the versions of a library those whose places are kept."""
        for at, following in zip(kept, [*kept[1:], None]):
            struct.pack_into("<I", self.bytes, at + 12, 0 if following is None else following - at)
        struct.pack_into("<H", self.bytes, place + 2, len(kept))
        struct.pack_into("<I", self.bytes, place + 8, kept[0] - place)


def exported(library):
    """{symbol: {version: address}} of a library."""
    output = subprocess.run(["objdump", "-T", library], check=True, capture_output=True, text=True).stdout
    symbols = {}
    for line in output.splitlines():
        found = re.fullmatch(r"([0-9a-f]+) .*\t[0-9a-f]+ +\(?([\w.]+)\)? +(\S+)", line)
        if found and "*UND*" not in line:
            symbols.setdefault(found[3], {})[found[2]] = found[1]
    return symbols


def path_of(library, compiler):
    """Where a compiler finds a library."""
    found = subprocess.run([compiler, f"-print-file-name={library}"], capture_output=True, text=True).stdout.strip()
    if not found.startswith("/"):
        sys.exit(f"older_glibc.py: {compiler} finds no {library}")
    return found


def older_version(versions, version, newest):
    """The newest version up to `newest` with the address of `version`, None without."""
    same = [name for name, address in versions.items() if address == versions.get(version) and number_of(name)]
    return max((name for name in same if number_of(name) <= newest), key=number_of, default=None)


def lower(elf, newest, compiler):
    """Returns what has no older version, as name@version."""
    lacks = []
    for library, place, versions in list(elf.needed()):
        newer = {index: name for name, index, _ in versions if number_of(name) and number_of(name) > newest}
        if not newer:
            continue
        symbols = exported(path_of(library, compiler))
        known = {name: index for name, index, _ in versions}
        for name, symbol, at in elf.undefined():
            version = newer.get(elf.read("<H", at) & 0x7FFF)
            if version is None:
                continue
            if name.startswith(ISO_C23):  # the name without it ends where that ends
                struct.pack_into("<I", elf.bytes, symbol, elf.read("<I", symbol) + len(ISO_C23))
                older = min((v for v in symbols[name[len(ISO_C23) :]] if number_of(v)), key=number_of)
            else:
                older = older_version(symbols.get(name, {}), version, newest)
            if older is None:
                lacks.append(f"{name}@{version}")
            struct.pack_into("<H", elf.bytes, at, known.get(older, UNVERSIONED))
        kept = [at for _, index, at in versions if index not in newer]
        if kept:
            elf.keep_versions(place, kept)
        else:
            lacks.append(f"{library}, all of it")
    return lacks


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--newest", default="2.31")
    parser.add_argument("--compiler", default="c++")
    given = parser.parse_args()
    newest = number_of("GLIBC_" + given.newest)
    if newest is None:
        parser.error(f"--newest {given.newest}: give a version as 2.31")
    for path in given.files:
        elf = Elf(path)
        lacks = lower(elf, newest, given.compiler)
        if lacks:
            sys.exit(f"older_glibc.py: {path} needs {', '.join(lacks)}, which has no version up to {given.newest}")
        with open(path, "r+b") as file:
            file.write(elf.bytes)


if __name__ == "__main__":
    main()
