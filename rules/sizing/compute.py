"""How long the arithmetic of one layer takes on one GPU: matrix products, attention, and what only moves bytes.

Every product of M × N × K takes the longer of its arithmetic at the sustained rate and of its bytes at the memory's rate, plus a
fixed cost per kernel; in grouped products of experts the bytes of one expert's weights do not hide behind another's arithmetic;
attention runs at its kernels' measured share of peak; norms, activations, rotary embeddings and casts move bytes.
Rates belong to GPU and precision. Times are seconds, sizes bytes, per GPU and micro-batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from rules.sizing.expert_work import expert_work
from rules.sizing.techniques import FLASH_1, FUSED, TUNED, UNFUSED

if TYPE_CHECKING:
    from rules.sizing.hardware import Hardware
    from rules.sizing.results import ModelShape
    from rules.sizing.techniques import Techniques

BYTES_16 = 2.0
KERNEL_S = 3e-6
"""Fixed cost of a kernel: with it, products of 1, 16 and 128 GFLOP reach 0.5, 0.95 and 0.99 of their rate on A100, as the table
of operation sizes in Calculon says (0.6, 0.9, 0.95) [calculon-ai/calculon systems/a100_80g.json]."""
SMALL_KERNELS = 12
"""Kernels of a layer's forward pass besides its products: two norms, rotary, residuals, activation, casts (counted)."""
MEMORY_EFFICIENCY = 0.75
"""Share of the memory's bandwidth that large streaming kernels reach: 0.75 to 0.9 from 10 MB up [Calculon, as above]."""
FUSED_NATIVE = "fp8_block"
"""Format whose grouped products activate and cast in their epilogue: what the activation reads and writes and the cast of its output
are then no traffic of their own [cuDNN frontend, grouped product with SwiGLU and quantisation, MXFP8 on compute capability 10;
Transformer Engine pull request 2622]."""
SCANNED_BYTES = 120.0
"""Bytes per channel and token that a state-space mixer costs forward beyond its projections, as if memory bound: convolution, scan by
chunks with its states, gated norm. Read off Nemotron 3 Nano on GB200, 5.8 of 30 µs per token [Megatron Bridge 26.02 to 26.06];
checked on other GPUs and on Nemotron 3 Super."""
EXPERT_LAYER_HOST_S = 9e-3
"""Time in which a host launches a layer of experts forward and backward, hundreds of kernels whose sizes it first has to read back: 48
layers of Qwen3 30B A3B take 0.43 s on B200 for 4,096 tokens, and 0.60 s for 16,384 [Megatron Bridge 25.11, 26.02, 26.04]. Grace hosts
feed two GPUs each and run whole-iteration graphs: no such floor shows in their tables."""
TILE_ROWS = 128
"""Rows of a matrix-product tile; an expert's rows are padded to it [CUTLASS default tiles of 128 × 128 and 128 × 256]."""
BACKWARD_PASSES = 2.0
"""Gradients of inputs and of weights: twice the forward products [Korthikanti 2022 §5]."""
EAGER_GATED = 2.8
"""How many times more bytes eager code moves than fused kernels in layers of Llama's kind: root-mean-square norm, rotary embedding and
gated activation each take several passes. torch.compile takes 23.6 of 174 µs per token off Llama 3 8B [torchtitan, H100 table 1].
Layer norm and GELU are one kernel each in any case."""
ELEMENTWISE_BACKWARD = 2.0
"""Backward passes of norms and activations read and write about twice the forward bytes (counted)."""

ATTENTION_FORWARD = (0.68, 860.0)
ATTENTION_BACKWARD = (0.58, 1500.0)
"""(Share of the dense BF16 peak at long sequences, sequence at which half is lost): fused attention reaches 553 and 638 TFLOP/s forward,
422 and 523 backward at 4,096 and 16,384 tokens on Hopper, 1,324, 1,698, 1,083, 1,298 on Blackwell [arXiv:2603.07685]."""
FLASH_2_FORWARD, FLASH_2_BACKWARD = (0.38, 100.0), (0.31, 600.0)
"""FlashAttention-2 on Hopper and later, which does not use their instructions: 309, 350 and 370 TFLOP/s forward at 512, 1,024 and 16,384
tokens on H100, 35 % of the peak over both passes [arXiv:2407.08608 figures 5 and 6]. Ampere is the GPU that it was written for."""
WITHOUT_GROUP_INSTRUCTIONS = ("Ampere", "Ada", "Volta", "Turing")
RING_BYTES = (10.0, 12.0)
"""Bytes per element of a rank's attention output that each step of a context-parallel ring costs beside its kernels, forward and backward:
a step's output in 16 bits is merged into the sum in 32, read and written; backward the gradients of queries, keys and values are added up
(counted) [arXiv:2310.01889 §3; Transformer Engine, context parallelism]."""
EAGER_RING_BYTES = (40.0, 58.0)
"""The same in PyTorch, operator by operator in 32 bits, the mean of steps that see all queries and of those that see half. Forward a step's
output is cast (6; 3), subtracted, weighted and subtracted again (32; 16, and 8 to join the halves), keys and values are joined to be sent
(8). Backward keys and values are joined (8), their gradients added and joined (36; 42), those of queries added (10; 13). Counted, every
head with keys of its own [torch.distributed.tensor.experimental, _attention.py]."""
FLASH_1_SHARE = 0.5
"""FlashAttention 1 against 2: half as fast [arXiv:2307.08691 abstract]."""
ATTENTION_BACKWARD_FLOPS = 2.5
"""Five products backward against two forward in fused attention, one of them recomputed [Dao 2023, arXiv:2307.08691 §3]."""
UNFUSED_SCORE_BYTES = 13.0
"""Bytes per score that unfused attention moves forward: write and read scores, softmax, dropout with its mask, in 16 bit (counted)."""
EAGER_SCORE_BYTES = 28.0
"""The same with one operator per step: scale, mask, cast to 32 bit, softmax, cast back, dropout (counted)."""
UNFUSED_BACKWARD = 2.0

CAST_BYTES = {"fp8": 4.0, "fp8_block": 4.0, "fp4": 6.0, "nvfp4": 6.0}
"""Bytes per element to cast a product's input: read 2, write it and its transpose; 4 bits read it once more for the scale of the tensor
and write what the Hadamard transform makes of it [Transformer Engine documentation, recipes]."""
LOSS_BYTES_PER_LOGIT = 16.0
"""Bytes per logit of the loss, forward and backward, in 32 bit [Megatron vocabulary-parallel cross-entropy]."""
WIDE_PRECISIONS = ("fp32", "tf32")
"""Precisions wider than BF16, in which head and attention are computed as well."""
SAME_UNITS = {"fp16": "bf16", "nvfp4": "fp4"}
"""Formats of one width, for which one training share holds: their dense peaks agree on every GPU of the catalog but Gaudi 3."""
TRAINING_SHARE = {"bf16": 0.86, "tf32": 0.86, "fp32": 0.86, "fp8": 0.95, "fp8_block": 0.92, "fp4": 1.0}
"""What is left of a benchmark's matrix rate in training, by the units used: clocks fall under hours of load and collectives take
multiprocessors. Read off vendor-tuned runs whose communication is small: A100 [Korthikanti 2022 table 5] and H100 BF16 and FP8
[dgxc-benchmarking Llama 3.1 8B and 70B], GB200 MXFP8 and NVFP4 [Megatron Bridge performance summary]."""
TRAINING_SHARE_BY_ARCHITECTURE = {("Blackwell Ultra", "fp8"): 1.18, ("Blackwell Ultra", "fp4"): 1.2}
"""Where training beats the benchmark, whose products include an inference engine's quantisation: GB300 trains Llama 3.1 405B at 2,646
model TFLOP/s in FP8 against 2,873 of the benchmark [Megatron Bridge performance summary; aiconfigurator]."""
TRAINING_SHARE_BY_GPU = {("nvidia-b200-sxm", "bf16"): 0.73, ("nvidia-gb200", "fp8_block"): 0.86}
"""B200 at 1,000 W: large BF16 products of training reach 0.45 to 0.53 of 2,250 TFLOP/s, 0.49 in the median, against the benchmark's 0.67
[SimuMax configs/system/b200_bf16_ceperm.json, 8-GPU server]. GB200 trains Llama 3 8B in MXFP8 as fast as B200 (29,860 and 29,450
tokens/s), although the benchmark gives it 8 % more [Megatron Bridge performance summary 25.09 and 25.11]."""
THROTTLED_ATTENTION = {"nvidia-b200-sxm": 0.8}
"""Attention on the same B200: 0.44 of peak forward and 0.36 backward at 4,096 tokens and 64 heads, 0.50 and 0.41 at 131,072, against 0.56,
0.42, 0.68 and 0.57 by the formula [as above; its factors count scores without the causal half]."""
LOW_PRECISIONS = frozenset({"fp8", "fp8_block", "fp4", "nvfp4"})


class LayerTime(NamedTuple):
    """Seconds of one layer: products, mixers (attention, scan), bytes and what experts cost beside, forward and backward.

    `clamped`: what of the experts' forward pass belongs to their activation. `wait`: for the host, in both passes; one more forward
    pass takes it `host` seconds beyond what the layer takes.
    """

    products: float
    products_backward: float
    attention: float
    attention_backward: float
    elementwise: float
    elementwise_backward: float
    experts: float = 0.0
    experts_backward: float = 0.0
    clamped: float = 0.0
    wait: float = 0.0
    host: float = 0.0

    @property
    def forward(self) -> float:
        """Return the seconds that the forward pass adds; what a GPU waits for its host in any case hides some of it."""
        own = self.products + self.attention + self.elementwise + self.experts
        return max(own - self.wait, self.host)

    @property
    def backward(self) -> float:
        """Return the seconds of the backward pass."""
        own = self.products + self.attention + self.elementwise + self.experts
        return own + self._own_backward + self.wait - self.forward

    @property
    def _own_backward(self) -> float:
        return self.products_backward + self.attention_backward + self.elementwise_backward + self.experts_backward


@dataclass(frozen=True)
class Arithmetic:
    """The arithmetic of a model on a hardware: precision and kernels. `sequence` in tokens.

    `weight_gradients` is the share of the weights that are trained: 1 but for LoRA, whose frozen weights need no gradient.
    `dequantized` marks 4-bit base weights that every product first unpacks (QLoRA).
    """

    shape: ModelShape
    hardware: Hardware
    precision: str
    sequence: int
    causal: bool = True
    techniques: Techniques = TUNED
    weight_gradients: float = 1.0
    dequantized: bool = False

    @property
    def kept_precision(self) -> str:
        """Return the precision of what 8- and 4-bit training leaves alone (head, attention): BF16, or the training's own where wider."""
        return self.precision if self.precision in WIDE_PRECISIONS else "bf16"

    @property
    def native_cast(self) -> str:
        """Return the format to which inputs of products are cast, as the GPU computes it."""
        return "fp8_block" if self.precision == "mxfp8" else self.hardware.rate(self.precision).native

    @cached_property
    def fuses_experts(self) -> bool:
        """Return whether experts are activated and cast inside their products."""
        gated, blackwell = self.shape.gated_ffn, "Blackwell" in self.hardware.architecture or "Rubin" in self.hardware.architecture
        return self.techniques.fused_experts and gated and blackwell and self.native_cast == FUSED_NATIVE

    def trained_rate(self, precision: str) -> float:
        """Return the FLOP/s that matrix products of a precision keep up in training."""
        rate = self.hardware.rate(precision)
        units = SAME_UNITS.get(rate.native, rate.native)
        own = TRAINING_SHARE_BY_GPU.get((self.hardware.gpu, units))
        if own is not None:
            return rate.sustained * own
        return rate.sustained * TRAINING_SHARE_BY_ARCHITECTURE.get((self.hardware.architecture, units), TRAINING_SHARE[units])

    def product(self, rows: float, columns: float, inner: float, low: bool, groups: float = 1.0) -> float:
        """Return the seconds of `groups` products of rows × columns × inner in one kernel.

        `low` runs them at the training precision, else at that of head and attention.
        """
        if rows <= 0 or columns <= 0 or inner <= 0:
            return 0.0
        rate = self.hardware.rate(self.precision if low else self.kept_precision)
        width = 1.0 if low and rate.native in LOW_PRECISIONS else BYTES_16
        padded = -(-rows // TILE_ROWS) * TILE_ROWS if groups > 1 else rows
        arithmetic = 2.0 * padded * columns * inner / self.trained_rate(rate.precision)
        moved = (rows * inner + inner * columns) * width + rows * columns * BYTES_16
        bytes_time = self.streamed(moved)
        return groups * (arithmetic + bytes_time) + KERNEL_S if groups > 1 else max(arithmetic, bytes_time) + KERNEL_S

    def streamed(self, size: float) -> float:
        """Return the seconds that `size` bytes take through the GPU's memory."""
        return size / (self.hardware.hbm_bytes_per_s * MEMORY_EFFICIENCY)

    def layer(
        self, tokens: float, tensor: int, moe: bool, expert: int = 1, expert_tensor: int = 1, sharded_norms: bool = True, context: int = 1
    ) -> LayerTime:
        """Return the times of one layer for `tokens` tokens of a micro-batch (after context parallelism), `tensor` ways sharded."""
        made = self.whole_layer(tokens, tensor, moe, expert, expert_tensor, sharded_norms)
        if context == 1:
            return made
        forward, backward = self.ring_attention(tokens, tensor, context)
        return made._replace(attention=forward, attention_backward=backward)

    def whole_layer(self, tokens: float, tensor: int, moe: bool, expert: int, expert_tensor: int, sharded_norms: bool) -> LayerTime:
        """Return the times of one layer whose attention sees whole sequences and that waits for nobody."""
        products = self._attention_products(tokens, tensor)
        products += self._expert_products(tokens, tensor, expert, expert_tensor) if moe else self._ffn(tokens, self.shape.ffn_size / tensor)
        forward, backward = self._attention(tokens, tensor)
        scan = self._scan(tokens, tensor)
        moved = self._elementwise(tokens, tensor, moe, sharded_norms)
        elementwise = self.streamed(moved) + SMALL_KERNELS * self.techniques.launch_s
        passes = 1.0 + self.weight_gradients
        if self.dequantized:
            products += self.streamed(self._layer_weights(tensor, moe, expert) * (BYTES_16 * 2 + 0.5))
        behind = ELEMENTWISE_BACKWARD * elementwise
        made = LayerTime(products, passes * products, forward + scan, backward + ELEMENTWISE_BACKWARD * scan, elementwise, behind)
        if not moe:
            return made
        beside = expert_work(self, tokens, tensor, expert, expert_tensor)
        return made._replace(experts=beside.forward, experts_backward=beside.backward, clamped=beside.clamped)

    def ring_attention(self, tokens: float, tensor: int, context: int) -> tuple[float, float]:
        """Return (forward, backward) seconds of the mixers of a layer whose sequences lie on `context` ranks."""
        forward, backward = self._attention(tokens, tensor, context)
        merged = context * tokens * self.shape.attention_heads / tensor * self._value_width()
        ahead, behind = (self.streamed(each * merged) for each in (EAGER_RING_BYTES if self.techniques.eager_ring else RING_BYTES))
        scan = self._scan(tokens, tensor)
        return forward + ahead + scan, backward + behind + ELEMENTWISE_BACKWARD * scan

    def launched(self, made: LayerTime, exchange: float) -> LayerTime:
        """Return a layer with experts as its host launches it: it takes at least as long as the host needs, and the GPU waits for that.

        `exchange`: the seconds in which the layer waits for other ranks; the host goes on launching meanwhile.
        """
        if self.hardware.superchip or self.fuses_experts:
            return made
        taken = made.forward + made.backward + exchange
        wait = max(0.0, EXPERT_LAYER_HOST_S - taken)
        again = EXPERT_LAYER_HOST_S / (1.0 + BACKWARD_PASSES)
        return made._replace(wait=wait, host=EXPERT_LAYER_HOST_S + again - taken - wait)

    def _scan(self, tokens: float, tensor: int) -> float:
        """Return the forward seconds of state-space mixers beyond their projections."""
        return self.streamed(SCANNED_BYTES * tokens * self.shape.scanned_channels / tensor)

    def head(self, tokens: float, tensor: int) -> tuple[float, float]:
        """Return (forward, backward) seconds of the output head and the loss."""
        if not self.shape.vocabulary_size:
            return 0.0, 0.0
        product = self.product(tokens, self.shape.vocabulary_size / tensor, self.shape.hidden_size, low=False)
        loss = self.streamed(LOSS_BYTES_PER_LOGIT * tokens * self.shape.vocabulary_size / tensor)
        return product + loss / 2, (1.0 + self.weight_gradients) * product + loss / 2

    def _attention_products(self, tokens: float, tensor: int) -> float:
        shape = self.shape
        hidden, heads = shape.hidden_size, shape.attention_heads / tensor
        if shape.attention == "mla":
            wide = heads * (shape.qk_nope_head_dim + shape.qk_rope_head_dim)
            query = self.product(tokens, shape.q_lora_rank, hidden, True) if shape.q_lora_rank else 0.0
            query += self.product(tokens, wide, shape.q_lora_rank or hidden, True)
            latent = self.product(tokens, shape.kv_lora_rank + shape.qk_rope_head_dim, hidden, True)
            latent += self.product(tokens, heads * (shape.qk_nope_head_dim + shape.v_head_dim), shape.kv_lora_rank, True)
            return query + latent + self.product(tokens, hidden, heads * shape.v_head_dim, True)
        keys = max(1.0, shape.key_value_heads / tensor)
        joint = self.product(tokens, (heads + 2 * keys) * shape.head_dim, hidden, True)
        return joint + self.product(tokens, hidden, heads * shape.head_dim, True)

    def _ffn(self, tokens: float, width: float, groups: float = 1.0) -> float:
        outer = (self.shape.latent_size if groups > 1 else 0) or self.shape.hidden_size
        up = self.product(tokens, width * (2 if self.shape.gated_ffn else 1), outer, True, groups)
        return up + self.product(tokens, outer, width, True, groups)

    def _expert_products(self, tokens: float, tensor: int, expert: int, expert_tensor: int) -> float:
        """Return the seconds of router, shared and routed experts; routed tokens are balanced over the expert-parallel ranks."""
        shape = self.shape
        mine = tokens / tensor
        local = max(1.0, shape.experts / expert)
        rows = mine * shape.experts_per_token * expert_tensor / local
        routed = self._ffn(rows, shape.expert_ffn_size / expert_tensor, local)
        shared = self._ffn(tokens, shape.shared_expert_ffn_size / tensor) if shape.shared_expert_ffn_size else 0.0
        return routed + shared + self.product(mine, shape.experts, shape.hidden_size, False)

    def _attention(self, tokens: float, tensor: int, context: int = 1) -> tuple[float, float]:
        """Return (forward, backward) seconds of the attention core over all of the rank's heads.

        A ring of `context` ranks runs its kernels on pieces of the sequence: each is as fast as one on a sequence of that length.
        """
        shape, peak = self.shape, self.hardware.rate(self.kept_precision).peak
        width = (shape.qk_nope_head_dim + shape.qk_rope_head_dim + shape.v_head_dim) if shape.attention == "mla" else 2 * shape.head_dim
        heads = shape.attention_heads / tensor
        if self.techniques.attention == UNFUSED:
            products = 2.0 * tokens * self.sequence * heads * width / self.trained_rate(self.kept_precision)
            moved = self.streamed((EAGER_SCORE_BYTES if self.techniques.eager else UNFUSED_SCORE_BYTES) * heads * tokens * self.sequence)
            return products + moved, UNFUSED_BACKWARD * (products + moved)
        seen = self._seen_keys()
        flops = 2.0 * tokens * seen * heads * width
        forward, backward = self._attention_shares()
        at = self.sequence / context
        ahead = flops / (peak * forward[0] * at / (at + forward[1])) + context * KERNEL_S
        behind = ATTENTION_BACKWARD_FLOPS * flops / (peak * backward[0] * at / (at + backward[1])) + 2 * context * KERNEL_S
        return ahead, behind

    def _value_width(self) -> int:
        """Return the width of one head's output."""
        return self.shape.v_head_dim if self.shape.attention == "mla" else self.shape.head_dim

    def _attention_shares(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return (share of peak, sequence at which half is lost) of the attention kernels, forward and backward."""
        kernels, forward, backward = self.techniques.attention, ATTENTION_FORWARD, ATTENTION_BACKWARD
        if kernels != FUSED and self.hardware.architecture not in WITHOUT_GROUP_INSTRUCTIONS:
            forward, backward = FLASH_2_FORWARD, FLASH_2_BACKWARD
        share = FLASH_1_SHARE if kernels == FLASH_1 else 1.0
        share *= THROTTLED_ATTENTION.get(self.hardware.gpu, 1.0)
        return (forward[0] * share, forward[1]), (backward[0] * share, backward[1])

    def _seen_keys(self) -> float:
        """Return the keys that a query meets, averaged over its layers: half of the sequence where causal, the window where sliding."""
        shape = self.shape
        whole = self.sequence / 2 if self.causal else float(self.sequence)
        if not shape.sliding_window or not shape.layers:
            return whole
        full = shape.full_attention_layers / shape.layers
        return full * whole + (1 - full) * min(whole, float(shape.sliding_window))

    def _elementwise(self, tokens: float, tensor: int, moe: bool, sharded_norms: bool) -> float:
        """Return the bytes per layer that norms, residuals, rotary, activation and casts move forward."""
        shape = self.shape
        norms = 20.0 * shape.hidden_size / (tensor if sharded_norms else 1)
        heads = shape.attention_heads / tensor
        if shape.attention == "mla":
            rotary = 4.0 * heads * (2 * shape.qk_nope_head_dim + 2 * shape.qk_rope_head_dim + shape.v_head_dim)
        else:
            rotary = 4.0 * (heads + max(1.0, shape.key_value_heads / tensor)) * shape.head_dim
        per_neuron, fused = 6.0 if shape.gated_ffn else 4.0, moe and self.fuses_experts
        chosen, routed = (shape.experts_per_token / tensor if moe else 0.0), shape.latent_size or shape.hidden_size
        inside = 0.0 if fused else chosen * shape.expert_ffn_size
        width = shape.shared_expert_ffn_size / tensor + inside if moe else shape.ffn_size / tensor
        moved = norms + rotary + per_neuron * width
        if self.techniques.eager and shape.gated_ffn:
            moved *= EAGER_GATED
        if self.native_cast in LOW_PRECISIONS:
            moved += CAST_BYTES[self.native_cast] * (2.0 * shape.hidden_size + chosen * routed + heads * shape.head_dim + width)
        return tokens * moved

    def _layer_weights(self, tensor: int, moe: bool, expert: int) -> float:
        from rules.sizing.parameters import layer_parameters

        common, routed = layer_parameters(self.shape, moe)
        return common / tensor + routed / expert
