"""NetBox device types as YAML, one document each: what to import first."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TextIO

from wizard.exports.netbox import device_types

if TYPE_CHECKING:
    from rules.advisor import Considered


def write(considered: Considered, stream: TextIO) -> None:
    """Write every type that the design uses, with the interfaces that its links need."""
    types = {each.slug: each for each in device_types(considered).values()}
    for each in types.values():
        stream.write(f"---\nmanufacturer: {json.dumps(each.manufacturer)}\nmodel: {json.dumps(each.model, ensure_ascii=False)}\n")
        stream.write(f"slug: {each.slug}\nu_height: {each.units:g}\nis_full_depth: {'true' if each.units else 'false'}\n")
        if each.weight_kg is not None:
            stream.write(f"weight: {each.weight_kg:g}\nweight_unit: kg\n")
        if each.assumed:
            stream.write("comments: the height is not known; one unit is assumed\n")
        if each.interfaces:
            stream.write("interfaces:\n")
        for name, (kind, managed) in each.interfaces.items():
            stream.write(f"  - name: {json.dumps(name)}\n    type: {kind}\n" + ("    mgmt_only: true\n" if managed else ""))
