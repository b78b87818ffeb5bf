package answer

import "github.com/gybob/aai-gateway"

// A Failure is the JSON form of an error. Its members are stable.
type Failure struct {
	Type         aai.Code     `json:"type"`
	Alias        string       `json:"alias,omitempty"` // the protocol's other name for the error
	Code         int          `json:"code"`
	Detail       string       `json:"detail"`
	Suggestion   string       `json:"suggestion,omitempty"`
	Candidates   []string     `json:"candidates,omitempty"`
	Delivery     aai.Delivery `json:"delivery,omitempty"`
	Retry        string       `json:"retry,omitempty"` // "safe" or "unsafe"
	RetryAfterMS int64        `json:"retry_after_ms,omitempty"`
	Visit        string       `json:"visit,omitempty"`
	Result       any          `json:"result,omitempty"` // partial result of the failed call
}

// NewFailure returns the JSON form of the error.
func NewFailure(e *aai.Error) Failure {
	retry := "unsafe"
	if e.RetrySafe() {
		retry = "safe"
	}
	return Failure{
		Type: e.Code, Alias: e.ProtocolCode(), Code: e.Code.Number(), Detail: e.Message, Suggestion: e.Hint, Candidates: e.Candidates,
		Delivery: e.Delivery, Retry: retry, RetryAfterMS: e.RetryAfter.Milliseconds(), Visit: e.LoginURL, Result: e.Data,
	}
}
