package longhaul

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func stateForMemo() operationState {
	state := operationState{
		summary: summary{
			Stage:    strings.Repeat("a \"long\" ü 😀 ", 400),
			Progress: &Progress{Progress: 1, Total: 2, Message: strings.Repeat("m", 7_000)},
		},
		InputRequests: map[string]inputRequest{},
	}
	for number := range keptAnswers {
		answer := answeredRequest{Key: keyOf(number), ID: strings.Repeat("i", 3_000), Action: "accept"}
		state.Answers = append(state.Answers, answer)
	}
	for number := 95; number < 165; number++ {
		state.InputRequests[keyOf(number)] = inputRequest{Message: "?"}
	}
	return state
}

func TestMemoFieldsKeepTheirLimits(t *testing.T) {
	state := stateForMemo()
	memo, texts := shownState(state)
	if jsonBytes(memo) > 2*1024 || !strings.HasSuffix(memo.Stage, cutMark) || len(memo.Cut) != 2 {
		t.Errorf("%d bytes: %+v", jsonBytes(memo), memo)
	}
	if memo.Questions.Count != 70 || memo.Questions.Keys[0] != "input-95" || memo.Questions.Keys[5] != "input-100" {
		t.Errorf("got %+v", memo.Questions)
	}
	details := detailsField(state.Answers, texts)
	// The oldest are dropped.
	last := details.Answers[len(details.Answers)-1]
	if jsonBytes(details) > valueLimitBytes || !reflect.DeepEqual(last, state.Answers[keptAnswers-1]) {
		t.Errorf("%d bytes, the last answer is %s", jsonBytes(details), last.Key)
	}
	for length, expected := range map[int]string{30_000: "value", 33_000: "isTooLarge"} {
		field, err := partialField(strings.Repeat("x", length))
		if _, isExpected := field[expected]; !isExpected || err != nil {
			t.Errorf("%d: expected %s; got %v", length, expected, err)
		}
	}
	if cut := cutText(strings.Repeat("ü", 200), 400); jsonBytes(cut) > 400 || jsonBytes(cut) < 398 {
		t.Errorf("got %d bytes", jsonBytes(cut))
	}
}

func TestContinuedRunGetsTheState(t *testing.T) {
	state := stateForMemo()
	state.Stage, state.Answers, state.InputRequests = strings.Repeat("s", 500), state.Answers[:2], nil
	memo, texts := shownState(state)
	continued := continuedState(memo, detailsField(state.Answers, texts), nil)
	if !reflect.DeepEqual(continued, state) {
		t.Errorf("got %s", fmt.Sprintf("%+v", continued)[:300])
	}
}
