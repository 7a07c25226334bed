package longhaul

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

var confirm = map[string]any{
	"type": "object", "properties": map[string]any{"confirm": map[string]any{"type": "boolean"}},
}

type rows struct{ Count int }

func typed(ctx context.Context) (rows, error) {
	ReportProgress(ctx, Progress{Progress: 1})
	return rows{3}, nil
}

func nothing(ctx context.Context) error {
	ReportProgress(ctx, Progress{Progress: 1})
	return nil
}

func binary(ctx context.Context) ([]byte, error) {
	ReportProgress(ctx, Progress{Progress: 1})
	return []byte{0, 1}, nil
}

func broken(ctx context.Context) error {
	ReportProgress(ctx, Progress{Progress: 2, Total: 5})
	return errors.New("out of paper")
}

func environment(memo map[string]any) *testsuite.TestWorkflowEnvironment {
	env := (&testsuite.WorkflowTestSuite{}).NewTestWorkflowEnvironment()
	env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{NewInterceptor()}})
	_ = env.SetMemoOnStart(memo)
	for _, each := range []any{typed, nothing, binary, broken} {
		env.RegisterActivity(each)
	}
	return env
}

func operationMemo() map[string]any {
	return map[string]any{startMemoKey: map[string]any{"version": 1, "tool": "t", "principal": "anonymous"}}
}

func stateOf(t *testing.T, env *testsuite.TestWorkflowEnvironment) operationState {
	t.Helper()
	answer, err := env.QueryWorkflow(queryName)
	if err != nil {
		t.Fatal(err)
	}
	var state operationState
	if err := answer.Get(&state); err != nil {
		t.Fatal(err)
	}
	return state
}

func typeOf(err error) string {
	var failure *temporal.ApplicationError
	errors.As(err, &failure)
	return failure.Type()
}

func withOptions(ctx workflow.Context) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: time.Minute, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
	})
}

func results(ctx workflow.Context) (int, error) {
	ctx = withOptions(ctx)
	var found rows
	var data []byte
	if err := workflow.ExecuteActivity(ctx, nothing).Get(ctx, nil); err != nil {
		return 0, err
	}
	if err := workflow.ExecuteActivity(ctx, binary).Get(ctx, &data); err != nil {
		return 0, err
	}
	// Selectors take the futures too.
	var err error
	selector := workflow.NewSelector(ctx)
	selector.AddFuture(workflow.ExecuteActivity(ctx, typed), func(f workflow.Future) { err = f.Get(ctx, &found) })
	selector.Select(ctx)
	return found.Count + len(data), err
}

func TestResultsKeepTheirTypes(t *testing.T) {
	for name, memo := range map[string]map[string]any{"operation": operationMemo(), "other": {"other": 1}} {
		env := environment(memo)
		env.ExecuteWorkflow(results)
		var sum int
		if err := env.GetWorkflowResult(&sum); err != nil || sum != 5 {
			t.Errorf("%s: expected 5; got %v, %v", name, sum, err)
		}
		// The result in bytes is not JSON, so its report is not counted.
		if name == "operation" && stateOf(t, env).Progress.Progress != 2 {
			t.Errorf("expected progress 2; got %v", stateOf(t, env).Progress)
		}
	}
}

func TestFailedActivityKeepsItsProgress(t *testing.T) {
	env := environment(operationMemo())
	env.ExecuteWorkflow(func(ctx workflow.Context) error {
		SetPartial(ctx, []int{1})
		return workflow.ExecuteActivity(withOptions(ctx), broken).Get(ctx, nil)
	})
	var failure *temporal.ApplicationError
	var details closingDetails
	if !errors.As(env.GetWorkflowError(), &failure) || failure.Details(&details) != nil {
		t.Fatalf("expected an application error with details; got %v", env.GetWorkflowError())
	}
	if failure.Type() != "errorString" || details.Error.Message != "out of paper" || details.Partial == nil {
		t.Errorf("got %s, %+v", failure.Type(), details)
	}
	state := stateOf(t, env)
	if state.Progress.Progress != 2 || state.Unreached == nil || *state.Unreached != 3 {
		t.Errorf("expected progress 2, 3 unreached; got %+v", state)
	}
}

func TestQuestionThatNobodyAnswers(t *testing.T) {
	env := environment(operationMemo())
	env.ExecuteWorkflow(func(ctx workflow.Context) (bool, error) {
		question := Question{Message: "?", Schema: confirm, Timeout: time.Hour, Default: map[string]any{"confirm": false}}
		answer, err := Ask(ctx, question)
		if err != nil {
			return false, err
		}
		question.Default = nil
		_, timeout := Ask(ctx, question)
		question.Message = strings.Repeat("?", 33_000)
		_, tooLarge := Ask(ctx, question)
		return answer.IsDefault && typeOf(timeout) == "InputTimeout" && typeOf(tooLarge) == "too_large", nil
	})
	var isAsExpected bool
	if err := env.GetWorkflowResult(&isAsExpected); err != nil || !isAsExpected {
		t.Errorf("got %v, %v", isAsExpected, err)
	}
	state := stateOf(t, env)
	if len(state.Answers) != 1 || !state.Answers[0].IsDefault || len(state.InputRequests) > 0 {
		t.Errorf("got %+v", state)
	}
}

func TestAskFailsInWorkflowsOfOthers(t *testing.T) {
	env := environment(map[string]any{"other": 1})
	env.ExecuteWorkflow(func(ctx workflow.Context) error {
		SetStage(ctx, "dropped")
		_, err := Ask(ctx, Question{Message: "?", Schema: confirm})
		return err
	})
	var failure *temporal.ApplicationError
	if !errors.As(env.GetWorkflowError(), &failure) || failure.Type() != "NotAnOperation" {
		t.Errorf("got %v", env.GetWorkflowError())
	}
}
