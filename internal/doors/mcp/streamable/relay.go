package streamable

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"sync"
	"time"

	"github.com/gybob/aai-gateway/internal/doors/httpdoor"
)

// A Relay serves MCP clients over Streamable HTTP, and gives each conversation a gateway of its
// own, to which it passes the requests. A session is a conversation; the requests of one caller
// in the versions without sessions are another one. A conversation ends when its client ends
// it, when it was idle for too long, when its gateway ends, or with the relay.
type Relay struct {
	*httpdoor.Server
	cfg  RelayConfig
	idle time.Duration

	mu       sync.Mutex
	sessions map[string]*conversation // by session id
	modern   map[string]*conversation // those without a session, by principal
	all      map[*conversation]bool
	ended    bool
	running  sync.WaitGroup // of conversations
}

// A RelayConfig configures a Relay.
type RelayConfig struct {
	// Start starts the gateway of a conversation of the principal; ctx is of the request.
	Start func(ctx context.Context, principal string) (Upstream, error)
	// Most limits the conversations at once, MostOfCaller those of one caller.
	Most, MostOfCaller int
	Log                *slog.Logger
}

// An Upstream is the running gateway of one conversation.
type Upstream struct {
	Transport http.RoundTripper // passes requests to it
	Token     string            // the bearer token that it expects
	End       func()            // ends it; may be called several times
	Ended     <-chan struct{}   // closed when it has ended
}

type conversation struct {
	principal string
	upstream  Upstream
	ready     chan struct{} // closed when upstream or err is set
	err       error
	session   string // its id; "" without one. Relay.mu guards it and users.
	users     int    // open requests
	timer     *time.Timer
}

// NewRelay returns a relay; of the limits in cfg only SessionIdle applies.
func NewRelay(cfg Config, relay RelayConfig) (*Relay, error) {
	h := &Relay{cfg: relay, idle: cfg.Limits.withDefaults().SessionIdle, sessions: map[string]*conversation{}, modern: map[string]*conversation{}, all: map[*conversation]bool{}}
	served, err := httpdoor.New(cfg.HTTP, httpdoor.Hooks{Log: relay.Log, CORS: corsPolicy(), RefusalBody: refusalBody, Shutdown: h.end})
	if err != nil {
		return nil, err
	}
	h.Server = served
	h.Handle(mcpPath, h.serve)
	refuseOtherPaths(h.Server)
	return h, nil
}

func (h *Relay) serve(w http.ResponseWriter, r *http.Request) {
	x, id := httpdoor.FromContext(r.Context()), r.Header.Get(headerSession)
	var body []byte
	var opens bool
	if r.Method == http.MethodGet {
		x.MarkStreaming()
	}
	if r.Method == http.MethodPost {
		var end func()
		if body, opens, end = readPost(h.Server, w, r); end == nil {
			return
		}
		defer end()
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	modern := isModernRequest(r, body)
	if !modern && id == "" && !opens {
		h.Refuse(w, badRequest(noSessionID))
		return
	}
	c, refused := h.find(r.Context(), x.Principal, id, modern)
	if refused != nil {
		h.Refuse(w, *refused)
		return
	}
	defer h.release(c, r.Method == http.MethodDelete)
	select {
	case <-c.ready:
	case <-r.Context().Done():
		return
	}
	if c.err != nil {
		h.Refuse(w, httpdoor.Refusal{Status: http.StatusServiceUnavailable, Message: "the desktop of this conversation did not start: " + c.err.Error()})
		return
	}
	answer := newResponseWriter(w, h.Limits().WriteTimeout, Limits{}.withDefaults().KeepAlive)
	defer answer.end()
	h.proxy(c).ServeHTTP(answer, r)
}

// find returns the conversation of a request with one more user: that of the session, or of the
// principal's modern requests, or a new one.
func (h *Relay) find(ctx context.Context, principal, id string, modern bool) (*conversation, *httpdoor.Refusal) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.sessions[id]
	if modern {
		c = h.modern[principal]
	}
	switch {
	case c != nil && c.principal == principal:
		c.users++
		c.timer.Stop()
		return c, nil
	case id != "" && !modern:
		refused := noSession(unknownSession)
		return nil, &refused
	case h.ended || len(h.all) >= h.cfg.Most:
		return nil, &httpdoor.Refusal{Status: http.StatusServiceUnavailable, RetryAfter: time.Minute, Message: "too many conversations have a desktop; end one by DELETE, or wait until one expires"}
	case h.countOf(principal) >= h.cfg.MostOfCaller:
		refused := httpdoor.TooManyRequests("too many conversations of this caller have a desktop; end one by DELETE, or wait until one expires")
		return nil, &refused
	}
	c = &conversation{principal: principal, ready: make(chan struct{}), users: 1}
	c.timer = time.AfterFunc(time.Hour, func() { h.expire(c) })
	c.timer.Stop()
	if modern {
		h.modern[principal] = c
	}
	h.all[c] = true
	h.running.Go(func() { h.run(context.WithoutCancel(ctx), c) })
	return c, nil
}

// countOf returns the number of the principal's conversations. The caller holds h.mu.
func (h *Relay) countOf(principal string) (n int) {
	for c := range h.all {
		if c.principal == principal {
			n++
		}
	}
	return n
}

// run starts the gateway of a conversation, and waits until it has ended.
func (h *Relay) run(ctx context.Context, c *conversation) {
	c.upstream, c.err = h.cfg.Start(ctx, c.principal)
	close(c.ready)
	if c.err != nil {
		h.cfg.Log.Warn("the desktop of a conversation did not start", "cause", c.err)
	} else {
		h.mu.Lock()
		ended := h.ended
		h.mu.Unlock()
		if ended {
			c.upstream.End()
		}
		<-c.upstream.Ended
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.all, c)
	c.timer.Stop()
	delete(h.sessions, c.session)
	if h.modern[c.principal] == c {
		delete(h.modern, c.principal)
	}
}

// release reverts find. The conversation ends at once if its client has ended it or has opened no
// session, and otherwise after it was idle.
func (h *Relay) release(c *conversation, deleted bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c.users--
	switch {
	case deleted, c.users == 0 && c.session == "" && h.modern[c.principal] != c:
		go c.end()
	case c.users == 0:
		c.timer.Reset(h.idle)
	}
}

func (h *Relay) expire(c *conversation) {
	h.mu.Lock()
	idle := c.users == 0
	h.mu.Unlock()
	if idle {
		c.end()
	}
}

// end ends the gateway, once it has started.
func (c *conversation) end() {
	<-c.ready
	if c.err == nil {
		c.upstream.End()
	}
}

// proxy passes requests to the conversation's gateway.
func (h *Relay) proxy(c *conversation) *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Transport: c.upstream.Transport, FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = "http", "127.0.0.1", "127.0.0.1"
			r.Out.Header.Del("Origin") // checked here
			r.Out.Header.Set("Authorization", "Bearer "+c.upstream.Token)
		},
		ModifyResponse: func(r *http.Response) error {
			if id := r.Header.Get(headerSession); id != "" {
				h.mu.Lock()
				defer h.mu.Unlock()
				if c.session == "" {
					c.session, h.sessions[id] = id, c
				}
			}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			h.cfg.Log.Debug("the gateway of a conversation does not answer", "cause", err)
			h.Refuse(w, noSession("the desktop of this conversation has ended; open another session by \"initialize\""))
		},
		ErrorLog: slog.NewLogLogger(h.cfg.Log.Handler(), slog.LevelDebug),
	}
}

// end ends every conversation, and waits for that until late ends.
func (h *Relay) end(late context.Context) {
	h.mu.Lock()
	h.ended = true
	for c := range h.all {
		go c.end()
	}
	h.mu.Unlock()
	ended := make(chan struct{})
	go func() { h.running.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-late.Done():
	}
}
