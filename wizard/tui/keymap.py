"""The person's own keys: checked against the actions that there are, then used by bindings, key lines, help and palette alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.keys import Keys, _character_to_key

from wizard.config import nearest
from wizard.files import FileError
from wizard.tui.actions import ACTIONS, actions_of, keys_of, take_keys

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from wizard.config import Config

_MODIFIERS = ("ctrl", "shift", "alt", "super", "meta", "hyper")
_NEVER_ARRIVE = {
    "ctrl+h": "most terminals send it as Backspace",
    "ctrl+i": "terminals send it as Tab",
    "ctrl+j": "terminals send it as Enter",
    "ctrl+m": "terminals send it as Enter",
    "ctrl+left_square_bracket": "terminals send it as Escape",
}
"""Keys that cannot be told from others, and why."""
_NAMED = {key.value for key in Keys} | {f"f{number}" for number in range(1, 25)}


def use_keymap(config: Config) -> Mapping[str, str]:
    """Check the keymap of a config and return it as Textual takes it; raises FileError with the action, the key and what is wrong."""
    ids = [action.id for action in ACTIONS]
    found: dict[str, tuple[str, ...]] = {}
    path = config.path or "config"
    for id_, keys in config.keymap.items():
        if id_ not in ids:
            raise FileError(path, f"keymap.{id_}: no such action{nearest(id_, ids)}; 'All commands' (^p) lists them")
        found[id_] = tuple(_checked(key, id_, path) for key in keys)
    take_keys(found)
    _check_clashes(path, found)
    return {id_: ",".join(keys) for id_, keys in found.items()}


def _checked(key: str, action: str, path: Path | str) -> str:
    *modifiers, base = key.split("+") if key != "+" else ["+"]
    name = _character_to_key(base) if len(base) == 1 else base
    full = "+".join([*modifiers, name])
    if any(each not in _MODIFIERS for each in modifiers) or not (len(base) == 1 or name in _NAMED or name.isidentifier()):
        raise FileError(path, f"keymap.{action}: {key!r} is no key{nearest(key, _NAMED)}; write keys such as 'f6', 'ctrl+g' or 'alt+x'")
    if len(base) > 1 and name not in _NAMED and name not in _CHARACTERS:
        raise FileError(path, f"keymap.{action}: {key!r} is no key{nearest(key, _NAMED | _CHARACTERS)}")
    if full in _NEVER_ARRIVE:
        raise FileError(path, f"keymap.{action}: {key!r} does not arrive: {_NEVER_ARRIVE[full]}; choose another")
    return full


_CHARACTERS = {_character_to_key(chr(code)) for code in range(33, 127)}
"""Names of the characters of ASCII: "slash", "question_mark"."""


def _check_clashes(path: Path | str, found: Mapping[str, tuple[str, ...]]) -> None:
    """Raise FileError where two actions of one screen would have the same key."""
    for scope in dict.fromkeys(action.scope for action in ACTIONS):
        owner: dict[str, str] = {}
        for action in actions_of(scope):
            for key in keys_of(action):
                other = owner.setdefault(key, action.id)
                if other != action.id and (action.id in found or other in found):
                    mine, theirs = (action.id, other) if action.id in found else (other, action.id)
                    take_keys({})
                    raise FileError(path, f"keymap.{mine}: {key!r} belongs to {theirs} on the same screen; give one of them another key")
