package money

import "testing"

func TestFormat(t *testing.T) {
	for _, one := range []struct {
		name  string
		cents int
		want  string
	}{{"zero", 0, "0.00"}, {"cents", 5, "0.05"}, {"negative", -250, "-2.50"}, {"small negative", -5, "-0.05"}} {
		t.Run(one.name, func(t *testing.T) {
			if got := Format(one.cents); got != one.want {
				t.Errorf("got %s, want %s", got, one.want)
			}
		})
	}
}
