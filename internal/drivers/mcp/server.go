package mcp

import (
	"bufio"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/process"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

const (
	// maxStart limits the start of a server, which may have to download its program the first
	// time. A waiting call keeps its own deadline.
	maxStart = 3 * time.Minute
	// maxBackOff is the longest pause before a crashing server restarts.
	maxBackOff = 5 * time.Minute
	freeStarts = 2 // failures before the first pause
)

// server is an MCP server, running or not.
type server struct {
	driver *Driver
	recipe *aai.Recipe
	digest string

	mu        sync.Mutex
	live      *session      // nil: not running
	starting  *pendingStart // nil: not starting
	users     int
	idle      *time.Timer
	failures  int       // consecutive ones
	restUntil time.Time // no start before
	closed    bool
}

// pendingStart is a start for which several calls may wait.
type pendingStart struct {
	done    chan struct{}
	cancel  context.CancelFunc
	session *session
	err     *aai.Error
}

// session is the connection to a running server.
type session struct {
	app          string
	server       string // digest of the recipe
	client       *sdk.ClientSession
	wire         *wire               // nil over HTTP
	process      *process.Subprocess // nil over HTTP
	stderr       *stderrLog          // nil over HTTP
	secrets      sanitize.SecretSet  // of the server's variables and the requests to it
	requests     *serverRequests
	checkAllowed func(ctx context.Context, ask string) error // returns an error if the permission was revoked
	asker        aai.Asker                                   // nil: no windows
	fault        atomic.Pointer[serverFault]                 // reason for ending an HTTP session
	lost         atomic.Bool                                 // the server at an address does not know the session any more
	ended        chan struct{}
	closing      sync.Once

	listing         atomic.Pointer[listing]
	stale           atomic.Bool // the server announced a changed listing
	following       atomic.Bool // a follow is pending
	listed          atomic.Int64
	asking          sync.Mutex // held while listing
	notices         notices
	progressByToken sync.Map // contexts by progress token
}

func (s *session) hasEnded() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

func (s *session) endFault() *serverFault {
	if s.wire == nil {
		return s.fault.Load()
	}
	return s.wire.why()
}

// acquire returns the server's session and starts the server if needed. The caller must call
// release.
func (s *server) acquire(ctx context.Context) (*session, *aai.Error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, undeliveredError(aai.AppNotRunning, "", "the gateway is shutting down, and starts no server")
	}
	if s.live != nil && s.users == 0 && s.driver.requestsChanged(s.live) {
		go s.live.close(true)
		s.live = nil
	}
	if s.live != nil && !s.live.hasEnded() && s.live.endFault() == nil {
		defer s.mu.Unlock()
		s.users++
		gateway.RedactCredentials(ctx, &s.live.secrets)
		return s.live, nil
	}
	f := s.starting
	if f == nil {
		if left := time.Until(s.restUntil); left > 0 {
			defer s.mu.Unlock()
			return nil, s.restError(left)
		}
		begun, cancel := s.timeToStart(ctx)
		f = &pendingStart{done: make(chan struct{}), cancel: cancel}
		s.starting = f
		go s.start(begun, f)
	}
	s.users++
	s.mu.Unlock()
	select {
	case <-f.done:
		if f.err != nil {
			s.release()
			return nil, f.err
		}
		gateway.RedactCredentials(ctx, &f.session.secrets)
		return f.session, nil
	case <-ctx.Done():
		s.release()
		e := undeliveredError(aai.AsError(ctx.Err()).Code, "Try again in a moment: it is still starting.",
			"the MCP server of %s was still starting at the deadline", s.recipe.App)
		return nil, e
	}
}

// timeToStart returns the context of a start. A process continues to start after its callers have left. A server at
// an address may require a login, which the caller must learn before its own deadline.
func (s *server) timeToStart(ctx context.Context) (context.Context, context.CancelFunc) {
	until := time.Now().Add(maxStart)
	if s.recipe.MCP.URL == "" {
		return context.WithDeadline(context.Background(), until)
	}
	if ends, limited := ctx.Deadline(); limited && ends.Before(until) {
		until = ends
	}
	return context.WithDeadline(context.WithoutCancel(ctx), until)
}

// release ends the use that acquire began. An unused server stops after the idle timeout.
func (s *server) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users--; s.users > 0 {
		return
	}
	if s.idle == nil {
		s.idle = time.AfterFunc(s.driver.config.IdleTimeout, s.stopIdle)
	} else {
		s.idle.Reset(s.driver.config.IdleTimeout)
	}
}

// stopIdle stops the server if no call uses it.
func (s *server) stopIdle() {
	s.mu.Lock()
	live := s.live
	if s.users > 0 || live == nil {
		s.mu.Unlock()
		return
	}
	s.live = nil
	s.mu.Unlock()
	live.close(true)
}

// close ends the server permanently.
func (s *server) close() {
	s.mu.Lock()
	s.closed = true
	live, starting := s.live, s.starting
	s.live = nil
	if s.idle != nil {
		s.idle.Stop()
	}
	s.mu.Unlock()
	if starting != nil {
		starting.cancel()
		<-starting.done
		live = starting.session
	}
	if live != nil {
		live.close(true)
	}
}

// start starts the server for all waiting calls.
func (s *server) start(ctx context.Context, f *pendingStart) {
	defer f.cancel()
	session, err := s.open(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.starting = nil
	if err != nil {
		s.failed()
		f.err = err
	} else {
		f.session, s.live = session, session
		go s.watch(session) //nolint:gosec // the session outlives the call that starts it
	}
	close(f.done)
}

// open starts a session and lists the server's tools.
func (s *server) open(ctx context.Context) (*session, *aai.Error) {
	live, transport, err := s.openTransport(ctx)
	if err != nil {
		return nil, err
	}
	client, cause := s.client(live).Connect(ctx, transport, nil)
	if cause != nil {
		e := s.notStarted(ctx, live, cause)
		live.close(false)
		return nil, e
	}
	live.client = client
	go func() {
		_ = client.Wait()
		live.close(false)
	}()
	if p := live.process; p != nil {
		go func() {
			<-p.Exited() // children of the server may hold its pipes open
			live.close(false)
		}()
	}
	if err := s.list(ctx, live); err != nil {
		live.close(false)
		return nil, err
	}
	return live, nil
}

// notStarted returns the error of a failed start.
func (s *server) notStarted(ctx context.Context, live *session, cause error) *aai.Error {
	switch e := live.requestError(ctx, cause); {
	case e.Code == aai.AppNotRunning && e.Hint == hintUnreachable, e.Code == aai.AuthRequired, e.Code == aai.AuthExpired, e.Code == aai.AuthDenied, e.Code == aai.AuthInvalid,
		live.endFault() != nil:
		e.Delivery = aai.NotDelivered
		return e
	}
	e := undeliveredError(aai.AppNotRunning, "The person can run its command, and check the gateway's log.",
		"the MCP server of %s did not start: %s", s.recipe.App, live.quote(cause.Error()))
	if live.process == nil {
		e.Hint = hintUnreachable
	}
	e.Message += live.lastStderr()
	e.Err = cause
	return e
}

// openTransport starts the server's process, or returns the transport to its address.
func (s *server) openTransport(ctx context.Context) (*session, sdk.Transport, *aai.Error) {
	live := &session{app: s.recipe.App, server: s.digest, ended: make(chan struct{}), asker: s.driver.config.Asker,
		requests: s.driver.requestsOf(ctx, s.recipe.App, s.digest)}
	if s.recipe.MCP.URL != "" {
		transport, err := s.overHTTP(ctx, live)
		return live, transport, err
	}
	cmd, err := s.command(ctx, &live.secrets)
	if err != nil {
		return nil, nil, err
	}
	live.stderr = &stderrLog{log: s.driver.log, app: s.recipe.App, secrets: &live.secrets}
	cmd.Stderr = live.stderr
	p, cause := process.Start(cmd, process.Limits{SupervisorCommand: s.driver.config.GuardCommand})
	if cause != nil {
		e := undeliveredError(aai.AppNotRunning, "The person can check the command in the descriptor.",
			"the MCP server of %s did not start: %s", s.recipe.App, live.quote(cause.Error()))
		e.Err = cause
		return nil, nil, e
	}
	live.process = p
	live.wire = &wire{process: p, notices: &live.notices, requests: live.requests, stderr: live.stderr,
		lines: bufio.NewReaderSize(p.Stdout, 64<<10), waiting: make(map[jsonrpc.ID]*rawResult),
		open: make(map[jsonrpc.ID]bool)}
	return live, live.wire, nil
}

// client returns the SDK's client. It offers sampling and elicitation only if the user has allowed
// them, and never roots.
func (s *server) client(live *session) *sdk.Client {
	options := &sdk.ClientOptions{
		Capabilities:   &sdk.ClientCapabilities{},
		MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true}, // see rounds
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			if ctx, ok := live.progressByToken.Load(r.Params.ProgressToken); ok {
				gateway.Progress(ctx.(context.Context), r.Params.Progress, r.Params.Total,
					aai.CleanLabel(live.cleanText(r.Params.Message), 200)) //nolint:forcetypeassert // the map holds only contexts
			}
		},
	}
	s.handleNotices(options, live)
	live.checkAllowed = func(ctx context.Context, ask string) error { return s.driver.checkStillAllowed(ctx, live, ask) }
	live.setCapabilities(options)
	client := sdk.NewClient(&sdk.Implementation{Name: "aai-gateway", Version: s.driver.config.Version}, options)
	client.AddSendingMiddleware(bypassCache)
	if live.wire == nil {
		client.AddReceivingMiddleware(live.limitUnsolicited)
	}
	return client
}

// close ends the session.
func (s *session) close(polite bool) {
	s.closing.Do(func() {
		if s.process != nil {
			s.process.Stop(polite)
		}
		if s.client != nil {
			_ = s.client.Close()
		}
		close(s.ended)
	})
}
