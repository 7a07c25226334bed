package stock

import "testing"

func TestLeft(t *testing.T) {
	if Left(3, 1) != 2 {
		t.Fatal("3 - 1")
	}
}

func TestSoldOut(t *testing.T) {
	if Left(1, 3) != 0 {
		t.Fatal("more was sold than there was")
	}
}

func TestReservations(t *testing.T) { t.Skip("not written yet") }
