"""Every answer that exists, as data: key, kind, unit, bounds, choices, and what is assumed where a person does not know.

The interview adds the words that a person reads; the rules and formulas read the values.
"""

from __future__ import annotations

from dataclasses import dataclass

WORKLOADS = ("pretraining", "fine_tuning_full", "fine_tuning_lora", "fine_tuning_qlora", "vision", "recommendation")
PRECISIONS = ("bf16", "fp16", "fp8", "mxfp8", "nvfp4", "tf32", "fp32")
OPTIMIZERS = ("adamw", "adamw_bf16", "adamw_8bit", "adafactor", "lion", "muon", "sgd", "adagrad")
RECOMPUTE = ("none", "selective", "full")
POST_TRAINING = ("none", "dpo", "grpo", "ppo")
TABLE_SHARDINGS = ("balanced", "table", "row", "column")
ROLLOUTS = ("separate", "sleeping", "awake")
OFFLOADS = ("none", "optimizer", "parameters", "nvme")
RECOMPUTE_MODULES = ("core_attention", "norm", "activation", "mlp", "moe", "shared_experts", "mla_up_projection")
SCHEDULES = ("1f1b", "gpipe", "zb_h1", "zb_h2", "zb_v", "dualpipe")
COOLING = ("air", "rear_door", "liquid", "immersion")
REDUNDANCIES = ("n", "n_plus_1", "2n")
CLIMATES = ("cold", "temperate", "hot_dry", "hot_humid")
PROTOCOLS = ("posix", "nfs", "smb", "s3", "csi")
FEEDS = (
    "208v_single_phase",
    "230v_single_phase",
    "240v_single_phase",
    "120v_single_phase",
    "200v_single_phase",
    "100v_single_phase",
    "200v_three_phase",
    "208v_three_phase",
    "380v_three_phase",
    "400v_three_phase",
    "415v_three_phase",
    "480v_three_phase",
)


PLURALS = {"day": "days", "month": "months", "year": "years"}
"""Units that are words: they have a plural, as symbols have none."""


@dataclass(frozen=True)
class AnswerField:
    """One answer. `kind`: quantity, number, count, choice, name or names. `assumed` stands in for a missing answer, with `reason`.

    `minimum` and `maximum` are in `unit`. `units_ignored` are unit words that a plain number may carry.
    """

    key: str
    kind: str
    example: str
    unit: str = ""
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    assumed: str | int | float | tuple[str, ...] | None = None
    reason: str = ""
    units_ignored: tuple[str, ...] = ()

    @property
    def shown_unit(self) -> str:
        """Return the unit as it is printed after a number other than one."""
        return {"degC": "°C", **PLURALS}.get(self.unit, self.unit)


def _quantity(key: str, example: str, unit: str, low: float, high: float, assumed: str | None = None, reason: str = "") -> AnswerField:
    return AnswerField(key, "quantity", example, unit, low, high, assumed=assumed, reason=reason)


def _count(
    key: str, example: str, low: int, high: int, assumed: int | None = None, reason: str = "", units: tuple[str, ...] = ()
) -> AnswerField:
    return AnswerField(key, "count", example, "", low, high, assumed=assumed, reason=reason, units_ignored=units)


def _choice(key: str, choices: tuple[str, ...], assumed: str | None = None, reason: str = "") -> AnswerField:
    return AnswerField(key, "choice", choices[0], choices=choices, assumed=assumed, reason=reason)


def _percent(key: str, example: str, most: float) -> AnswerField:
    return AnswerField(key, "number", example, minimum=0, maximum=most, units_ignored=("%", "percent"))


RATIO = ":1"
"""What may follow a ratio, which is one number: "3:1" is 3."""
_PARAMETERS = ("parameters", "parameter", "params")
_TOKENS = ("tokens", "token", "samples", "images", "sequences")

FIELDS: tuple[AnswerField, ...] = (
    # what is trained
    _choice("workload.kind", WORKLOADS, "pretraining", "most clusters are sized for pretraining, the hardest case"),
    AnswerField("model.preset", "name", "llama-3.1-70b"),
    AnswerField("model.parameters", "number", "70B", minimum=1e5, maximum=1e15, units_ignored=_PARAMETERS),
    AnswerField("model.active_parameters", "number", "37B", minimum=1e5, maximum=1e15, units_ignored=_PARAMETERS),
    _count("model.layers", "80", 1, 2000),
    _count("model.hidden_size", "8192", 8, 200_000),
    _count("model.ffn_size", "28672", 8, 2_000_000),
    _count("model.attention_heads", "64", 1, 4096),
    _count("model.key_value_heads", "8", 1, 4096),
    _count("model.vocabulary_size", "128256", 1, 10_000_000),
    _count("model.experts", "256", 2, 100_000),
    _count("model.experts_per_token", "8", 1, 1024),
    _count("model.expert_ffn_size", "2048", 8, 2_000_000),
    AnswerField("model.embedding_parameters", "number", "22B", minimum=1e3, maximum=1e15, units_ignored=_PARAMETERS),
    AnswerField("model.gmacs_per_sample", "number", "4.1", minimum=1e-6, maximum=1e9),
    # how it is trained
    _choice("training.precision", PRECISIONS, "bf16", "bf16 trains without loss scaling on every current GPU"),
    _choice("training.optimizer", OPTIMIZERS, "adamw", "AdamW is what published language-model runs use"),
    _count("training.sequence_length", "8192", 1, 100_000_000, units=_TOKENS),
    _count("training.global_batch", "2048", 1, 1_000_000_000, units=_TOKENS),
    AnswerField("training.tokens", "number", "15T", minimum=1, maximum=1e18, units_ignored=_TOKENS),
    AnswerField("training.samples", "number", "1.28M", minimum=1, maximum=1e18, units_ignored=_TOKENS),
    _count("training.lora_rank", "16", 1, 65_536, 16, "rank 16 on all linear layers is a common start"),
    _percent("training.image_tokens", "50 %", 100),
    _choice("training.post_training", POST_TRAINING),
    _choice("training.rollout", ROLLOUTS),
    _choice("training.embedding_sharding", TABLE_SHARDINGS),
    _choice("training.embedding_optimizer", OPTIMIZERS),
    _choice("training.expert_kernels", ("fused", "separate")),
    _quantity("training.reserved_memory", "5 GiB", "GiB", 0, 1000),
    # how large and how soon
    _choice("scale.mode", ("deadline", "fixed", "budget"), "deadline", "the smallest cluster that finishes in time"),
    _quantity("scale.deadline", "54 days", "day", 0.001, 36_500, "90 days", "a quarter of a year, a usual planning horizon"),
    _count("scale.nodes", "8", 1, 1_000_000, units=("nodes", "node", "servers")),
    _count("scale.gpus", "1024", 1, 10_000_000, units=("GPUs", "GPU", "gpus")),
    _count("scale.later_nodes", "256", 1, 1_000_000, units=("nodes", "node", "servers")),
    # parallelism
    _choice("parallelism.mode", ("automatic", "given"), "automatic", "the search finds the fastest plan that fits"),
    _count("parallelism.tensor", "8", 1, 1024),
    _count("parallelism.pipeline", "16", 1, 1024),
    _count("parallelism.context", "1", 1, 1024),
    _count("parallelism.expert", "8", 1, 4096),
    _count("parallelism.zero_stage", "1", 0, 3),
    _count("parallelism.micro_batch", "1", 1, 1_000_000),
    _choice("parallelism.recompute", RECOMPUTE),
    AnswerField("parallelism.recompute_modules", "names", "mlp, norm", choices=RECOMPUTE_MODULES),
    _count("parallelism.recompute_layers", "4", 1, 10_000, units=("layers", "layer")),
    _choice("parallelism.schedule", SCHEDULES),
    _choice("parallelism.offload", OFFLOADS),
    # software
    _choice("software.framework", ("pytorch", "jax", "tensorflow"), "pytorch", "most public training code is written for it"),
    # money
    _quantity("budget.purchase", "1.5M USD", "USD", 1, 1e13),
    _percent("budget.reserve", "10 %", 90),
    _choice("budget.objective", ("cheapest", "fastest", "best_per_kw"), "cheapest", "the cheapest design that meets the other answers"),
    _quantity("budget.years", "4 years", "year", 0.1, 20, "3 years", "three years are the shortest usual depreciation of GPU servers"),
    _quantity("budget.electricity_price", "0.08 USD/kWh", "USD/kWh", 0, 10),
    AnswerField("budget.own_prices", "names", "nvidia-dgx-h200 = 380k EUR"),
    AnswerField("budget.exchange_rates", "names", "EUR = 1.08"),
    _percent("budget.tax", "19 %", 100),
    _percent("budget.installation", "3 %", 100),
    _percent("budget.support", "4 %", 100),
    _quantity("budget.staff", "400000 USD/year", "USD/year", 0, 1e12),
    _quantity("budget.licences", "4500 USD/year", "USD/year", 0, 1e7),
    _percent("budget.interest", "5 %", 100),
    _choice("facility.hosting", ("own_hall", "colocation")),
    _quantity("budget.colocation", "180 USD/kW/month", "USD/kW/month", 0, 1e5),
    _percent("budget.residual", "20 %", 100),
    _percent("budget.utilisation", "70 %", 100),
    _count("budget.phases", "2", 1, 12),
    _quantity("budget.phase_interval", "6 months", "month", 0.1, 120, "6 months", "half a year between two purchases"),
    # data
    _choice("data.kind", ("text", "image", "video", "tabular")),
    # the largest published file system, Orion at Oak Ridge, holds 0.7 EB
    _quantity("data.size", "30 TB", "TB", 1e-6, 1e6),
    _choice("data.access", ("sequential", "random", "small_files"), "sequential", "data for training at scale is packed into large files"),
    AnswerField("data.protocols", "names", "posix, s3, csi", choices=PROTOCOLS),
    _quantity("data.existing_rate", "3.2 GB/s", "GB/s", 0.01, 10_000),
    _quantity("data.existing_free", "40 TB", "TB", 0, 1e6),
    _count("data.users", "40", 1, 100_000, units=("users", "user", "people")),
    # datacenter
    AnswerField("facility.region", "name", "Germany"),
    _count("facility.racks", "40", 1, 1_000_000),
    _quantity("facility.rack_units", "42 U", "U", 1, 100, "42 U", "the usual height of a data-centre rack"),
    _quantity("facility.rack_power", "40 kW", "kW", 0.1, 5000),
    _quantity("facility.total_power", "4 MW", "kW", 0.1, 1e8),
    AnswerField(
        "facility.cooling",
        "names",
        "air, liquid",
        choices=COOLING,
        assumed=("air",),
        reason="every hall has air; anything else must be there to be used",
    ),
    AnswerField("facility.immersion_released", "names", "supermicro-as-4125gs-tnrt2-l40s"),
    _quantity("facility.inlet_temperature", "27 °C", "degC", 5, 60, "27 °C", "upper end of the recommended range of ASHRAE"),
    AnswerField(
        "facility.pue",
        "number",
        "1.3",
        minimum=1.0,
        maximum=4.0,
        assumed=1.4,
        reason="between liquid-cooled halls (1.2) and the industry's average (1.56)",
    ),
    _choice("facility.climate", CLIMATES),
    _choice("facility.power_limit", ("hard", "soft"), "hard", "power that is not there cannot be drawn"),
    _choice("facility.feed", FEEDS),
    _quantity("facility.circuit_current", "32 A", "A", 1, 2000),
    _count("facility.circuits_per_rack", "2", 1, 64),
    _count("facility.outlets_per_rack", "24", 1, 500),
    _choice("facility.feed_redundancy", REDUNDANCIES),
    AnswerField(
        "facility.continuous_load",
        "number",
        "0.8",
        minimum=0.3,
        maximum=1.0,
        assumed=0.8,
        reason="the North American rule for continuous load; a margin where IEC circuits may be used at their rating",
    ),
    AnswerField(
        "facility.power_factor",
        "number",
        "0.98",
        minimum=0.5,
        maximum=1.0,
        assumed=1.0,
        reason="supplies of servers correct it to 0.98 and more under load",
    ),
    _choice("facility.ups", ("none", *REDUNDANCIES)),
    _choice("facility.generator", ("none", "n", "n_plus_1")),
    _quantity("facility.gpu_power_cap", "500 W", "W", 20, 5000),
    _quantity("facility.altitude", "1600 m", "m", -450, 6000, "0 m", "air is thinner and cools less from 900 m on; most halls stand lower"),
    _quantity("facility.rack_airflow", "6000 CFM", "CFM", 10, 100_000),
    _quantity("facility.water_temperature", "30 °C", "degC", 2, 70),
    _quantity("facility.floor_load", "10 kPa", "kPa", 0.5, 500),
    _quantity("facility.delivery_weight", "1500 kg", "kg", 20, 50_000),
    _quantity("facility.delivery_height", "2.1 m", "m", 0.5, 20),
    _quantity("facility.delivery_width", "0.99 m", "m", 0.3, 20),
    _quantity("facility.delivery_depth", "1.37 m", "m", 0.3, 50),
    # preferences
    AnswerField("preferences.vendors", "names", "NVIDIA, AMD"),
    AnswerField("preferences.gpus", "names", "nvidia-h200-sxm-141gb"),
    AnswerField("preferences.nodes", "names", "nvidia-dgx-h200"),
    _choice("preferences.fabric", ("any", "infiniband", "ethernet"), "any", "both are designed and the reasons decide"),
    AnswerField(
        "preferences.oversubscription",
        "number",
        "1",
        minimum=1,
        maximum=64,
        units_ignored=(RATIO,),
        assumed=1.0,
        reason="a non-blocking training fabric is the safe start",
    ),
    _choice("preferences.storage", ("any", "parallel_file_system", "object_store", "both"), "any", "the need decides"),
    _choice("preferences.checkpoints", ("any", "synchronous", "asynchronous"), "any", "the need decides"),
    _choice(
        "preferences.unverified_products",
        ("exclude", "allow"),
        "exclude",
        "a purchase should rest on values that were read at their source",
    ),
    _choice("preferences.announced_products", ("exclude", "allow"), "exclude", "an announced product is not a purchase"),
    # what was measured on site
    _quantity("measured.all_reduce_inside", "455 GB/s", "GB/s", 0.01, 20_000),
    _quantity("measured.all_reduce_between", "380 GB/s", "GB/s", 0.01, 20_000),
    _count("measured.all_reduce_nodes", "16", 2, 100_000),
    _count("measured.ranks_per_node", "8", 1, 1000),
    _quantity("measured.message_size", "8 GB", "GB", 1e-3, 1000, "8 GiB", "the largest message of the usual sweep of nccl-tests"),
    _quantity("measured.step_time", "14.7 s", "s", 1e-4, 1e5),
    _count("measured.gpus", "64", 1, 1_000_000),
    _count("measured.global_batch", "128", 1, 1_000_000),
    AnswerField("measured.node", "name", "nvidia-dgx-h100"),
    AnswerField("measured.date", "name", "2026-11-03"),
    # the person's own server
    AnswerField("own_server.gpu", "name", "nvidia-rtx-4090"),
    _count("own_server.gpus", "8", 1, 1024),
    _choice("own_server.topology", ("pcie", "pcie_switch", "bridge", "nvswitch", "full_mesh", "none")),
    _count("own_server.scale_up_domain", "8", 1, 1024),
    _count("own_server.nics", "2", 0, 64),
    _quantity("own_server.nic_speed", "100 Gb/s", "Gb/s", 1, 3200),
    _count("own_server.nic_generation", "5", 3, 6),
    _count("own_server.nic_lanes", "16", 1, 32),
    _choice("own_server.nic_path", ("pix", "pxb", "phb", "node", "sys")),
    _choice("own_server.nic_networks", ("separate", "shared")),
    _count("own_server.cpu_cores", "64", 1, 4096),
    _quantity("own_server.memory", "512 GB", "GB", 1, 1e6),
    _quantity("own_server.power", "3 kW", "kW", 0.05, 500),
    _count("own_server.supplies", "2", 1, 64),
    _quantity("own_server.supply_rating", "1600 W", "W", 50, 50_000),
    _quantity("own_server.height", "4 U", "U", 0.5, 100),
    _quantity("own_server.weight", "40 kg", "kg", 1, 5000),
    _quantity("own_server.price", "60000 USD", "USD", 0, 1e9),
)
