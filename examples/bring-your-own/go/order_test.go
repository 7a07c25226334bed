package main

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
)

func newEnvironment(t *testing.T) (*testsuite.TestWorkflowEnvironment, *Ledger) {
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	ledger := &Ledger{Path: filepath.Join(t.TempDir(), "ledger.jsonl")}
	env.RegisterActivity(&Activities{Ledger: ledger, StepDuration: time.Millisecond})
	return env, ledger
}

func events(t *testing.T, ledger *Ledger) (events []string) {
	file, err := os.Open(ledger.Path)
	require.NoError(t, err)
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var entry Entry
		require.NoError(t, json.Unmarshal(lines.Bytes(), &entry))
		events = append(events, entry.Event)
	}
	return events
}

func TestOrderIsShipped(t *testing.T) {
	env, ledger := newEnvironment(t)
	env.ExecuteWorkflow(OrderWorkflow, "A1", 1999, []string{"book"})
	require.NoError(t, env.GetWorkflowError())

	var result OrderResult
	require.NoError(t, env.GetWorkflowResult(&result))
	require.Equal(t, OrderResult{OrderID: "A1", Charged: 1999, Tracking: "TRK-F9656C81"}, result)
	require.Equal(t, []string{"reserved", "charged", "shipped"}, events(t, ledger))

	var progress Progress
	answer, err := env.QueryWorkflow("getProgress")
	require.NoError(t, err)
	require.NoError(t, answer.Get(&progress))
	require.Equal(t, Progress{Done: 3, Total: 3, Step: "shipped"}, progress)
}

func TestMissingItemUndoesEarlierStepsInReverse(t *testing.T) {
	env, ledger := newEnvironment(t)
	env.ExecuteWorkflow(OrderWorkflow, "A2", 1999, []string{"book", "out-of-stock"})

	var failure *temporal.ApplicationError
	require.ErrorAs(t, env.GetWorkflowError(), &failure)
	require.Equal(t, "OutOfStock", failure.Type())
	require.Equal(t, []string{"reserved", "charged", "refunded", "released"}, events(t, ledger))
}

func TestCancelledOrderIsUndone(t *testing.T) {
	env, ledger := newEnvironment(t)
	env.SetOnActivityCompletedListener(func(info *activity.Info, _ converter.EncodedValue, _ error) {
		if info.ActivityType.Name == "ReserveStock" {
			env.CancelWorkflow()
		}
	})
	env.ExecuteWorkflow(OrderWorkflow, "A3", 1999, []string{"book"})

	require.True(t, temporal.IsCanceledError(env.GetWorkflowError()))
	require.Equal(t, []string{"reserved", "released"}, events(t, ledger))
}
