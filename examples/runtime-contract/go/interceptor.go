package longhaul

import (
	"context"
	"encoding/json"
	"errors"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// NewInterceptor is for worker.Options.Interceptors.
func NewInterceptor() interceptor.WorkerInterceptor { return &workerInterceptor{} }

type workerInterceptor struct {
	interceptor.WorkerInterceptorBase
}

func (*workerInterceptor) InterceptActivity(
	_ context.Context, next interceptor.ActivityInboundInterceptor,
) interceptor.ActivityInboundInterceptor {
	return &activityInbound{interceptor.ActivityInboundInterceptorBase{Next: next}}
}

func (*workerInterceptor) InterceptWorkflow(
	_ workflow.Context, next interceptor.WorkflowInboundInterceptor,
) interceptor.WorkflowInboundInterceptor {
	return &workflowInbound{interceptor.WorkflowInboundInterceptorBase{Next: next}}
}

type workflowInbound struct {
	interceptor.WorkflowInboundInterceptorBase
}

func (w *workflowInbound) Init(outbound interceptor.WorkflowOutboundInterceptor) error {
	return w.Next.Init(&workflowOutbound{interceptor.WorkflowOutboundInterceptorBase{Next: outbound}})
}

func (w *workflowInbound) ExecuteWorkflow(ctx workflow.Context, in *interceptor.ExecuteWorkflowInput) (any, error) {
	o := newOperation(ctx)
	if o == nil {
		return w.Next.ExecuteWorkflow(ctx, in)
	}
	ctx, err := o.attach(ctx)
	if err != nil {
		return nil, err
	}
	result, err := w.Next.ExecuteWorkflow(ctx, in)
	var continued *workflow.ContinueAsNewError
	switch {
	// A cancelled operation ends canceled, also if the workflow's code swallowed the cancel.
	case ctx.Err() != nil:
		if err == nil && o.state.Partial == nil {
			o.state.Partial = result
			o.changed(ctx, partialMemoKey)
		}
		return nil, firstOf(o.end(ctx), temporal.NewCanceledError())
	case errors.As(err, &continued):
		return nil, firstOf(o.handOver(ctx), err)
	case err != nil && !temporal.IsCanceledError(err):
		return nil, firstOf(o.end(ctx), closingFailure(err, o.state.Partial))
	}
	return result, firstOf(o.end(ctx), err)
}

// firstOf returns the first error as it is: Temporal reads its type.
func firstOf(failures ...error) error {
	for _, failure := range failures {
		if failure != nil {
			return failure
		}
	}
	return nil
}

type workflowOutbound struct {
	interceptor.WorkflowOutboundInterceptorBase
}

func (w *workflowOutbound) ExecuteActivity(ctx workflow.Context, activityType string, args ...any) workflow.Future {
	o := operationIn(ctx)
	if o == nil {
		return w.Next.ExecuteActivity(ctx, activityType, args...)
	}
	token, err := converter.GetDefaultDataConverter().ToPayload(o.token(ctx))
	future, settable := workflow.NewFuture(ctx)
	if err != nil {
		settable.SetError(err)
		return future
	}
	interceptor.WorkflowHeader(ctx)[operationHeader] = token
	inner := w.Next.ExecuteActivity(ctx, activityType, args...)
	workflow.Go(ctx, func(ctx workflow.Context) {
		var raw converter.RawValue
		if err := inner.Get(ctx, &raw); err != nil {
			o.addReport(ctx, reportIn(err), false)
			settable.SetError(err)
			return
		}
		payload, report := unwrap(raw.Payload())
		o.addReport(ctx, report, true)
		if payload == nil {
			settable.SetValue(nil)
			return
		}
		// The future decodes payloads with the workflow's own data converter.
		settable.SetValue(&commonpb.Payloads{Payloads: []*commonpb.Payload{payload}})
	})
	return future
}

// newOperation is nil in workflows that Longhaul did not start.
func newOperation(ctx workflow.Context) *operation {
	o := &operation{unwritten: map[string]bool{}, questions: map[string]*question{}, answerIDs: map[string]string{}}
	info := workflow.GetInfo(ctx)
	if !memoValue(info, startMemoKey, &o.start) || o.start["version"] != 1.0 {
		return nil
	}
	// Retries and cron runs have the memo of the start.
	if info.ContinuedExecutionRunID != "" && info.Attempt == 1 && info.CronSchedule == "" {
		var memo stateMemo
		var details detailsMemo
		var partial struct{ Value any }
		memoValue(info, stateMemoKey, &memo)
		memoValue(info, detailsMemoKey, &details)
		memoValue(info, partialMemoKey, &partial)
		o.state = continuedState(memo, details, partial.Value)
	}
	if status, isSet := workflow.GetTypedSearchAttributes(ctx).GetKeyword(statusKey); isSet {
		o.status = status
	}
	return o
}

func memoValue(info *workflow.Info, key string, target any) bool {
	payload := info.Memo.GetFields()[key]
	return payload != nil && converter.GetDefaultDataConverter().FromPayload(payload, target) == nil
}

// unwrap returns an activity's result as the activity returned it, and its last report.
func unwrap(payload *commonpb.Payload) (*commonpb.Payload, *Progress) {
	if string(payload.GetMetadata()[converter.MetadataEncoding]) != converter.MetadataEncodingJSON {
		return payload, nil
	}
	var wrapped struct {
		Longhaul string
		Progress *Progress
		Result   json.RawMessage
	}
	if json.Unmarshal(payload.GetData(), &wrapped) != nil || wrapped.Longhaul != "result" {
		return payload, nil
	}
	if len(wrapped.Result) == 0 || string(wrapped.Result) == "null" {
		return nil, wrapped.Progress
	}
	return &commonpb.Payload{Metadata: payload.GetMetadata(), Data: wrapped.Result}, wrapped.Progress
}

// maxDetails is the number of a failure's details that are looked at.
const maxDetails = 8

// reportIn is the last detail of an activity's failure or cancellation, if that is a report.
func reportIn(err error) *Progress {
	var failure *temporal.ApplicationError
	var canceled *temporal.CanceledError
	details := make([]json.RawMessage, maxDetails)
	targets := make([]any, maxDetails)
	for at := range details {
		targets[at] = &details[at]
	}
	switch {
	case errors.As(err, &failure) && failure.HasDetails():
		_ = failure.Details(targets...)
	case errors.As(err, &canceled) && canceled.HasDetails():
		_ = canceled.Details(targets...)
	}
	for at := maxDetails - 1; at >= 0; at-- {
		var report activityReport
		if details[at] != nil && json.Unmarshal(details[at], &report) == nil && report.Longhaul == "report" {
			return report.Progress
		}
	}
	return nil
}

// closingFailure has the type and message of its root cause: failures of activities come wrapped.
func closingFailure(err error, partial any) error {
	message, kind, isFinal := err.Error(), typeName(err), false
	var root *temporal.ApplicationError
	if errors.As(err, &root) {
		message, kind, isFinal = root.Message(), root.Type(), root.NonRetryable()
	}
	details := closingDetails{
		Longhaul: "closing",
		Error:    operationError{Kind: "failed", Message: message, Type: kind},
		Partial:  partial,
	}
	options := temporal.ApplicationErrorOptions{NonRetryable: isFinal, Cause: err, Details: []any{details}}
	return temporal.NewApplicationErrorWithOptions(message, kind, options)
}
