package com

import (
	"context"
	"errors"
	"log/slog"
	"os/exec"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/process"
)

const (
	// idleTimeout is the time after which an idle process ends.
	idleTimeout = time.Minute
	// maxIdle limits the idle processes.
	maxIdle = 8
	// maxCalls is the number of calls after which a process ends, since components of apps in it may leak.
	maxCalls = 1000
	// replyReserve is the part of a call's time that is left for the report of a step that hangs.
	replyReserve = 40 * time.Millisecond
	// replyGrace is the time after the deadline in which that report may still arrive.
	replyGrace = 50 * time.Millisecond
	// maxMessage limits a request and a reply, in bytes.
	maxMessage = 64 << 20
	// longest is the time limit of a call without a deadline.
	longest = 10 * time.Minute
)

// A pool keeps the processes that run COM calls. Each belongs to one app and runs one call at a time.
type pool struct {
	command func() (*exec.Cmd, error)
	log     *slog.Logger

	mu     sync.Mutex
	idle   []*worker // the latest last
	closed bool
}

// A worker is a process.
type worker struct {
	*process.Subprocess
	*Connection
	app     string
	greeted bool // its first message has come
	calls   int
	expiry  *time.Timer
}

func newPool(command func() (*exec.Cmd, error), log *slog.Logger) *pool {
	return &pool{command: command, log: log}
}

// run runs a request in a process of the app. It kills the process if the context ends. The error is an *aai.Error.
func (p *pool) run(ctx context.Context, app string, r *Request) (*Reply, error) {
	w, err := p.take(app)
	if err != nil {
		e := aai.Errorf(aai.AutomationFailed, "the process for COM calls cannot be started: %w", err)
		e.Hint, e.Delivery = "aai-gateway doctor shows the parts that are missing.", aai.NotDelivered
		return nil, e
	}
	r.Deadline = time.Now().Add(longest)
	if deadline, ok := ctx.Deadline(); ok {
		r.Deadline = deadline.Add(-replyReserve)
	}
	replies := make(chan *Reply, 1)
	go func() { replies <- w.exchange(r) }()
	select {
	case reply := <-replies:
		return p.finish(w, reply)
	case <-ctx.Done():
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		select {
		case reply := <-replies:
			return p.finish(w, reply)
		case <-time.After(replyGrace):
		}
	}
	w.Kill()
	go w.Stop(false)
	return nil, contextError(ctx, app)
}

// finish returns a reply, and keeps the process if it can run another call.
func (p *pool) finish(w *worker, reply *Reply) (*Reply, error) {
	switch {
	case reply == nil:
		w.Stop(false)
		return nil, lostError(w)
	case reply.Failure != nil && reply.Failure.Late:
		go w.Stop(false)
	default:
		p.put(w)
	}
	return reply, nil
}

func lostError(w *worker) *aai.Error {
	e := aai.Errorf(aai.AutomationFailed, "the process that ran the COM calls of %s ended during the call (%v)", aai.CleanLabel(w.app, 100), w.State())
	e.Hint = "A component of the app that runs in that process has failed. Look at the app's state before you try again."
	e.Delivery = aai.DeliveryUnknown
	return e
}

// exchange sends a request and returns the reply, or nil if the process does not answer.
func (w *worker) exchange(r *Request) *Reply {
	if w.Send(r) != nil {
		return nil
	}
	if !w.greeted {
		if w.Receive(new(Reply)) != nil { // the process sends an empty one first
			return nil
		}
		w.greeted = true
	}
	var reply Reply
	if w.Receive(&reply) != nil {
		return nil
	}
	if len(reply.Values) != len(r.Return) && reply.Failure == nil {
		return nil
	}
	return &reply
}

// take returns an idle process of the app, or starts one.
func (p *pool) take(app string) (*worker, error) {
	p.mu.Lock()
	for i := len(p.idle) - 1; i >= 0; i-- {
		w := p.idle[i]
		if w.app != app || !w.expiry.Stop() {
			continue
		}
		p.idle = append(p.idle[:i], p.idle[i+1:]...)
		if w.State() == nil {
			p.mu.Unlock()
			return w, nil
		}
		go w.Stop(false)
	}
	closed := p.closed
	p.mu.Unlock()
	if closed {
		return nil, context.Canceled
	}
	cmd, err := p.command()
	if err != nil {
		return nil, err
	}
	started, err := process.Start(cmd, process.Limits{FreeChildren: true})
	if err != nil {
		return nil, err
	}
	return &worker{Subprocess: started, Connection: NewConnection(started.Stdout, started.Stdin, maxMessage), app: app}, nil
}

// put keeps a process for the next call. The oldest one ends if there are too many.
func (p *pool) put(w *worker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.calls++; p.closed || w.calls == maxCalls {
		go w.Stop(false)
		return
	}
	w.expiry = time.AfterFunc(idleTimeout, func() {
		p.mu.Lock()
		for i, other := range p.idle {
			if other == w {
				p.idle = append(p.idle[:i], p.idle[i+1:]...)
				break
			}
		}
		p.mu.Unlock()
		w.Stop(false)
	})
	p.idle = append(p.idle, w)
	if len(p.idle) > maxIdle && p.idle[0].expiry.Stop() {
		go p.idle[0].Stop(false)
		p.idle = p.idle[1:]
	}
}

// close ends all idle processes, and each other one after its call.
func (p *pool) close() {
	p.mu.Lock()
	idle := p.idle
	p.idle, p.closed = nil, true
	p.mu.Unlock()
	for _, w := range idle {
		if w.expiry.Stop() {
			w.Stop(false)
		}
	}
}
