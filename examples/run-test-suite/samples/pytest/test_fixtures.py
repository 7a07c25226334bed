import pytest

from prices import price


@pytest.fixture
def prices():
    return [price("1"), price("2.5")]


class TestSum:
    def test_sum(self, prices):
        assert str(sum(prices)) == "3.50"

    def test_empty(self):
        assert sum([]) == 0
