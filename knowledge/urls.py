"""The pages of project knowledge, grouped per thing."""

from django.urls import path, register_converter
from django.urls.converters import StringConverter

from knowledge.views import items, notes, pulse


class ListName(StringConverter):
    """The name of one of the lists, as it stands in addresses."""

    regex = "notes"


register_converter(ListName, "list")

app_name = "knowledge"

note_urls = [
    path("projects/<slug:slug>/notes/", notes.notes, name="notes"),
    path("projects/<slug:slug>/notes/write/", notes.write_note, name="write-note"),
    path("projects/<slug:slug>/notes/<int:pk>/", notes.note, name="note"),
    path("projects/<slug:slug>/notes/<int:pk>/edit/", notes.edit_note, name="edit-note"),
]

# What all of them do the same way.
item_urls = [
    path("projects/<slug:slug>/<list:kind>/<int:pk>/pin/", items.pin_item, name="pin-item"),
    path("projects/<slug:slug>/<list:kind>/<int:pk>/delete/", items.delete_item, name="delete-item"),
    path("projects/<slug:slug>/<list:kind>/<int:pk>/undelete/", items.undelete_item, name="undelete-item"),
]

urlpatterns = [path("projects/<slug:slug>/pulse/", pulse.pulse, name="pulse"), *note_urls, *item_urls]
