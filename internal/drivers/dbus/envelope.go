package dbus

import (
	"context"
	"crypto/rand"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
	"github.com/gybob/aai-gateway/internal/drivers/envelope"
)

// The default address of the AAI protocol's handler on Linux, from the protocol's page on Linux.
const (
	defaultService    = "com.aai.gateway"
	defaultHandler    = "/com/aai/handler"
	defaultExecutor   = "com.aai.Executor"
	envelopeSignature = "s"
)

// envelopeTool passes the call as JSON to an app that implements the AAI protocol.
type envelopeTool struct {
	*target
	tool   string
	parser string
}

func (d *Driver) compileEnvelope(r *aai.Recipe) (aai.Action, error) {
	ipc := r.IPC
	t, err := d.target(r, ipc.Bus, orDefault(ipc.Service, defaultService), orDefault(ipc.Object, defaultHandler),
		orDefault(ipc.Interface, defaultExecutor), envelope.Method)
	if err != nil {
		return nil, err
	}
	if err := checkReach(t.service, t.path, t.iface, t.member); err != nil {
		return nil, err
	}
	e := &envelopeTool{target: t, tool: r.Tool, parser: r.OutputParser}
	return e.run, nil
}

func orDefault(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func (e *envelopeTool) run(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	id := orDefault(call.ID, rand.Text())
	text, err := envelope.Request(e.tool, call.Args, id)
	if err != nil {
		return nil, err
	}
	body := encoder{}
	if err := body.value(text, &wire.Type{Code: 's', Sig: envelopeSignature}, parameter("params")); err != nil {
		return nil, err
	}
	reply, err := e.callPeer(ctx, func(context.Context, *peer) (*wire.Message, *failure) {
		return &wire.Message{Interface: e.iface, Member: e.member, Signature: envelopeSignature, Body: body.Bytes()}, nil
	})
	if err != nil {
		return nil, err
	}
	return e.read(reply, id)
}

// read extracts the result from the envelope.
func (e *envelopeTool) read(m *wire.Message, requestID string) (*aai.Result, error) {
	texts, err := textsOf(m, 1)
	if err != nil {
		return nil, e.unreadable(err)
	}
	data, failure, err := envelope.Read(e.service, texts[0], requestID)
	switch {
	case failure != nil:
		return nil, failure
	case err != nil:
		return nil, e.unreadable(err)
	case data == nil:
		return e.result(nil, "")
	}
	return e.result(data, e.parser)
}
