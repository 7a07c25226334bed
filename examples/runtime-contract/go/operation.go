package longhaul

import (
	"fmt"
	"maps"
	"strings"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

type question struct {
	schema map[string]any
	answer *givenAnswer
}

// operation is the state of the operation that a workflow execution is.
type operation struct {
	start     map[string]any
	state     operationState
	isChanged bool
	// unwritten has the memo fields beside the state that have changed since they were written.
	unwritten    map[string]bool
	writtenTexts map[string]string
	hasEnded     bool
	questions    map[string]*question
	// answerIDs has the ID of the accepted answer by the key of its question.
	answerIDs map[string]string
	// status is empty while no question is open.
	status string
}

type operationContextKey struct{}

// operationIn returns the operation of the running workflow; nil if Longhaul did not start it.
func operationIn(ctx workflow.Context) *operation {
	found, _ := ctx.Value(operationContextKey{}).(*operation)
	return found
}

// attach registers the handlers, and begins to publish changes.
func (o *operation) attach(ctx workflow.Context) (workflow.Context, error) {
	ctx = workflow.WithValue(ctx, operationContextKey{}, o)
	if err := workflow.SetQueryHandler(ctx, queryName, func() (operationState, error) { return o.state, nil }); err != nil {
		return ctx, err
	}
	take := func(ctx workflow.Context, given providedInput) error { return o.take(ctx, given) }
	options := workflow.UpdateHandlerOptions{
		Validator: func(_ workflow.Context, given providedInput) error { return o.check(given) },
	}
	if err := workflow.SetUpdateHandlerWithOptions(ctx, answerName, take, options); err != nil {
		return ctx, err
	}
	// A cancel of the workflow must not end these.
	detached, _ := workflow.NewDisconnectedContext(ctx)
	workflow.Go(detached, o.takeSignals)
	workflow.Go(detached, o.publishChanges)
	return ctx, nil
}

func (o *operation) token(ctx workflow.Context) string {
	id := workflow.GetInfo(ctx).WorkflowExecution.ID
	if o.start["principal"] == "anonymous" {
		return id
	}
	_, token, _ := strings.Cut(id, ".")
	return token
}

// changed takes the memo fields beside the state that have to be written.
func (o *operation) changed(ctx workflow.Context, fields ...string) {
	now := isoTime(workflow.Now(ctx))
	o.state.UpdatedAt = now
	if len(o.state.InputRequests) == 0 {
		o.state.QuestionsSince = ""
	} else if o.state.QuestionsSince == "" {
		o.state.QuestionsSince = now
	}
	o.isChanged = true
	for _, field := range fields {
		o.unwritten[field] = true
	}
}

func (o *operation) setProgress(ctx workflow.Context, next Progress) {
	if before := o.state.Progress; before != nil {
		next.Progress = max(next.Progress, before.Progress)
		if next.Total == 0 {
			next.Total = before.Total
		}
		if next.Message == "" {
			next.Message = before.Message
		}
	}
	o.state.Progress = &next
	o.changed(ctx)
}

// addReport adds the last report of an activity that has ended to the workflow's own progress.
func (o *operation) addReport(ctx workflow.Context, report *Progress, isDone bool) {
	if report == nil {
		return
	}
	if report.Total > 0 {
		unreached := 0.0
		if o.state.Unreached != nil {
			unreached = *o.state.Unreached
		}
		if !isDone {
			unreached += max(0, report.Total-report.Progress)
		}
		o.state.Unreached = &unreached
	}
	next := Progress{Progress: report.Progress, Message: report.Message}
	if o.state.Progress != nil {
		next.Progress += o.state.Progress.Progress
	}
	o.setProgress(ctx, next)
}

// publishChanges writes the changes of a workflow task together: each write is an event of history.
func (o *operation) publishChanges(ctx workflow.Context) {
	for {
		if err := workflow.Await(ctx, func() bool { return o.isChanged && !o.hasEnded }); err != nil {
			return
		}
		if err := o.publish(ctx); err != nil {
			panic(err)
		}
	}
}

func (o *operation) publish(ctx workflow.Context) error {
	if !o.isChanged {
		return nil
	}
	memo, texts := shownState(o.state)
	fields := map[string]any{stateMemoKey: memo}
	if o.unwritten[inputMemoKey] {
		fields[inputMemoKey] = o.state.InputRequests
	}
	if o.unwritten[detailsMemoKey] || !maps.Equal(texts, o.writtenTexts) {
		fields[detailsMemoKey] = detailsField(o.state.Answers, texts)
	}
	if o.unwritten[partialMemoKey] {
		partial, err := partialField(o.state.Partial)
		if err != nil {
			return err
		}
		fields[partialMemoKey] = partial
	}
	o.isChanged, o.writtenTexts = false, texts
	clear(o.unwritten)
	if err := workflow.UpsertMemo(ctx, fields); err != nil {
		return err
	}
	return o.publishStatus(ctx)
}

func (o *operation) publishStatus(ctx workflow.Context) error {
	status, update := "", statusKey.ValueUnset()
	if len(o.state.InputRequests) > 0 {
		status, update = "input_required", statusKey.ValueSet("input_required")
	}
	if status == o.status {
		return nil
	}
	o.status = status
	if o.start["searchAttributes"] != true {
		return nil
	}
	return workflow.UpsertTypedSearchAttributes(ctx, update)
}

// end publishes the last changes; later ones are dropped.
func (o *operation) end(ctx workflow.Context) error {
	defer func() { o.hasEnded = true }()
	return o.publish(ctx)
}

// handOver writes the memo that the run which continues this one starts with.
func (o *operation) handOver(ctx workflow.Context) error {
	o.hasEnded = true
	if _, isKnown := o.start["createdAt"]; !isKnown {
		o.start["createdAt"] = isoTime(workflow.GetInfo(ctx).WorkflowStartTime)
	}
	state := o.state
	state.InputRequests, state.QuestionsSince = map[string]inputRequest{}, ""
	memo, texts := shownState(state)
	fields := map[string]any{
		startMemoKey: o.start, stateMemoKey: memo, inputMemoKey: state.InputRequests,
		detailsMemoKey: detailsField(state.Answers, texts),
	}
	partial, err := partialField(state.Partial)
	if err != nil {
		return err
	}
	if _, isTooLarge := partial["isTooLarge"]; isTooLarge {
		// The next run could not give it to a query.
		fields[partialMemoKey] = nil
	}
	return workflow.UpsertMemo(ctx, fields)
}

func refusal(kind, format string, values ...any) error {
	return temporal.NewNonRetryableApplicationError(fmt.Sprintf(format, values...), kind, nil)
}
