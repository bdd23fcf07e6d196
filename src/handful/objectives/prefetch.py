"""A word to the processor about what will be read soon: rows here and there in a large table come from far away."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

ir: Any = cgutils.ir  # type: ignore[attr-defined]  # LLVM's types, as Numba has them


def _fetch(typing: Any, array: Any, index: Any) -> Any:
    """Begin to fetch what array[index] lies in, and do not wait; for compiled code."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        view = context.make_array(signature.args[0])(context, builder, given[0])
        pointer = builder.bitcast(builder.gep(view.data, [given[1]]), ir.IntType(8).as_pointer())
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [pointer.type, number, number, number])
        insert: Any = cgutils.get_or_insert_function
        prefetch = insert(builder.module, kind, "llvm.prefetch.p0i8")
        builder.call(prefetch, [pointer, number(0), number(3), number(1)])  # to read, to keep, data
        return context.get_dummy_value()

    return types.none(array, types.intp), generate


fetch: Any = intrinsic(_fetch)
