import pytest

from prices import price


@pytest.mark.parametrize(("text", "expected"), [("1.004", "1.00"), ("1.006", "1.01"), ("1.005", "1.01")])
def test_rounds(text, expected):
    assert str(price(text)) == expected


@pytest.mark.skip(reason="not decided yet")
def test_negative():
    price("-1")
