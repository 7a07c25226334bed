package longhaul

import (
	"slices"
	"strings"

	"go.temporal.io/sdk/workflow"
)

// openQuestion adds a question under a key that is never used again.
func (o *operation) openQuestion(ctx workflow.Context, request inputRequest) (string, *question, error) {
	key := keyOf(o.state.InputRequestCount + 1)
	requests := map[string]inputRequest{key: request}
	for other, open := range o.state.InputRequests {
		requests[other] = open
	}
	if jsonBytes(request) > requestLimitBytes || jsonBytes(requests) > inputLimitBytes {
		return "", nil, refusal("too_large", "a question has at most 32 KiB of JSON, and all open ones have 128 KiB")
	}
	asked := &question{schema: request.Schema}
	o.state.InputRequestCount++
	o.questions[key] = asked
	o.state.InputRequests = requests
	o.changed(ctx, inputMemoKey)
	return key, asked, nil
}

func (o *operation) withdraw(ctx workflow.Context, key string) {
	if _, isOpen := o.questions[key]; !isOpen {
		return
	}
	delete(o.questions, key)
	left := map[string]inputRequest{}
	for other, open := range o.state.InputRequests {
		if other != key {
			left[other] = open
		}
	}
	o.state.InputRequests = left
	o.changed(ctx, inputMemoKey)
}

func (o *operation) keepAnswer(ctx workflow.Context, answer answeredRequest) {
	answer.At = isoTime(workflow.Now(ctx))
	answers := append(slices.Clone(o.state.Answers), answer)
	o.state.Answers = answers[max(0, len(answers)-keptAnswers):]
	o.changed(ctx, detailsMemoKey)
}

// check says why an answer is refused; nil for one that fits, and for a repetition of the accepted one.
func (o *operation) check(given providedInput) error {
	if accepted, isAnswered := o.answerIDs[given.Key]; isAnswered {
		if accepted == given.AnswerID {
			return nil
		}
		return refusal("already_answered", "input request %q has been answered", given.Key)
	}
	asked, isOpen := o.questions[given.Key]
	if !isOpen {
		return refusal("unknown_key", "there is no open input request %q", given.Key)
	}
	switch given.Answer.Action {
	case "decline", "cancel":
		return nil
	case "accept":
		if problems := problemsOf(asked.schema, given.Answer.Content); len(problems) > 0 {
			return refusal("invalid_answer", "%s", strings.Join(problems, "\n"))
		}
		return nil
	}
	return refusal("invalid_answer", "action: expected accept, decline or cancel; got %q", given.Answer.Action)
}

func (o *operation) take(ctx workflow.Context, given providedInput) error {
	// Another answer may have been accepted between the validator and now.
	if err := o.check(given); err != nil {
		return err
	}
	if _, isAnswered := o.answerIDs[given.Key]; isAnswered {
		return nil
	}
	asked := o.questions[given.Key]
	o.answerIDs[given.Key] = given.AnswerID
	o.withdraw(ctx, given.Key)
	o.keepAnswer(ctx, answeredRequest{
		Key: given.Key, ID: given.AnswerID, Action: given.Answer.Action, By: given.By, Signature: given.Signature,
	})
	answer := given.Answer
	if answer.Action == "accept" {
		answer.Content = withDefaults(asked.schema, answer.Content)
	}
	asked.answer = &answer
	return nil
}

// takeSignals takes answers of clients that found no worker for an update. Those that don't fit are ignored.
func (o *operation) takeSignals(ctx workflow.Context) {
	answers := workflow.GetSignalChannel(ctx, answerName)
	for {
		var given providedInput
		answers.Receive(ctx, &given)
		if err := o.take(ctx, given); err != nil {
			workflow.GetLogger(ctx).Warn("rejected an answer that was sent as a signal", "key", given.Key, "why", err)
		}
	}
}
