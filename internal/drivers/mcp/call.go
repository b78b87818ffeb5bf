package mcp

import (
	"context"
	"encoding/json"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
)

// call calls a tool of the server if its definition still has the digest. An empty digest skips
// the check.
func (s *server) call(ctx context.Context, call *aai.Call, tool, digest string) (*aai.Result, error) {
	live, err := s.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer s.release()
	if digest != "" {
		if err := s.checkUnchanged(ctx, live, tool, digest); err != nil {
			return nil, err
		}
	}
	live.progressByToken.Store(call.ID, ctx)
	defer live.progressByToken.Delete(call.ID)
	until, done := live.requests.serve(ctx, call)
	defer done()
	before := live.refused()
	asked, kept := withRawResult(until)
	var result *sdk.CallToolResult
	cause := live.rounds(asked, func(with roundReply) (serverRound, error) {
		answer, err := live.client.CallTool(asked, &sdk.CallToolParams{
			Name: tool, Arguments: call.Args, Meta: sdk.Meta{"progressToken": call.ID}, InputResponses: with.responses, RequestState: with.state,
		})
		if err != nil {
			return serverRound{}, err
		}
		result = answer
		return serverRound{answer.NeedsInput(), answer.InputRequests, answer.RequestState}, nil
	})
	if live.wire != nil {
		defer live.wire.forget(kept)
	}
	if cause != nil {
		return nil, live.requestError(ctx, cause)
	}
	s.resetFailures()
	out, failure := live.result(result, structured(kept.result, result))
	if n := live.refused() - before; n > 0 {
		warning := fmt.Sprintf("meanwhile the gateway refused %d requests of the server, such as for an answer of the person or a model%s", n, live.requests.reason())
		if failure != nil {
			failure.Message += "; " + warning
		} else {
			out.Warning = warning
		}
	}
	if failure != nil {
		return nil, failure
	}
	return live.withSource(out), nil
}

// checkUnchanged returns an error if the tool's definition differs from the one the user consented to.
func (s *server) checkUnchanged(ctx context.Context, live *session, tool, digest string) *aai.Error {
	if err := s.fresh(ctx, live); err != nil {
		err.Delivery = aai.NotDelivered
		return err
	}
	switch now := live.listing.Load().digests[tool]; now {
	case digest:
		return nil
	case "":
		return undeliveredError(aai.ToolNotFound, "The app's guide lists the current tools.", "the MCP server of %s has no tool %s any more", live.app, tool)
	}
	return undeliveredError(aai.ConsentRequired, "Read its guide again, and repeat the call: the person is asked about the changed tool.",
		"the MCP server of %s has changed its description of the tool %s since it was allowed", live.app, tool)
}

// refused returns the number of refused requests of the server.
func (s *session) refused() int64 {
	return s.requests.refused.Load()
}

// structured returns the structured content of a result from the raw JSON if there is any, because
// the SDK decodes numbers as float64.
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
	value, err := decodeExact(whole.StructuredContent)
	if err != nil {
		return result.StructuredContent
	}
	return value
}
