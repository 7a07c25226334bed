// Temporal's CLI with Go's profiler on the address in PPROF_ADDRESS.
package main

import (
	"context"
	"net/http"
	_ "net/http/pprof"
	"os"

	_ "time/tzdata"

	"github.com/temporalio/cli/temporalcli"
	_ "modernc.org/sqlite"
)

func main() {
	if address := os.Getenv("PPROF_ADDRESS"); address != "" {
		go func() { panic(http.ListenAndServe(address, nil)) }()
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	temporalcli.Execute(ctx, temporalcli.CommandOptions{})
}
