"""Parity with kube-scheduler v1.36: generate clusters, record what the real one decides, compare with Bayplan.

``python -m tests.parity --help`` runs it by hand. The parts, in the order data flows through them:
``generating`` (seed -> cluster), ``oracle`` (cluster -> cases, needs the real programs), ``case`` (a case on disk),
``comparing`` (case + explanation -> differences), ``summarising`` (which rules did the cases exercise).
"""
