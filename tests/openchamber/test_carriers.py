"""Which carriers are live, and what they hold together: every turn that a conversation can take."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from openchamber.sessions.carriers import MESSAGE_SOURCE, Carried, Carrier, Conversation, Message, fold, message_hash


def said(
    name: str, role: str = "user", *, told: dict[str, str] | None = None, removed: tuple[str, ...] = ()
) -> Message:
    carrier = Carrier("d", "s", told or {}, removed=frozenset(removed)) if told or removed else None
    return Message(name, role, 0, hash=message_hash(role, name), carrier=carrier)


def compacted(name: str, *, tail: str = "", done: bool = True, error: bool = False) -> list[Message]:
    """The request for a compaction and its summary."""
    request = Message(f"{name}-request", "user", 0, compaction=True, tail_start=tail)
    summary = Message(f"{name}-summary", "assistant", 0, parent=request.id, summary=True, done=done, error=error)
    return [request, summary]


def held(*messages: Message, **more: str) -> dict[str, str]:
    return dict(fold(Conversation(messages, **more)).told)


def test_carriers_add_change_and_take_out_in_list_order() -> None:
    conversation = [
        said("1", told={"a": "1", "b": "1"}),
        said("2", told={"a": "2"}),
        said("3", removed=("b",)),
        said("4", told={"c": "1"}),
    ]
    assert held(*conversation) == {"a": "2", "c": "1"}


def test_nothing_before_a_compaction_is_held() -> None:
    assert held(said("1", told={"a": "1"}), *compacted("c"), said("2", told={"b": "1"})) == {"b": "1"}


def test_a_kept_tail_is_still_held() -> None:
    conversation = [said("1", told={"a": "1"}), said("2", told={"b": "1"}), *compacted("c", tail="2")]
    assert held(*conversation) == {"b": "1"}


def test_a_restore_stored_between_request_and_summary_is_held() -> None:
    request, summary = compacted("c")
    assert held(said("1", told={"a": "1"}), request, said("2", told={"b": "1"}), summary) == {"b": "1"}


def test_a_failed_or_unfinished_compaction_takes_nothing_away() -> None:
    before = said("1", told={"a": "1"})
    assert held(before, *compacted("c", error=True)) == {"a": "1"}
    assert held(before, *compacted("c", done=False)) == {"a": "1"}


def test_an_answer_that_failed_speaks_to_people_only() -> None:
    failed = Message("2", "assistant", 0, hash=message_hash("assistant", "2"), error=True, unseen=True)
    stopped = Message("3", "assistant", 0, hash=message_hash("assistant", "3"), error=True)
    keys = [MESSAGE_SOURCE + message.hash for message in (failed, stopped)]
    assert fold(Conversation((said("1"), failed, stopped)), keys).spoken == {keys[1]}


def test_a_summary_whose_parent_asked_for_no_compaction_takes_nothing_away() -> None:
    summary = Message("s", "assistant", 0, parent="1", summary=True)
    assert held(said("1", told={"a": "1"}), summary) == {"a": "1"}


def test_only_the_latest_effective_compaction_counts() -> None:
    conversation = [
        said("1", told={"a": "1"}),
        *compacted("c"),
        said("2", told={"b": "1"}),
        *compacted("d", error=True),
    ]
    assert held(*conversation) == {"b": "1"}


def test_what_is_reverted_is_not_held_and_is_again_after_an_unrevert() -> None:
    conversation = (said("1", told={"a": "1"}), said("2", told={"b": "1"}))
    assert held(*conversation, reverted_from="2") == {"a": "1"}
    assert held(*conversation) == {"a": "1", "b": "1"}


def test_a_reverted_compaction_gives_back_what_it_took() -> None:
    conversation = (said("1", told={"a": "1"}), *compacted("c"))
    assert held(*conversation, reverted_from="c-request") == {"a": "1"}


def test_a_tail_that_begins_before_what_was_read_counts_from_the_request() -> None:
    assert held(said("5", told={"a": "1"}), *compacted("c", tail="1"), said("6", told={"b": "1"})) == {"b": "1"}


def test_a_live_message_with_the_pinned_words_carries_its_own_pin() -> None:
    key = MESSAGE_SOURCE + message_hash("user", "1")
    assert fold(Conversation((said("1"),)), [key]).spoken == {key}
    assert fold(Conversation((said("1"), *compacted("c"))), [key]).spoken == frozenset()
    assert fold(Conversation((said("1"), *compacted("c", tail="1"))), [key]).spoken == {key}


def test_the_summary_never_speaks_for_a_pinned_message() -> None:
    request, summary = compacted("c")
    speaking = Message(summary.id, "assistant", 0, hash=message_hash("assistant", "x"), parent=request.id, summary=True)
    key = MESSAGE_SOURCE + message_hash("assistant", "x")
    assert fold(Conversation((request, speaking)), [key]).spoken == frozenset()


def test_metadata_of_another_shape_is_no_carrier() -> None:
    for value in (None, [], "x", {}, {"items": []}, {"items": None}):
        assert Carrier.read(value) is None
    read = Carrier.read({"items": {"a": 1}, "cut": "a", "removed": {"b": 1}})
    assert read is not None
    assert (read.items, read.cut, read.removed) == ({"a": "1"}, frozenset(), frozenset())


def test_what_is_stored_is_what_is_loaded() -> None:
    carried = Carried({"a": "1"}, frozenset({"a"}), frozenset({"b"}), {"a": "m"})
    assert Carried.load(carried.stored()) == carried


KEYS = st.sampled_from("abcde")
TOLD = st.builds(
    lambda items, removed: (items, removed - set(items)),
    st.dictionaries(KEYS, st.sampled_from("123")),
    st.frozensets(KEYS, max_size=2),
)


@given(st.lists(TOLD, max_size=12))
def test_folding_the_messages_is_folding_the_rows(tellings: list[tuple[dict[str, str], frozenset[str]]]) -> None:
    messages = tuple(
        Message(str(place), "user", 0, carrier=Carrier("d", "s", items, removed=removed))
        for place, (items, removed) in enumerate(tellings)
    )
    by_rows = Carried()
    for message in messages:
        assert message.carrier is not None
        by_rows = by_rows.after(message.carrier, message.id)
    assert fold(Conversation(messages)) == by_rows
