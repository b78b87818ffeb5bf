package webapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway"
)

func TestCompileNamesTheField(t *testing.T) {
	d := newDriver(t)
	for _, c := range []struct {
		field  string
		change func(*aai.Recipe)
	}{
		{"execution", func(r *aai.Recipe) { r.HTTP = nil }},
		{"method", func(r *aai.Recipe) { r.HTTP.Method = "get" }},
		{"method", func(r *aai.Recipe) { r.HTTP.Method = "CONNECT" }},
		{"method", func(r *aai.Recipe) { r.HTTP.Method = "GET / HTTP/1.1\r\nHost: evil" }},
		{"output_parser", func(r *aai.Recipe) { r.OutputParser = "xml" }},
		{"parameters", func(r *aai.Recipe) { r.Params = []string{"id", "x", "id"} }},
		{"base_url", func(r *aai.Recipe) { r.HTTP.BaseURL = "" }},
		{"base_url", func(r *aai.Recipe) { r.HTTP.BaseURL = "api.example.com" }},
		{"base_url", func(r *aai.Recipe) { r.HTTP.BaseURL = "//api.example.com" }},
		{"base_url", func(r *aai.Recipe) { r.HTTP.BaseURL = "http://api.example.com" }},
		{"base_url", func(r *aai.Recipe) { r.HTTP.BaseURL = "http://127.0.0.1.example.com" }},
		{"base_url", func(r *aai.Recipe) { r.HTTP.BaseURL = "ftp://127.0.0.1" }},
		{"base_url", func(r *aai.Recipe) { r.HTTP.BaseURL = "file:///etc/passwd" }},
		{"base_url", func(r *aai.Recipe) { r.HTTP.BaseURL = "https://ann:secret@api.example.com" }},
		{"base_url", func(r *aai.Recipe) { r.HTTP.BaseURL = "https://api.example.com?x=1" }},
		{"base_url", func(r *aai.Recipe) { r.HTTP.BaseURL = "https://api.example.com?" }},
		{"base_url", func(r *aai.Recipe) { r.HTTP.BaseURL = "https://api.example.com#x" }},
		{"base_url", func(r *aai.Recipe) { r.HTTP.BaseURL = "https://api.example.com/a/../b" }},
		{"base_url", func(r *aai.Recipe) { r.HTTP.BaseURL = "https://api.example.com/a/%2e%2e/b" }},
		{"base_url", func(r *aai.Recipe) { r.HTTP.BaseURL = "https://api.example.com/a//b" }},
		{"base_url", func(r *aai.Recipe) { r.HTTP.BaseURL = "https://аpple.com" }}, // a Cyrillic а
		{"base_url", func(r *aai.Recipe) { r.HTTP.BaseURL = "https://[fe80::1%25eth0]" }},
		{"base_url", func(r *aai.Recipe) { r.HTTP.BaseURL = "https://api.example.com:x" }},
		{"path", func(r *aai.Recipe) { r.HTTP.Path = "" }},
		{"path", func(r *aai.Recipe) { r.HTTP.Path = "items" }},
		{"path", func(r *aai.Recipe) { r.HTTP.Path = "//evil.example.com/" }},
		{"path", func(r *aai.Recipe) { r.HTTP.Path = `/\evil.example.com` }},
		{"path", func(r *aai.Recipe) { r.HTTP.Path = "/a/../b" }},
		{"path", func(r *aai.Recipe) { r.HTTP.Path = "/a/%2E%2e" }},
		{"path", func(r *aai.Recipe) { r.HTTP.Path = "/a/..%2fb" }},
		{"path", func(r *aai.Recipe) { r.HTTP.Path = "/a/." }},
		{"path", func(r *aai.Recipe) { r.HTTP.Path = "/a?admin=1" }},
		{"path", func(r *aai.Recipe) { r.HTTP.Path = "/a#b" }},
		{"path", func(r *aai.Recipe) { r.HTTP.Path = "/a%zz" }},
		{"path", func(r *aai.Recipe) { r.HTTP.Path = "/{nobody}" }},
		{"path", func(r *aai.Recipe) { r.HTTP.Path = "/{id" }},
		{"path", func(r *aai.Recipe) { r.HTTP.Path = "/id}" }},
		{"path", func(r *aai.Recipe) { r.HTTP.Path = "/{}" }},
		{"path", func(r *aai.Recipe) { r.HTTP.Path = "/{{id}}" }},
		{"headers.Content-Type", func(r *aai.Recipe) {
			r.HTTP.Method, r.HTTP.Headers = http.MethodPost, map[string]string{"Content-Type": "text/xml"}
		}},
		{"headers.x-a", func(r *aai.Recipe) { r.HTTP.Headers = map[string]string{"X-A": "1", "x-a": "2"} }},
		{"headers.X-Key", func(r *aai.Recipe) {
			r.HTTP.Headers = map[string]string{"X-Key": "mine"}
			r.HTTP.Auth = &aai.AuthRecipe{Kind: aai.AuthAPIKey, In: "header", Name: "x-key"}
		}},
		{"parameters", func(r *aai.Recipe) {
			r.HTTP.Auth = &aai.AuthRecipe{Kind: aai.AuthAPIKey, In: "query", Name: "q"}
		}},
	} {
		r := recipe("https://api.example.com/v1", http.MethodGet, "/items/{id}", "id", "q")
		c.change(r)
		action, err := d.Compile(r)
		e := aai.AsError(err)
		if action != nil || e == nil || e.Code != aai.DescriptorInvalid || !strings.HasPrefix(e.Message, c.field+":") {
			t.Errorf("expected AAI_JSON_INVALID of %s for %+v, got %v", c.field, r.HTTP, err)
		}
		if e != nil && strings.Contains(e.Message, "secret") {
			t.Errorf("a password is told: %s", e.Message)
		}
	}
}

func TestCompileTakes(t *testing.T) {
	d := newDriver(t)
	for _, c := range []struct{ base, path string }{
		{"https://api.example.com", "/"},
		{"https://api.example.com/", "/items/"},
		{"https://api.example.com:8443/v1/", "/items/{id}"},
		{"HTTPS://API.example.com/v1", "/items/{id}.json"},
		{"https://xn--pple-43d.com", "/items/{id}:cancel"},
		{"https://[2001:db8::1]/v1", "/{id}-{q}"},
		{"http://localhost:8080", "/a%20b/{id}"},
		{"http://127.0.0.1:8080/x", "/käse"},
		{"http://[::1]", "/a..b/..."},
	} {
		_, err := d.Compile(recipe(c.base, http.MethodGet, c.path, "id", "q"))
		assert.Check(t, err, "%s %s", c.base, c.path)
	}
}

// A driver without a client reaches nothing, and fails at Compile.
func TestWithoutAClient(t *testing.T) {
	_, err := New(Config{}).Compile(recipe("https://api.example.com", http.MethodGet, "/"))
	e := aai.AsError(err)
	assert.Assert(t, e != nil, err)
	assert.Equal(t, e.Code, aai.PermissionDenied, err)
}

func TestOriginOf(t *testing.T) {
	for base, want := range map[string]string{
		"https://API.example.com:443/v1": "https://api.example.com",
		"https://api.example.com:8443":   "https://api.example.com:8443",
		"http://localhost:80":            "http://localhost",
		"http://[::1]:8080/":             "http://[::1]:8080",
	} {
		a, err := newBase(base, "")
		assert.NilError(t, err, "%s %+v", base, a)
		assert.Equal(t, a.origin, want, "%s %+v", base, a)
	}
}

// eventRecipe returns a recipe for an event of the stream at /events.
func eventRecipe(base, event, kind string) *aai.Recipe {
	r := recipe(base, http.MethodGet, "/events")
	r.Event, r.HTTP.Event = event, kind
	return r
}

// listen receives events until the end of the test. It returns them, and the end of the source.
func listen(t *testing.T, d *Driver, recipes ...*aai.Recipe) (<-chan aai.Event, <-chan error) {
	t.Helper()
	source, err := d.CompileEvents(recipes)
	assert.NilError(t, err)
	reported, ended := make(chan aai.Event, 100), make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	t.Cleanup(func() {
		cancel()
		<-done
	})
	go func() {
		defer close(done)
		ended <- source(ctx, func() {}, func(e aai.Event) { reported <- e })
	}()
	return reported, ended
}

func nextEvent(t *testing.T, reported <-chan aai.Event, ended <-chan error) aai.Event {
	t.Helper()
	select {
	case e := <-reported:
		return e
	case err := <-ended:
		t.Fatalf("the source ended: %v", err)
	case <-time.After(time.Minute):
		t.Fatal("no event")
	}
	return aai.Event{}
}

// stream writes messages and leaves the stream open until the client goes.
func stream(w http.ResponseWriter, r *http.Request, stays bool, messages ...string) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	for _, m := range messages {
		_, _ = fmt.Fprint(w, m)
	}
	w.(http.Flusher).Flush()
	if stays {
		<-r.Context().Done()
	}
}

func TestEventsOfAStream(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		stream(w, r, true, ": hello\n\n", "event: mail\r\ndata: {\"id\": 7,\r\ndata: \"from\": \"Ann\"}\r\n\r\n", "event: other\ndata: x\n\n",
			"data: plain\n\n", "event: mail\ndata: "+strings.Repeat("x", maxEventBytes+1)+"\n\n", "event: mail\ndata: [1]\n\n")
	})
	reported, ended := listen(t, newDriver(t), eventRecipe(s.URL, "new_mail", "mail"), eventRecipe(s.URL, "said", "message"))
	for _, want := range []string{
		"new_mail map[from:Ann id:7]", "said map[data:plain]", "new_mail map[omitted:the message has more than 262144 bytes]", "new_mail map[data:[1]]",
	} {
		e := nextEvent(t, reported, ended)
		assert.Check(t, is.Equal(fmt.Sprint(e.Type, " ", e.Fields), want), "%s %v", e.Type, e.Fields)
	}
	n := len(s.requests())
	assert.Check(t, is.Equal(n, 1), "%d streams are open", n)
	accept := s.requests()[0].Header.Get("Accept")
	assert.Check(t, is.Equal(accept, "text/event-stream"), "the request accepts %q", accept)
}

// A stream that ends is resumed after its last message, with the login.
func TestEventsAreResumed(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer k" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if last := r.Header.Get("Last-Event-ID"); last != "" {
			stream(w, r, true, "data: after "+last+"\n\n")
			return
		}
		stream(w, r, false, "id: 41\ndata: first\n\n")
	})
	config := fast(plainClient(t))
	config.Authorizer = &login{add: func(_ *aai.Recipe, req *http.Request, _ int) error {
		req.Header.Set("Authorization", "Bearer k")
		return nil
	}}
	r := eventRecipe(s.URL, "said", "message")
	r.HTTP.Auth = &aai.AuthRecipe{Kind: aai.AuthBearer}
	reported, ended := listen(t, New(config), r)
	for _, want := range []string{"map[data:first]", "map[data:after 41]"} {
		e := nextEvent(t, reported, ended)
		assert.Check(t, is.Equal(fmt.Sprint(e.Fields), want), e.Fields)
	}
}

func TestEventsThatCannotBeReceived(t *testing.T) {
	for says, handle := range map[string]http.HandlerFunc{
		"expected an event stream": func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "{}") },
		"404 Not Found":            func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) },
		"the event stream of":      func(w http.ResponseWriter, r *http.Request) { stream(w, r, false, "data: no id\n\n") },
	} {
		s := serve(t, handle)
		_, ended := listen(t, newDriver(t), eventRecipe(s.URL, "said", "message"))
		select {
		case err := <-ended:
			assert.Check(t, is.ErrorContains(err, says))
		case <-time.After(time.Minute):
			t.Errorf("%s: the source has not ended", says)
		}
	}
}

// Invalid JSON is still the response of a server that has acted: it becomes text, with a warning
// that names the error.
func TestAttackJSON(t *testing.T) {
	for _, c := range []struct{ name, body, warning string }{
		{"truncated", `{"a": [1, 2`, "ends in the middle"},
		{"truncated in a string", `{"a": "b`, "ends in the middle"},
		{"no JSON", `<html>`, "invalid JSON at byte 0"},
		{"two values", `{} {}`, "unexpected data after its end"},
		{"duplicate name", `{"path": "/good", "path": "/evil"}`, "a name twice"},
		{"the same name in an escape", `{"path": 1, "p\u0061th": 2}`, "a name twice"},
		{"the same name once it is cleaned", "{\"path\": 1, \"pa\u200bth\": 2}", "a name twice"},
		{"invalid UTF-8", "{\"a\": \"\xff\"}", "invalid JSON at byte"},
		{"a lone surrogate", `{"a": "\ud800"}`, "invalid JSON at byte"},
		{"NaN", `{"a": NaN}`, "invalid JSON at byte"},
		{"comment", `{"a": 1} // one`, "unexpected data after its end"},
		{"deep", strings.Repeat("[", 101) + strings.Repeat("]", 101), "nested more than 100 deep"},
		{"very deep", strings.Repeat("[", 100_000), "nested more than 100 deep"},
		{"many values", "[" + strings.Repeat("0,", 250_000) + "0]", "more than 250000 values"},
		{"a number beyond measure", "1e999999999", "out of range"},
		{"a number next to nothing", "1E-999999999", "out of range"},
		{"a number as long as a book", strings.Repeat("9", 401), "out of range"},
	} {
		t.Run(c.name, func(t *testing.T) {
			result := answer(t, http.StatusOK, "application/json", c.body)
			assert.Assert(t, result.Data == nil, "got %.200v, want the warning %q", result, c.warning)
			assert.Assert(t, is.Contains(result.Warning, c.warning), "%.200v", result)
			if want := strings.NewReplacer("\u200b", "", "\xff", "").Replace(c.body); result.Text != want && len(want) < 100 {
				t.Errorf("got the text %q", result.Text)
			}
		})
	}
}

func TestDeepAndWideJSONWithinTheLimits(t *testing.T) {
	deep := strings.Repeat("[", 100) + strings.Repeat("]", 100)
	if result := answer(t, http.StatusOK, "application/json", deep); result.Data == nil || result.Warning != "" {
		t.Errorf("got %+v", result)
	}
	var wide strings.Builder
	for i := range 100_000 {
		wide.WriteString(`,"` + strconv.Itoa(i) + `":0`)
	}
	result := answer(t, http.StatusOK, "application/json", "{"+wide.String()[1:]+"}")
	object, _ := result.Data.(map[string]any)
	assert.Assert(t, is.Len(object, 100_000))
	assert.Assert(t, !strings.Contains(result.Text, "\n"), "got %d members", len(object))
}

// jsonValues draws JSON values as encoding/json reads them with UseNumber.
func jsonValues(depth int) *rapid.Generator[any] {
	text := rapid.StringOf(rapid.RuneFrom([]rune("ab \"\\/<ü日\n\t")))
	leaves := []*rapid.Generator[any]{
		rapid.Just[any](nil),
		rapid.Map(rapid.Bool(), func(b bool) any { return b }),
		rapid.Map(text, func(s string) any { return s }),
		rapid.Map(rapid.Int64(), func(n int64) any { return json.Number(strconv.FormatInt(n, 10)) }),
		rapid.Map(rapid.Float64Range(-1e300, 1e300), func(f float64) any {
			return json.Number(strconv.FormatFloat(f, 'g', -1, 64))
		}),
	}
	if depth > 0 {
		inner := jsonValues(depth - 1)
		leaves = append(leaves,
			rapid.Map(rapid.SliceOfN(inner, 0, 4), func(v []any) any { return v }),
			rapid.Map(rapid.MapOfN(text, inner, 0, 4), func(v map[string]any) any { return v }),
		)
	}
	return rapid.OneOf(leaves...)
}

// readJSON returns the same values as encoding/json, and an equivalent text.
func TestJSONProperty(t *testing.T) {
	same := func(s string) string { return s }
	rapid.Check(t, func(rt *rapid.T) {
		want := jsonValues(4).Draw(rt, "value")
		source, err := json.Marshal(want)
		assert.NilError(rt, err)
		value, text, err := readJSON(string(source), same)
		assert.NilError(rt, err, "%s %#v", source, value)
		assert.Assert(rt, reflect.DeepEqual(value, want), "%s was read as %#v, %v", source, value, err)
		assert.Assert(rt, reflect.DeepEqual(decodeExactly(rt, text), want), "%s was spelled %s", source, text)
	})
}

func decodeExactly(t interface{ Fatal(...any) }, text string) (value any) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		t.Fatal(err)
	}
	return value
}

// For every input, readJSON terminates and agrees with encoding/json about valid JSON, except
// where it is stricter.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{`{}`, `[1,"a",null,true]`, `{"a":{"b":[]}}`, `1e400`, "\"\x00\"", `{"a":1,"a":2}`, `"\ud800"`, "\xff"} {
		f.Add([]byte(seed))
	}
	x := &exchange{}
	f.Fuzz(func(t *testing.T, body []byte) {
		value, text, err := readJSON(string(body), x.clean)
		if err != nil {
			return
		}
		assert.Assert(t, json.Valid(body), "%q is not JSON, but was read as %#v", body, value)
		assert.Assert(t, reflect.DeepEqual(decodeExactly(t, text), value), "%q was spelled %s", body, text)
		assert.Assert(t, !bytes.ContainsRune([]byte(text), 0x1b), "%q was not cleaned: %q", body, text)
		assert.Assert(t, !strings.Contains(text, "\u202e"), "%q was not cleaned: %q", body, text)
	})
}
