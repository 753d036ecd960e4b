"""Rules on reliability: failures are certain at scale, so goodput, checkpoints, spares and the deadline are planned with them."""

from __future__ import annotations

from rules.findings import Kind, Stage, Strength
from rules.guidance.always_asked import ALWAYS_ASKED
from rules.guidance.declare import Ask, F, Fix, Rule, limit

GOODPUT_OF_LARGE_RUNS = 90.0
"""Percent of time that made progress in the best documented large runs: more than this in Llama 3 (arXiv:2407.21783) and MegaScale."""
OPERATED_NODES = 8
"""Nodes from which nobody restarts jobs and looks for bad nodes by hand, assumed: the smallest cluster of several racks."""
SMALL_GPUS, MID_SIZE_GPUS = 256, 16_384
"""GPUs between which jobs were seen to fail more often than the rate per node says: measured at 1,024 (arXiv:2410.21680)."""

_STAGE = Stage.RELIABILITY
_DEADLINE = Fix("scale.deadline", "allow {run_days}", "{run_days}")
_NODES = Fix("scale.nodes", "take more nodes")

_RELIABILITY_RULES: tuple[Rule, ...] = (
    Rule(
        id="reliability.band_is_wide",
        stage=_STAGE,
        kind=Kind.WARNING,
        strength=Strength.ADVICE,
        when=(F.gpus >= SMALL_GPUS, F.gpus < MID_SIZE_GPUS, F.mtbf_h > F.mtbf_low_h * 2.0),
        guidance=("G1b.3",),
        thresholds=("rel-opt", "rel-mtbf-scale"),
        because=(
            "Jobs of this size were seen to fail more often than rates per node say: plan for {mtbf_low} between interruptions, not "
            "only for "
            "{mtbf}. OPT lost {limit_rel_opt} of 128 hosts a day."
        ),
        ask=Ask(
            to="server vendor",
            ask="How many interruptions per 1,000 node-days did your customers' jobs on {node} see, in the first and in later months?",
            good_answer="a counted number that gives {mtbf} or more for a job on {gpus} GPUs",
        ),
        sources=("llama3-herd",),
        judgement="no source prints 256 GPUs, from which jobs are called large, nor that a band of more than a factor of two is wide",
    ),
    Rule(
        id="reliability.burn_in",
        stage=_STAGE,
        kind=Kind.QUESTION,
        strength=Strength.STRONG,
        when=(F.gpus > 1, F.own_machine == False),  # noqa: E712
        guidance=("G4.4",),
        thresholds=("rel-new-hw", "rel-burn-in"),
        because=(
            "Of a new generation {limit_rel_new_hw_low} to {limit_rel_new_hw_high} % fail early; a burn-in finds them before the training "
            "does."
        ),
        ask=Ask(
            to="server vendor",
            ask="How long do you burn in the {nodes} node(s) under full load, at the factory and on site, and with which tests?",
            good_answer=(
                "weeks at the maker, and at least {limit_rel_burn_in} days on site with training, collectives and memory tests; what "
                "fails is "
                "replaced before acceptance"
            ),
        ),
    ),
    Rule(
        id="reliability.burn_in_own",
        stage=_STAGE,
        kind=Kind.ASSUMPTION,
        strength=Strength.ADVICE,
        when=(F.own_machine == True,),  # noqa: E712
        guidance=("G4.4",),
        thresholds=("rel-burn-in",),
        because=(
            "Parts fail early or not for long: keep {node} under full load, with training and memory tests, for {limit_rel_burn_in} days "
            "before anything rests on it, while parts can still be returned."
        ),
    ),
    Rule(
        id="reliability.causes",
        stage=_STAGE,
        kind=Kind.QUESTION,
        strength=Strength.ADVICE,
        when=(F.multi_node == True,),  # noqa: E712
        guidance=("G4.4",),
        thresholds=("rel-gpu-share",),
        because=(
            "Of the interruptions of Llama 3, {limit_rel_gpu_share_gpu_percent} came from GPUs and their memory and "
            "{limit_rel_gpu_share_network_percent} from switches and cables: ask for both rates, and for parts returned apart from jobs "
            "interrupted."
        ),
        ask=Ask(
            to="server vendor",
            ask=(
                "How many GPUs, adapters, drives and supplies of {node} are replaced per year, and how many job interruptions does that "
                "leave out?"
            ),
            good_answer="rates per part from the field, with the number of nodes and months that they rest on",
        ),
    ),
    Rule(
        id="reliability.checkpoint_interval",
        stage=_STAGE,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.multi_node == True,),  # noqa: E712
        guidance=("G1b.3", "G3s.3"),
        thresholds=("sto-ckpt-interval",),
        because=(
            "With an interruption every {mtbf}, a checkpoint every {checkpoint_interval} that stops the training for "
            "{checkpoint_pause} "
            "loses {lost} of work per failure, beside the restart of {restart}."
        ),
        decides=("reliability.checkpoint_interval", "{checkpoint_interval}, {checkpoint_mode}"),
    ),
    Rule(
        id="reliability.deadline_at_risk",
        stage=_STAGE,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(
            F.run_known == True,  # noqa: E712
            F.deadline_given == True,  # noqa: E712
            F.run_low_days <= F.deadline_days,
            F.run_high_days > F.deadline_days,
        ),
        guidance=("G1b.3",),
        thresholds=("rel-rate-h100",),
        because=(
            "With about {interruptions} interruptions the run takes {run_time}, between {run_time_low} and {run_time_high}: the chance of "
            "the deadline of {deadline_days} is {chance_words}."
        ),
        fix=(Fix("scale.deadline", "allow {run_high_days}", "{run_high_days}"), _NODES),
    ),
    Rule(
        id="reliability.deadline_holds",
        stage=_STAGE,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.run_known == True, F.deadline_given == True, F.run_high_days <= F.deadline_days),  # noqa: E712
        guidance=("G1b.3",),
        thresholds=("rel-rate-h100",),
        because=(
            "Even at the slow end, with failures, the run takes {run_time_high}, within the deadline of {deadline_days}; {run_time} "
            "expected, the chance is {chance_words}."
        ),
        decides=("reliability.run_time", "{run_time}"),
    ),
    Rule(
        id="reliability.deadline_missed",
        stage=_STAGE,
        kind=Kind.REJECT,
        strength=Strength.HARD,
        when=(F.run_known == True, F.deadline_given == True, F.run_low_days > F.deadline_days),  # noqa: E712
        guidance=("G1b.3",),
        thresholds=("rel-rate-h100",),
        because=(
            "With failures the run takes {run_time}, at best {run_time_low}; the deadline is {deadline_days} and cannot be met with "
            "{nodes} node(s)."
        ),
        fix=(_DEADLINE, _NODES),
    ),
    Rule(
        id="reliability.goodput_below_published",
        stage=_STAGE,
        kind=Kind.REJECT,
        strength=Strength.HARD,
        when=(F.goodput_percent < limit("rel-goodput-floor"),),
        guidance=("G1b.3",),
        thresholds=("rel-goodput-floor", "rel-mtbf-scale"),
        because=(
            "Only {goodput_percent} of the time would make progress: {gpus} GPU(s) in one job fail every {mtbf} and restart for {restart}. "
            "The lowest share that anybody published is {limit_rel_goodput_floor} %, of a job on about 100,000 GPUs, and it was given up "
            "for one that goes on without its failed part."
        ),
        fix=(
            Fix("scale.gpus", "use fewer GPUs in one job, of a faster kind if the time must hold"),
            Fix("preferences.gpus", "name a faster GPU, of which fewer do the same work"),
        ),
    ),
    Rule(
        id="reliability.goodput_low",
        stage=_STAGE,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.goodput_percent < GOODPUT_OF_LARGE_RUNS, F.goodput_percent >= limit("rel-goodput-floor")),
        guidance=("G1b.3",),
        thresholds=("rel-auto-retry", "rel-goodput-floor"),
        because=(
            "Only {goodput_percent} of the time makes progress: an interruption every {mtbf}, each with a restart of {restart}. Llama "
            "3 "
            "kept more than 90 % on 16,384 GPUs; hot spares and checkpoints in memory shorten the restart."
        ),
        ask=Ask(
            to="server vendor",
            ask="How soon after a failure of one of {nodes} nodes does a job train again, without anybody being called?",
            good_answer="within a minute or two, by spares that stand ready in the job",
        ),
        sources=("llama3-herd",),
    ),
    Rule(
        id="reliability.lemon_nodes",
        stage=_STAGE,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.nodes >= OPERATED_NODES,),
        guidance=("G4.4",),
        thresholds=("rel-lemon",),
        because=(
            "A few bad nodes make most failures ({limit_rel_lemon_bad_nodes} of {limit_rel_lemon_nodes} in a published cluster): nodes are "
            "checked before each job, and one that fails again and again is taken out by itself."
        ),
        decides=("reliability.health_checks", "automatic, with exclusion of bad nodes"),
        judgement="eight nodes are the smallest cluster of several racks",
    ),
    Rule(
        id="reliability.no_spare",
        stage=_STAGE,
        kind=Kind.DECISION,
        strength=Strength.ADVICE,
        when=(F.multi_node == True, F.spare_nodes == 0),  # noqa: E712
        guidance=("G4.4",),
        thresholds=("rel-spares",),
        because=(
            "A spare would cost {spare_cost_percent} of the cluster, but only {nodes_out} nodes are out for repair at a time on average "
            "({repair_days} each): waiting is cheaper, if the vendor repairs in that time."
        ),
        decides=("reliability.spare_nodes", "none"),
    ),
    Rule(
        id="reliability.rack_fails_whole",
        stage=_STAGE,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.is_rack == True,),  # noqa: E712
        guidance=("G1b.3",),
        because=(
            "A fault of a switch tray or the backplane stops all {gpus_per_rack} GPUs of the rack, not eight. Plan jobs that leave a tray "
            "or "
            "two idle, or a spare rack."
        ),
        ask=Ask(
            to="server vendor",
            ask="How long does a rack of {gpus_per_rack} GPUs stand still for a compute tray, a switch tray and the backplane?",
            good_answer="hours, not days: 1 to 4 h for a tray, 8 to 24 h for the backplane, with parts on site",
        ),
    ),
    Rule(
        id="reliability.rate",
        stage=_STAGE,
        kind=Kind.ASSUMPTION,
        strength=Strength.STRONG,
        when=(F.rate_is_assumed == False,),  # noqa: E712
        guidance=("G1b.3",),
        thresholds=("rel-rate-h100", "rel-mtbf-scale"),
        because=(
            "A job on {gpus} GPU(s) is interrupted every {mtbf} (between {mtbf_low} and {mtbf_high}), by {rate_basis}; "
            "{goodput_percent} of the time makes progress."
        ),
    ),
    Rule(
        id="reliability.rate_own",
        stage=_STAGE,
        kind=Kind.ASSUMPTION,
        strength=Strength.ADVICE,
        when=(F.rate_is_assumed == True, F.own_machine == True),  # noqa: E712
        guidance=("G1b.3",),
        thresholds=("rel-rate-h100", "rel-mtbf-scale"),
        because=(
            "No failure rate of {gpu} is published; {node} is counted with {rate_basis}: an interruption every {mtbf}, between {mtbf_low} "
            "and {mtbf_high}, so that {goodput_percent} of the time makes progress."
        ),
    ),
    Rule(
        id="reliability.rate_unpublished",
        stage=_STAGE,
        kind=Kind.QUESTION,
        strength=Strength.STRONG,
        when=(F.rate_is_assumed == True, F.own_machine == False),  # noqa: E712
        guidance=("G1b.3",),
        thresholds=("rel-rate-h100", "rel-mtbf-scale"),
        because=(
            "No failure rate of {gpu} is published; the design counts with {rate_basis}: an interruption every {mtbf}, between "
            "{mtbf_low} "
            "and {mtbf_high}."
        ),
        ask=Ask(
            to="GPU vendor",
            ask="How often do jobs on {gpus} {gpu} fail for reasons of hardware, counted in the field?",
            good_answer="every {mtbf} or less often",
        ),
    ),
    Rule(
        id="reliability.replacement",
        stage=_STAGE,
        kind=Kind.QUESTION,
        strength=Strength.STRONG,
        when=(F.gpus > 1, F.own_machine == False),  # noqa: E712
        guidance=("G4.4",),
        thresholds=("rel-gpu-swap-question",),
        because="The design counts with {repair_days} until a failed node is back; each further day adds spares or idle time.",
        ask=Ask(
            to="server vendor",
            ask="How is a failed GPU of {node} replaced, in what time is it guaranteed, and does another one come back, shown by its UUID?",
            good_answer=(
                "within {repair_days}, parts for the first failures on site, proof by UUID; no advance payment, no return before "
                "replacement"
            ),
        ),
    ),
    Rule(
        id="reliability.restart",
        stage=_STAGE,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.nodes >= OPERATED_NODES,),
        guidance=("G4.4",),
        thresholds=("rel-auto-retry", "rel-watchdog-node"),
        because=(
            "Jobs restart by themselves: {limit_rel_auto_retry_automatic_percent} of such restarts succeeded where "
            "{limit_rel_auto_retry_manual_percent} by hand did, after {limit_rel_auto_retry_median_minutes} minutes. The watchdog runs "
            "on "
            "{limit_rel_watchdog_node} CPU node of its own."
        ),
        decides=("reliability.restart", "automatic, within {restart}"),
        judgement="eight nodes are the smallest cluster of several racks",
    ),
    Rule(
        id="reliability.spares",
        stage=_STAGE,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.spare_nodes > 0,),
        guidance=("G4.4",),
        thresholds=("rel-spares",),
        because=(
            "{nodes_out} nodes are out for repair at a time on average ({repair_days} each). It is worth having {spare_nodes} spare(s): "
            "one more would cost {spare_cost_percent} of the cluster and be missing for less of the time. Operators keep "
            "{limit_rel_spares_low} to {limit_rel_spares_high} %."
        ),
        decides=("reliability.spare_nodes", "{spare_nodes}"),
    ),
    Rule(
        id="reliability.spares_below_rule",
        stage=_STAGE,
        kind=Kind.WARNING,
        strength=Strength.ADVICE,
        when=(F.spare_nodes > 0, F.spare_percent < limit("rel-spares", "low")),
        guidance=("G4.4",),
        thresholds=("rel-spares",),
        because=(
            "{spare_nodes} spares are {spare_percent} of {nodes} nodes, below the {limit_rel_spares_low} % that operators keep. They "
            "suffice "
            "only if failed nodes are back within {repair_days}."
        ),
        ask=Ask(
            to="server vendor",
            ask="Within how many days is a failed node repaired or replaced, and what do you pay for each day beyond?",
            good_answer="{repair_days} at most, with a penalty",
        ),
    ),
)

RULES: tuple[Rule, ...] = tuple(sorted((*_RELIABILITY_RULES, *ALWAYS_ASKED), key=lambda rule: rule.id))
