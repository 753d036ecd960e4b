"""Rules on the host of a node: cores and memory that load data, decode images and hold what is offloaded."""

from __future__ import annotations

from rules.findings import Kind, Stage, Strength
from rules.guidance.declare import Ask, F, Fix, Rule

_STORAGE = Stage.STORAGE_CPU

HOST_RULES: tuple[Rule, ...] = (
    Rule(
        id="storage_cpu.cores_enough",
        stage=_STORAGE,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.cores_known == True, F.cores_offered >= F.cores_needed),  # noqa: E712
        guidance=("G3c.1", "G4.5"),
        thresholds=("cpu-cores",),
        because=(
            "Loading for {gpus_per_node} GPU(s), {workers_per_gpu} processes each, takes {cores_needed} physical cores; the node has "
            "{cores_offered}."
        ),
        decides=("host.cores", "{cores_offered} cores per node"),
    ),
    Rule(
        id="storage_cpu.cores_oversubscribed",
        stage=_STORAGE,
        kind=Kind.REJECT,
        strength=Strength.STRONG,
        when=(F.cores_known == True, F.worker_processes > F.cores_offered),  # noqa: E712
        guidance=("G3c.1", "G3c.2"),
        thresholds=("cpu-oversub", "cpu-cores"),
        because=(
            "{worker_processes} loading processes share {cores_offered} cores: switching between them stalls every GPU. The node needs "
            "{cores_needed} cores."
        ),
        fix=(
            Fix("own_server.cpu_cores", "put {cores_needed} cores or more into the node", "{cores_needed}"),
            Fix("preferences.nodes", "choose a server with more cores"),
        ),
    ),
    Rule(
        id="storage_cpu.cores_short",
        stage=_STORAGE,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.cores_known == True, F.cores_offered < F.cores_needed, F.worker_processes <= F.cores_offered),  # noqa: E712
        guidance=("G3c.1", "G3c.2"),
        thresholds=("cpu-cores",),
        because=(
            "Loading for {gpus_per_node} GPU(s), {workers_per_gpu} processes each, one process per GPU and the system take {cores_needed} "
            "physical cores; the node has {cores_offered}."
        ),
        fix=(
            Fix("own_server.cpu_cores", "put {cores_needed} cores or more into the node", "{cores_needed}"),
            Fix("preferences.nodes", "choose a server with more cores"),
        ),
    ),
    Rule(
        id="storage_cpu.cores_unknown",
        stage=_STORAGE,
        kind=Kind.QUESTION,
        strength=Strength.STRONG,
        when=(F.cores_known == False,),  # noqa: E712
        guidance=("G3c.1",),
        thresholds=("cpu-cores",),
        because="The catalog does not state the processors of {node}; {cores_needed} physical cores are needed for {gpus_per_node} GPU(s).",
        ask=Ask(
            to="server vendor",
            ask="Which processors come with {node}, with how many physical cores, and on which socket hangs each GPU and adapter?",
            good_answer="at least {cores_needed} physical cores, GPUs and adapters spread over the sockets alike",
        ),
    ),
    Rule(
        id="storage_cpu.decode_starves",
        stage=_STORAGE,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.cores_known == True, F.decode_cores > F.cores_offered),  # noqa: E712
        guidance=("G3c.2", "G7.2"),
        because=(
            "Decoding and transforming images on the CPU would keep {decode_cores} cores of a node busy; it has {cores_offered}, so the "
            "GPUs "
            "would wait. Decode on the GPU, store images decoded, or take more cores."
        ),
        ask=Ask(
            to="server vendor",
            ask="How many images per second does {node} feed to its {gpus_per_node} GPUs, decoded on CPU and on GPU?",
            good_answer="more than the training takes, with no GPU waiting",
        ),
    ),
    Rule(
        id="storage_cpu.lanes_left",
        stage=_STORAGE,
        kind=Kind.DECISION,
        strength=Strength.ADVICE,
        when=(F.lanes_known == True, F.lanes_left >= 0, F.lanes_switched == True),  # noqa: E712
        guidance=("G3c.1",),
        because=(
            "GPUs, adapters and drives of a node would take {lanes_wanted} lanes of PCI Express; its processors have {lanes_offered}. "
            "Behind PCIe switches each GPU shares its link with its adapter, which leaves {lanes_left} lanes for storage adapters and "
            "drives; what does not fit there hangs below the switches and shares their links."
        ),
        decides=("host.pcie_lanes", "{lanes_left} left of {lanes_offered}"),
    ),
    Rule(
        id="storage_cpu.lanes_short",
        stage=_STORAGE,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.lanes_known == True, F.lanes_left < 0, F.lanes_switched == False),  # noqa: E712
        guidance=("G3c.1", "G3c.2"),
        because=(
            "GPUs, adapters and drives of a node would take {lanes_wanted} lanes of PCI Express and its processors have {lanes_offered}: "
            "without switches some of them run with half of their lanes."
        ),
        ask=Ask(
            to="server vendor",
            ask="With how many lanes is each GPU, adapter and drive of {node} connected, and to which processor?",
            good_answer="16 for each GPU and each adapter of its compute network, or a PCIe switch that both share",
        ),
    ),
    Rule(
        id="storage_cpu.memory_enough",
        stage=_STORAGE,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.memory_known == True, F.memory_shared == False, F.memory_offered_gb >= F.memory_needed_gb),  # noqa: E712
        guidance=("G3c.1",),
        thresholds=("ram-ge-vram",),
        because=(
            "The node needs {memory_needed_gb} of host memory (its GPUs hold {gpu_memory_gb}) for loading, pinned buffers and checkpoints "
            "in "
            "flight; it has {memory_offered_gb}."
        ),
        decides=("host.memory", "{memory_offered_gb} per node"),
    ),
    Rule(
        id="storage_cpu.memory_shared",
        stage=_STORAGE,
        kind=Kind.WARNING,
        strength=Strength.ADVICE,
        when=(F.memory_shared == True,),  # noqa: E712
        guidance=("G3c.1", "G1a.1"),
        because=(
            "GPU and processor of {node} share {gpu_memory_gb}: the system, data loading and checkpoints in flight take their part of "
            "what the training counts on."
        ),
        ask=Ask(
            to="server vendor",
            ask="How much of the {gpu_memory_gb} of {node} can the GPU allocate with the system and a data loader running?",
            good_answer="a measured number, above the peak that the design expects",
        ),
    ),
    Rule(
        id="storage_cpu.memory_modules",
        stage=_STORAGE,
        kind=Kind.DECISION,
        strength=Strength.ADVICE,
        when=(F.modules_known == True, F.memory_shared == False),  # noqa: E712
        guidance=("G3c.1",),
        because=(
            "{modules_words} make {modules_total_gb} where {memory_needed_gb} are needed, at {memory_bandwidth_gb_per_s} with one per "
            "channel; while the state of a checkpoint is copied, the GPUs of a node write {state_copy_gb_per_s}. Channels that are filled "
            "unlike each other, or left empty, lose their part of it."
        ),
        decides=("host.memory_modules", "{modules_words}"),
    ),
    Rule(
        id="storage_cpu.memory_modules_two",
        stage=_STORAGE,
        kind=Kind.QUESTION,
        strength=Strength.ADVICE,
        when=(F.memory_two_known == True, F.memory_shared == False),  # noqa: E712
        guidance=("G3c.1",),
        because=(
            "With a second module per channel the memory of {node} falls from {memory_bandwidth_gb_per_s} to {memory_two_gb_per_s}: larger "
            "modules are faster than more of them."
        ),
        ask=Ask(
            to="server vendor",
            ask="Which modules come with {node}, how many per channel, and at which speed do they then run?",
            good_answer="{modules_words}, at the full speed of one per channel",
        ),
    ),
    Rule(
        id="storage_cpu.memory_short",
        stage=_STORAGE,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.memory_known == True, F.memory_shared == False, F.memory_offered_gb < F.memory_needed_gb),  # noqa: E712
        guidance=("G3c.1", "G3c.2"),
        thresholds=("ram-ge-vram",),
        because=(
            "Host memory of {memory_offered_gb} is below the {memory_needed_gb} that the node needs; its GPUs hold {gpu_memory_gb}. "
            "Loading "
            "and saving get slower first, then processes are killed. (BLOOM ran with 512 GB beside 640 GB of GPU memory.)"
        ),
        fix=(
            Fix("own_server.memory", "put {memory_needed_gb} or more into the node", "{memory_needed_gb}"),
            Fix("preferences.nodes", "choose a server with more memory"),
        ),
    ),
    Rule(
        id="storage_cpu.memory_unknown",
        stage=_STORAGE,
        kind=Kind.QUESTION,
        strength=Strength.STRONG,
        when=(F.memory_known == False,),  # noqa: E712
        guidance=("G3c.1",),
        thresholds=("ram-ge-vram",),
        because="The host memory of {node} is configurable and not stated; the design needs {memory_needed_gb} per node.",
        ask=Ask(
            to="server vendor",
            ask="Which modules fill {node} to {memory_needed_gb} or more with one per channel, and at which speed do they run?",
            good_answer="at least {memory_needed_gb}, every channel filled alike, at the full speed of one module per channel",
        ),
    ),
    Rule(
        id="storage_cpu.naive_load",
        stage=_STORAGE,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(
            F.fine_tuning == True,  # noqa: E712
            F.workload != "fine_tuning_qlora",
            F.memory_known == True,  # noqa: E712
            F.naive_load_gb > F.memory_offered_gb,
        ),
        guidance=("G3c.1",),
        thresholds=("ram-naive-load",),
        because=(
            "If each of {gpus_per_node} processes loads the whole model in fp32 first, a node needs {naive_load_gb}; it has "
            "{memory_offered_gb}. Load shard by shard, or on one rank and broadcast."
        ),
        fix=(
            Fix("preferences.nodes", "choose a server with more memory"),
            Fix("own_server.memory", "or load sharded and leave the memory as it is"),
        ),
    ),
    Rule(
        id="storage_cpu.offload_does_not_fit",
        stage=_STORAGE,
        kind=Kind.REJECT,
        strength=Strength.STRONG,
        when=(F.memory_known == True, F.offload_held_gb > F.memory_offered_gb),  # noqa: E712
        guidance=("G3c.1", "G1a.1"),
        thresholds=("ram-offload",),
        because=(
            "What the plan offloads takes {offload_held_gb} of a node's memory, buffers and pinned copies included, and the node has "
            "{memory_offered_gb}: processes are killed. (32B fully offloaded died with 744 GB.)"
        ),
        fix=(
            Fix("own_server.memory", "put {offload_held_gb} or more into the node", "{offload_held_gb}"),
            Fix("parallelism.offload", "keep it on the GPUs, or on drives", "none"),
            Fix("workload.kind", "train adapters instead of all weights", "fine_tuning_lora"),
            Fix("scale.nodes", "spread the state over more nodes"),
        ),
    ),
    Rule(
        id="storage_cpu.offload_memory",
        stage=_STORAGE,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.has_plan == False, F.memory_known == True, F.offload_gb > F.memory_offered_gb),  # noqa: E712
        guidance=("G3c.1", "G1a.1"),
        thresholds=("ram-offload",),
        because=(
            "Offload to host memory is no way out either: it takes {limit_ram_offload} bytes per trained parameter, {offload_gb} per "
            "node, and "
            "the node has {memory_offered_gb}; processes would be killed."
        ),
        fix=(
            Fix("own_server.memory", "put {offload_gb} or more into the node", "{offload_gb}"),
            Fix("workload.kind", "train adapters instead of all weights", "fine_tuning_lora"),
            Fix("scale.nodes", "spread the state over more nodes"),
        ),
    ),
    Rule(
        id="storage_cpu.video_decode",
        stage=_STORAGE,
        kind=Kind.QUESTION,
        strength=Strength.STRONG,
        when=(F.video == True,),  # noqa: E712
        guidance=("G3c.2", "G7.2"),
        because=(
            "Video is decoded while it is read, and no rate per core is published that holds for any codec and size: cores may be what "
            "starves the GPUs."
        ),
        ask=Ask(
            to="your data team",
            ask="How many frames per second of your codec and size does one core decode, and how many does a decoder of {gpu}?",
            good_answer="a measured number; frames per second of the training over it are the cores, {cores_offered} of which a node has",
        ),
    ),
)
