package aai

import (
	"context"
	"encoding/json"
)

// ClientCapabilities are the functions of the client at the other end of a call. A function that
// the client lacks is nil; an Action must work without it.
type ClientCapabilities struct {
	// Sample sends a request to the client's model. The person may see, change or refuse both the
	// request and the answer; a refusal is an error.
	Sample func(ctx context.Context, ask SamplingRequest) (*SamplingResult, error)
	// SampleTools reports that SamplingRequest.Tools is supported.
	SampleTools bool
	// CanAsk reports that the client can ask the questions that policy sends to it.
	CanAsk bool
	// Elicit lets the client show a form to its person. The person is not authenticated there, so
	// the answer permits nothing at the gateway.
	Elicit func(ctx context.Context, form Form) (*FormAnswer, error)
	// AskSecret asks the person at the terminal for hidden input, such as a new passphrase.
	AskSecret func(ctx context.Context, prompt string) (string, error)
	// OnDialogShown is called when the gateway shows a dialog, with the screen, or "" if it has
	// no name. It is called once for each question, from any goroutine, and must not block.
	OnDialogShown func(screen string)
	// Roots returns the folders that the client works in.
	Roots func(ctx context.Context) ([]Root, error)
	// Subscriptions returns the number of resources to which the client is subscribed. Nil: it cannot subscribe.
	Subscriptions func() int
}

// A Form asks the person at the client for values; see ClientCapabilities.Elicit.
type Form struct {
	Message string
	Fields  json.RawMessage // a JSON Schema of an object; its members are single values
}

// A FormAnswer holds the person's reaction to a Form, and the values entered.
type FormAnswer struct {
	Action string         // "accept", "decline" or "cancel"
	Values map[string]any // by field, if accepted
}

// A SamplingRequest asks the client's model for a message; see ClientCapabilities.Sample.
type SamplingRequest struct {
	System    string
	Messages  []Message
	MaxTokens int // at least 1
	// Tools are offered to the model, which may use them in SamplingResult.ToolUses.
	Tools []SampleTool
}

// A Message is one message of a conversation with a model.
type Message struct {
	FromModel   bool // written by the model; otherwise by the gateway
	Text        string
	Images      []Image
	ToolUses    []ToolUse    // requested by the model, in its message
	ToolResults []ToolResult // their results, in the next message of the gateway
}

// A SampleTool is a tool that a SamplingRequest offers to the client's model.
type SampleTool struct {
	Name, Description string
	Params            json.RawMessage // a JSON Schema of type "object"
}

// A ToolUse is a model's request to use a tool.
type ToolUse struct {
	ID, Name string
	Args     map[string]any
}

// A ToolResult tells the model the result of its ToolUse.
type ToolResult struct {
	ID     string // of the ToolUse
	Text   string
	Failed bool
}

// A SamplingResult is the model's answer to a SamplingRequest.
type SamplingResult struct {
	Model      string // the model used, as reported by the client
	StopReason string // such as "endTurn", "maxTokens" or "toolUse"
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

// NonInteractive returns a context for background work, which starts nothing that needs a person,
// such as a login or a question in a window.
func NonInteractive(ctx context.Context) context.Context {
	return context.WithValue(ctx, nonInteractiveKey{}, true)
}

// IsNonInteractive reports whether the context derives from one of [NonInteractive].
func IsNonInteractive(ctx context.Context) bool { return ctx.Value(nonInteractiveKey{}) != nil }

// WithClientCapabilities returns a context in which [ClientCapabilitiesOf] finds the
// capabilities.
func WithClientCapabilities(ctx context.Context, a ClientCapabilities) context.Context {
	return context.WithValue(ctx, clientCapabilitiesKey{}, a)
}

// ClientCapabilitiesOf returns the capabilities of the call's client; they may be empty.
func ClientCapabilitiesOf(ctx context.Context) ClientCapabilities {
	a, _ := ctx.Value(clientCapabilitiesKey{}).(ClientCapabilities)
	return a
}
