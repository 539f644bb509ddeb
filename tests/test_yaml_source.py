"""PyYAML's traps are closed, and every part of a file knows its line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sdg.errors import JobError
from sdg.yaml_source import read_yaml


def read(folder: Path, text: str | bytes) -> Any:
    path = folder / "job.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_yaml(path)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 0.001),
        ("1E5", 1e5),
        (".5", 0.5),
        ("1.", 1.0),
        ("+5", 5),
        ("017", 17),
        ("0o17", "0o17"),
        ("0x1F", "0x1F"),
        ("1_000", "1_000"),
        ("1:30", "1:30"),
        ("2020-01-01", "2020-01-01"),
        ("yes", "yes"),
        ("on", "on"),
        ("True", True),
        ("false", False),
        ("~", None),
        ("'1e-3'", "1e-3"),
        ("!!str 5", "5"),
    ],
)
def test_scalars_are_read_as_yaml_1_2_says(tmp_path: Path, text: str, value: Any) -> None:
    found = read(tmp_path, f"a: {text}").data["a"]
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ": is empty"),
        ("# a comment\n", ": is empty"),
        ("a: 1\nb: 2\na: 3", ":3: key 'a' is repeated"),
        ("c: {x: 1, x: 2}", ":1: key 'x' is repeated"),
        ("a: !foo 1", ":1: tags such as '!foo' are not allowed"),
        (
            "\na: !!python/object:os.system x",
            ":2: tags such as 'tag:yaml.org,2002:python/object:os.system' are not allowed",
        ),
        ("a: !!int hello", ":1: tags such as 'tag:yaml.org,2002:int' are not allowed"),
        ("a:\n\tb: 1", ":2: while scanning for the next token, found character '\\t' that cannot start any token"),
        ("a: [1, 2", ":1: while parsing a flow sequence, expected ',' or ']', but got '<stream end>'"),
        ("a: b: c", ":1: mapping values are not allowed here"),
        ("a: *nope", ":1: found undefined alias 'nope'"),
        ("a: 1\n---\nb: 2", ":2: expected a single document in the stream, but found another document"),
        ("a: 1\nb\x00c: 1", ":2: the character #x0000 is not allowed"),
        ("? [1, 2]\n: 3", ":1: while constructing a mapping, found unhashable key"),
        ("x: &a [*a]", ": is nested too deeply or refers to itself"),
        ("{" * 2000, ": is nested too deeply or refers to itself"),
        ("a: " + "9" * 5000, ":1: this is not a usable whole number"),
        (
            "<<: 5",
            ":1: while constructing a mapping, expected a mapping or list of mappings for merging, but found scalar",
        ),
        (b"a: \xff", ": is not a UTF-8 text file"),
    ],
)
def test_faults_name_file_and_line(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(JobError) as caught:
        read(tmp_path, text)
    assert str(caught.value) == f"{tmp_path / 'job.yaml'}{message}"


def test_a_file_that_multiplies_itself_is_refused(tmp_path: Path) -> None:
    lines = ["a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"{new}: &{new} [{', '.join([f'*{old}'] * 10)}]" for old, new in zip("abcdefgh", "bcdefghi", strict=True)]
    with pytest.raises(JobError, match="is too large or refers to itself"):
        read(tmp_path, "\n".join(lines))


def test_missing_files_and_folders_are_said(tmp_path: Path) -> None:
    with pytest.raises(JobError, match=r"no\.yaml: cannot be read: No such file or directory"):
        read_yaml(tmp_path / "no.yaml")
    with pytest.raises(JobError, match="cannot be read: Is a directory"):
        read_yaml(tmp_path)


def test_every_part_knows_its_line(tmp_path: Path) -> None:
    source = read(tmp_path, "base: &b {x: 1, y: 2}\nc:\n  <<: *b\n  y: 5\nd:\n- 1\n- e: 2\n")
    assert source.data["c"] == {"x": 1, "y": 5}
    places: dict[tuple[str | int, ...], int] = {
        ("c",): 2,
        ("c", "x"): 1,
        ("c", "y"): 4,
        ("d", 1, "e"): 7,
        ("d", 1, "z"): 7,
    }
    assert {place: source.line(place) for place in places} == places
    assert source.place(("c", "made up", "y", "made up")) == ("c", "y")
    assert source.place(("c", "z"), missing=True) == ("c", "z")
