"""Forms for people, and the same rules for programs: signing in, projects, members, tokens, agent servers."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import User
from django.core.cache import cache
from django.utils.translation import gettext_lazy as _

from openchamber.models import ApiToken, Project
from openchamber.projects.access import Caller
from openchamber.projects.resolve import real_path
from openchamber.texts import as_line, validate_line

GUESSES, GUESS_SECONDS = 10, 300


class SignInForm(AuthenticationForm):
    """Django's, with a pause after too many wrong passwords from one address."""

    def clean(self) -> dict[str, Any]:
        """Check the password, unless this address has guessed too often."""
        address = self.request.META.get("REMOTE_ADDR", "") if self.request else ""
        key = f"sign-in:{address}"
        if cache.get(key, 0) >= GUESSES:
            raise forms.ValidationError(_("Too many wrong passwords. Wait five minutes, or use a sign-in link."))
        # Counted before the check: attempts that run at once must not all pass.
        cache.add(key, 0, GUESS_SECONDS)
        cache.incr(key)
        cleaned: dict[str, Any] = super().clean()
        cache.delete(key)
        return cleaned


def name_of(directory: str) -> str:
    """What a project in `directory` is called when nobody says."""
    return as_line(os.path.basename(directory)[:200]) or directory


class ProjectForm(forms.Form):
    """A codebase to work on: where it is, and what to call it."""

    directory = forms.CharField(
        label=_("Directory"),
        max_length=4096,
        strip=False,  # a directory may end in a space
        widget=forms.TextInput(attrs={"placeholder": "~/code/ferry-timetable", "autocapitalize": "off"}),
        help_text=_("Worktrees and sub-directories belong to it."),
    )
    name = forms.CharField(
        label=_("Name"),
        max_length=200,
        required=False,
        validators=[validate_line],
        help_text=_("Empty: the directory’s own name."),
    )

    def clean_directory(self) -> str:
        """The real path of an existing directory."""
        written: str = self.cleaned_data["directory"]
        real = real_path(written)
        if not real:
            raise forms.ValidationError(_("Give the whole path, from / or ~."))
        if not os.path.isdir(real):
            raise forms.ValidationError(_("There is no directory at %(path)s."), params={"path": written})
        return real

    def clean(self) -> dict[str, Any]:
        """A name of its own for a project that was given none."""
        cleaned: dict[str, Any] = super().clean() or {}
        if "directory" in cleaned and not cleaned.get("name"):
            cleaned["name"] = name_of(cleaned["directory"])
        return cleaned


class ArchiveForm(forms.Form):
    """An archive of a project, and what to do about what this one has already."""

    file = forms.FileField(label=_("Archive (.zip)"), widget=forms.FileInput(attrs={"accept": ".zip,application/zip"}))
    existing = forms.ChoiceField(
        label=_("What is here already"),
        choices=[
            ("skip", _("Leave it as it is")),
            ("overwrite", _("Overwrite it; its history keeps what it was")),
            ("both", _("Keep both")),
        ],
    )


class ImportForm(forms.Form):
    """Which of the directories that the agent server knows shall be projects."""

    directories = forms.MultipleChoiceField(
        label=_("Directories"),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": _("Choose at least one.")},
    )

    def __init__(self, directories: Iterable[str], data: Any = None) -> None:
        super().__init__(data)
        choice = self.fields["directories"]
        assert isinstance(choice, forms.MultipleChoiceField)
        choice.choices = [(directory, directory) for directory in directories]


class ProjectSettingsForm(forms.ModelForm):  # type: ignore[type-arg]
    """What can be changed about a project."""

    class Meta:
        model = Project
        fields = ["name", "worktrees_apart"]


class MemberForm(forms.Form):
    """Who shall see and change the project too."""

    username = forms.CharField(label=_("User name"), max_length=150)

    def clean_username(self) -> User:
        """The user of that name."""
        user = User.objects.filter(username=self.cleaned_data["username"], is_active=True).first()
        if user is None:
            raise forms.ValidationError(_("There is no user of that name. The owner makes users in the admin."))
        return user


class TokenForm(forms.Form):
    """A program's way in."""

    name = forms.CharField(
        label=_("Name"),
        max_length=100,
        validators=[validate_line],
        help_text=_("What uses it, such as “laptop’s cron”."),
    )
    scope = forms.ChoiceField(label=_("It may reach"), choices=ApiToken.Scope.choices, initial=ApiToken.Scope.ALL)
    projects = forms.ModelMultipleChoiceField(
        Project.objects.none(),
        label=_("Only these projects"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("None chosen: every project that you see."),
    )

    def __init__(self, caller: Caller, data: Any = None) -> None:
        super().__init__(data)
        choice = self.fields["projects"]
        assert isinstance(choice, forms.ModelMultipleChoiceField)
        choice.queryset = caller.projects()


class ServerForm(forms.Form):
    """A running OpenCode server."""

    url = forms.CharField(
        label=_("Address"), max_length=200, widget=forms.URLInput(attrs={"placeholder": "http://127.0.0.1:4096"})
    )
    password = forms.CharField(
        label=_("Password"),
        max_length=200,
        required=False,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
        help_text=_("Leave empty if it has none."),
    )

    def clean_url(self) -> str:
        """The address without anything after the port and path."""
        url: str = self.cleaned_data["url"].rstrip("/")
        try:
            parts = urlsplit(url)
            sound = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
        except ValueError:
            sound = False
        if not sound or parts.query or parts.fragment or parts.username:
            raise forms.ValidationError(_("Give an address such as http://127.0.0.1:4096."))
        return url
