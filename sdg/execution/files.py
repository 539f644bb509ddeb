"""Files that appear whole or not at all, also when the machine stops."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sdg.errors import OutputError

NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)
NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)
"""What file systems say that have no links or locks; commits are safe without either."""


def canonical(data: Any) -> bytes:
    """Return JSON-able data as bytes that depend on nothing but the data."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    return (text + "\n").encode()


def write_temporary(path: Path, chunks: Iterable[bytes]) -> Path:
    """Write a hidden file beside `path` to the disk and return it; after an error nothing is left."""
    temporary = path.parent / f".{path.name}.{os.getpid()}.{time.monotonic_ns()}.tmp"
    try:
        with temporary.open("xb") as file:
            for chunk in chunks:
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary


def replace(path: Path, chunks: Iterable[bytes]) -> None:
    """Put a file at `path`, in the place of what is there."""
    temporary = write_temporary(path, chunks)
    try:
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    sync_folder(path.parent)


def create(path: Path, chunks: Iterable[bytes]) -> None:
    """Put a new file at `path`. Raises FileExistsError and leaves what is there."""
    temporary = write_temporary(path, chunks)
    try:
        _link(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    sync_folder(path.parent)


def _link(temporary: Path, path: Path) -> None:
    try:
        os.link(temporary, path)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        if path.exists():  # a file system without links: the lock on the folder keeps others away
            raise FileExistsError(errno.EEXIST, "exists", str(path)) from None
        os.replace(temporary, path)


def sync_folder(folder: Path) -> None:
    """Bring the names in `folder` to the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # some network file systems have no fsync for folders
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sweep(folder: Path) -> None:
    """Remove the temporary files that a killed process left."""
    for path in folder.glob(".*.tmp") if folder.is_dir() else ():
        path.unlink(missing_ok=True)


@contextmanager
def output_errors(folder: Path) -> Iterator[None]:
    """Turn what the operating system says about `folder` into an OutputError."""
    try:
        yield
    except OSError as error:
        raise OutputError(explain(error, folder)) from error


def explain(error: OSError, folder: Path) -> str:
    """Say what went wrong in an output folder, and what to do."""
    kept = "Nothing half-written is left and finished samples are kept"
    given = f"output '{folder}'"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"no space left for {given}. {kept}: make room and run the same command again."
    if error.errno == errno.EFBIG:
        return f"a file in {given} would be larger than the limit (ulimit -f). {kept}: raise it and run again."
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"{given} cannot be written: {error.strerror}. Choose another folder or change its permissions."
    if error.errno in (errno.ENOTDIR, errno.EEXIST):
        return f"{given} is not a folder, or a part of its path is a file. Choose another folder."
    where = f" ('{error.filename}')" if error.filename else ""
    return f"{given} cannot be written: {error.strerror or error}{where}."


@contextmanager
def exclusive(folder: Path, *, patience: float = 2.0) -> Iterator[int]:
    """Hold the lock of an output folder; hand its descriptor on to workers, which then hold it as well.

    `patience` [s]: how long to wait for the workers of a killed run to end. Raises OutputError when a run goes on.
    """
    path = folder / ".lock"
    deadline = time.monotonic() + patience
    while (descriptor := _try_lock(path)) is None:
        if time.monotonic() > deadline:
            raise OutputError(f"another run is writing to '{folder}'. Wait until it ends, or choose another output.")
        time.sleep(0.05)
    try:
        yield descriptor
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def _try_lock(path: Path) -> int | None:
    """Return an open, locked descriptor of `path`, or None when another process holds it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(descriptor).st_ino == os.stat(path).st_ino:
            return descriptor
    except (BlockingIOError, FileNotFoundError):
        pass  # held, or removed by its last holder between the two calls
    except OSError as error:
        if error.errno in NO_LOCKS:
            return descriptor
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None
