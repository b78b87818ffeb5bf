package webapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/gybob/aai-gateway"
)

// message is the content of a call's request. It can produce several requests.
type message struct {
	url     *url.URL
	headers http.Header // of parameters
	body    []byte      // nil for none
}

// message puts the arguments in their places. Its errors are INVALID_PARAMS.
func (t *tool) message(ctx context.Context, call *aai.Call) (*message, error) {
	args, files := call.Args, &uploads{tool: t, caller: call.Caller}
	u, err := t.fill(args)
	if err != nil {
		return nil, err
	}
	m := &message{url: u, headers: http.Header{}}
	var cookies, fields []pair
	query := t.fixedQuery()
	var parts []formPart
	members := make(map[string]any)
	for _, name := range t.given(args) {
		p, value := t.placeOf(name), args[name]
		var err error
		switch {
		case p.in == inQuery:
			query, err = t.addPairs(query, name, p, value)
		case p.in == inHeader:
			err = m.addHeader(p, value)
		case p.in == inCookie:
			cookies, err = p.addPairs(cookies, value)
		case p.isBody:
			err = t.addWholeBody(ctx, m, files, p, value)
		case t.body == asFields:
			fields, err = p.addPairs(fields, value)
		case t.body == asParts:
			parts, err = files.addParts(ctx, parts, p, value)
		default:
			members[p.name] = value
		}
		if err != nil {
			return nil, aai.Errorf(aai.InvalidParams, "%s: %w, got %s", aai.CleanLabel(name, 60), err, describe(value))
		}
	}
	u.RawQuery = joined(query, "&")
	if len(cookies) > 0 {
		m.headers.Set("Cookie", joined(cookies, "; "))
	}
	if t.body == asParts && !t.bodyIsParam {
		return m, m.setParts(parts)
	}
	return m, t.fillBody(m, fields, members)
}

// addWholeBody sets the body from the parameter that is all of it.
func (t *tool) addWholeBody(ctx context.Context, m *message, files *uploads, p paramPlace, value any) (err error) {
	if t.body == asJSON {
		m.body, err = encodeJSON(value)
		return err
	}
	if t.body == asIs && p.file {
		var file *upload
		if file, err = files.open(ctx, value); err == nil {
			m.body = file.content
		}
		return err
	}
	if t.body == asIs {
		text, scalar := scalarText(value)
		if m.body = []byte(text); !scalar {
			return errors.New("expected a text for the body")
		}
		return nil
	}
	members, is := value.(map[string]any)
	if !is {
		return errors.New("expected an object for the form")
	}
	var fields []pair
	var parts []formPart
	for _, name := range slices.Sorted(maps.Keys(members)) {
		field := paramPlace{in: inBody, name: name, style: form, explode: true, declared: true}
		if t.body == asParts {
			parts, err = files.addParts(ctx, parts, field, members[name])
		} else {
			fields, err = field.addPairs(fields, members[name])
		}
		if err != nil {
			return err
		}
	}
	if t.body == asParts {
		return m.setParts(parts)
	}
	m.body = []byte(joined(fields, "&"))
	return nil
}

// fixedQuery returns the descriptor's own part of the query.
func (t *tool) fixedQuery() []pair {
	var pairs []pair
	for _, name := range slices.Sorted(maps.Keys(t.recipe.HTTP.Query)) {
		pairs = append(pairs, pair{name, queryEscape(name), queryEscape(t.recipe.HTTP.Query[name])})
	}
	return pairs
}

// fillBody encodes the body, if there is one.
func (t *tool) fillBody(m *message, fields []pair, members map[string]any) (err error) {
	switch {
	case t.bodyIsParam || t.body == noBody && len(members) == 0:
	case t.body == asFields:
		m.body = []byte(joined(fields, "&"))
	default:
		if m.body, err = encodeJSON(members); err != nil {
			err = aai.Errorf(aai.InvalidParams, "%w", err)
		}
	}
	return err
}

// given lists the arguments outside the path: first those of the descriptor in its order, then
// others that the schema allows.
func (t *tool) given(args map[string]any) []string {
	var names []string
	for _, name := range t.unplacedParams {
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

func encodeJSON(value any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return nil, fmt.Errorf("cannot be written as JSON: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// request builds an HTTP request from the message and the descriptor, without credentials.
func (t *tool) request(ctx context.Context, m *message) (*http.Request, error) {
	var body io.Reader
	if m.body != nil {
		body = bytes.NewReader(m.body)
	}
	req, err := http.NewRequestWithContext(ctx, t.method, m.url.String(), body)
	if err != nil {
		return nil, aai.Errorf(aai.InvalidParams, "these arguments make no valid request to %s", t.address.origin)
	}
	req.Header = t.headers.Clone()
	maps.Copy(req.Header, m.headers)
	if m.body != nil && req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}
