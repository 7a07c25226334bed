package main

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// OrderResult is the result of OrderWorkflow.
type OrderResult struct {
	OrderID  string `json:"orderId"`
	Charged  int    `json:"charged"`
	Tracking string `json:"tracking"`
}

// Progress is the answer to the query getProgress.
type Progress struct {
	Done  int    `json:"done"`
	Total int    `json:"total"`
	Step  string `json:"step"`
}

var activityOptions = workflow.ActivityOptions{
	StartToCloseTimeout: 5 * time.Minute,
	HeartbeatTimeout:    20 * time.Second,
	// A cancelled order must know whether its last step took effect before it compensates.
	WaitForCancellation: true,
	RetryPolicy: &temporal.RetryPolicy{
		InitialInterval: 500 * time.Millisecond,
		MaximumInterval: 10 * time.Second,
		MaximumAttempts: 5,
	},
}

// OrderWorkflow reserves stock, charges the payment and ships. When a step fails or the order is cancelled, it undoes the
// earlier steps in reverse order.
func OrderWorkflow(ctx workflow.Context, orderID string, amountCents int, items []string) (result OrderResult, err error) {
	var a *Activities
	ctx = workflow.WithActivityOptions(ctx, activityOptions)

	progress := Progress{Total: 3, Step: "starting"}
	err = workflow.SetQueryHandler(ctx, "getProgress", func() (Progress, error) { return progress, nil })
	if err != nil {
		return result, err
	}

	var undo compensations
	defer func() {
		if err != nil {
			progress.Step = "compensating"
			undo.run(ctx)
		}
	}()

	progress.Step = "reserving stock"
	undo.add(a.ReleaseStock, orderID)
	if err = workflow.ExecuteActivity(ctx, a.ReserveStock, orderID, items).Get(ctx, nil); err != nil {
		return result, err
	}
	progress.Done++

	progress.Step = "charging payment"
	undo.add(a.RefundPayment, orderID, amountCents)
	if err = workflow.ExecuteActivity(ctx, a.ChargePayment, orderID, amountCents).Get(ctx, nil); err != nil {
		return result, err
	}
	progress.Done++

	progress.Step = "shipping"
	undo.add(a.CancelShipment, orderID)
	var tracking string
	if err = workflow.ExecuteActivity(ctx, a.ShipOrder, orderID, items).Get(ctx, &tracking); err != nil {
		return result, err
	}
	progress.Done++
	progress.Step = "shipped"

	return OrderResult{OrderID: orderID, Charged: amountCents, Tracking: tracking}, nil
}

type compensation struct {
	activity any
	args     []any
}

type compensations []compensation

// add is called before the step that it undoes: a step that timed out may have taken effect.
func (c *compensations) add(activity any, args ...any) {
	*c = append(*c, compensation{activity, args})
}

func (c compensations) run(ctx workflow.Context) {
	// Activities can't be started on the context of a cancelled workflow.
	ctx, _ = workflow.NewDisconnectedContext(ctx)
	for i := len(c) - 1; i >= 0; i-- {
		if err := workflow.ExecuteActivity(ctx, c[i].activity, c[i].args...).Get(ctx, nil); err != nil {
			workflow.GetLogger(ctx).Error("Compensation failed", "error", err)
		}
	}
}
