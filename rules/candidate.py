"""A candidate: one node type at one size with one plan, filled stage by stage; and the context that all candidates share."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from rules.findings import Kind, Strength

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from catalogs import Catalog
    from catalogs.schema import Gpu, Node
    from rules.answers import Answers
    from rules.facts import FactField
    from rules.findings import Finding, Scalar, Stage
    from rules.guidance.declare import Rule
    from rules.render import Said
    from rules.sizing.fabric.compute import ComputeChoice
    from rules.sizing.fabric.floor import Floor
    from rules.sizing.facility import Placement
    from rules.sizing.results import (
        BomLine,
        CostEstimate,
        FabricDesign,
        FacilityDesign,
        HostDesign,
        PlanChoice,
        ReliabilityEstimate,
        StorageDesign,
        Workload,
    )


@dataclass(frozen=True)
class Context:
    """What a stage may read besides the candidate: the answers, the catalog and the resolved workload."""

    answers: Answers
    catalog: Catalog
    workload: Workload


@dataclass
class Candidate:
    """One way to build the cluster.

    `units` counts what is bought (servers, or pre-integrated racks); `nodes` counts scale-out nodes (servers, or the trays of the
    racks); `gpus` counts all GPUs that train, spares apart. `choice` is None where no plan can run at all. `placement` is what the racks
    hold; `placed_density` is the number of nodes per rack that the power stage found, once it was fed back to the cabling (0 before);
    `floor` says then where everything stands. `network` is the choice of the network among GPUs, which does not depend on where things
    stand. `tried` are the sizes whose bills were held against a budget, with the USD of each; `most_units` is the size that power and
    racks were found to carry, where they bound it.
    """

    id: str
    node: Node
    gpu: Gpu
    units: int
    nodes: int
    gpus: int
    choice: PlanChoice | None = None
    fabric: FabricDesign | None = None
    host: HostDesign | None = None
    storage: StorageDesign | None = None
    facility: FacilityDesign | None = None
    reliability: ReliabilityEstimate | None = None
    cost: CostEstimate | None = None
    bom: list[BomLine] = field(default_factory=list)
    facts: dict[Stage, Mapping[str, Scalar]] = field(default_factory=dict)
    flags: set[str] = field(default_factory=set)
    said: list[Said] = field(default_factory=list)
    sized_by: str = ""
    placed_density: int = 0
    placement: Placement | None = None
    floor: Floor | None = None
    network: ComputeChoice | None = None
    tried: dict[int, float] = field(default_factory=dict)
    most_units: int | None = None

    def varied(self, **changes: Any) -> Candidate:
        """Return the candidate with other fields; what it holds is shared."""
        return replace(self, **changes)

    @property
    def findings(self) -> list[Finding]:
        """Return what the rules said, in words."""
        return [each.finding for each in self.said]

    @property
    def conflicts(self) -> list[Said]:
        """Return the rejections that stand, in firing order: physics, limits and strong evidence, but not mere advice."""
        return [each for each in self.said if each.kind is Kind.REJECT and each.strength is not Strength.ADVICE]

    @property
    def rejections(self) -> list[Finding]:
        """Return the conflicts in words."""
        return [each.finding for each in self.conflicts]


class StageModule(Protocol):
    """What a module in `rules/stages/` offers.

    `assess` sizes what the stage needs, keeps it on the candidate, and returns the stage's wide fact (every field of FACTS).
    `describe` returns the design sections that the stage writes, by dotted name ("fabric.compute"), with TOML-ready values.
    `bill` returns the stage's lines of the bill of materials, without prices.

    A stage after which feedback edges are decided, and whose fact no later stage reads, may offer `size_first` too: it sizes as `assess`
    does and returns what states the fact, so that no fact is stated of a size that is sent back.
    """

    STAGE: Stage
    FACTS: Sequence[FactField]
    RULES: Sequence[Rule]

    def assess(self, candidate: Candidate, context: Context) -> dict[str, Scalar]: ...

    def describe(self, candidate: Candidate, context: Context) -> dict[str, dict[str, object]]: ...

    def bill(self, candidate: Candidate, context: Context) -> list[BomLine]: ...
