"""The records of what was measured: training runs as published, the shapes of their models, and how far estimates are validated."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, model_validator

from catalogs.values import Kind, Record

Positive = Annotated[int, Field(gt=0)]
Amount = Annotated[float, Field(gt=0)]
Share = Annotated[float, Field(ge=0)]
MEASURED_KEYS = (
    "iteration_s", "tokens_per_s_per_gpu", "tflops_per_gpu", "images_per_s", "samples_per_s", "peak_mem_gib", "peak_mem_gb",
)  # fmt: skip
"""Keys of a run that hold what was measured; the others describe it, as `cluster-wizard estimate` reads them."""
ABOUT_KEYS = ("kind", "verified")
"""Keys of a run that say how it is known."""


class Measurement(Record):
    """A published training run: what ran, as `estimate` reads it, and what was measured. An absent key is not stated by the source.

    Batches are sequences per step (`global_batch`) and per forward pass (`micro_batch`), `seq_len` is tokens. Measured are
    `iteration_s` (seconds per optimizer step), `tokens_per_s_per_gpu`, `images_per_s` and `samples_per_s` (of the whole job),
    `tflops_per_gpu` (model FLOP/s, only where nothing else is printed) and the memory peak of the fullest GPU, `peak_mem_gib` or
    `peak_mem_gb`. `release` is that of NVIDIA's container, `fused_experts` whether it fuses the kernels of experts, `exchange` what
    carries tokens to them, `network_gbps` one GPU's share of the network between servers. `kind` is derived where the step time follows
    from the FLOP/s that the source prints by the formula that it states.
    """

    id: str
    source: str
    table: str = ""
    model: str
    gpu: str
    gpus: Positive
    network_gbps: Positive | None = None
    precision: str
    workload: str | None = Field(default=None, pattern=r"^(vision|recsys|lora|qlora)$")
    seq_len: Positive | None = None
    tp: Positive | None = None
    pp: Positive | None = None
    cp: Positive | None = None
    ep: Positive | None = None
    etp: Positive | None = None
    vpp: Positive | None = None
    zero_stage: int | None = Field(default=None, ge=0, le=3)
    sharding: str | None = None
    micro_batch: Positive | None = None
    grad_accum: Positive | None = None
    global_batch: Positive | None = None
    batch_per_gpu: Positive | None = None
    batch_per_dp: Positive | None = None
    layers_override: Positive | None = None
    dense_layers_override: int | None = Field(default=None, ge=0)
    recompute: str | None = None
    sequence_parallel: bool | None = None
    compile: bool | None = None
    async_tp: bool | None = None
    mp_mode: str | None = None
    kernel: str | None = None
    optimizer: str | None = None
    release: str | None = Field(default=None, pattern=r"^\d\d\.\d\d(\.\d\d)?$")
    fused_experts: bool | None = None
    exchange: str | None = Field(default=None, pattern=r"^(alltoall|deepep|hybridep)$")
    iteration_s: Amount | None = None
    tokens_per_s_per_gpu: Amount | None = None
    tflops_per_gpu: Amount | None = None
    images_per_s: Amount | None = None
    samples_per_s: Amount | None = None
    peak_mem_gib: Amount | None = None
    peak_mem_gb: Amount | None = None
    kind: Kind = Kind.MEASURED
    verified: bool = True

    @model_validator(mode="after")
    def _measured(self) -> Measurement:
        if all(getattr(self, key) is None for key in MEASURED_KEYS):
            raise ValueError(f"a measured run states at least one of {', '.join(MEASURED_KEYS)}")
        return self

    def row(self) -> dict[str, Any]:
        """Return the run as a row of a table of runs; what is not stated is absent."""
        return self.model_dump(exclude_none=True, exclude=set(ABOUT_KEYS))


class MeasuredModel(Record):
    """The shape of a model of measured runs, in the words of a `[models.NAME]` table of `estimate`.

    Sizes in billions of parameters (`_b`), multiply-accumulates in 10⁹ per image, embedding tables in GiB.
    """

    id: str
    params_b: float | None = None
    layers: Positive | None = None
    hidden: Positive | None = None
    ffn: Positive | None = None
    heads: Positive | None = None
    kv_heads: Positive | None = None
    head_dim: Positive | None = None
    vocab: Positive | None = None
    glu: bool | None = None
    tied_embeddings: bool | None = None
    attention: str | None = None
    q_lora_rank: int | None = None
    kv_lora_rank: int | None = None
    qk_nope_head_dim: int | None = None
    qk_rope_head_dim: int | None = None
    v_head_dim: int | None = None
    experts: int | None = None
    topk: int | None = None
    moe_ffn: Positive | None = None
    shared_expert_ffn: int | None = None
    dense_layers: int | None = None
    mtp_layers: int | None = None
    sliding_window: int | None = None
    full_attention_layers: int | None = None
    fwd_gmacs_per_image: float | None = None
    embedding_gib: float | None = None
    embedding_dim: int | None = None
    embedding_precision: str | None = None
    tables: int | None = None
    dense_params_b: float | None = None
    optimizer: str | None = None
    verified: bool = True

    def row(self) -> dict[str, Any]:
        """Return the shape as a table of models; what is not stated is absent."""
        return self.model_dump(exclude_none=True, exclude={"id", "verified"})


class Recipe(Record):
    """Settings of a published recipe that the tables of its runs leave out: facts of the code, read in it, never of how fast it ran.

    It holds for runs whose `table` contains this text and, where they are named, for these `models`, `gpus` (ids of the catalog) and
    `precisions`, this `seq_len` and `micro_batch`, at most `gpus_to` GPUs and at least `expert_from` ways of expert parallelism. What a run
    states itself comes first; `recompute`, `exchange`, `workload` and `fused_experts` are as in a run.
    """

    id: str
    table: str
    models: tuple[str, ...] = ()
    gpus: tuple[str, ...] = ()
    precisions: tuple[str, ...] = ()
    seq_len: Positive | None = None
    gpus_to: Positive | None = None
    expert_from: Positive | None = None
    micro_batch: Positive | None = None
    recompute: str | None = None
    exchange: str | None = Field(default=None, pattern=r"^(alltoall|deepep|hybridep)$")
    workload: str | None = Field(default=None, pattern=r"^(lora|qlora)$")
    fused_experts: bool | None = None
    source: str
    note: str = ""


class ValidatedRegime(Record):
    """How far the estimates of one kind of run were off, over the published runs of that kind: shares, 0.05 being 5 %.

    A regime is the kind of model, GPU, precision, parallelism ("tp+pp", "fsdp", "" for data parallel alone) and number of GPUs
    (`gpus_from` to `gpus_to`). Written by `cluster-wizard validate --regimes`.
    """

    id: str
    model_kind: str = Field(pattern=r"^(dense|moe|vision|recommendation)$")
    gpu: str
    architecture: str
    vendor: str
    precision: str
    parallelism: str
    gpus_from: Positive
    gpus_to: Positive
    time_runs: int = Field(default=0, ge=0)
    time_mean: Share | None = None
    time_p90: Share | None = None
    time_source: tuple[str, ...] = ()
    memory_runs: int = Field(default=0, ge=0)
    memory_mean: Share | None = None
    memory_worst: Share | None = None
    memory_inside: Share | None = None
    memory_source: tuple[str, ...] = ()
