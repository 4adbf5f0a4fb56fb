"""The JSON API of project knowledge: one router, one module per thing."""

from ninja import Router

from knowledge.api import notes, pins

router = Router()
router.add_router("", notes.router)
router.add_router("", pins.router)
