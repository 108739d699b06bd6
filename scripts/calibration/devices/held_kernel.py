"""A copy in Triton, as a module of its own: Triton finds the names of a kernel in its module alone."""

import triton
import triton.language as tl


@triton.jit
def hold(source, target, elements, rounds, BLOCK: tl.constexpr):
    """Copies all elements so many times; program p of P takes blocks p, p + P, ..."""
    first, step = tl.program_id(0) * BLOCK, tl.num_programs(0) * BLOCK
    for _ in range(rounds):
        for start in range(first, elements, step):
            at = start + tl.arange(0, BLOCK)
            tl.store(target + at, tl.load(source + at, mask=at < elements), mask=at < elements)
