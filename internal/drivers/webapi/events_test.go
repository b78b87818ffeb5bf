package webapi

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

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
