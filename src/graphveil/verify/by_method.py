"""What a method adds to its guarantee: how the claim follows, and what the original shows."""

from __future__ import annotations

from graphveil.records.manifest import Manifest
from graphveil.verify import feature_methods, graph_methods, noise_methods
from graphveil.verify.method_checks import MethodCheck
from graphveil.verify.parameters import parameter_problems
from graphveil.verify.verdict import Condition, fails, judged, shown

PARAMETERS = "claim and parameters"


def parameters_condition(manifest: Manifest) -> Condition:
    """Return whether the parameters are the method's, and make it claim this."""
    method = manifest.method
    check = METHOD_CHECKS.get(method.name)
    if check is None:
        return fails(PARAMETERS, f"the method {shown(method.name)} is unknown")
    if manifest.data.kind not in check.kinds:
        made = " or a ".join(check.kinds)
        return fails(PARAMETERS, f"{method.name} makes a {made}, not a {manifest.data.kind}")
    problems = parameter_problems(method.name, check.parameters, method.parameters)
    problems = problems or check.claim(manifest.claim.guarantee, method.parameters)
    return judged(PARAMETERS, problems, f"{method.name} with its parameters makes this claim")


METHOD_CHECKS: dict[str, MethodCheck] = {
    "k-degree": graph_methods.K_DEGREE,
    "structural": graph_methods.STRUCTURAL,
    "smooth-k": feature_methods.SMOOTH_K,
    "suppress-k": feature_methods.SUPPRESS_K,
    "mondrian": feature_methods.MONDRIAN,
    "randomized-response": noise_methods.RANDOMIZED_RESPONSE,
}
"""The conditions that belong to a method, by its name."""
