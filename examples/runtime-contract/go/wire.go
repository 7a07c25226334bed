package longhaul

import (
	"time"

	"go.temporal.io/sdk/temporal"
)

const (
	startMemoKey    = "longhaul"
	operationHeader = "longhaul"
	answerName      = "provide_input"
	queryName       = "operation"

	keptAnswers = 20
)

var statusKey = temporal.NewSearchAttributeKeyKeyword("LonghaulStatus")

// Progress of work, in units of its own. It never decreases. Total and Message are optional.
type Progress struct {
	Progress float64 `json:"progress"`
	Total    float64 `json:"total,omitempty"`
	Message  string  `json:"message,omitempty"`
}

type inputRequest struct {
	Message   string         `json:"message"`
	Schema    map[string]any `json:"schema"`
	ExpiresAt string         `json:"expiresAt,omitempty"`
}

type answeredRequest struct {
	Key       string         `json:"key"`
	ID        string         `json:"id,omitempty"`
	Action    string         `json:"action"`
	IsDefault bool           `json:"isDefault,omitempty"`
	By        map[string]any `json:"by,omitempty"`
	Signature string         `json:"signature,omitempty"`
	At        string         `json:"at"`
}

// summary is what the query and the memo operation both have.
type summary struct {
	Stage             string    `json:"stage,omitempty"`
	Progress          *Progress `json:"progress,omitempty"`
	Unreached         *float64  `json:"unreached,omitempty"`
	QuestionsSince    string    `json:"questionsSince,omitempty"`
	InputRequestCount int       `json:"inputRequestCount,omitempty"`
	UpdatedAt         string    `json:"updatedAt,omitempty"`
}

// operationState is the answer to the query.
type operationState struct {
	summary
	InputRequests map[string]inputRequest `json:"inputRequests,omitempty"`
	Answers       []answeredRequest       `json:"answers,omitempty"`
	Partial       any                     `json:"partial,omitempty"`
}

type givenAnswer struct {
	Action  string         `json:"action"`
	Content map[string]any `json:"content,omitempty"`
}

type providedInput struct {
	Key       string         `json:"key"`
	AnswerID  string         `json:"answerId"`
	Answer    givenAnswer    `json:"answer"`
	By        map[string]any `json:"by,omitempty"`
	Signature string         `json:"signature,omitempty"`
}

// activityReport is the detail of a heartbeat, and the last detail of a failure.
type activityReport struct {
	Longhaul string    `json:"longhaul"`
	Progress *Progress `json:"progress,omitempty"`
}

// reportedResult is the result of an activity that reported progress.
type reportedResult struct {
	Longhaul string    `json:"longhaul"`
	Progress *Progress `json:"progress,omitempty"`
	Result   any       `json:"result"`
}

type operationError struct {
	Kind      string `json:"kind"`
	Message   string `json:"message"`
	Retryable bool   `json:"retryable"`
	Type      string `json:"type,omitempty"`
}

type closingDetails struct {
	Longhaul string         `json:"longhaul"`
	Error    operationError `json:"error"`
	Partial  any            `json:"partial,omitempty"`
}

func isoTime(at time.Time) string {
	return at.UTC().Format("2006-01-02T15:04:05.000Z")
}
