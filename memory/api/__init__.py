"""The JSON API of agents' memory: one router, one module per thing."""

from ninja import Router

from memory.api import agents, entries, tool

router = Router()
router.add_router("", tool.router)
router.add_router("", agents.router)
router.add_router("", entries.router)
