"""Reads a Hugging Face config.json with bounds: its size, its depth, and that it is one table."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from wizard.files import STANDARD_INPUT, FileError

LARGEST_CONFIG_BYTES = 4_000_000
"""The longest published config.json, with a list entry per label, is under a megabyte."""
DEEPEST_NESTING = 20
"""Published files nest models in models at most five deep."""


def read_model_config(path: Path | str) -> dict[str, Any]:
    """Return the table of a config.json; raises FileError for anything that is not a JSON object of sane size and depth."""
    path = Path(path)
    try:
        if path.is_dir():
            inside = path / "config.json"
            hint = f"; name {inside} itself" if inside.is_file() else ""
            raise FileError(path, f"is a folder; give the name of a model's config.json{hint}")
        with path.open("rb") as stream:
            data = stream.read(LARGEST_CONFIG_BYTES + 1)
    except FileNotFoundError:
        raise FileError(path, "no such file; give the name of a model's config.json, as a Hugging Face repository has it") from None
    except PermissionError:
        raise FileError(path, "may not be read; check the permissions of the file") from None
    except (OSError, ValueError) as error:
        raise FileError(path, f"cannot be read ({error})") from None
    return parse_model_config(data, path)


def read_piped_config() -> dict[str, Any]:
    """Return the table of a config.json that comes through standard input; raises FileError as read_model_config does."""
    if sys.stdin is None or sys.stdin.closed:
        raise FileError(STANDARD_INPUT, "is closed; give the name of a model's config.json, or pipe one in")
    return parse_model_config(sys.stdin.buffer.read(LARGEST_CONFIG_BYTES + 1), STANDARD_INPUT)


def parse_model_config(data: bytes, path: Path | str) -> dict[str, Any]:
    """Return the table in `data`; raises FileError with line and column where the text is not JSON."""
    if len(data) > LARGEST_CONFIG_BYTES:
        raise FileError(
            path, f"is larger than {LARGEST_CONFIG_BYTES // 1_000_000} MB, which no config.json is; give the config, not weights"
        )
    try:
        document = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise FileError(path, f"is not UTF-8 text (byte {error.start}); give a model's config.json") from None
    except json.JSONDecodeError as error:
        raise FileError(
            path, f"is not JSON: {error.msg} at line {error.lineno}, column {error.colno}; give a model's config.json"
        ) from None
    except RecursionError:
        raise FileError(path, "nests tables or lists too deeply for a config.json") from None
    except ValueError as error:
        raise FileError(path, f"is not sane JSON: {error}") from None
    if not isinstance(document, dict):
        kind = {list: "a list", str: "a string", type(None): "null"}.get(type(document), "a single value")
        raise FileError(path, f"holds {kind}; expected a table of keys such as model_type and hidden_size, as config.json is")
    if _deeper_than(document, DEEPEST_NESTING):
        raise FileError(path, f"nests tables or lists more than {DEEPEST_NESTING} deep, which no config.json does")
    return document


def _deeper_than(value: object, levels: int) -> bool:
    inner = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    return levels < 0 or any(_deeper_than(each, levels - 1) for each in inner if isinstance(each, dict | list))
