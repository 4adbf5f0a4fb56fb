"""The JSON API of project knowledge: one router, one module per thing."""

from ninja import Router

from knowledge.api import notes, pins, plans, todos

router = Router()
for _part in (notes, todos, plans, pins):
    router.add_router("", _part.router)
