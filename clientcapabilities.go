package aai

import (
	"context"
	"encoding/json"
)

// An Assistant is what the program at the other end of a call can do for whoever
// serves it. What it cannot do is nil; an Action must get by without.
type ClientCapabilities struct {
	// Sample asks the client's model. The person may see, change or refuse what is
	// asked and what is answered; that is an error.
	Sample func(ctx context.Context, ask SamplingRequest) (*SamplingResult, error)
	// SampleTools says that Sampling.Tools may be given.
	SampleTools bool
	// CanAsk says that questions which policy sends to the client can be put there.
	CanAsk bool
	// Elicit has the person fill in a form at the client, in whose words the form is shown.
	// Who answers there nobody can tell: it decides nothing of the gateway's.
	Elicit func(ctx context.Context, form Form) (*FormAnswer, error)
	// AskSecret asks the person at the terminal for what is not to be seen there, such as a
	// new passphrase.
	AskSecret func(ctx context.Context, prompt string) (string, error)
	// OnDialogShown hears that the gateway asks the person in a window now, and on which screen,
	// "" where it has no name. It is called once a question, from any goroutine, and must
	// not wait.
	OnDialogShown func(screen string)
	// Roots returns the folders that the client works in.
	Roots func(ctx context.Context) ([]Root, error)
}

// A Form is what a person is to fill in.
type Form struct {
	Message string
	Fields  json.RawMessage // a JSON Schema of an object whose members are single values
}

// A FormAnswer is what became of a Form.
type FormAnswer struct {
	Action string         // "accept", "decline" or "cancel"
	Values map[string]any // by field, where it was accepted
}

// A Sampling is what a model is asked.
type SamplingRequest struct {
	System    string
	Messages  []Message
	MaxTokens int // at least 1
	// Tools are what the model may ask for instead of answering, in Sampled.Uses.
	Tools []SampleTool
}

// A Message is a turn of the talk with a model.
type Message struct {
	FromModel   bool // its own words; otherwise ours
	Text        string
	Images      []Image
	ToolUses    []ToolUse    // what the model asked for, in a message of its own
	ToolResults []ToolResult // what came of it, in the next of ours
}

// A SampleTool is something that a model may ask for.
type SampleTool struct {
	Name, Description string
	Params            json.RawMessage // a JSON Schema of type "object"
}

// A ToolUse is a model's wish to use a tool.
type ToolUse struct {
	ID, Name string
	Args     map[string]any
}

// A ToolOutcome is what came of a ToolUse.
type ToolResult struct {
	ID     string // of the use
	Text   string
	Failed bool
}

// A Sampled is a model's answer.
type SamplingResult struct {
	Model      string // which it was, as the client says
	StopReason string // why it ended, such as "endTurn", "maxTokens" or "toolUse"
	Text       string
	Images     []Image
	ToolUses   []ToolUse
}

// A Root is a folder that a client works in.
type Root struct {
	Path string // absolute, in the system's own form
	Name string // for people; may be empty
}

type clientCapabilitiesKey struct{}

type nonInteractiveKey struct{}

// NonInteractive returns a context of work that nobody waits for: it begins nothing that needs a
// person, such as a login.
func NonInteractive(ctx context.Context) context.Context {
	return context.WithValue(ctx, nonInteractiveKey{}, true)
}

// IsNonInteractive reports whether the context is of [NonInteractive].
func IsNonInteractive(ctx context.Context) bool { return ctx.Value(nonInteractiveKey{}) != nil }

// WithClientCapabilities returns a context in which [ClientCapabilitiesOf] finds what the client can do.
func WithClientCapabilities(ctx context.Context, a ClientCapabilities) context.Context {
	return context.WithValue(ctx, clientCapabilitiesKey{}, a)
}

// ClientCapabilitiesOf returns what the client of the call can do, which may be nothing.
func ClientCapabilitiesOf(ctx context.Context) ClientCapabilities {
	a, _ := ctx.Value(clientCapabilitiesKey{}).(ClientCapabilities)
	return a
}
