package mcp

import (
	"context"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/schema/jsonscan"
)

// call calls a tool of the server if its definition still has the digest. An empty digest skips
// the check.
func (s *server) call(ctx context.Context, call *aai.Call, tool, digest string) (*aai.Result, error) {
	return s.withSession(ctx, func(ctx context.Context, live *session) (*aai.Result, error) {
		return s.callOn(ctx, live, call, tool, digest)
	})
}

// callOn is call on a session.
func (s *server) callOn(ctx context.Context, live *session, call *aai.Call, tool, digest string) (*aai.Result, error) {
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
	var odd string
	cause := live.rounds(asked, func(with roundReply) (serverRound, error) {
		answer, wrong, err := live.callTool(asked, &sdk.CallToolParams{
			Name: tool, Arguments: call.Args, Meta: sdk.Meta{"progressToken": call.ID}, InputResponses: with.responses,
			RequestState: with.state,
		}, kept)
		if err != nil {
			return serverRound{}, err
		}
		result, odd = answer, wrong
		return serverRound{answer.NeedsInput(), answer.InputRequests, answer.RequestState}, nil
	})
	if live.wire != nil {
		defer live.wire.forget(kept)
	}
	if cause != nil {
		return nil, live.requestError(ctx, cause)
	}
	s.resetFailures()
	data, cause := structured(ctx, kept, result)
	if cause != nil {
		return nil, live.requestError(ctx, cause)
	}
	out, failure := live.result(result, data)
	warning := ""
	if odd != "" {
		warning = "the answer has another form than the protocol's: " + live.secrets.Redact(odd)
	}
	if n := live.refused() - before; n > 0 {
		warning = fmt.Sprintf("meanwhile the gateway refused %d requests of the server, such as for an answer of the "+
			"person or a model%s", n, live.requests.reason())
	}
	if warning != "" {
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
		return undeliveredError(aai.ToolNotFound, "The app's guide lists the current tools.",
			"the MCP server of %s has no tool %s any more", live.app, tool)
	}
	return undeliveredError(aai.ConsentRequired,
		"Read its guide again, and repeat the call: the person is asked about the changed tool.",
		"the MCP server of %s has changed its description of the tool %s since it was allowed", live.app, tool)
}

// refused returns the number of refused requests of the server.
func (s *session) refused() int64 {
	return s.requests.refused.Load()
}

// structured returns the structured content of a result. It prefers the raw JSON, because the SDK
// decodes numbers as float64; over HTTP there is none.
func structured(ctx context.Context, raw *rawResult, result *sdk.CallToolResult) (any, error) {
	if raw.structured == nil {
		return result.StructuredContent, nil
	}
	if err := gateway.ReserveResult(ctx, len(raw.structured), jsonscan.Scan(raw.structured).Values); err != nil {
		return nil, err
	}
	return decodeExact(raw.structured)
}
