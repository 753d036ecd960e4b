"""What sizing computes: the records that pass between the formulas, the stages and the design.

Quantities are pint quantities; counts are integers; shares and ratios are plain numbers from 0 to 1 unless said otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from catalogs.schema import Kind
from rules.sizing.storage_results import HostDesign as HostDesign
from rules.sizing.storage_results import StorageDesign as StorageDesign

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalogs.quantities import Quantity
    from rules.sizing.completion import Interrupted
    from rules.sizing.memory_estimate import MemoryEstimate
    from rules.sizing.ownership import Charges
    from rules.sizing.reliability import Goodput
    from rules.sizing.towers import Tower


@dataclass(frozen=True)
class Range:
    """A quantity with its uncertainty: low ≤ expected ≤ high, and how the number came about."""

    low: Quantity
    expected: Quantity
    high: Quantity
    kind: Kind = Kind.ESTIMATED


@dataclass(frozen=True)
class ModelShape:
    """A model by its shape. Fields that a kind does not have are zero or empty.

    `kind`: dense, moe, vision_transformer, cnn, recommendation. `attention`: mha, gqa or mla. `ffn_size` is the intermediate size of a
    dense layer, `expert_ffn_size` of one routed expert, `shared_expert_ffn_size` of all shared experts together. `dense_layers` counts the
    first layers that keep a dense FFN in a mixture of experts. `full_attention_layers` see beyond a `sliding_window`. `latent_size`: the
    width of the tokens that routed experts take in, where it is not the hidden size. `scanned_channels`: that of state-space mixers,
    averaged over the layers. `forward_activations`: elements of the outputs of all convolutions for one image. `has_towers`: the stated
    `parameters` hold towers for images or sound beside the layers, `tower` is that for images where its shape is known. `irregular`: not
    all layers that are counted as a transformer's are. `ffn_clamped`: what enters a gated activation is clamped.
    """

    name: str
    kind: str
    layers: int = 0
    hidden_size: int = 0
    ffn_size: int = 0
    attention_heads: int = 0
    key_value_heads: int = 0
    head_dim: int = 0
    vocabulary_size: int = 0
    gated_ffn: bool = True
    tied_embeddings: bool = False
    learned_positions: int = 0
    attention: str = "mha"
    q_lora_rank: int = 0
    kv_lora_rank: int = 0
    qk_nope_head_dim: int = 0
    qk_rope_head_dim: int = 0
    v_head_dim: int = 0
    experts: int = 0
    experts_per_token: int = 0
    expert_ffn_size: int = 0
    shared_expert_ffn_size: int = 0
    dense_layers: int = 0
    mtp_layers: int = 0
    sliding_window: int = 0
    full_attention_layers: int = 0
    latent_size: int = 0
    scanned_channels: int = 0
    max_sequence_length: int = 0
    attention_bias: bool = False
    ffn_bias: bool = False
    ffn_clamped: bool = False
    qk_norm: bool = False
    forward_gmacs: float = 0.0
    forward_activations: float = 0.0
    parameters: float = 0.0
    image_size: int = 0
    patch_size: int = 0
    embedding_parameters: float = 0.0
    embedding_dim: int = 0
    tables: int = 0
    dense_parameters: float = 0.0
    has_towers: bool = False
    tower: Tower | None = None
    assumed: bool = False
    irregular: bool = False

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """Return a hash of the main sizes, worked out once: plan searches look shapes up a thousand times."""
        return hash(
            (self.name, self.kind, self.layers, self.hidden_size, self.ffn_size, self.experts, self.vocabulary_size, self.parameters)
        )


@dataclass(frozen=True)
class ParameterCount:
    """Parameters of a model: total without multi-token-prediction layers and with tied embeddings once; active per token."""

    total: float
    active: float
    embedding: float
    mtp: float
    flops_per_token: float
    by_part: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Workload:
    """What is to be trained, resolved from the answers; every value that was not answered is in `assumed` with its reason.

    `kind` as the answer `workload.kind`. `unit` is what is counted: token, image or sample. `units_total` over the run
    (0 where unknown). `global_batch` in sequences (or images, samples) per step; `sequence_length` in tokens (1 else).
    `trainable_parameters` have gradients and optimizer state (all but for LoRA and QLoRA). `post_training`: none, dpo, grpo or ppo,
    which keep models beside the trained one; `rollout`: whether the engine that samples is separate, sleeping or awake on these GPUs.
    `reserved_gib`: what others take of each GPU's memory. `embedding_sharding` and `embedding_optimizer` are those of tables.
    `image_share`: share of a sample's tokens that come from images through a tower that is trained. `fused_experts`: whether the training
    code fuses the kernels of experts where the GPU has such.
    """

    kind: str
    model: ModelShape
    parameters: ParameterCount
    precision: str
    optimizer: str
    unit: str
    units_total: float
    global_batch: int
    sequence_length: int
    trainable_parameters: float
    flops_per_unit: float
    dataset: Quantity | None
    sample_bytes: Quantity | None
    checkpoint: Quantity
    data_kind: str
    assumed: Mapping[str, str] = field(default_factory=dict)
    post_training: str = "none"
    rollout: str = "separate"
    reserved_gib: float = 0.0
    embedding_sharding: str = "balanced"
    embedding_optimizer: str = ""
    image_share: float = 0.0
    fused_experts: bool = True


@dataclass(frozen=True)
class Plan:
    """A parallel plan. GPUs = tensor × pipeline × context × data; experts are spread inside those ranks (folding).

    `per_domain` is how many GPUs of each scale-up domain it uses where it needs several; 0 where that follows from their number.
    `schedule` is the pipeline's, interleaved where there are virtual stages; `recompute_layers` how many layers of each stage recompute
    their activations in full where not all do, `recompute_modules` what selective recomputation names.
    """

    tensor: int = 1
    pipeline: int = 1
    virtual_stages: int = 1
    context: int = 1
    expert: int = 1
    expert_tensor: int = 1
    data: int = 1
    zero_stage: int = 0
    micro_batch: int = 1
    recompute: str = "none"
    sequence_parallel: bool = True
    offload: str = "none"
    shard_group: int = 0
    per_domain: int = 0
    schedule: str = "1f1b"
    recompute_layers: int = 0
    recompute_modules: tuple[str, ...] = ()

    @property
    def gpus(self) -> int:
        """Return the number of GPUs that the plan uses."""
        return self.tensor * self.pipeline * self.context * self.data

    @property
    def label(self) -> str:
        """Return the plan in the field's shorthand: "TP8 PP16 DP124 ZeRO-1"."""
        parts = [f"TP{self.tensor}", f"PP{self.pipeline}"]
        parts += [f"VP{self.virtual_stages}"] if self.virtual_stages > 1 else []
        parts += [self.schedule.upper().replace("_", "-")] if self.schedule != "1f1b" and self.pipeline > 1 else []
        parts += [f"CP{self.context}"] if self.context > 1 else []
        parts += [f"EP{self.expert}"] if self.expert > 1 else []
        parts += [f"DP{self.data}", f"ZeRO-{self.zero_stage}", f"MB{self.micro_batch}"]
        some = f" in {self.recompute_layers} layers of each stage" if self.recompute_layers and self.recompute == "full" else ""
        if self.recompute == "selective" and self.recompute_modules:
            some = f" ({', '.join(self.recompute_modules)})".replace("_", " ")
        parts += [f"recompute {self.recompute}{some}"] if self.recompute != "none" else []
        parts += [f"offload {self.offload}"] if self.offload != "none" else []
        return " ".join(parts)


@dataclass(frozen=True)
class StepEstimate:
    """One optimizer step. Times are of the whole step; `terms` add up to the expected time.

    `inter_node_bytes_per_gpu` is what one GPU sends to other scale-up domains in a step; `exposed_share` is the share of the step
    that waits for communication; `units_per_second` of the whole cluster; `model_flops_utilization` of the dense peak.
    """

    low: Quantity
    expected: Quantity
    high: Quantity
    terms: Mapping[str, Quantity]
    units_per_second: float
    tflops_per_gpu: float
    model_flops_utilization: float
    inter_node_bytes_per_gpu: Quantity
    largest_message: Quantity
    exposed_share: float
    hidden_budget: Quantity
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class PlanChoice:
    """The result of a plan search: the best plan, the next ones, and how many were rejected for which reason.

    An exhaustive search also says how many it `ranked`, and has the `front` that none beats in time and memory: plan, seconds, peak bytes.
    """

    plan: Plan
    memory: MemoryEstimate
    step: StepEstimate
    alternatives: tuple[tuple[Plan, MemoryEstimate, StepEstimate], ...] = ()
    enumerated: int = 0
    rejected: Mapping[str, int] = field(default_factory=dict)
    ranked: int = 0
    front: tuple[tuple[Plan, float, float], ...] = ()


@dataclass(frozen=True)
class FabricNetwork:
    """One switched network. Links are logical; `oversubscription` is down:up, 1.0 is non-blocking. `switches` maps product ids
    to counts, `cables` maps (product id or medium text) to counts. `longest` is the longest run in m by tier, `media` counts links by
    medium; `metres` is the length of all cables, 0 where it is not planned.
    """

    role: str
    technology: str
    layout: str
    speed_gbps: float
    endpoints: int
    leaf: int
    spine: int
    core: int
    tiers: int
    planes: int
    oversubscription: float
    links: Mapping[str, int]
    cages: Mapping[str, int]
    modules: Mapping[str, int]
    manager_links: int
    switches: Mapping[str, int]
    cables: Mapping[str, int]
    power_typical: Quantity | None
    power_maximum: Quantity | None
    notes: tuple[str, ...] = ()
    longest: Mapping[str, float] = field(default_factory=dict)
    media: Mapping[str, int] = field(default_factory=dict)
    metres: float = 0.0


@dataclass(frozen=True)
class FabricDesign:
    """The four networks; None where the design needs none (a single node has no compute fabric).

    `nodes_per_rack` is the density that the cable lengths assume. `storage_gbps` is what the links of the storage systems carry
    together in Gb/s, 0 where there are none. `file_servers` hold home directories, beside the management servers.
    """

    compute: FabricNetwork | None
    storage: FabricNetwork | None
    in_band: FabricNetwork | None
    out_of_band: FabricNetwork | None
    nodes_per_rack: int = 4
    management_servers: int = 0
    storage_gbps: float = 0.0
    file_servers: int = 0


@dataclass(frozen=True)
class RackPlan:
    """Racks of one kind: how many, what is in each and which limit binds."""

    name: str
    racks: int
    nodes_per_rack: int
    power: Quantity
    units_used: int
    units: int
    weight: Quantity | None
    binding: str


@dataclass(frozen=True)
class FacilityDesign:
    """Power, cooling and racks. `it_power` is all equipment at maximum; `total_power` includes cooling and losses (PUE).

    `fullest_rack` counts network and storage that stand beside nodes; `spare_units` are in power and racks.
    """

    node_power_typical: Quantity
    node_power_maximum: Quantity
    node_power_kind: Kind
    it_power_typical: Quantity
    it_power_maximum: Quantity
    total_power: Quantity
    pue: float
    racks: tuple[RackPlan, ...]
    rack_count: int
    cooling: str
    heat: Quantity
    airflow: Quantity | None
    water_flow: Quantity | None
    feed: str
    energy_per_year: Quantity
    carbon_per_year: Quantity | None
    notes: tuple[str, ...] = ()
    fullest_rack: Quantity | None = None
    spare_units: int = 0
    liquid_heat: Quantity | None = None
    coolant_units: str = ""
    water_heat: Quantity | None = None
    pue_basis: str = ""
    tanks: str = ""
    fluid_flow: Quantity | None = None


@dataclass(frozen=True)
class BomLine:
    """A line of the bill of materials. Prices are per unit in USD; None is unknown, never zero."""

    item: str
    name: str
    category: str
    quantity: int
    unit_low: float | None = None
    unit_high: float | None = None
    date: str = ""
    source: str = ""
    confidence: str = "none"
    note: str = ""


@dataclass(frozen=True)
class CostEstimate:
    """Purchase and ownership. `missing` names what has no known price; totals leave it out and say so.

    `outlay` is the purchase with taxes and installation, `yearly` what each year costs by name, `residual` what the servers are worth at
    the end, which no total takes off.
    """

    purchase: Range | None
    energy_per_year: Range | None
    ownership: Range | None
    years: float
    per_gpu_hour: Range | None
    per_million_units: Range | None
    bom: tuple[BomLine, ...]
    missing: tuple[str, ...]
    notes: tuple[str, ...] = ()
    outlay: Range | None = None
    yearly: Mapping[str, Range] = field(default_factory=dict)
    charges: Charges | None = None
    residual: Range | None = None


@dataclass(frozen=True)
class ReliabilityEstimate:
    """Failures of the job and what they cost. `goodput` is the share of time that makes progress, as a range.

    `cases` are the runs that the chance of meeting `deadline` is taken over, each with its weight; empty where there is no deadline.
    """

    job_mtbf: Range
    goodput_low: float
    goodput: float
    goodput_high: float
    spare_nodes: int
    restart_time: Quantity
    run_time: Range | None
    notes: tuple[str, ...] = ()
    goodput_of_job: Goodput | None = None
    cases: tuple[tuple[float, Interrupted], ...] = ()
    deadline: Quantity | None = None
