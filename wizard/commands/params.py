"""`cluster-wizard params CONFIG.json`: parameters, FLOPs and bytes of the model that a Hugging Face configuration describes."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from wizard.cli import GOOD, add_json_option, print_json

if TYPE_CHECKING:
    import argparse

    from rules.sizing.config_counts import ConfigCount

PART_NAMES = {
    "embedding": "embedding",
    "head": "output head",
    "attention": "attention",
    "linear_attention": "linear attention",
    "state_space": "state-space layers",
    "convolution": "convolutions",
    "dense_ffn": "dense feed-forward",
    "routed_experts": "routed experts",
    "shared_experts_and_router": "shared experts and router",
    "layers": "layers",
    "positions": "relative positions",
    "norms": "norms",
    "pooler": "pooler",
    "other": "other",
    "vision": "vision tower",
}
LONGEST_SEQUENCE = 1_000_000_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "config", metavar="CONFIG.json", help="a model's config.json, as a Hugging Face repository has it; '-' reads standard input"
    )
    parser.add_argument(
        "--seq", type=_tokens, metavar="N", help="tokens that FLOPs are counted at; default: the model's own length up to 4096"
    )
    add_json_option(parser)


def _tokens(text: str) -> int:
    import argparse

    try:
        value = int(text)
    except ValueError:
        value = 0
    if not 1 <= value <= LONGEST_SEQUENCE:
        raise argparse.ArgumentTypeError(f"expected a whole number of tokens from 1 to {LONGEST_SEQUENCE:,}, got {text!r}")
    return value


def run(options: argparse.Namespace) -> int:
    """Count and print; raises FileError, which names the file, for anything that cannot be counted."""
    from rules.sizing.config_counts import ConfigError, count_config
    from wizard.files import STANDARD_INPUT, FileError
    from wizard.imports.model_config import read_model_config, read_piped_config

    piped = options.config == "-"
    config = read_piped_config() if piped else read_model_config(options.config)
    try:
        count = count_config(config, options.seq)
    except ConfigError as error:
        raise FileError(STANDARD_INPUT if piped else options.config, str(error)) from error
    if options.json:
        print_json(as_json(count))
    else:
        print("\n".join(as_text(count)))
    return GOOD


def as_json(count: ConfigCount) -> dict[str, Any]:
    """Return the count under the keys of the params schema."""
    return asdict(count) | {"notes": list(count.notes), "by_part": dict(count.by_part)}


def as_text(count: ConfigCount) -> list[str]:
    """Return the count as lines to read."""
    lines = [f"{count.family} (model_type {count.model_type})", ""]
    lines.append(_row("parameters", count.total, count.total))
    lines += [_row(f"  {PART_NAMES.get(part, part)}", size, count.total) for part, size in count.by_part.items() if size]
    if count.active != count.total:
        lines.append(_row("active per text token", count.active, count.total))
    if count.mtp:
        lines.append(_row("prediction layers, apart", count.mtp, None))
    lines.append("")
    lines.append(f"{'FLOPs per token':<28}{count.flops_per_token:>20.4g}  forward and backward, at {count.sequence_length} tokens")
    lines.append(f"{'weights as stored':<28}{count.weights_bytes / 1e9:>17.2f} GB")
    lines += [f"{'weights in ' + name:<28}{size / 1e9:>17.2f} GB" for name, size in count.weights_bytes_by_format.items()]
    if count.notes:
        lines += ["", *(f"note: {note}" for note in count.notes)]
    return lines


def _row(name: str, value: int, whole: int | None) -> str:
    share = f"  {100 * value / whole:5.1f} %" if whole else ""
    return f"{name:<28}{value:>20,}{share}"
