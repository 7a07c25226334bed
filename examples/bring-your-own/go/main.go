// Command orders is a worker for orders and refunds.
package main

import (
	"cmp"
	"log"
	"os"
	"strconv"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	"go.temporal.io/sdk/worker"
)

func main() {
	stepSeconds, err := strconv.ParseFloat(cmp.Or(os.Getenv("STEP_SECONDS"), "2"), 64)
	if err != nil {
		log.Fatalln("STEP_SECONDS:", err)
	}

	c, err := client.Dial(envconfig.MustLoadDefaultClientOptions())
	if err != nil {
		log.Fatalln("Can't connect to Temporal:", err)
	}
	defer c.Close()

	w := worker.New(c, cmp.Or(os.Getenv("TASK_QUEUE"), "orders"), worker.Options{
		// Cancellations reach a running step within a second.
		MaxHeartbeatThrottleInterval: time.Second,
	})
	w.RegisterWorkflow(OrderWorkflow)
	w.RegisterWorkflow(RefundWorkflow)
	w.RegisterActivity(&Activities{
		Ledger:       &Ledger{Path: cmp.Or(os.Getenv("ORDERS_LEDGER"), "orders-ledger.jsonl")},
		StepDuration: time.Duration(stepSeconds * float64(time.Second)),
	})
	if err := w.Run(worker.InterruptCh()); err != nil {
		log.Fatalln("The worker failed:", err)
	}
}
