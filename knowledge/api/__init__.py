"""The JSON API of project knowledge: one router, one module per thing."""

from ninja import Router

from knowledge.api import history, notes, pins, plans, todos, tool

router = Router()
for _part in (notes, todos, plans, pins, history, tool):
    router.add_router("", _part.router)
