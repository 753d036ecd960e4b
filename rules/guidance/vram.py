"""Judgement of stage vram: whether training fits in GPU memory, with how much room, and what memory and matrix units sustain."""

# ruff: noqa: E712 - `F.flag == True` declares a comparison; it is not a truth test

from __future__ import annotations

from rules.findings import Kind, Stage, Strength
from rules.guidance.declare import Ask, F, Fix, Rule, limit
from rules.guidance.vram_post_training import POST_TRAINING_RULES
from rules.guidance.vram_rates import RATE_RULES

PRINTED_SHARE = 0.95
"""A driver reports up to 2 % less than the printed size read as GiB (81,559 MiB of 80); a larger gap is a decimal size or a reserve."""

_STAGE = Stage.VRAM
_MORE_GPUS = Fix("scale.nodes", "take more servers, so that each GPU holds less")
_LARGER_GPU = Fix("preferences.gpus", "name a GPU with more memory")
_RECOMPUTE = Fix("parallelism.recompute", "recompute activations in the backward pass; a third more arithmetic at most", "full")
_SHARD = Fix("parallelism.zero_stage", "shard weights, gradients and optimizer over the data-parallel ranks", "3")
_MICRO_BATCH = Fix("parallelism.micro_batch", "one sample per micro-batch", "1")
_SMALL_OPTIMIZER = Fix("training.optimizer", "keep the optimizer's moments in 8 bits", "adamw_8bit")
_ADAPTERS = Fix("workload.kind", "train adapters on frozen weights instead of all weights", "fine_tuning_lora")

_ASK_CAPACITY = Ask(
    to="GPU vendor",
    ask="How much memory does the driver report as total on {gpu}, in MiB, with error correction on?",
    good_answer="at least {memory_capacity_gib} per device",
)

_FIT_RULES: tuple[Rule, ...] = (
    Rule(
        id="vram.adapters",
        stage=_STAGE,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.adapters == True, F.has_plan == True),
        guidance=("G7.1", "G1a.1"),
        thresholds=("vram-peft",),
        because=(
            "Only {trainable_billion} billion of {parameters_billion} billion parameters are trained: gradients and optimizer state are "
            "kept for those alone, the frozen weights keep their stored size; state takes {state_gib} on the fullest GPU."
        ),
        decides=("memory.trained_parameters", "{trainable_billion} billion"),
    ),
    Rule(
        id="vram.at_risk",
        stage=_STAGE,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.has_plan == True, F.memory_verdict == "at_risk"),
        guidance=("G4.1", "G1a.2"),
        thresholds=("vram-cuda-context", "vram-dist-init"),
        because=(
            "The peak is expected at {memory_needed_gib} and may reach {memory_needed_high_gib}; {gpu} offers {memory_capacity_gib}. The "
            "largest part is {largest_term} with {largest_term_gib}. Frameworks differ by more than what is left, so it may run or not."
        ),
        fix=(_MICRO_BATCH, _SMALL_OPTIMIZER, _MORE_GPUS, _LARGER_GPU),
        writes=("memory_tight",),
        priority=20,
    ),
    Rule(
        id="vram.capacity_from_table",
        stage=_STAGE,
        kind=Kind.QUESTION,
        strength=Strength.ADVICE,
        when=(F.memory_measured == False, F.in_memory_table == True),
        guidance=("G1a.1",),
        thresholds=("vram-gpu-mem-table",),
        because=(
            "{gpu} has {memory_printed_gb} by its vendor and by the field's table of accelerators; what its driver leaves, "
            "{memory_capacity_gib} per device here, was not read."
        ),
        ask=_ASK_CAPACITY,
    ),
    Rule(
        id="vram.capacity_unverified",
        stage=_STAGE,
        kind=Kind.QUESTION,
        strength=Strength.STRONG,
        when=(F.memory_measured == False, F.in_memory_table == False),
        guidance=("G1a.1",),
        thresholds=("vram-units",),
        because=(
            "No driver listing of {gpu} was read: {memory_capacity_gib} per device is estimated from the printed {memory_printed_gb}. "
            "Sizes printed in GB are usually GiB ({limit_vram_units} GB), less what the system reserves."
        ),
        ask=_ASK_CAPACITY,
    ),
    Rule(
        id="vram.could_recompute",
        stage=_STAGE,
        kind=Kind.WARNING,
        strength=Strength.ADVICE,
        when=(F.recompute != "full", F.language_model == True),
        premise="memory_tight",
        guidance=("G1a.1",),
        because=(
            "Activations take {activations_gib} with recomputation {recompute}; recomputing them in full leaves little more than a layer's "
            "input of them, for a third more arithmetic."
        ),
        fix=(_RECOMPUTE,),
    ),
    Rule(
        id="vram.could_shard",
        stage=_STAGE,
        kind=Kind.WARNING,
        strength=Strength.ADVICE,
        when=(F.zero_stage < 3, F.shard_ranks > 1, F.full_training == True, F.language_model == True),
        premise="memory_tight",
        guidance=("G1a.2",),
        because=(
            "State takes {state_gib} under ZeRO stage {zero_stage}; {shard_ranks} ranks could share more of it, for more communication."
        ),
        fix=(_SHARD,),
    ),
    Rule(
        id="vram.embedding_tables",
        stage=_STAGE,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.model_kind == "recommendation", F.has_plan == True),
        guidance=("G7.3", "G1a.2"),
        because=(
            "The tables of {parameters_billion} billion parameters are spread over all {gpu_count} GPU(s) with their {optimizer} state, "
            "{state_gib} on each; the multilayer perceptrons are copied to every GPU."
        ),
        decides=("memory.embedding_tables", "sharded over {gpu_count} GPU(s)"),
    ),
    Rule(
        id="vram.experts_in_memory",
        stage=_STAGE,
        kind=Kind.DECISION,
        strength=Strength.HARD,
        when=(F.model_kind == "moe", F.has_plan == True),
        guidance=("G7.1", "G1a.2"),
        thresholds=("vram-moe",),
        because=(
            "A token uses {active_billion} of {parameters_billion} billion parameters, but all of them are kept: memory follows the total, "
            "arithmetic the active ones. State takes {state_gib} on the fullest GPU under {plan}."
        ),
        decides=("memory.experts", "all {parameters_billion} billion parameters held"),
    ),
    Rule(
        id="vram.fits",
        stage=_STAGE,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.has_plan == True, F.memory_verdict == "fits"),
        guidance=("G4.1", "G1a.1"),
        thresholds=("vram-bytes-adam-18", "vram-bytes-adam-16", "vram-cuda-context", "vram-dist-init"),
        because=(
            "{plan} needs {memory_needed_gib} on its fullest GPU ({memory_needed_low_gib} to {memory_needed_high_gib} over frameworks), of "
            "which state {state_gib} and activations {activations_gib}; {gpu} offers {memory_capacity_gib}."
        ),
        decides=("memory.verdict", "fits"),
        writes=("memory_fits",),
        priority=20,
    ),
    Rule(
        id="vram.gathered_checkpoint",
        stage=_STAGE,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.has_plan == True, F.state_gathered == True, F.gathered_gib > F.headroom_gib),
        guidance=("G1a.1",),
        thresholds=("vram-save-peak",),
        because=(
            "Saved unsharded, a checkpoint gathers {gathered_gib} on one rank beside the {memory_needed_gib} of training; it has "
            "{memory_capacity_gib}. Such a run trains well and dies when it saves; sharded checkpoints do not gather."
        ),
        ask=Ask(
            to="your software team",
            ask="Does the training code save sharded checkpoints, or gather the whole state on one rank or host?",
            good_answer="sharded (distributed checkpoint), or gathered in host memory with at least {gathered_gib} free",
        ),
    ),
    Rule(
        id="vram.headroom_small",
        stage=_STAGE,
        kind=Kind.WARNING,
        strength=Strength.ADVICE,
        when=(F.headroom_percent < limit("vram-margin"), F.headroom_percent >= 0.0),
        guidance=("G4.1",),
        thresholds=("vram-margin",),
        because=(
            "{headroom_percent} are left above the expected {memory_needed_gib}; independent repeats found estimates 6 to 10 % low, so "
            "{limit_vram_margin} % should be."
        ),
        fix=(_MICRO_BATCH, _SMALL_OPTIMIZER, _MORE_GPUS),
    ),
    Rule(
        id="vram.initialisation_peak",
        stage=_STAGE,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.has_plan == True, F.weights_gathered == True, F.initialisation_gib > F.memory_capacity_gib),
        guidance=("G1a.2",),
        thresholds=("vram-init-peak",),
        because=(
            "Built whole before it is sharded, the model takes {initialisation_gib} on every rank ({limit_vram_init_peak} bytes per "
            "parameter); {gpu} has {memory_capacity_gib}. Steady training fits, the start does not."
        ),
        ask=Ask(
            to="your software team",
            ask="Does the training code build the model without its weights (on the meta device) and load shard by shard?",
            good_answer="yes; no rank ever holds the whole model, on the GPU or on the host",
        ),
    ),
    Rule(
        id="vram.likely_short",
        stage=_STAGE,
        kind=Kind.REJECT,
        strength=Strength.HARD,
        when=(
            F.memory_verdict == "at_risk",
            F.plan_given == False,
            F.least_needed_gib > F.memory_capacity_gib,
            F.least_total_gb > F.printed_total_gb,
        ),
        guidance=("G4.1", "G1a.2"),
        thresholds=("vram-bytes-adam-18", "vram-zero3", "vram-cuda-context"),
        because=(
            "State and contexts alone take {least_total_gb} of the {printed_total_gb} that {gpu_count} GPU(s) are sold with: the most "
            "frugal plan is expected to need {least_needed_gib} per GPU, {gpu} offers {memory_capacity_gib}."
        ),
        fix=(_MORE_GPUS, _LARGER_GPU, _ADAPTERS, _SMALL_OPTIMIZER),
        writes=("memory_short",),
        priority=10,
    ),
    Rule(
        id="vram.memory_of_network_software",
        stage=_STAGE,
        kind=Kind.QUESTION,
        strength=Strength.ADVICE,
        when=(F.has_plan == True, F.headroom_gib < limit("vram-cloud-steal"), F.headroom_gib >= 0.0),
        guidance=("G1a.1",),
        thresholds=("vram-cloud-steal",),
        because=(
            "{headroom_gib} remain free on the fullest GPU; a provider's network software was seen to take {limit_vram_cloud_steal} GiB of "
            "a GPU's memory."
        ),
        ask=Ask(
            to="server vendor",
            ask="How much GPU memory is free on {gpu} with all of your system and network software running?",
            good_answer="at least {memory_to_ask_gib}",
        ),
    ),
    Rule(
        id="vram.more_gpus_needed",
        stage=_STAGE,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.full_training == True, F.quick_gpus > F.gpu_count),
        premise="memory_short",
        guidance=("G4.1", "G1a.2"),
        thresholds=("vram-quick-gpus",),
        because=(
            "By the field's first guess {parameters_billion} billion parameters take {quick_gpus} of {gpu} "
            "({limit_vram_quick_gpus_bytes_per_parameter} bytes each and a quarter more); there are {gpu_count}. Fewer trained parameters "
            "or a smaller optimizer need less."
        ),
        fix=(Fix("scale.gpus", "take {quick_gpus} GPUs", "{quick_gpus}"), _ADAPTERS, _SMALL_OPTIMIZER, _LARGER_GPU),
    ),
    Rule(
        id="vram.no_plan_divides",
        stage=_STAGE,
        kind=Kind.REJECT,
        strength=Strength.HARD,
        when=(F.has_plan == False, F.memory_verdict == "no_plan"),
        guidance=("G1a.2",),
        because=(
            "Memory alone would do ({memory_needed_low_gib} of {memory_capacity_gib}), but no plan divides over {gpu_count} GPU(s): "
            "{undivided}."
        ),
        fix=(
            Fix("parallelism.mode", "let the search choose the plan", "automatic", when=(F.plan_given == True,)),
            Fix("training.global_batch", "take a batch that divides over the data-parallel ranks"),
            _MORE_GPUS,
        ),
    ),
    Rule(
        id="vram.one_state_optimizer",
        stage=_STAGE,
        kind=Kind.WARNING,
        strength=Strength.ADVICE,
        when=(
            F.one_state_optimizer == True,
            F.full_training == True,
            F.language_model == True,
            F.total_memory_gb <= F.one_state_total_gb,
        ),
        guidance=("G1a.1",),
        thresholds=("vram-lion-total",),
        because=(
            "With {optimizer} the field's rule asks for {limit_vram_lion_total} GB per billion parameters under full sharding, "
            "{one_state_total_gb}; all {gpu_count} GPU(s) together have {total_memory_gb}."
        ),
        fix=(_MORE_GPUS, _LARGER_GPU, _SMALL_OPTIMIZER),
    ),
    Rule(
        id="vram.printed_size_is_not_usable",
        stage=_STAGE,
        kind=Kind.WARNING,
        strength=Strength.ADVICE,
        when=(F.memory_measured == True, F.memory_package_gib < F.memory_printed_gb * PRINTED_SHARE),
        guidance=("G1a.1",),
        thresholds=("vram-b200-usable",),
        because=(
            "{gpu} is sold with {memory_printed_gb}, its driver reports {memory_package_gib}; the design counts on the latter. A B200 "
            "likewise has {limit_vram_b200_usable_printed} GB of chips and {limit_vram_b200_usable} GB to use."
        ),
        ask=Ask(
            to="server vendor",
            ask="How much of the {memory_printed_gb} of {gpu} is usable in your server?",
            good_answer="at least {memory_package_gib} as the driver reports it",
        ),
        judgement="drivers report up to 2 % less than the printed size as GiB; a gap beyond 5 % is a decimal size or a reserve",
    ),
    Rule(
        id="vram.recompute_chosen",
        stage=_STAGE,
        kind=Kind.DECISION,
        strength=Strength.ADVICE,
        when=(F.has_plan == True, F.recompute != "none"),
        guidance=("G1a.1",),
        thresholds=("vram-act-sp", "vram-act-no-sp"),
        because=(
            "Activations are recomputed ({recompute}) and take {activations_gib}: with more memory per GPU they could be kept and the step "
            "would be shorter."
        ),
        decides=("memory.recompute", "{recompute}"),
    ),
    Rule(
        id="vram.shape_assumed",
        stage=_STAGE,
        kind=Kind.ASSUMPTION,
        strength=Strength.STRONG,
        when=(F.shape_assumed == True,),
        guidance=("G7.1",),
        because=(
            "The shape of the model was not given in full: {model} with {parameters_billion} billion parameters takes the proportions of "
            "published models, so layers, heads and activations are estimates."
        ),
    ),
    Rule(
        id="vram.sharded_state",
        stage=_STAGE,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(
            F.has_plan == True,
            F.full_training == True,
            F.model_kind != "recommendation",
            F.zero_stage >= 1,
            F.shard_ranks > 1,
        ),
        guidance=("G1a.2", "G1c.1"),
        thresholds=("vram-dist-optimizer", "vram-zero2", "vram-zero3"),
        because=(
            "The state of {trainable_billion} billion trained parameters is shared by {shard_ranks} data-parallel ranks (ZeRO stage "
            "{zero_stage}): {state_gib} remain on the fullest GPU."
        ),
        decides=("memory.sharding", "ZeRO stage {zero_stage} over {shard_ranks} ranks"),
    ),
    Rule(
        id="vram.state_does_not_fit",
        stage=_STAGE,
        kind=Kind.REJECT,
        strength=Strength.HARD,
        when=(F.memory_verdict == "does_not_fit", F.memory_needed_low_gib > F.memory_capacity_gib),
        guidance=("G4.1", "G1a.2"),
        thresholds=("vram-bytes-adam-16", "vram-zero3"),
        because=(
            "Even the most frugal plan on {gpu_count} GPU(s), {plan}, needs at least {memory_needed_low_gib} per GPU; {gpu} offers "
            "{memory_capacity_gib}."
        ),
        fix=(_MORE_GPUS, _LARGER_GPU, _ADAPTERS, _SMALL_OPTIMIZER),
        writes=("memory_short",),
        priority=10,
    ),
    Rule(
        id="vram.vision_activations",
        stage=_STAGE,
        kind=Kind.DECISION,
        strength=Strength.ADVICE,
        when=(F.has_plan == True, F.workload_kind == "vision"),
        guidance=("G7.2", "G1a.1"),
        because=(
            "{model} is small beside its activations: {micro_batch} images per GPU and micro-batch keep {activations_gib}, its state "
            "{state_gib}. Memory bounds the images per GPU, not the model."
        ),
        decides=("memory.images_per_gpu", "{micro_batch}"),
    ),
)

RULES: tuple[Rule, ...] = tuple(sorted((*_FIT_RULES, *RATE_RULES, *POST_TRAINING_RULES), key=lambda rule: rule.id))
