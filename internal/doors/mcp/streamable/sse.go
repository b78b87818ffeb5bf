package streamable

import (
	"bytes"
	"crypto/rand"
	"io"
	"net/http"
	"sync"
)

// serveSSE serves the transport of 2024-11-05: a GET holds the session, and messages are
// posted to the address in its first event.
func (h *Server) serveSSE(sse http.Handler) func(http.ResponseWriter, *http.Request, *Exchange) {
	owners := &sseOwners{principals: make(map[string]string)}
	return func(w http.ResponseWriter, r *http.Request, x *Exchange) {
		switch r.Method {
		case http.MethodPost:
			if !owners.owns(x.Principal, r.URL.Query().Get("sessionid")) {
				h.Refuse(w, noSession("there is no such session; open one by GET"))
				return
			}
			body, _, end := readPost(h.Server, w, r)
			if end == nil {
				return
			}
			x.started = end
			defer end()
			r.Body = io.NopCloser(bytes.NewReader(body))
		case http.MethodGet:
			if refused := h.sessions.reserve(x); refused != nil {
				h.Refuse(w, *refused)
				return
			}
			defer h.sessions.releaseReservation(x)
			x.Conversation = rand.Text()
			var id string
			x.response.onFirstWrite = func(endpoint []byte) { id = owners.add(x.Principal, endpoint) }
			defer func() { owners.remove(id) }()
		}
		sse.ServeHTTP(w, r)
	}
}

// sseOwners maps sessions to their principals: the SDK does not check them.
type sseOwners struct {
	mu         sync.Mutex
	principals map[string]string // the principal, by session
}

// add reads the session's id from the event with the address.
func (o *sseOwners) add(principal string, event []byte) string {
	_, id, _ := bytes.Cut(event, []byte("sessionid="))
	id = bytes.TrimSpace(id)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.principals[string(id)] = principal
	return string(id)
}

func (o *sseOwners) remove(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.principals, id)
}

func (o *sseOwners) owns(principal, id string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	owner, known := o.principals[id]
	return known && owner == principal
}
