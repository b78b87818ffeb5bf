package messages

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/gybob/aai-gateway"
)

// Encode encodes a message. Results are JSON already; it does not parse them again.
func Encode(m jsonrpc.Message) ([]byte, error) {
	r, ok := m.(*jsonrpc.Response)
	if !ok || r.Error != nil || len(r.Result) == 0 || !r.ID.IsValid() {
		return jsonrpc.EncodeMessage(m)
	}
	id, err := json.Marshal(r.ID.Raw())
	if err != nil {
		return nil, err
	}
	const begin, middle = `{"jsonrpc":"2.0","id":`, `,"result":`
	b := make([]byte, 0, len(begin)+len(id)+len(middle)+len(r.Result)+len("}\n"))
	b = append(append(b, begin...), id...)
	b = append(append(b, middle...), r.Result...)
	return append(b, '}'), nil
}

// WithCode adds a code to the SDK's errors without one, such as for a request before the
// handshake, and hides the SDK's internals.
func WithCode(m jsonrpc.Message) jsonrpc.Message {
	r, ok := m.(*jsonrpc.Response)
	if !ok || r.Error == nil {
		return m
	}
	if coded, ok := errors.AsType[*jsonrpc.Error](r.Error); ok {
		return &jsonrpc.Response{ID: r.ID, Error: withoutInternals(&jsonrpc.Error{Code: coded.Code, Message: r.Error.Error(), Data: coded.Data})}
	}
	return &jsonrpc.Response{ID: r.ID, Error: &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: r.Error.Error()}}
}

// withoutInternals removes the names of the SDK's types from an error, and the parts of the
// request that it repeats.
func withoutInternals(e *jsonrpc.Error) *jsonrpc.Error {
	clean := *e
	switch at := strings.LastIndex(e.Message, "json: cannot unmarshal "); {
	case e.Code == jsonrpc.CodeMethodNotFound:
		clean.Message = aai.CleanLabel(e.Message, len("method not found: ")+maxMethod)
	case !strings.Contains(e.Message, " into a *mcp."):
		return e
	case at < 0:
		clean.Message = invalidParamsText
	default:
		clean.Message = invalidParamsText
		if _, where, ok := strings.Cut(e.Message[at:], " into Go struct field "); ok {
			field, _, _ := strings.Cut(where, " ")
			clean.Message += ": the wrong type of " + aai.CleanLabel(field[strings.LastIndex(field, ".")+1:], 60)
		}
	}
	return &clean
}

const (
	invalidParamsText = "the parameters have not the form that this method takes"
	maxMethod         = 100 // bytes of a method name that errors repeat
)
