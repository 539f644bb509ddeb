"""Tar archives whose bytes depend on names and contents alone (USTAR: time 0, mode 0644, owner 0)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from sdg.errors import OutputError

BLOCK = 512
END = bytes(130 * BLOCK)
"""The end of an archive: two blocks by the standard, and 64 KiB so that no reader which looks for the end of a zip there
finds an .npz member and takes the shard for a zip (`zipfile.is_zipfile` does)."""
KEY_LETTERS = frozenset("0123456789abcdefghijklmnopqrstuvwxyz_-")
BAD_HEADER = "the header of a member is damaged"
HEADER = struct.Struct("100s8s8s8s12s12s8s1s100s6s2s32s32s8s8s155s12x")


def header(name: str, size: int) -> bytes:
    """Return the header block of one member of `size` bytes."""
    numbers = (b"0000644", b"0000000", b"0000000", b"%011o" % size, b"%011o" % 0)
    fields = (b"0", b"", b"ustar\0", b"00", b"", b"", b"", b"", b"")
    block = HEADER.pack(name.encode("ascii"), *numbers, b" " * 8, *fields)
    return block[:148] + b"%06o\0 " % sum(block) + block[156:]


def padding(size: int) -> bytes:
    """Return the zeros after a member of `size` bytes."""
    return bytes(-size % BLOCK)


def check_name(key: str, extension: str) -> None:
    """Raise OutputError for a name that loaders would split or change."""
    if not key or not set(key) <= KEY_LETTERS:
        raise OutputError(f"the key of a sample has only a-z, 0-9, _ and -, not '{key}'")
    parts = extension.split(".")
    if not all(part and set(part) <= KEY_LETTERS for part in parts):
        raise OutputError(f"the extension of a member has only a-z, 0-9, _, - and single dots, not '{extension}'")
    if len(f"{key}.{extension}") >= 100:
        raise OutputError(f"the name '{key}.{extension}' is longer than 99 letters; give the camera a shorter name")


def pack(key: str, members: dict[str, bytes]) -> tuple[bytes, dict[str, int]]:
    """Return the members of one sample as a piece of a tar archive, sorted, and the offset of each one's content."""
    pieces, offsets, position = [], {}, 0
    for extension, data in sorted(members.items()):
        check_name(key, extension)
        if len(data) >= 8**11:
            raise OutputError(f"'{key}.{extension}' is larger than 8 GiB, which a tar archive cannot hold")
        offsets[extension] = position + BLOCK
        pieces += [header(f"{key}.{extension}", len(data)), data, padding(len(data))]
        position += BLOCK + len(data) + len(pieces[-1])
    return b"".join(pieces), offsets


@dataclass(frozen=True)
class Entry:
    """One member as its header says; `fault`: why the archive cannot be followed further, '' for a good member."""

    name: str
    offset: int
    size: int
    fault: str = ""


def walk(file: BinaryIO, length: int, position: int = 0) -> Iterator[Entry]:
    """Follow the headers of an archive of `length` bytes; the last entry has a fault unless the archive ends well."""
    while True:
        file.seek(position)
        block = file.read(BLOCK)
        if block == bytes(BLOCK):
            rest = length - position - len(END)
            if rest or block + file.read(len(END) - BLOCK) != END:
                yield Entry("", position, 0, f"{rest} bytes after the end" if rest > 0 else "the end is damaged")
            return
        entry = _parse(block, position, length)
        yield entry
        if entry.fault:
            return
        position = entry.offset + entry.size + len(padding(entry.size))


def _parse(block: bytes, position: int, length: int) -> Entry:
    if not block:
        return Entry("", position, 0, "cut off between two members")
    if len(block) < BLOCK:
        return Entry("", position, 0, "cut off inside of a header")
    name = block[:100].rstrip(b"\0").decode("ascii", "replace")
    try:
        size = int(block[124:135], 8)
        good = header(name, size) == block
    except (ValueError, UnicodeEncodeError):
        good, size = False, 0
    if not good:
        return Entry("", position, 0, BAD_HEADER)
    cut = position + BLOCK + size > length
    return Entry(name, position + BLOCK, size, "cut off inside of this member" if cut else "")
