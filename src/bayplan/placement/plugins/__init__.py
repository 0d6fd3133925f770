"""The filters and prioritizers that a Placement can ask for; `placement.registry` lists them."""
