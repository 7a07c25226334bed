package longhaul

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The memo fields that have the state. Lists and heartbeats carry the memo, so it stays small.
const (
	stateMemoKey   = "operation"
	inputMemoKey   = "operation_input"
	detailsMemoKey = "operation_details"
	partialMemoKey = "operation_partial"

	requestLimitBytes = 32 * 1024
	inputLimitBytes   = 128 * 1024
	// valueLimitBytes is for the details, and for the partial result.
	valueLimitBytes = 32 * 1024
	shownTextBytes  = 400
	wholeTextBytes  = 8 * 1024
	shownKeys       = 20
	cutMark         = "…"
)

type openQuestions struct {
	Count int      `json:"count"`
	Keys  []string `json:"keys"`
}

// stateMemo is what every list shows.
type stateMemo struct {
	summary
	Questions *openQuestions `json:"questions,omitempty"`
	// Cut has the names of texts that end with cutMark.
	Cut []string `json:"cut,omitempty"`
}

// detailsMemo is what only a read of this operation shows.
type detailsMemo struct {
	Answers []answeredRequest `json:"answers,omitempty"`
	// Texts has those that were cut.
	Texts map[string]string `json:"texts,omitempty"`
}

func jsonBytes(value any) int {
	written, _ := json.Marshal(value)
	return len(written)
}

// cutText returns the beginning that fits, with a mark; the text itself if it is short enough.
func cutText(text string, limitBytes int) string {
	if jsonBytes(text) <= limitBytes {
		return text
	}
	text = strings.ToValidUTF8(text, "?")
	size := jsonBytes(cutMark)
	for at, character := range text {
		if size += jsonBytes(string(character)) - 2; size > limitBytes {
			return text[:at] + cutMark
		}
	}
	return text
}

// shownState is the state that fits the memo operation, and the texts that it has cut.
func shownState(state operationState) (stateMemo, map[string]string) {
	memo, texts := stateMemo{summary: state.summary}, map[string]string{}
	cut := func(name, text string) string {
		short := cutText(text, shownTextBytes)
		if short != text {
			memo.Cut = append(memo.Cut, name)
			texts[name] = cutText(text, wholeTextBytes)
		}
		return short
	}
	memo.Stage = cut("stage", state.Stage)
	if state.Progress != nil {
		progress := *state.Progress
		progress.Message = cut("message", progress.Message)
		memo.Progress = &progress
	}
	if count := len(state.InputRequests); count > 0 {
		// By number.
		keys := slices.SortedFunc(maps.Keys(state.InputRequests), func(one, other string) int {
			return cmp.Or(len(one)-len(other), strings.Compare(one, other))
		})
		memo.Questions = &openQuestions{count, keys[:min(count, shownKeys)]}
	}
	return memo, texts
}

// detailsField has the latest answers that fit.
func detailsField(answers []answeredRequest, texts map[string]string) detailsMemo {
	for len(answers) > 0 && jsonBytes(detailsMemo{answers, texts}) > valueLimitBytes {
		answers = answers[1:]
	}
	return detailsMemo{answers, texts}
}

func partialField(partial any) (map[string]any, error) {
	field := map[string]any{"value": partial}
	written, err := json.Marshal(field)
	if err != nil {
		return nil, fmt.Errorf("the partial result is not JSON: %w", err)
	}
	if len(written) > valueLimitBytes {
		return map[string]any{"isTooLarge": true}, nil
	}
	return field, nil
}

// continuedState is the state in the memo that a run started with.
func continuedState(memo stateMemo, details detailsMemo, partial any) operationState {
	state := operationState{summary: memo.summary, Answers: details.Answers, Partial: partial}
	if stage, isCut := details.Texts["stage"]; isCut {
		state.Stage = stage
	}
	if message, isCut := details.Texts["message"]; isCut && state.Progress != nil {
		state.Progress.Message = message
	}
	return state
}
