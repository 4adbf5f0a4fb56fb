"""The language of the panel: what the browser asks for, unless its user chose one in Settings."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from openchamber.errors import Invalid

A_YEAR = 365 * 24 * 3600  # seconds


def choices() -> list[tuple[str, Any]]:
    """The complete languages, each in its own words, after the browser's wish."""
    return [("", _("as the browser asks for")), *settings.LANGUAGES]


class LanguageForm(forms.Form):
    """Which language to show."""

    language = forms.ChoiceField(label=_("Language"), choices=choices, required=False)


def language_form(request: HttpRequest) -> LanguageForm:
    """The form with what this browser chose."""
    return LanguageForm(initial={"language": request.COOKIES.get(settings.LANGUAGE_COOKIE_NAME, "")})


@require_POST
def choose_language(request: HttpRequest) -> HttpResponse:
    """Show this browser the panel in another language from now on, or ("") in the one that it asks for."""
    form = LanguageForm(request.POST)
    if not form.is_valid():
        raise Invalid(gettext("There is no such language here."))
    return keep(redirect("openchamber:settings"), form.cleaned_data["language"])


def keep(response: HttpResponse, code: str) -> HttpResponse:
    """Have the browser remember the choice; Django reads it from there."""
    if code:
        response.set_cookie(
            settings.LANGUAGE_COOKIE_NAME,
            code,
            max_age=A_YEAR,
            secure=settings.SESSION_COOKIE_SECURE,
            httponly=True,
            samesite="Strict",
        )
    else:
        response.delete_cookie(settings.LANGUAGE_COOKIE_NAME, samesite="Strict")
    return response
