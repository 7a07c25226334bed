// Package money has amounts in cents.
package money

import "fmt"

// Format writes an amount. It loses the sign below one unit, which is the defect that a test finds.
func Format(cents int) string {
	rest := cents % 100
	if rest < 0 {
		rest = -rest
	}
	return fmt.Sprintf("%d.%02d", cents/100, rest)
}
