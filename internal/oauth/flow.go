package oauth

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// flow is one running login. It is independent of the call that began it: it continues until it
// has a token, fails, or times out.
type flow struct {
	realm  *realm
	ends   time.Time // on the real clock
	cancel context.CancelFunc

	ready   chan struct{} // closed when address is set
	address string        // set before ready is closed
	code    string        // to type there; empty in a browser
	shown   bool          // a browser shows it

	done chan struct{} // closed at the end
	err  error         // set before done is closed; nil: the token is stored
}

// flowID returns an ID that logins for the same server and scopes share. Only one of them runs at a time.
func (p *realm) flowID(s *server) string {
	return digest(append([]string{"flow", p.serverID()}, p.scopes(s)...)...)
}

// browserRetryDelay is the time after a failed login in which no call opens another browser
// window. An agent that retries must not fill the screen.
const browserRetryDelay = 30 * time.Second

// failedLogin is the error of a login that the user saw.
type failedLogin struct {
	err error
	at  time.Time
}

// begin starts a login, or returns the running one. asked means that the user requests it now.
func (l *Authorizer) begin(ctx context.Context, p *realm, asked bool) (*flow, error) {
	s, err := l.storedServer(ctx, p)
	if err != nil {
		return nil, err
	}
	id := p.flowID(s)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lifetime.Err() != nil {
		return nil, aai.Errorf(aai.AppNotRunning, "the gateway is closing")
	}
	if f := l.flows[id]; f != nil {
		return f, nil
	}
	if last, found := l.failures[id]; found && !asked && l.now().Sub(last.at) < browserRetryDelay {
		return nil, last.err
	}
	life, cancel := context.WithTimeout(l.lifetime, deviceTime)
	f := &flow{realm: p, ends: time.Now().Add(flowTime), cancel: cancel, ready: make(chan struct{}),
		done: make(chan struct{})}
	l.flows[id] = f
	l.inFlight.Go(func() {
		defer cancel()
		err := l.run(life, f)
		l.mu.Lock()
		delete(l.flows, id)
		delete(l.failures, id)
		if err != nil && f.shown && aai.AsError(err).Code != aai.AuthRequired {
			l.failures[id] = failedLogin{err, l.now()}
		}
		l.mu.Unlock()
		f.err = err
		close(f.done)
	})
	return f, nil
}

// run executes one login.
func (l *Authorizer) run(ctx context.Context, f *flow) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = aai.Errorf(aai.Internal, "the login failed: %v", p)
		}
	}()
	p := f.realm
	s, err := l.discover(ctx, p)
	if err != nil {
		return err
	}
	if s.Client, err = l.identify(ctx, p, s); err != nil {
		return err
	}
	if s.Issuer == "" && s.Callback == "" {
		s.Callback = newCallback()
	}
	if err := l.updateServer(ctx, p, func(kept *server) { *kept = *s }); err != nil {
		return err
	}
	if !l.hasBrowser() && s.Device != "" {
		err = l.authorizeByDevice(ctx, f, s)
	} else {
		err = l.authorizeByCode(ctx, f, s)
	}
	if err != nil {
		l.forget(ctx, p, s, err)
		return p.explain(s, err)
	}
	return nil
}

// keepToken stores the token of a login before its first use.
func (l *Authorizer) keepToken(ctx context.Context, p *realm, s *server, t *token) error {
	ctx = context.WithoutCancel(ctx)
	id := p.tokenID(s, s.Client.ID)
	if err := l.put(ctx, id, t); err != nil {
		return err
	}
	if s.Replaces == "" {
		return nil
	}
	if s.Replaces != id {
		if err := l.drop(ctx, s.Replaces); err != nil {
			return err
		}
	}
	return l.updateServer(ctx, p, func(s *server) { s.Replaces = "" })
}

// newToken returns the record for the token of a login.
func (p *realm) newToken(s *server, key *proofKey) *token {
	return &token{
		Host: p.host(), App: p.recipe.App, Kind: p.auth.Kind, Scopes: p.scopes(s),
		Issuer: s.Issuer, Endpoint: s.Token, Revoke: s.Revoke, Client: s.Client, Resource: p.resource(s), Key: key,
	}
}

// explain converts the error of a login for the caller.
func (p *realm) explain(s *server, err error) error {
	refusal, refused := errors.AsType[*serverError](err)
	switch {
	case refused && refusal.Code == "access_denied":
		return p.deniedError("the login to %s was refused at its page", p.name())
	case refused && (refusal.Code == "unauthorized_client" || refusal.Code == "invalid_client"):
		e := aai.Errorf(aai.AuthInvalid, "the authorization server of %s does not know this gateway as %q: %s", p.name(),
			aai.CleanLabel(s.Client.ID, 100), refusal)
		e.Hint = "Ask the person to register the gateway there as a native app, and to run: " + p.command() +
			" --client-id ID"
		return e
	case refused:
		return aai.Errorf(aai.AuthInvalid, "the login to %s failed: %s", p.name(), refusal)
	case errors.Is(err, context.Canceled):
		return p.loginRequired(aai.AuthRequired, "the login to %s was cancelled", p.name())
	case errors.Is(err, loginTimeoutError{}):
		e := p.loginRequired(aai.AuthRequired, "the login to %s was not finished in time", p.name())
		if s.Client.Source == fromProtocol {
			e.Hint += " If its page does not know this client: " + p.command() + " --client-id ID"
		}
		return e
	}
	return err
}

// loginTimeoutError reports that the login exceeded its time limit.
type loginTimeoutError struct{}

func (loginTimeoutError) Error() string { return "the login took too long" }

// Is reports whether target is context.DeadlineExceeded.
func (loginTimeoutError) Is(target error) bool { return target == context.DeadlineExceeded }

// logIn begins a login, or joins the running one, and waits for it within ctx. It calls announce,
// if not nil, once with the address to visit.
func (l *Authorizer) logIn(ctx context.Context, p *realm, announce func(f *flow)) error {
	if (l.cfg.ShortLived || aai.IsNonInteractive(ctx)) && announce == nil {
		e := p.loginRequired(aai.AuthRequired, "a person must log in to %s first", p.name())
		e.Hint = "To log in, run: " + p.command()
		return e
	}
	f, err := l.begin(ctx, p, announce != nil)
	if err != nil {
		return err
	}
	patience, cancel := l.shortenDeadline(ctx)
	defer cancel()
	begun := time.Now()
	ticks := time.NewTicker(time.Second)
	defer ticks.Stop()
	ready := f.ready
	for {
		select {
		case <-f.done:
			return f.err
		case <-ready:
			ready = nil
			if announce != nil {
				announce(f)
			} else if !f.shown {
				return p.visitError(f) // only the caller can show the page
			}
			l.reportProgress(ctx, p, f, begun)
		case <-ticks.C:
			l.reportProgress(ctx, p, f, begun)
		case <-patience.Done():
			if ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return ctx.Err()
			}
			return p.visitError(f)
		}
	}
}

// shortenDeadline returns a context that ends a little before ctx, to leave time for the error.
func (l *Authorizer) shortenDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, limited := ctx.Deadline()
	if !limited {
		return context.WithCancel(ctx)
	}
	left := time.Until(deadline)
	return context.WithDeadline(ctx, deadline.Add(-min(2*time.Second, left/4)))
}

// reportProgress reports the state of the login to the waiting caller.
func (l *Authorizer) reportProgress(ctx context.Context, p *realm, f *flow, begun time.Time) {
	what, total := "Finding out how to log in to "+p.name(), 0.0
	select {
	case <-f.ready:
		total = f.ends.Sub(begun).Seconds()
		what = "Waiting for the person to log in to " + p.name()
		switch {
		case f.code != "":
			what += fmt.Sprintf(": visit %s and type %s", f.address, f.code)
		case !f.shown:
			what += ": visit " + f.address
		default:
			what += " in the browser"
		}
	default:
	}
	gateway.Progress(ctx, time.Since(begun).Seconds(), total, what)
}

// visitError returns the error of a call during a login, with the next step for the user.
func (p *realm) visitError(f *flow) error {
	select {
	case <-f.ready:
	default:
		return p.loginRequired(aai.AuthRequired, "a person must log in to %s; the login is being prepared", p.name())
	}
	e := aai.Errorf(aai.AuthRequired, "a person must log in to %s first", p.name())
	e.LoginURL = f.address
	switch {
	case f.code != "":
		e.Message += fmt.Sprintf(", at %s with the code %s", f.address, f.code)
		e.Hint = fmt.Sprintf("Show the person the page and the code %s. When they are done, make the same call again.",
			f.code)
	case f.shown:
		e.Hint = "Its page is open in the person's browser. When they are done, make the same call again."
	default:
		e.Hint = "Ask the person to visit the page in a browser on this computer within five minutes, or to run: " +
			p.command() + ". When they are done, make the same call again."
	}
	return e
}

// publish sets the address to visit.
func (f *flow) publish(visit, code string, shown bool) {
	f.address, f.code, f.shown = visit, code, shown
	close(f.ready)
}
