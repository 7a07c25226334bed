// The official Go SDK: waits with a handler for questions, and polling by next_action without it.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"runtime/debug"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type given struct {
	URL       string         `json:"url"`
	Tool      string         `json:"tool"`
	Arguments map[string]any `json:"arguments"`
	Answer    map[string]any `json:"answer"`
	Packages  []string       `json:"packages"`
}

type run struct {
	Way    string   `json:"way"`
	Calls  []string `json:"calls,omitempty"`
	Result any      `json:"result"`
}

type report struct {
	Versions  map[string]string `json:"versions"`
	Protocol  string            `json:"protocol"`
	Tools     []string          `json:"tools"`
	Questions []string          `json:"questions"`
	Runs      []run             `json:"runs"`
}

type envelope struct {
	NextAction *struct {
		Tool              string         `json:"tool"`
		Args              map[string]any `json:"args"`
		Question          any            `json:"question"`
		CheckAfterSeconds float64        `json:"check_after_seconds"`
	} `json:"next_action"`
}

func main() {
	var job given
	must(json.Unmarshal([]byte(os.Args[1]), &job))
	ctx := context.Background()
	out := report{Versions: versions(job.Packages)}

	polling := connect(ctx, job, nil)
	out.Runs = append(out.Runs, follow(ctx, polling, job))
	must(polling.Close())

	asking := connect(ctx, job, func(_ context.Context, request *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		out.Questions = append(out.Questions, request.Params.Message)
		return &mcp.ElicitResult{Action: "accept", Content: job.Answer}, nil
	})
	out.Protocol = asking.InitializeResult().ProtocolVersion
	for tool, err := range asking.Tools(ctx, nil) {
		must(err)
		out.Tools = append(out.Tools, tool.Name)
	}
	waited := call(ctx, asking, job.Tool, with(job.Arguments, "wait", true))
	out.Runs = append(out.Runs, run{Way: "elicitation", Result: waited})
	must(asking.Close())

	line, err := json.Marshal(out)
	must(err)
	fmt.Println(string(line))
}

func versions(packages []string) map[string]string {
	found := map[string]string{}
	build, _ := debug.ReadBuildInfo()
	for _, module := range build.Deps {
		if slices.Contains(packages, module.Path) {
			found[module.Path] = module.Version
		}
	}
	return found
}

type answerer = func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error)

func connect(ctx context.Context, job given, answer answerer) *mcp.ClientSession {
	options := &mcp.ClientOptions{ElicitationHandler: answer}
	client := mcp.NewClient(&mcp.Implementation{Name: "go-driver", Version: "1"}, options)
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: job.URL}, nil)
	must(err)
	return session
}

// Drives the long tool by next_action alone.
func follow(ctx context.Context, session *mcp.ClientSession, job given) run {
	done := run{Way: "polling"}
	tool, arguments := job.Tool, job.Arguments
	for {
		done.Calls = append(done.Calls, tool)
		done.Result = call(ctx, session, tool, arguments)
		var seen envelope
		text, err := json.Marshal(done.Result)
		must(err)
		must(json.Unmarshal(text, &seen))
		next := seen.NextAction
		if next == nil {
			return done
		}
		// Without a tool, the same call again.
		if next.Tool != "" {
			tool, arguments = next.Tool, next.Args
		}
		if next.Question != nil {
			arguments = with(arguments, "content", job.Answer)
		} else {
			time.Sleep(time.Duration(next.CheckAfterSeconds * float64(time.Second)))
		}
	}
}

func call(ctx context.Context, session *mcp.ClientSession, tool string, arguments map[string]any) any {
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	must(err)
	return result.StructuredContent
}

func with(arguments map[string]any, name string, value any) map[string]any {
	all := map[string]any{name: value}
	for key, one := range arguments {
		all[key] = one
	}
	return all
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
