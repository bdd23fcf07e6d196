"""Parts of kernels: each is translated once, and optimised only in the kernels that it ends up in.

Numba optimises every function it compiles, together with all that it calls, and then again in each of its callers: of
functions that call one another six deep, the innermost is optimised six times. Here a function that compiled code
calls is a *part*: it is translated for LLVM and no more. A *whole*, which Python calls, is linked with all parts
that it needs, and that is optimised, once. The machine code is the same, for a third of the time.

What Numba does for features that no kernel uses is left out too: passes over closures, `with` blocks, whole-array
expressions and functions that inline themselves; comparing its flags option by option, some thousand times; and
writing the types of all arguments, kilobytes of them, into the name of each function.

All this stands on classes of Numba that may change from one version to the next: `AVAILABLE` says whether they are as
they are needed. (If not, `kernels.py` does without.)
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from inspect import signature
from typing import Any

import numba
from numba.core import codegen, compiler, compiler_machinery, dispatcher, funcdesc, typed_passes, types, untyped_passes

_NEEDED: dict[Any, tuple[str, ...]] = {
    getattr(codegen, "JITCodeLibrary", None): (
        "_finalize_dynamic_globals",
        "_get_module_for_linking",
        "_optimize_functions",
        "add_linking_library",
        "enable_object_caching",
        "finalize",
        "get_pointer_to_function",
    ),
    getattr(compiler, "Compiler", None): ("_compile_core", "compile_extra", "define_pipelines"),
    getattr(compiler, "Flags", None): ("options", "values"),
    getattr(compiler_machinery, "PassManager", None): ("add_pass", "finalize"),
    getattr(dispatcher, "_FunctionCompiler", None): ("_customize_flags",),
    getattr(dispatcher, "Dispatcher", None): ("get_call_template", "get_overload"),
    funcdesc: ("default_mangler",),
}
AVAILABLE = all(hasattr(kind, name) for kind, names in _NEEDED.items() for name in names)

_Library: Any = codegen.JITCodeLibrary if AVAILABLE else object
_Compiler: Any = compiler.Compiler if AVAILABLE else object
_NumbaFlags: Any = compiler.Flags if AVAILABLE else object

_passes_of = getattr(getattr(codegen, "CPUCodegen", None), "_function_pass_manager", None)
_IS_PER_MODULE = _passes_of is None or "llvm_module" in signature(_passes_of).parameters
"""Whether Numba takes its passes for a whole module, as it did before it used LLVM's new ones."""
_UNUSED = {
    getattr(passes, name, None)
    for passes, names in {
        untyped_passes: (
            "FindLiterallyCalls",
            "InlineClosureLikes",
            "InlineInlinables",
            "LiteralPropagationSubPipelinePass",
            "LiteralUnroll",
            "MakeFunctionToJitFunction",
            "RewriteDynamicRaises",
            "RewriteSemanticConstants",
            "WithLifting",
        ),
        typed_passes: ("DumpParforDiagnostics", "InlineOverloads", "NopythonRewrites"),
    }.items()
    for name in names
}
"""Passes over the code of a function that change nothing in a kernel."""


class _KernelLibrary(_Library):  # type: ignore[misc]
    """The code of a function."""

    def _optimize_functions(self, module: Any) -> None:
        if _IS_PER_MODULE:
            super()._optimize_functions(module)
            return
        module.data_layout = self._codegen._data_layout
        for function in module.functions:
            if not function.is_declaration:  # Numba runs its passes over these too
                manager, builder = self._codegen._function_pass_manager()
                manager.run(function, builder)


class _PartLibrary(_KernelLibrary):
    """The code of one function, neither linked nor optimised; there is nothing in it that Python could call."""

    def finalize(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        return 0  # as Numba says it where there is none

    @property
    def codegen(self) -> Any:
        return self

    def set_env(self, name: str, env: object) -> None:
        """Nothing: what a function needs of Python's objects is set in machine code, which this has none of."""


class _WholeLibrary(_KernelLibrary):
    """The code of a function and of all parts it calls, by whatever way."""

    _linking_libraries: list[Any]

    def finalize(self) -> None:
        found: dict[Any, None] = {}  # in the order found

        def find(libraries: list[Any]) -> None:
            for library in libraries:
                if library not in found:
                    found[library] = None
                    if isinstance(library, _PartLibrary):  # others are linked with what they need already
                        find(library._linking_libraries)

        find(self._linking_libraries)
        self._linking_libraries = list(found)
        super().finalize()


class _Flags(_NumbaFlags):  # type: ignore[misc]
    """Numba's flags, compared by those that were set. Their hash is the same for all, as it is with Numba."""

    def __hash__(self) -> int:
        return _HASH

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _NumbaFlags):
            return NotImplemented
        mine, theirs = self._values, other._values
        return bool(mine == theirs) or all(getattr(self, name) == getattr(other, name) for name in {*mine, *theirs})


_HASH = hash(_NumbaFlags()) if AVAILABLE else 0


class _IntoOwnLibrary(_Compiler):  # type: ignore[misc]
    """Numba's compiler, with a library of ours for the code, and without the passes that kernels do not need."""

    library: type

    def define_pipelines(self) -> list[Any]:
        return [_without_unused(pipeline) for pipeline in super().define_pipelines()]

    def _compile_core(self) -> Any:
        state = self.state
        state.targetctx.mangler = _short_name
        if state.library is None:
            state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
            state.library.enable_object_caching()
        return super()._compile_core()


def _short_name(name: str, argtypes: Any, *, abi_tags: Any = (), uid: Any = None) -> str:
    """The name of a function in machine code, with a digest of the types of its arguments."""
    digest = sha256(repr(argtypes).encode()).hexdigest()[:20]
    mangled: Any = funcdesc.default_mangler
    return str(mangled(name, (), abi_tags=(*abi_tags, digest), uid=uid))


class _PartCompiler(_IntoOwnLibrary):
    library = _PartLibrary


class _WholeCompiler(_IntoOwnLibrary):
    library = _WholeLibrary


def _without_unused(pipeline: Any) -> Any:
    kept = type(pipeline)(pipeline.pipeline_name)
    for kind, says in pipeline.passes:
        if kind not in _UNUSED:
            kept.add_pass(kind, says)
    kept.finalize()
    return kept


def part_options(options: dict[str, Any]) -> dict[str, Any]:
    """Options for compiling a part."""
    return options | {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "pipeline_class": _PartCompiler}


def whole_and_part(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """A dispatcher that is a whole to Python and a part to compiled code."""
    own = options | {"no_cfunc_wrapper": True, "pipeline_class": _WholeCompiler, "forceinline": False}
    whole: Any = numba.njit(**own)(function)
    part: Any = numba.njit(**part_options(options))(function)
    for one in (whole, part):
        one._compiler._customize_flags = _Flags

    def get_call_template(args: Any, kws: Any) -> Any:
        # A constant argument is a type of its own to Numba: not to us, one translation for all integers is enough.
        plain: Any = types.unliteral
        kws = {name: plain(arg) for name, arg in kws.items()}
        return part.get_call_template(tuple(plain(arg) for arg in args), kws)

    whole.get_call_template = get_call_template
    whole.get_overload = part.get_overload
    return whole
