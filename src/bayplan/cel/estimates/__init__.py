"""What an expression could cost at most, told from its text alone: the API server refuses to store one over the limit.

`walker` goes through the tree, `calls` has the functions, `device_sizes` how large the parts of a device can be, and
`sizes` the arithmetic. The numbers are those of cel-go's cost estimate and of Kubernetes' table for its own functions.
"""
