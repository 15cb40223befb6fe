import pytest

from arena.packs.selection import BadInputSet, choose_input_set, wanted_input_set


def test_the_only_input_set_is_chosen_by_itself() -> None:
    assert choose_input_set(["a"], None) == "a"
    assert choose_input_set([], None) is None


def test_the_named_input_set_is_chosen() -> None:
    assert choose_input_set(["a", "b"], "b") == "b"


def test_several_need_a_name() -> None:
    with pytest.raises(BadInputSet) as refused:
        choose_input_set(["a", "b"], None)

    assert refused.value.code == "missing_challenge_input_set_id"


@pytest.mark.parametrize(("wanted", "words"), [("zz", "There is no"), ("c", "another pack version")])
def test_a_stranger_is_refused_under_one_code(wanted: str, words: str) -> None:
    with pytest.raises(BadInputSet, match=words) as refused:
        choose_input_set(["a"], wanted, known=["a", "c"])

    assert refused.value.code == "invalid_challenge_input_set_id"


def test_a_request_names_it_under_either_name() -> None:
    assert wanted_input_set({"challenge_input_set_id": "a", "input_set_id": "b"}) == "a"
    assert wanted_input_set({"input_set_id": "b"}) == "b"
    assert wanted_input_set({"challenge_input_set_id": None}) is None
    assert wanted_input_set({}) is None
