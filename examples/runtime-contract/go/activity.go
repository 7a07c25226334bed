package longhaul

import (
	"context"
	"errors"
	"reflect"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/proto"
)

type reportContextKey struct{}

// ReportProgress reports the progress of this activity, in units of its own, by a heartbeat. It never decreases.
func ReportProgress(ctx context.Context, progress Progress) {
	if last, isKept := ctx.Value(reportContextKey{}).(*activityReport); isKept {
		if last.Progress != nil {
			progress.Progress = max(progress.Progress, last.Progress.Progress)
		}
		last.Progress = &progress
	}
	if !activity.GetInfo(ctx).IsLocalActivity {
		activity.RecordHeartbeat(ctx, activityReport{Longhaul: "report", Progress: &progress})
	}
}

// LastProgress is what this activity or an earlier attempt of it reported last, to continue from there.
func LastProgress(ctx context.Context) Progress {
	if last, isKept := ctx.Value(reportContextKey{}).(*activityReport); isKept && last.Progress != nil {
		return *last.Progress
	}
	return Progress{}
}

type activityInbound struct {
	interceptor.ActivityInboundInterceptorBase
}

func (a *activityInbound) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	if _, isOperation := interceptor.Header(ctx)[operationHeader]; !isOperation {
		return a.Next.ExecuteActivity(ctx, in)
	}
	last := &activityReport{Longhaul: "report"}
	if activity.HasHeartbeatDetails(ctx) {
		var earlier activityReport
		if err := activity.GetHeartbeatDetails(ctx, &earlier); err == nil && earlier.Longhaul == "report" {
			last.Progress = earlier.Progress
		}
	}
	result, err := a.Next.ExecuteActivity(context.WithValue(ctx, reportContextKey{}, last), in)
	switch {
	case last.Progress == nil:
		return result, err
	case err != nil:
		return nil, withReport(ctx, err, last)
	case isWrappable(result):
		return reportedResult{Longhaul: "result", Progress: last.Progress, Result: result}, nil
	}
	return result, nil
}

// isWrappable says whether a result is JSON.
func isWrappable(result any) bool {
	switch result.(type) {
	case []byte, proto.Message, converter.RawValue:
		return false
	}
	return true
}

// withReport appends the report to an error's details. Details of the author's own stay as they are: they can't be copied.
func withReport(ctx context.Context, err error, last *activityReport) error {
	if errors.Is(err, activity.ErrResultPending) {
		return err
	}
	var canceled *temporal.CanceledError
	if errors.Is(err, context.Canceled) || errors.As(err, &canceled) {
		if ctx.Err() == nil || canceled != nil && canceled.HasDetails() {
			return err
		}
		return temporal.NewCanceledError(last)
	}
	var failure *temporal.ApplicationError
	if !errors.As(err, &failure) {
		options := temporal.ApplicationErrorOptions{Cause: errors.Unwrap(err), Details: []any{last}}
		return temporal.NewApplicationErrorWithOptions(err.Error(), typeName(err), options)
	}
	if failure.HasDetails() {
		return err
	}
	return temporal.NewApplicationErrorWithOptions(failure.Message(), failure.Type(), temporal.ApplicationErrorOptions{
		NonRetryable:   failure.NonRetryable(),
		Cause:          failure.Unwrap(),
		NextRetryDelay: failure.NextRetryDelay(),
		Category:       failure.Category(),
		Details:        []any{last},
	})
}

// typeName is the type that Temporal's SDK gives to the failure of an ordinary error.
func typeName(err error) string {
	kind := reflect.TypeOf(err)
	for kind.Kind() == reflect.Pointer {
		kind = kind.Elem()
	}
	return kind.Name()
}
