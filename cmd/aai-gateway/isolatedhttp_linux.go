package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/doors/cli"
	"github.com/gybob/aai-gateway/internal/doors/httpdoor"
	"github.com/gybob/aai-gateway/internal/doors/httpdoor/bearer"
	"github.com/gybob/aai-gateway/internal/doors/mcp"
	"github.com/gybob/aai-gateway/internal/doors/mcp/streamable"
	"github.com/gybob/aai-gateway/internal/platform/linux/private"
)

// maxConversations limits the isolated sessions of one gateway over HTTP. Each takes about 100 MB of
// memory and the processor for half a second at its start.
const maxConversations = 16

// maxOfCaller limits those of one caller, so that another one finds room.
const maxOfCaller = 12

// conversationPatience limits the start of a session with its gateway. It expires only on a fault.
const conversationPatience = time.Minute

// Files in the folder of a conversation's session.
const (
	relaySocket = "mcp"      // on which its gateway listens
	relayFile   = "mcp.json" // a relayedCaller, which its gateway removes
)

// A relayedCaller is the single caller of a conversation's gateway, with the token by which it knows
// the process that relays. It implements bearer.Verifier.
type relayedCaller struct{ Token, Principal string }

// Verify implements bearer.Verifier.
func (c relayedCaller) Verify(_ context.Context, token string) (principal string, err error) {
	if subtle.ConstantTimeCompare([]byte(token), []byte(c.Token)) != 1 {
		return "", &bearer.Error{Code: bearer.InvalidToken, Description: "the token is not that of the relaying process"}
	}
	return c.Principal, nil
}

// serveConversations serves agents over HTTP, each conversation by a gateway in an isolated session.
func (p *program) serveConversations(ctx context.Context, f cli.Flags, o cli.ServeOptions) error {
	options, err := p.sessionOptions(*o.Session)
	if err != nil {
		return err
	}
	cfg, err := p.serveConfig(f, o)
	if err != nil {
		return err
	}
	log, closeLog, err := p.logger(cfg)
	if err != nil {
		return err
	}
	defer closeLog.Close() //nolint:errcheck // each line was written
	var running sync.WaitGroup
	defer running.Wait() // each session has a time limit for its end
	start := func(ctx context.Context, principal string) (streamable.Upstream, error) {
		return p.startConversation(ctx, options, principal, &running)
	}
	return p.serveHTTP(ctx, func(c streamable.Config) (httpServer, error) {
		return streamable.NewRelay(c, streamable.RelayConfig{Start: start, Most: maxConversations, MostOfCaller: maxOfCaller, Log: log})
	}, cfg, log)
}

// startConversation starts a gateway in an isolated session, and waits until it listens. running
// counts it until its session is removed.
func (p *program) startConversation(ctx context.Context, o private.Options, principal string, running *sync.WaitGroup) (streamable.Upstream, error) {
	o.Label = cmp.Or(principal, o.Label)
	isolated, err := private.NewIsolated(o)
	if err != nil {
		return streamable.Upstream{}, err
	}
	caller := relayedCaller{Token: rand.Text(), Principal: principal}
	text, err := json.Marshal(caller)
	if err == nil {
		err = os.WriteFile(filepath.Join(isolated.Folder, relayFile), text, 0o600)
	}
	if err != nil {
		_ = isolated.Finish()
		return streamable.Upstream{}, err
	}
	ctx, end := context.WithCancel(ctx)
	ended := make(chan struct{})
	running.Go(func() {
		defer close(ended)
		defer end()
		_, err = p.runThere(ctx, isolated, nil, nil)
	})
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(isolated.Folder, relaySocket))
	}
	for late := time.Now().Add(conversationPatience); ; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(late) {
			end()
			return streamable.Upstream{}, fmt.Errorf("its gateway did not listen within %s", conversationPatience)
		}
		if conn, err := dial(ctx, "", ""); err == nil {
			_ = conn.Close()
			break
		}
		select {
		case <-ended:
			return streamable.Upstream{}, fmt.Errorf("its gateway has ended; its messages are in the log of this server: %w", err)
		default:
		}
	}
	return streamable.Upstream{Transport: &http.Transport{DialContext: dial, DisableCompression: true}, Token: caller.Token, End: end, Ended: ended}, nil
}

// serveConversation serves one conversation, in its session, to the process that relays its requests.
func (p *program) serveConversation(ctx context.Context, door *mcp.Door, cfg *setup) error {
	file := filepath.Join(p.sessionFolder, relayFile)
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var caller relayedCaller
	if err := json.Unmarshal(text, &caller); err != nil || caller.Token == "" {
		return aai.Errorf(aai.InvalidParams, "%s: expected the caller of the conversation: %w", file, err)
	}
	if err := os.Remove(file); err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", filepath.Join(p.sessionFolder, relaySocket))
	if err != nil {
		return err
	}
	served, err := door.HTTP(streamable.Config{HTTP: httpdoor.Config{Verifier: caller}, Limits: streamable.Limits{SessionIdle: cfg.HTTP.IdleTimeout}})
	if err != nil {
		_ = listener.Close() // it had no connections
		return err
	}
	if err := served.Serve(ctx, listener); ctx.Err() == nil {
		return err
	}
	return nil // ended as requested
}
