package main

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/testsuite"
)

// answer sends an update while the approval is pending, and reports whether it was accepted.
func answer(env *testsuite.TestWorkflowEnvironment, approved bool, comment string) *error {
	rejection := new(error)
	env.RegisterDelayedCallback(func() {
		env.UpdateWorkflow("approve", "", &testsuite.TestUpdateCallback{
			OnAccept:   func() {},
			OnReject:   func(err error) { *rejection = err },
			OnComplete: func(any, error) {},
		}, approved, comment)
	}, 0)
	return rejection
}

func TestApprovedRefundIsPaid(t *testing.T) {
	env, ledger := newEnvironment(t)
	require.NoError(t, ledger.AppendOnce(Entry{OrderID: "A1", Event: "charged", AmountCents: 1999}))
	first := answer(env, true, "broken on arrival")
	second := answer(env, false, "too late")
	env.ExecuteWorkflow(RefundWorkflow, "A1", 1000)
	require.NoError(t, env.GetWorkflowError())

	var result RefundResult
	require.NoError(t, env.GetWorkflowResult(&result))
	require.Equal(t, RefundResult{OrderID: "A1", Approved: true, Refunded: 1000, Comment: "broken on arrival"}, result)
	require.NoError(t, *first)
	require.EqualError(t, *second, "no approval is pending")
	require.Equal(t, []string{"charged", "refunded"}, events(t, ledger))
}

func TestDeclinedRefundIsRecorded(t *testing.T) {
	env, ledger := newEnvironment(t)
	answer(env, false, "used")
	env.ExecuteWorkflow(RefundWorkflow, "A1", 1000)
	require.NoError(t, env.GetWorkflowError())
	require.Equal(t, []string{"refund-declined"}, events(t, ledger))
}
