package messages

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway/internal/schema/jsonscan"
)

// A message may have megabytes, and the SDK makes several copies of it. So large arguments
// of a call bypass the SDK as they were sent, up to the place where the call is made: no
// code in between needs them.

const (
	// maxParams limits the parameters of a request without the arguments of a call, in
	// bytes.
	maxParams = 1 << 20
	// minExtractedBytes is the least size of arguments that bypass the SDK.
	minExtractedBytes = 1 << 10
)

// emptyArguments replaces arguments that bypass the SDK.
const emptyArguments = "{}"

// argumentsKey is the key in a stdio request's extra data for arguments that bypass the SDK.
const argumentsKey = "arguments"

var errParamsTooLong = errors.New("its parameters have more than 1024 KiB besides arguments")

// extractArguments removes large arguments from the parameters of a request: short are the
// parameters with empty arguments. The arguments share memory with params.
func extractArguments(method string, params json.RawMessage) (short, arguments json.RawMessage, err error) {
	if method == "tools/call" {
		times, begin, end := 0, 0, 0
		if jsonscan.EachMember(params, func(name string, b, e int) {
			if name == "arguments" {
				times, begin, end = times+1, b, e
			}
		}) == nil && times > 0 {
			if times > 1 {
				return nil, nil, errors.New("its parameters have the arguments twice")
			}
			if end-begin >= minExtractedBytes {
				arguments = params[begin:end:end]
				short = append(append(append(make([]byte, 0, len(params)-(end-begin)+len(emptyArguments)), params[:begin]...), emptyArguments...), params[end:]...)
				params = short
			}
		}
	}
	if len(params) > maxParams {
		return nil, nil, errParamsTooLong
	}
	return params, arguments, nil
}

// ExtractArguments removes large arguments from a tools/call: short is the message with empty
// arguments. The arguments share memory with message. Without large arguments it returns message and
// nil.
func ExtractArguments(message []byte) (short []byte, arguments json.RawMessage) {
	if len(message) < minExtractedBytes || bytes.TrimLeft(message, " \t\r\n")[0] == '[' {
		return message, nil
	}
	parts, err := parseParts(message)
	if err != nil || string(parts.method) != `"tools/call"` {
		return message, nil
	}
	params, arguments, err := extractArguments("tools/call", parts.params)
	if err != nil || arguments == nil || parts.id == nil {
		return message, nil // the SDK reports the error
	}
	short = slices.Concat([]byte(`{"jsonrpc":"2.0","id":`), parts.id, []byte(`,"method":"tools/call","params":`), params, []byte("}"))
	return short, arguments
}

// extraOf returns the extra data of a stdio request.
func extraOf(arguments json.RawMessage) any {
	if arguments == nil {
		return nil
	}
	return &mcp.RequestExtra{TokenInfo: &auth.TokenInfo{Extra: map[string]any{argumentsKey: arguments}}}
}

// ExtractedArguments returns the arguments of a stdio request that bypassed the SDK, or
// nil.
func ExtractedArguments(req mcp.Request) json.RawMessage {
	extra := req.GetExtra()
	if extra == nil || extra.TokenInfo == nil {
		return nil
	}
	arguments, _ := extra.TokenInfo.Extra[argumentsKey].(json.RawMessage)
	return arguments
}

// RestoreArguments sets the arguments of a call that bypassed the SDK, if there are any.
func RestoreArguments(req mcp.Request, arguments json.RawMessage) {
	if call, ok := req.(*mcp.CallToolRequest); ok && arguments != nil && call.Params != nil {
		call.Params.Arguments = arguments
	}
}
