"""The search page (inside the `openchamber` namespace)."""

from django.urls import path

from openchamber.search import views

urlpatterns = [path("projects/<slug:slug>/search/", views.search, name="search")]
