// Package longhaul implements Longhaul's runtime contract for Temporal's Go SDK: progress, questions and partial results of
// ordinary workflows.
//
// Give [NewInterceptor] to the worker. The functions have an effect in workflows that Longhaul started, and in their activities;
// elsewhere reports are dropped, and [Ask] fails.
package longhaul

import (
	"encoding/json"
	"fmt"
	"time"

	"go.temporal.io/sdk/workflow"
)

// SetStage sets the current stage of the work: one short line for people.
func SetStage(ctx workflow.Context, name string) {
	if o := operationIn(ctx); o != nil && o.state.Stage != name {
		o.state.Stage = name
		o.changed(ctx)
	}
}

// SetProgress sets the workflow's own progress, to which reports of its activities are added.
func SetProgress(ctx workflow.Context, progress Progress) {
	if o := operationIn(ctx); o != nil {
		o.setProgress(ctx, progress)
	}
}

// SetPartial sets the partial result, as JSON: it can be read while the work runs, and after cancel and failure.
func SetPartial(ctx workflow.Context, value any) {
	if o := operationIn(ctx); o != nil {
		o.state.Partial = value
		o.changed(ctx, partialMemoKey)
	}
}

// Question for the person or agent at the client.
type Question struct {
	Message string
	// Schema of the answer: JSON Schema of a flat object.
	Schema map[string]any
	// Timeout is how long to wait. Default: without limit.
	Timeout time.Duration
	// Default is the content of the answer after the timeout. Without it, a timeout fails with type InputTimeout.
	Default map[string]any
}

// Answer to a question.
type Answer struct {
	// Action is accept or decline.
	Action string
	// Content fits the question's schema; nil if the answer is declined.
	Content map[string]any
	// IsDefault is set if nobody answered in time.
	IsDefault bool
}

// Decode stores the content in the value that target points to.
func (a Answer) Decode(target any) error {
	written, err := json.Marshal(a.Content)
	if err != nil {
		return err
	}
	return json.Unmarshal(written, target)
}

// Ask asks, and waits. A question that the client cancels is asked again, under a new key. One over 32 KiB of JSON fails with type
// too_large.
func Ask(ctx workflow.Context, q Question) (Answer, error) {
	o := operationIn(ctx)
	if o == nil {
		return Answer{}, refusal("NotAnOperation", "only workflows that Longhaul started can ask")
	}
	until := workflow.Now(ctx).Add(q.Timeout)
	for {
		request := inputRequest{Message: q.Message, Schema: q.Schema}
		if q.Timeout > 0 {
			request.ExpiresAt = isoTime(until)
		}
		key, asked, err := o.openQuestion(ctx, request)
		if err != nil {
			return Answer{}, err
		}
		isAnswered := func() bool { return asked.answer != nil }
		if q.Timeout > 0 {
			left := max(until.Sub(workflow.Now(ctx)), time.Millisecond)
			_, err = workflow.AwaitWithTimeout(ctx, left, isAnswered)
		} else {
			err = workflow.Await(ctx, isAnswered)
		}
		o.withdraw(ctx, key)
		if err != nil {
			return Answer{}, err
		}
		switch {
		case asked.answer == nil && q.Default == nil:
			return Answer{}, refusal("InputTimeout", "nobody answered in time: %s", q.Message)
		case asked.answer == nil:
			o.keepAnswer(ctx, answeredRequest{Key: key, Action: "accept", IsDefault: true})
			return Answer{Action: "accept", Content: q.Default, IsDefault: true}, nil
		case asked.answer.Action != "cancel":
			return Answer{Action: asked.answer.Action, Content: asked.answer.Content}, nil
		}
	}
}

func keyOf(number int) string { return fmt.Sprintf("input-%d", number) }
