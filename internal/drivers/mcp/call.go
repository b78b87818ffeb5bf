package mcp

import (
	"context"
	"encoding/json"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"aai"
)

// call calls a tool of the server, if it still says of it what digest names; an empty one
// asks for nothing.
func (s *server) call(ctx context.Context, call *aai.Call, tool, digest string) (*aai.Result, error) {
	live, err := s.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer s.release()
	if digest != "" {
		if err := s.still(ctx, live, tool, digest); err != nil {
			return nil, err
		}
	}
	live.news.Store(call.ID, ctx)
	defer live.news.Delete(call.ID)
	until, done := live.asks.serve(ctx, call)
	defer done()
	before := live.refused()
	asked, kept := asWritten(until)
	var result *sdk.CallToolResult
	cause := live.rounds(asked, func(with reply) (round, error) {
		answer, err := live.client.CallTool(asked, &sdk.CallToolParams{
			Name: tool, Arguments: call.Args, Meta: sdk.Meta{"progressToken": call.ID}, InputResponses: with.responses, RequestState: with.state,
		})
		if err != nil {
			return round{}, err
		}
		result = answer
		return round{answer.NeedsInput(), answer.InputRequests, answer.RequestState}, nil
	})
	if live.wire != nil {
		defer live.wire.forget(kept)
	}
	if cause != nil {
		return nil, live.answered(ctx, cause)
	}
	s.worked()
	out, failure := live.result(result, structured(kept.result, result))
	if n := live.refused() - before; n > 0 {
		warning := fmt.Sprintf("meanwhile the server asked for something %d times, such as the person's answer or a model's; it was refused%s", n, live.asks.reason())
		if failure != nil {
			failure.Message += "; " + warning
		} else {
			out.Warning = warning
		}
	}
	if failure != nil {
		return nil, failure
	}
	return live.foreign(out), nil
}

// still says why a tool is not what was consented to.
func (s *server) still(ctx context.Context, live *session, tool, digest string) *aai.Error {
	if err := s.fresh(ctx, live); err != nil {
		err.Delivery = aai.NotDelivered
		return err
	}
	switch now := live.listing.Load().digests[tool]; now {
	case digest:
		return nil
	case "":
		return failed(aai.ToolNotFound, "The guide to the app has what there is now.", "the MCP server of %s has no tool %s any more", live.app, tool)
	}
	return failed(aai.ConsentRequired, "Read the guide to it again, and make the call again: the person is asked about the tool as it is now.",
		"the MCP server of %s says something else of the tool %s than when it was allowed", live.app, tool)
}

// refused is how often the server asked for something.
func (s *session) refused() int64 {
	return s.asks.refused.Load()
}

// structured is the structured content of a result as it was written, where that is known: the
// SDK reads numbers as float64.
func structured(written json.RawMessage, result *sdk.CallToolResult) any {
	if result.StructuredContent == nil || written == nil {
		return result.StructuredContent
	}
	var whole struct {
		StructuredContent json.RawMessage `json:"structuredContent"`
	}
	if json.Unmarshal(written, &whole) != nil {
		return result.StructuredContent
	}
	value, err := exact(whole.StructuredContent)
	if err != nil {
		return result.StructuredContent
	}
	return value
}
