from decimal import ROUND_HALF_EVEN, Decimal


def price(text: str) -> Decimal:
    """A price with two digits. It rounds half to even, which is the defect that a test finds."""
    return Decimal(text).quantize(Decimal("0.01"), rounding=ROUND_HALF_EVEN)
