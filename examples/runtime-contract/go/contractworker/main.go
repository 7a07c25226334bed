// Command contractworker runs the workflows that `longhaul conformance` checks. Usage: contractworker ADDRESS TASK_QUEUE
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"example.com/longhaul"
)

var (
	confirm = schema("confirm", map[string]any{"type": "boolean"})
	count   = schema("count", map[string]any{"type": "integer", "minimum": 1, "maximum": 5})
)

func schema(name string, property map[string]any) map[string]any {
	return map[string]any{
		"type": "object", "properties": map[string]any{name: property}, "required": []string{name},
	}
}

func report(ctx context.Context) (map[string]int, error) {
	longhaul.ReportProgress(ctx, longhaul.Progress{Progress: 1, Total: 1, Message: "reported"})
	return map[string]int{"value": 42}, nil
}

func wait(ctx context.Context) error {
	for ctx.Err() == nil {
		longhaul.ReportProgress(ctx, longhaul.Progress{Progress: 4, Total: 10, Message: "four"})
		select {
		case <-ctx.Done():
		case <-time.After(200 * time.Millisecond):
		}
	}
	return ctx.Err()
}

func waiting(ctx workflow.Context) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 5 * time.Minute,
		HeartbeatTimeout:    30 * time.Second,
		WaitForCancellation: true,
	})
	return workflow.ExecuteActivity(ctx, "contract_wait").Get(ctx, nil)
}

func step(ctx workflow.Context) { workflow.GetSignalChannel(ctx, "next").Receive(ctx, nil) }

func contractProgress(ctx workflow.Context) (map[string]int, error) {
	longhaul.SetStage(ctx, "first")
	longhaul.SetProgress(ctx, longhaul.Progress{Progress: 1, Total: 3, Message: "one"})
	step(ctx)
	longhaul.SetStage(ctx, "second")
	var result map[string]int
	inTime := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
	if err := workflow.ExecuteActivity(inTime, "contract_report").Get(ctx, &result); err != nil {
		return nil, err
	}
	step(ctx)
	longhaul.SetProgress(ctx, longhaul.Progress{})
	longhaul.SetStage(ctx, strings.Repeat("x", 3_000))
	return result, nil
}

func contractQuestion(ctx workflow.Context) (map[string]any, error) {
	var answers [3]longhaul.Answer
	questions := []longhaul.Question{
		{Message: "Delete?", Schema: confirm}, {Message: "How many?", Schema: count}, {Message: "Sure?", Schema: confirm},
	}
	for at, question := range questions {
		answer, err := longhaul.Ask(ctx, question)
		if err != nil {
			return nil, err
		}
		answers[at] = answer
	}
	return map[string]any{"confirm": answers[0].Content, "count": answers[1].Content, "last": answers[2].Action}, nil
}

func contractPartial(ctx workflow.Context) error {
	longhaul.SetPartial(ctx, map[string]any{"rows": 1, "text": strings.Repeat("x", 8_000)})
	step(ctx)
	inTime := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
	if err := workflow.ExecuteActivity(inTime, "contract_report").Get(ctx, nil); err != nil {
		return err
	}
	step(ctx)
	longhaul.SetPartial(ctx, map[string]any{"rows": 2, "text": strings.Repeat("x", 80_000)})
	step(ctx)
	return temporal.NewApplicationError("nothing left", "Broken")
}

func contractCancel(ctx workflow.Context) (map[string]bool, error) {
	longhaul.SetStage(ctx, "waiting")
	longhaul.SetPartial(ctx, map[string]any{"rows": 1})
	if err := waiting(ctx); err != nil && !temporal.IsCanceledError(err) {
		return nil, err
	}
	return map[string]bool{"stopped": true}, nil
}

func contractContinue(ctx workflow.Context, number int) (string, error) {
	if number == 1 {
		longhaul.SetStage(ctx, "first run")
		longhaul.SetProgress(ctx, longhaul.Progress{Progress: 1, Total: 2})
		longhaul.SetPartial(ctx, map[string]any{"rows": 1})
		if _, err := longhaul.Ask(ctx, longhaul.Question{Message: "Continue?", Schema: confirm}); err != nil {
			return "", err
		}
		return "", workflow.NewContinueAsNewError(ctx, "ContractContinue", 2)
	}
	if _, err := longhaul.Ask(ctx, longhaul.Question{Message: "Finish?", Schema: confirm}); err != nil {
		return "", err
	}
	longhaul.SetProgress(ctx, longhaul.Progress{Progress: 2})
	step(ctx)
	return "finished", nil
}

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: contractworker ADDRESS TASK_QUEUE")
	}
	// Without a cache each workflow task replays the whole history: code that does not replay is found.
	worker.SetStickyWorkflowCacheSize(0)
	connection, err := client.Dial(client.Options{HostPort: os.Args[1]})
	if err != nil {
		log.Fatal(err)
	}
	defer connection.Close()
	w := worker.New(connection, os.Args[2], worker.Options{
		Interceptors: []interceptor.WorkerInterceptor{longhaul.NewInterceptor()},
		// A cancel comes with the answer to a heartbeat, which the SDK otherwise sends every 24 seconds.
		MaxHeartbeatThrottleInterval: 500 * time.Millisecond,
	})
	workflows := map[string]any{
		"ContractHeartbeat": waiting, "ContractProgress": contractProgress, "ContractQuestion": contractQuestion,
		"ContractPartial": contractPartial, "ContractCancel": contractCancel, "ContractContinue": contractContinue,
	}
	for name, each := range workflows {
		w.RegisterWorkflowWithOptions(each, workflow.RegisterOptions{Name: name})
	}
	w.RegisterActivityWithOptions(report, activity.RegisterOptions{Name: "contract_report"})
	w.RegisterActivityWithOptions(wait, activity.RegisterOptions{Name: "contract_wait"})
	if err := w.Start(); err != nil {
		log.Fatal(err)
	}
	fmt.Println("ready")
	<-worker.InterruptCh()
	w.Stop()
}
