// Package stock counts what is left.
package stock

// Left is never negative.
func Left(stock, sold int) int { return max(stock-sold, 0) }
