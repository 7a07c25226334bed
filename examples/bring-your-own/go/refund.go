package main

import (
	"errors"
	"fmt"

	"go.temporal.io/sdk/workflow"
)

// RefundResult is the result of RefundWorkflow.
type RefundResult struct {
	OrderID  string `json:"orderId"`
	Approved bool   `json:"approved"`
	Refunded int    `json:"refunded"`
	Comment  string `json:"comment"`
}

// Approval is the answer to the query pendingApproval.
type Approval struct {
	ID     string `json:"id"`
	Prompt string `json:"prompt"`
}

// RefundWorkflow refunds an order if somebody approves.
func RefundWorkflow(ctx workflow.Context, orderID string, amountCents int) (RefundResult, error) {
	var a *Activities
	ctx = workflow.WithActivityOptions(ctx, activityOptions)
	result := RefundResult{OrderID: orderID}

	pending := &Approval{
		ID:     "refund-" + orderID,
		Prompt: fmt.Sprintf("Refund %d.%02d for order %s?", amountCents/100, amountCents%100, orderID),
	}
	err := workflow.SetQueryHandler(ctx, "pendingApproval", func() (*Approval, error) { return pending, nil })
	if err != nil {
		return result, err
	}
	err = workflow.SetUpdateHandlerWithOptions(ctx, "approve",
		func(ctx workflow.Context, approved bool, comment string) error {
			result.Approved, result.Comment = approved, comment
			pending = nil
			return nil
		},
		workflow.UpdateHandlerOptions{
			Validator: func(ctx workflow.Context, approved bool, comment string) error {
				if pending == nil {
					return errors.New("no approval is pending")
				}
				return nil
			},
		})
	if err != nil {
		return result, err
	}

	if err := workflow.Await(ctx, func() bool { return pending == nil }); err != nil {
		return result, err
	}
	if !result.Approved {
		return result, workflow.ExecuteActivity(ctx, a.DeclineRefund, orderID, result.Comment).Get(ctx, nil)
	}
	err = workflow.ExecuteActivity(ctx, a.RefundPayment, orderID, amountCents).Get(ctx, &result.Refunded)
	return result, err
}
