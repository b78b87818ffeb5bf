package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/schema"
)

// Limits for results that ask for input.
const (
	maxRounds     = 10 // in one call
	maxInputs     = 10 // input requests at once
	maxBusyRounds = 3  // requests to retry without any input request
	busyDelay     = 200 * time.Millisecond
)

// serverRound is a result of the newer protocol version. If it asks for input, the client repeats
// the request with the input.
type serverRound struct {
	open     bool // the result is incomplete
	requests sdk.InputRequestMap
	state    string // of the server, returned to it unchanged
}

// roundReply is the input for a repeated request.
type roundReply struct {
	responses sdk.InputResponseMap
	state     string
}

// rounds repeats a request until its result is complete. The SDK could do that, but does not
// expose the input requests. Here a request that the user has not allowed ends the call before any
// dialog, and the caller reads the reason.
func (s *session) rounds(ctx context.Context, ask func(roundReply) (serverRound, error)) error {
	var with roundReply
	for n, busy := 1, 0; ; n++ {
		r, err := ask(with)
		if err != nil || !r.open && r.requests == nil {
			return err
		}
		if len(r.requests) == 0 {
			if busy++; busy > maxBusyRounds {
				return s.unanswered("asked %d times for a later retry", busy)
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(busyDelay):
			}
		}
		if n == maxRounds {
			return s.unanswered("returned no answer after %d requests for input", n)
		}
		if with.responses, err = s.inputs(ctx, r.requests); err != nil {
			return err
		}
		with.state = r.state
	}
}

func (s *session) unanswered(format string, args ...any) *aai.Error {
	e := aai.Errorf(aai.AutomationFailed, "the MCP server of %s "+format, append([]any{s.app}, args...)...)
	e.Delivery = aai.Delivered
	return e
}

// inputs answers the server's input requests in order. It returns an error if it refuses one.
func (s *session) inputs(ctx context.Context, requests sdk.InputRequestMap) (sdk.InputResponseMap, error) {
	if len(requests) > maxInputs {
		return nil, s.refusedInputs(requests, fmt.Errorf("more than %d requests at once", maxInputs))
	}
	for _, request := range requests {
		if ask, _ := kindOf(request); !s.requests.isAllowed(ask) {
			return nil, s.refusedInputs(requests, fmt.Errorf("the person has not allowed it"))
		}
	}
	responses := make(sdk.InputResponseMap, len(requests))
	for _, id := range slices.Sorted(maps.Keys(requests)) {
		response, err := s.input(ctx, requests[id])
		if err != nil && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			return nil, s.refusedInputs(sdk.InputRequestMap{id: requests[id]}, err)
		}
		responses[id] = response
	}
	return responses, nil
}

// refusedInputs counts the refused requests and returns the error that ends the call. The newer
// protocol version has no way to decline.
func (s *session) refusedInputs(requests sdk.InputRequestMap, cause error) *aai.Error {
	kinds := make(map[string]bool)
	for _, request := range requests {
		_ = s.requests.refuse(cause)
		_, what := kindOf(request)
		kinds[what] = true
	}
	e := s.unanswered("asked for %s before it continues; the gateway refused%s",
		strings.Join(slices.Sorted(maps.Keys(kinds)), " and "), s.requests.reason())
	e.Code, e.Err = aai.PermissionDenied, cause
	e.Hint = "The person can let it ask: aai-gateway mcp trust " + s.app + ", with --elicitation or --sampling."
	return e
}

// kindOf returns the permission that a request needs, and its description.
func kindOf(request sdk.InputRequest) (ask, what string) {
	switch request.(type) {
	case *sdk.ElicitParams:
		return requestElicitation, "the person's answer"
	case *sdk.CreateMessageParams, *sdk.CreateMessageWithToolsParams:
		return requestSampling, "a model's text"
	case *sdk.ListRootsParams:
		return "", "the client's folders"
	}
	return "", "something else"
}

// input answers one input request.
func (s *session) input(ctx context.Context, request sdk.InputRequest) (sdk.InputResponse, error) {
	switch p := request.(type) {
	case *sdk.ElicitParams:
		result, err := s.elicit(ctx, p)
		if err != nil {
			return nil, err
		}
		return result, checkAnswer(p.RequestedSchema, result)
	case *sdk.CreateMessageParams:
		return s.sample(ctx, p)
	case *sdk.CreateMessageWithToolsParams:
		plain := &sdk.CreateMessageParams{MaxTokens: p.MaxTokens, SystemPrompt: p.SystemPrompt}
		for _, m := range p.Messages {
			if len(m.Content) != 1 {
				return nil, fmt.Errorf("it asks a model about content other than text")
			}
			plain.Messages = append(plain.Messages, &sdk.SamplingMessage{Role: m.Role, Content: m.Content[0]})
		}
		return s.sample(ctx, plain)
	}
	return nil, fmt.Errorf("this kind of request is unknown")
}

// checkAnswer returns an error if an answer does not match the form.
func checkAnswer(requested any, answer *sdk.ElicitResult) error {
	if answer.Action != "accept" {
		return nil
	}
	form, err := formOf(requested)
	if err != nil {
		return err
	}
	b, err := json.Marshal(form)
	if err != nil {
		return err
	}
	facts, err := new(schema.Reader).Read(b)
	if err != nil {
		return fmt.Errorf("its form cannot be read")
	}
	if _, err := facts.Schema.Check(answer.Content); err != nil {
		return fmt.Errorf("the answer does not match its form: %s", aai.AsError(err).Message)
	}
	return nil
}

// bypassCache removes the cache lifetimes that a server sets, so that every listing is current.
func bypassCache(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		result, err := next(ctx, method, req)
		switch r := result.(type) {
		case *sdk.ListToolsResult:
			r.TTLMs = 0
		case *sdk.ListPromptsResult:
			r.TTLMs = 0
		case *sdk.ListResourcesResult:
			r.TTLMs = 0
		case *sdk.ListResourceTemplatesResult:
			r.TTLMs = 0
		case *sdk.ReadResourceResult:
			r.TTLMs = 0
		}
		return result, err
	}
}
