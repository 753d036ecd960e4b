"""Rules on software: the GPU line must be supported by the stack, the framework and the collectives library that the team uses."""

from __future__ import annotations

from rules.findings import Kind, Stage, Strength
from rules.guidance.declare import Ask, F, Fix, Rule
from rules.guidance.software_plan import PLAN_RULES, SCALING_GPUS

__all__ = ["RULES", "SCALING_GPUS"]

_GPU = Fix("preferences.gpus", "name a GPU whose software your team knows")

_OWN_RULES: tuple[Rule, ...] = (
    Rule(
        id="software.administrator",
        stage=Stage.SOFTWARE,
        kind=Kind.ASSUMPTION,
        strength=Strength.ADVICE,
        when=(F.multi_node == True,),  # noqa: E712
        guidance=("G4.4",),
        thresholds=("sw-sysadmin",),
        because="Somebody keeps drivers, {stack} and {framework} of {nodes} nodes working: {limit_sw_sysadmin} dedicated person or more.",
    ),
    Rule(
        id="software.bf16_supported",
        stage=Stage.SOFTWARE,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.precision == "bf16", F.precision_in_gpu == True),  # noqa: E712
        guidance=("G1b.2",),
        because="{gpu} multiplies in BF16 and {framework} trains in it without loss scaling.",
        decides=("software.precision", "BF16"),
    ),
    Rule(
        id="software.collectives_known",
        stage=Stage.SOFTWARE,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.gpus > 1, F.stack_is_common == True),  # noqa: E712
        guidance=("G1e.3",),
        because="{stack} brings {collectives} ({collectives_version}), which {collectives_callers}.",
        decides=("software.collectives", "{collectives}"),
    ),
    Rule(
        id="software.collectives_limited",
        stage=Stage.SOFTWARE,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.gpus > 1, F.collectives_status == "limitation"),
        guidance=("G1e.3",),
        because="{collectives} on {gpu}: {collectives_fact}",
        fix=(_GPU,),
    ),
    Rule(
        id="software.collectives_rough",
        stage=Stage.SOFTWARE,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.gpus > 1, F.collectives_status == "rough_edge"),
        guidance=("G1e.3", "G1e.4"),
        because="{collectives} on {gpu}: {collectives_fact}",
        ask=Ask(
            to="server vendor",
            ask="Which version of {collectives} do you support on {gpu}, and what all-reduce rate does it reach from 64 MB to 4 GB?",
            good_answer="a released version, with no dip between 64 and 512 MB",
        ),
    ),
    Rule(
        id="software.fp8_gain",
        stage=Stage.SOFTWARE,
        kind=Kind.QUESTION,
        strength=Strength.ADVICE,
        when=(F.precision_low == True, F.precision_in_gpu == True, F.precision_in_software == True),  # noqa: E712
        guidance=("G1b.2", "G1b.3"),
        thresholds=("sw-fp8-gain",),
        because=(
            "Narrow formats gain less end to end than their peak promises: at most {limit_sw_fp8_gain} times BF16 was measured on 8 H100. "
            "{precision_fact}"
        ),
        ask=Ask(
            to="GPU vendor",
            ask="What does {precision} gain over BF16 end to end on {gpu} for this model, with the loss curve of both?",
            good_answer="a measured gain at equal loss; the design counts on no more than it estimates",
        ),
    ),
    Rule(
        id="software.fp16_where_bf16",
        stage=Stage.SOFTWARE,
        kind=Kind.WARNING,
        strength=Strength.ADVICE,
        when=(F.precision == "fp16", F.bf16_in_gpu == True),  # noqa: E712
        guidance=("G1b.2",),
        because=(
            "FP16 ends at 65,504, so training in it needs the loss to be scaled; {gpu} multiplies in BF16 as well, which has the range of "
            "FP32 and needs none."
        ),
        fix=(Fix("training.precision", "train in BF16", "bf16"),),
    ),
    Rule(
        id="software.framework_broken",
        stage=Stage.SOFTWARE,
        kind=Kind.REJECT,
        strength=Strength.STRONG,
        when=(F.framework_status == "broken",),
        guidance=("G1e.2", "G1e.4"),
        because="{framework} on {gpu}: {framework_fact}",
        fix=(Fix("software.framework", "use PyTorch, which runs on it", "pytorch"), _GPU),
    ),
    Rule(
        id="software.framework_limited",
        stage=Stage.SOFTWARE,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.framework_status != "supported", F.framework_status != "broken", F.framework_status != "unknown"),
        guidance=("G1e.2", "G1e.4"),
        because="{framework} on {gpu}: {framework_fact}",
        fix=(_GPU,),
    ),
    Rule(
        id="software.framework_supported",
        stage=Stage.SOFTWARE,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.framework_status == "supported",),
        guidance=("G1e.2", "G4.4"),
        because="{framework} supports {gpu}: {framework_fact}",
        decides=("software.framework", "{framework}, {framework_version}"),
    ),
    Rule(
        id="software.framework_unknown",
        stage=Stage.SOFTWARE,
        kind=Kind.QUESTION,
        strength=Strength.STRONG,
        when=(F.framework_status == "unknown",),
        guidance=("G1e.2",),
        because="The catalog has no statement on {framework} on {gpu}; that is not a no, but nobody should buy on it.",
        ask=Ask(
            to="GPU vendor",
            ask="Which released version of {framework} trains on {gpu}, on how many nodes was it run, and who supports it?",
            good_answer="a release (no private fork), run on at least {nodes} node(s)",
        ),
    ),
    Rule(
        id="software.hard_to_use",
        stage=Stage.SOFTWARE,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.problems >= 2,),
        guidance=("G1e.4",),
        because=(
            "{problems} things about {stack} on {gpu} cost work before training runs well; a slower GPU without them can be the faster "
            "way. {problem_list}"
        ),
        fix=(_GPU,),
        judgement="one thing is told by itself, two and more are told together",
    ),
    Rule(
        id="software.numa_balancing",
        stage=Stage.SOFTWARE,
        kind=Kind.WARNING,
        strength=Strength.ADVICE,
        when=(F.stack == "ROCm",),
        guidance=("G1e.4",),
        thresholds=("sw-numa-balancing",),
        because=(
            "On ROCm nodes set kernel.numa_balancing to {limit_sw_numa_balancing} and boot with iommu=pt, or collectives and training "
            "slow down."
        ),
        ask=Ask(
            to="server vendor",
            ask="Are the {nodes} node(s) delivered with NUMA balancing off and the IOMMU in pass-through?",
            good_answer="yes, shown by the acceptance test's log",
        ),
    ),
    Rule(
        id="software.precision_without_kernels",
        stage=Stage.SOFTWARE,
        kind=Kind.REJECT,
        strength=Strength.HARD,
        when=(F.precision_in_gpu == True, F.precision_in_software == False),  # noqa: E712
        guidance=("G1b.2", "G1e.3"),
        because="{gpu} has the format, but training software has no complete {precision} kernels for it: {precision_fact}",
        fix=(Fix("training.precision", "train in FP8 or BF16", "bf16"), _GPU),
    ),
    Rule(
        id="software.stack_supported",
        stage=Stage.SOFTWARE,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.stack_is_common == True, F.toolkit_status != "dropped", F.toolkit_status != "unknown"),  # noqa: E712
        guidance=("G1e.1", "G4.4"),
        because="{gpu} is supported by {stack} {toolkit_version}. {toolkit_basis}",
        decides=("software.stack", "{stack} {toolkit_version}"),
    ),
    Rule(
        id="software.stack_uncommon",
        stage=Stage.SOFTWARE,
        kind=Kind.REJECT,
        strength=Strength.HARD,
        when=(F.stack_is_common == False, F.gpu_was_named == False),  # noqa: E712
        guidance=("G1e.1", "G1e.4"),
        because="{gpu} runs on {stack}, neither CUDA nor ROCm; it is never chosen unasked. {framework_fact}",
        fix=(Fix("preferences.gpus", "name the GPU to accept its stack"),),
    ),
    Rule(
        id="software.stack_uncommon_named",
        stage=Stage.SOFTWARE,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.stack_is_common == False, F.gpu_was_named == True),  # noqa: E712
        guidance=("G1e.1", "G1e.4"),
        because="{gpu} runs on {stack}, neither CUDA nor ROCm: code, kernels and people have to move. {toolkit_fact}",
        ask=Ask(
            to="GPU vendor",
            ask="How long will you maintain {stack} for {gpu}, and which of our models run on it unchanged?",
            good_answer="until the end of the planned use, with the models and their measured rates named",
        ),
    ),
    Rule(
        id="software.stack_unstated",
        stage=Stage.SOFTWARE,
        kind=Kind.QUESTION,
        strength=Strength.STRONG,
        when=(F.stack_is_common == True, F.toolkit_status == "unknown"),  # noqa: E712
        guidance=("G1e.1",),
        because="{gpu} is of the line that {stack} supports; which version supports it is not stated anywhere that was read.",
        ask=Ask(
            to="GPU vendor",
            ask="Which released version of {stack} supports {gpu}, and until when?",
            good_answer="a release, with the date from which it is supported",
        ),
    ),
    Rule(
        id="software.toolkit_dropped",
        stage=Stage.SOFTWARE,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.toolkit_status == "dropped",),
        guidance=("G1e.1",),
        because="{stack} has dropped {gpu}: {toolkit_fact} {framework} {framework_version}.",
        fix=(_GPU,),
    ),
)

RULES: tuple[Rule, ...] = tuple(sorted((*_OWN_RULES, *PLAN_RULES), key=lambda rule: rule.id))
