"""CEL, the expression language of Kubernetes: values, functions and costs as the API server has them.

`devices` has the selectors of devices; `Environment` is for other variables. An expression goes through `parser`
(with `lexer` and `macros`), `checker` and `planner`; `library` has the functions, `costs` what they cost,
`estimates` what an expression can cost at most.
"""

from bayplan.cel.environment import COST_LIMIT, Environment, Program
from bayplan.cel.errors import CelError, CelRuntimeError, CostLimitError, EvaluationError

__all__ = [
    "COST_LIMIT",
    "CelError",
    "CelRuntimeError",
    "CostLimitError",
    "Environment",
    "EvaluationError",
    "Program",
]
