package webapi

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// TestStyles: values are encoded as in the OpenAPI Specification (3.1.1, "Style Examples"), with
// the members of objects in alphabetical order.
func TestStyles(t *testing.T) {
	object := map[string]any{"R": json.Number("100"), "G": json.Number("200"), "B": json.Number("150")}
	array := []any{"blue", "black", "brown"}
	yes, no := true, false
	s := serve(t, answers(http.StatusOK, "text/plain", "ok"))
	for _, c := range []struct {
		in, style             string
		explode               *bool
		scalar, array, object string
	}{
		{inPath, matrix, &no, ";color=blue", ";color=blue,black,brown", ";color=B,150,G,200,R,100"},
		{inPath, matrix, &yes, ";color=blue", ";color=blue;color=black;color=brown", ";B=150;G=200;R=100"},
		{inPath, label, &no, ".blue", ".blue,black,brown", ".B,150,G,200,R,100"},
		{inPath, label, &yes, ".blue", ".blue.black.brown", ".B=150.G=200.R=100"},
		{inPath, simple, nil, "blue", "blue,black,brown", "B,150,G,200,R,100"},
		{inPath, "", &yes, "blue", "blue,black,brown", "B=150,G=200,R=100"},
		{inQuery, form, &no, "color=blue", "color=blue,black,brown", "color=B,150,G,200,R,100"},
		{inQuery, "", nil, "color=blue", "color=blue&color=black&color=brown", "B=150&G=200&R=100"},
		{inQuery, spaceDelimited, nil, "color=blue", "color=blue%20black%20brown", "color=B%20150%20G%20200%20R%20100"},
		{inQuery, pipeDelimited, &no, "color=blue", "color=blue%7Cblack%7Cbrown", "color=B%7C150%7CG%7C200%7CR%7C100"},
		{inQuery, deepObject, &yes, "color=blue", "color%5B0%5D=blue&color%5B1%5D=black&color%5B2%5D=brown", "color%5BB%5D=150&color%5BG%5D=200&color%5BR%5D=100"},
		{inQuery, styleJSON, nil, "color=%22blue%22", "color=%5B%22blue%22%2C%22black%22%2C%22brown%22%5D", "color=%7B%22B%22%3A150%2C%22G%22%3A200%2C%22R%22%3A100%7D"},
		{inHeader, simple, nil, "blue", "blue,black,brown", "B,150,G,200,R,100"},
		{inHeader, "", &yes, "blue", "blue,black,brown", "B=150,G=200,R=100"},
		{inCookie, form, &no, "color=blue", "color=blue,black,brown", "color=B,150,G,200,R,100"},
		{inCookie, "", nil, "color=blue", "color=blue; color=black; color=brown", "B=150; G=200; R=100"},
	} {
		path := "/"
		if c.in == inPath {
			path = "/{shade}"
		}
		r := recipe(s.URL, http.MethodGet, path, "shade")
		r.HTTP.Send = map[string]aai.SendRecipe{"shade": {In: c.in, Name: "color", Style: c.style, Explode: c.explode}}
		action := compile(t, newDriver(t), r)
		for _, value := range []struct {
			given any
			want  string
		}{{"blue", c.scalar}, {array, c.array}, {object, c.object}} {
			run(t, action, map[string]any{"shade": value.given})
			seen := s.last(t)
			got := map[string]string{
				inPath: strings.TrimPrefix(seen.RequestURI, "/"), inQuery: seen.URL.RawQuery,
				inHeader: seen.Header.Get("Color"), inCookie: seen.Header.Get("Cookie"),
			}[c.in]
			assert.Check(t, is.Equal(got, value.want), "%s %q %v %v", c.in, c.style, c.explode, value.given)
		}
	}
}

// TestNoValueArrivesAsSeveral: a value with the delimiter is rejected, and nothing is sent; the
// commas of other styles arrive unchanged.
func TestNoValueArrivesAsSeveral(t *testing.T) {
	s := serve(t, answers(http.StatusOK, "text/plain", "ok"))
	no := false
	for _, c := range []struct {
		style string
		value any
		want  string // "" if it is rejected
	}{
		{spaceDelimited, []any{"a b", "c"}, ""}, {pipeDelimited, []any{"a|b", "c"}, ""}, {pipeDelimited, map[string]any{"k": "a|b"}, ""},
		{pipeDelimited, []any{"a b", "c"}, "color=a%20b%7Cc"}, {form, []any{"a,b", "c"}, "color=a%2Cb,c"},
	} {
		r := recipe(s.URL, http.MethodGet, "/", "shade")
		r.HTTP.Send = map[string]aai.SendRecipe{"shade": {In: inQuery, Name: "color", Style: c.style, Explode: &no}}
		_, err := compile(t, newDriver(t), r)(t.Context(), &aai.Call{Args: map[string]any{"shade": c.value}})
		if c.want != "" {
			got := s.last(t).URL.RawQuery
			assert.NilError(t, err, "%s %v", c.style, c.value)
			assert.Equal(t, got, c.want, "%s %v", c.style, c.value)
			continue
		}
		e := aai.AsError(err)
		assert.Assert(t, err != nil, "%s %v %+v", c.style, c.value, err)
		assert.Equal(t, e.Code, aai.InvalidParams, "%s %v %+v", c.style, c.value, err)
		assert.Equal(t, e.Delivery, aai.NotDelivered, "%s %v %+v", c.style, c.value, err)
		assert.Assert(t, is.Contains(e.Message, "the separator of values"), "%s %v %+v", c.style, c.value, err)
	}
}

// TestPlaces: each parameter goes to the descriptor's place, under its name there.
func TestPlaces(t *testing.T) {
	s := serve(t, answers(http.StatusOK, "text/plain", "ok"))
	r := recipe(s.URL, http.MethodPost, "/o/{id}", "id", "dry", "trace", "seen", "items", "note")
	r.HTTP.Send = map[string]aai.SendRecipe{
		"dry": {In: "query", Name: "dry_run"}, "trace": {In: "header", Name: "X-Trace"}, "seen": {In: "cookie"}, "items": {In: "body", Name: "lines"},
	}
	run(t, compile(t, newDriver(t), r), map[string]any{
		"id": "a/b", "dry": true, "trace": "t 1", "seen": "a b", "items": []any{"x"}, "note": "n",
	})
	got := s.last(t)
	assert.Check(t, is.Equal(got.RequestURI, "/o/a%2Fb?dry_run=true"), got.Header)
	assert.Check(t, is.Equal(got.Header.Get("X-Trace"), "t 1"), got.Header)
	assert.Check(t, is.Equal(got.Header.Get("Cookie"), "seen=a%20b"), got.Header)
	assert.Check(t, is.Equal(got.body, `{"lines":["x"],"note":"n"}`), got.Header)

	r = recipe(s.URL, http.MethodDelete, "/o", "ids")
	r.HTTP.Send = map[string]aai.SendRecipe{"ids": {In: "body", Whole: true}}
	run(t, compile(t, newDriver(t), r), map[string]any{"ids": []any{json.Number("1"), nil}})
	got = s.last(t)
	assert.Check(t, is.Equal(got.RequestURI, "/o"), got.Header)
	assert.Check(t, is.Equal(got.body, "[1,null]"), got.Header)
	assert.Check(t, is.Equal(got.Header.Get("Content-Type"), "application/json"), got.Header)

	r = recipe(s.URL, http.MethodPost, "/o", "card", "expand")
	r.HTTP.Headers = map[string]string{"Content-Type": "application/x-www-form-urlencoded"}
	r.HTTP.Send = map[string]aai.SendRecipe{"card": {In: "body", Style: deepObject}, "expand": {In: "body", Style: deepObject}}
	run(t, compile(t, newDriver(t), r), map[string]any{"card": map[string]any{"exp": map[string]any{"year": json.Number("2030")}, "no": nil}, "expand": []any{"a&b"}})
	got = s.last(t)
	assert.Check(t, is.Equal(got.body, "card%5Bexp%5D%5Byear%5D=2030&expand%5B0%5D=a%26b"))
}

// TestPlacesAreChecked: a descriptor cannot put a parameter in the place of the gateway's, the
// descriptor's or the user's data.
func TestPlacesAreChecked(t *testing.T) {
	d := newDriver(t)
	key := &aai.AuthRecipe{Kind: aai.AuthAPIKey, In: "header", Name: "X-Key"}
	for _, c := range []struct {
		field, method string
		send          aai.SendRecipe
		auth          *aai.AuthRecipe
	}{
		{"send.q.in", "GET", aai.SendRecipe{}, nil},
		{"send.q.in", "GET", aai.SendRecipe{In: "path"}, nil},
		{"send.q.in", "GET", aai.SendRecipe{In: "body"}, nil},
		{"send.q.style", "GET", aai.SendRecipe{In: "query", Style: "matrix"}, nil},
		{"send.q.style", "GET", aai.SendRecipe{In: "header", Style: "form"}, nil},
		{"send.q.whole", "GET", aai.SendRecipe{In: "query", Whole: true}, nil},
		{"send.q.name", "GET", aai.SendRecipe{In: "header", Name: "a b"}, nil},
		{"send.q.name", "GET", aai.SendRecipe{In: "header", Name: "host"}, nil},
		{"send.q.name", "GET", aai.SendRecipe{In: "header", Name: "authorization"}, nil},
		{"send.q.name", "GET", aai.SendRecipe{In: "header", Name: "X-HTTP-Method-Override"}, nil},
		{"send.q.name", "GET", aai.SendRecipe{In: "header", Name: "X_HTTP_Method_Override"}, nil},
		{"send.q.name", "GET", aai.SendRecipe{In: "header", Name: "x_forwarded_for"}, nil},
		{"send.q.name", "GET", aai.SendRecipe{In: "header", Name: "X-Original-Host"}, nil},
		{"send.q.name", "GET", aai.SendRecipe{In: "header", Name: "X_Key"}, key},
		{"send.q.name", "POST", aai.SendRecipe{In: "header", Name: "content-type"}, nil},
		{"send.q.name", "GET", aai.SendRecipe{In: "header", Name: "accept"}, nil},
		{"send.q.name", "GET", aai.SendRecipe{In: "header", Name: "x-key"}, key},
		{"parameters", "GET", aai.SendRecipe{In: "query", Name: "key"}, &aai.AuthRecipe{Kind: aai.AuthAPIKey, In: "query", Name: "key"}},
		{"send.q.name", "GET", aai.SendRecipe{In: "cookie", Name: "a=b; c"}, nil},
		{"send.q.in", "GET", aai.SendRecipe{In: "cookie"}, &aai.AuthRecipe{Kind: aai.AuthCookie, Cookies: []string{"sid"}}},
		{"send.q", "GET", aai.SendRecipe{In: "query", Name: "other"}, nil},
		{"send", "POST", aai.SendRecipe{In: "body", Whole: true}, nil},
	} {
		r := recipe("https://api.example.com", c.method, "/{id}", "id", "other", "q")
		r.HTTP.Send, r.HTTP.Auth = map[string]aai.SendRecipe{"q": c.send}, c.auth
		_, err := d.Compile(r)
		e := aai.AsError(err)
		assert.Assert(t, e != nil, "%+v: expected AAI_JSON_INVALID of %s, got %v", c.send, c.field, err)
		assert.Equal(t, e.Code, aai.DescriptorInvalid, "%+v %s %v", c.send, c.field, err)
		assert.Assert(t, strings.HasPrefix(e.Message, c.field+":"), "%+v: expected AAI_JSON_INVALID of %s, got %v", c.send, c.field, err)
	}
}

// TestValuesStayInTheirPlaces: members of an object in the query replace no other parameter and no
// key, and no value breaks a header.
func TestValuesStayInTheirPlaces(t *testing.T) {
	s := serve(t, answers(http.StatusOK, "text/plain", "ok"))
	r := recipe(s.URL, http.MethodGet, "/{p}", "p", "filter", "limit", "h")
	r.HTTP.Send = map[string]aai.SendRecipe{"filter": {In: "query"}, "h": {In: "header"}, "p": {In: "path", Style: label}}
	r.HTTP.Auth = &aai.AuthRecipe{Kind: aai.AuthAPIKey, In: "query", Name: "key"}
	action := compile(t, newDriver(t), r)
	for param, value := range map[string]any{
		"filter": map[string]any{"limit": "9"}, "h": "a\r\nHost: evil", "p": ".",
	} {
		args := map[string]any{"p": "x", param: value}
		e := fail(t, action, args, aai.InvalidParams, aai.NotDelivered)
		assert.Check(t, strings.HasPrefix(e.Message, param+":") || param == "p", "%s %s", param, e.Message)
	}
	assert.Check(t, is.Contains(fail(t, action, map[string]any{"p": "x", "filter": map[string]any{"key": "mine"}}, aai.InvalidParams, aai.NotDelivered).Message, "reserved for the person's key"))
	for _, name := range []string{"key[]", "KEY", "key[0]"} { // which servers treat alike
		fail(t, action, map[string]any{"p": "x", "filter": map[string]any{name: "mine"}}, aai.InvalidParams, aai.NotDelivered)
	}
	n := len(s.requests())
	assert.Check(t, is.Equal(n, 0), "%d requests were sent", n)
}

// TestOneHeaderIsOfOneParameter: header names must differ by more than case.
func TestOneHeaderIsOfOneParameter(t *testing.T) {
	r := recipe("https://api.example.com", http.MethodGet, "/", "a", "b")
	r.HTTP.Send = map[string]aai.SendRecipe{"a": {In: "header", Name: "X-A"}, "b": {In: "header", Name: "x-a"}}
	_, err := newDriver(t).Compile(r)
	assert.Check(t, is.ErrorContains(err, "send.b: expected another place"))
}
