package main

import (
	"context"
	"fmt"
	"hash/crc32"
	"slices"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
)

// Activities are the steps of orders and refunds. Each may be retried: what the ledger already holds isn't done twice.
type Activities struct {
	Ledger *Ledger
	// StepDuration is how long each step takes.
	StepDuration time.Duration
}

func (a *Activities) ReserveStock(ctx context.Context, orderID string, items []string) error {
	if len(items) == 0 {
		return temporal.NewNonRetryableApplicationError("the order has no items", "InvalidOrder", nil)
	}
	return a.once(ctx, Entry{OrderID: orderID, Event: "reserved", Items: items})
}

func (a *Activities) ReleaseStock(ctx context.Context, orderID string) error {
	return a.undo(ctx, "reserved", Entry{OrderID: orderID, Event: "released"})
}

func (a *Activities) ChargePayment(ctx context.Context, orderID string, amountCents int) error {
	if amountCents <= 0 {
		return temporal.NewNonRetryableApplicationError("the amount must be positive", "InvalidOrder", nil)
	}
	return a.once(ctx, Entry{OrderID: orderID, Event: "charged", AmountCents: amountCents})
}

// RefundPayment returns the amount that was refunded: nothing if the order has never been charged.
func (a *Activities) RefundPayment(ctx context.Context, orderID string, amountCents int) (int, error) {
	charged, err := a.Ledger.Find(orderID, "charged")
	if err != nil || charged == nil {
		return 0, err
	}
	amount := min(amountCents, charged.AmountCents)
	if err := a.once(ctx, Entry{OrderID: orderID, Event: "refunded", AmountCents: amount}); err != nil {
		return 0, err
	}
	refunded, err := a.Ledger.Find(orderID, "refunded")
	if err != nil {
		return 0, err
	}
	return refunded.AmountCents, nil
}

// DeclineRefund records why a refund was refused.
func (a *Activities) DeclineRefund(ctx context.Context, orderID string, reason string) error {
	return a.once(ctx, Entry{OrderID: orderID, Event: "refund-declined", Note: reason})
}

// ShipOrder returns the tracking number. A reserved item may turn out to be missing when it is picked.
func (a *Activities) ShipOrder(ctx context.Context, orderID string, items []string) (string, error) {
	if err := a.work(ctx); err != nil {
		return "", err
	}
	if slices.Contains(items, "out-of-stock") {
		return "", temporal.NewNonRetryableApplicationError("an item is missing from its shelf", "OutOfStock", nil)
	}
	tracking := fmt.Sprintf("TRK-%08X", crc32.ChecksumIEEE([]byte(orderID)))
	return tracking, a.Ledger.AppendOnce(Entry{OrderID: orderID, Event: "shipped", Note: tracking})
}

func (a *Activities) CancelShipment(ctx context.Context, orderID string) error {
	return a.undo(ctx, "shipped", Entry{OrderID: orderID, Event: "shipment-cancelled"})
}

func (a *Activities) undo(ctx context.Context, event string, entry Entry) error {
	done, err := a.Ledger.Find(entry.OrderID, event)
	if err != nil || done == nil {
		return err
	}
	return a.once(ctx, entry)
}

// once works and then records the entry, unless the ledger has it.
func (a *Activities) once(ctx context.Context, entry Entry) error {
	if err := a.work(ctx); err != nil {
		return err
	}
	return a.Ledger.AppendOnce(entry)
}

// work takes the duration of a step, unless it is cancelled.
func (a *Activities) work(ctx context.Context) error {
	end := time.NewTimer(a.StepDuration)
	defer end.Stop()
	// A cancellation arrives in the response to a heartbeat.
	beat := time.NewTicker(500 * time.Millisecond)
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-beat.C:
			activity.RecordHeartbeat(ctx)
		case <-end.C:
			return nil
		}
	}
}
