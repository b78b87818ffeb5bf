package webapi

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"aai"
)

// A message is the request of one call, of which any number can be made.
type message struct {
	url  *url.URL
	body []byte // nil for none
}

// message puts the arguments in their places. Its errors are INVALID_PARAMS.
func (t *tool) message(args map[string]any) (*message, error) {
	u, err := t.address.fill(args)
	if err != nil {
		return nil, err
	}
	m := &message{url: u}
	names := t.given(args)
	switch {
	case t.body == inQuery:
		u.RawQuery, err = encodeFields(names, args)
	case t.body == nothing && len(names) == 0:
	case t.body == asFields:
		var fields string
		fields, err = encodeFields(names, args)
		m.body = []byte(fields)
	default:
		m.body, err = encodeObject(names, args)
	}
	if err != nil {
		return nil, err
	}
	return m, t.checkKey(names)
}

// given lists the arguments that are not in the path: those the descriptor names,
// in its order, then others that its schema admits.
func (t *tool) given(args map[string]any) []string {
	var names []string
	for _, name := range t.rest {
		if _, ok := args[name]; ok {
			names = append(names, name)
		}
	}
	if len(names)+len(t.address.params) == len(args) {
		return names
	}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if !slices.Contains(t.recipe.Params, name) {
			names = append(names, name)
		}
	}
	return names
}

// checkKey keeps an argument that the descriptor does not name from standing where
// the person's key goes.
func (t *tool) checkKey(names []string) error {
	auth := t.recipe.HTTP.Auth
	if t.body == inQuery && auth != nil && auth.In == "query" && slices.Contains(names, auth.Name) {
		return aai.Errorf(aai.InvalidParams, "%s: is where the person's key goes; no argument may have the name", aai.CleanLabel(auth.Name, 60))
	}
	return nil
}

// encodeFields spells arguments as in a query: arrays as repeated keys, null not at
// all. A space is "%20", which every server reads.
func encodeFields(names []string, args map[string]any) (string, error) {
	var b strings.Builder
	add := func(name, text string) {
		if b.Len() > 0 {
			b.WriteByte('&')
		}
		b.WriteString(queryEscape(name) + "=" + queryEscape(text))
	}
	for _, name := range names {
		values, many := args[name].([]any)
		if !many {
			values = []any{args[name]}
		}
		for _, value := range values {
			text, scalar := scalarText(value)
			switch {
			case value == nil && !many:
			case !scalar:
				return "", aai.Errorf(aai.InvalidParams, "%s: expected texts, numbers or booleans for the request's query, got %s",
					aai.CleanLabel(name, 60), describe(value))
			default:
				add(name, text)
			}
		}
	}
	return b.String(), nil
}

func queryEscape(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }

func encodeObject(names []string, args map[string]any) ([]byte, error) {
	object := make(map[string]any, len(names))
	for _, name := range names {
		object[name] = args[name]
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(object); err != nil {
		return nil, aai.Errorf(aai.InvalidParams, "the arguments cannot be written as JSON: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// request makes a request of the message, with what the descriptor says and nothing
// of the person.
func (t *tool) request(ctx context.Context, m *message) (*http.Request, error) {
	var body io.Reader
	if m.body != nil {
		body = bytes.NewReader(m.body)
	}
	req, err := http.NewRequestWithContext(ctx, t.method, m.url.String(), body)
	if err != nil {
		return nil, aai.Errorf(aai.InvalidParams, "no request to %s can be made of these arguments", t.address.origin)
	}
	req.Header = t.headers.Clone()
	if m.body != nil && req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}
