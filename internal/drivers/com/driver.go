package com

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"os/exec"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/drivers/com/typelib"
	"github.com/gybob/aai-gateway/internal/drivers/envelope"
)

// Config configures a Driver.
type Config struct {
	// Command returns the command of a process that only runs host.Run on its standard input and output.
	Command func() (*exec.Cmd, error)
	// Log receives background events. Nil discards them.
	Log *slog.Logger
}

// Driver runs tools over COM. It implements [aai.Driver] and is safe for concurrent use.
type Driver struct{ pool *pool }

// New returns a Driver. It starts no process before the first call.
func New(config Config) *Driver {
	if config.Log == nil {
		config.Log = slog.New(slog.DiscardHandler)
	}
	return &Driver{newPool(config.Command, config.Log)}
}

// Close ends all processes. Calls in flight fail.
func (d *Driver) Close() error {
	d.pool.close()
	return nil
}

// Compile returns the Action of a recipe that has COM or IPC set. Its error is an *aai.Error with code AAI_JSON_INVALID and a
// message that begins with the descriptor's field. The Action's results hold JSON values as [Decode] returns them.
func (d *Driver) Compile(r *aai.Recipe) (aai.Action, error) {
	switch {
	case r.OutputParser != "" && r.OutputParser != "last_result" && r.OutputParser != parseJSON:
		return nil, invalid("output_parser", `"last_result", "json" or none`, r.OutputParser)
	case r.COM != nil:
		p, err := compileSteps(r)
		if err != nil {
			return nil, err
		}
		return d.action(r, p), nil
	case r.IPC != nil && r.IPC.ProgID != "":
		return d.envelope(r)
	case r.IPC != nil:
		return nil, invalid("progid", "the ProgID of the app, such as Example.Application", "")
	}
	return nil, aai.Errorf(aai.DescriptorInvalid, "execution: expected a COM script or ipc with a progid")
}

// Describe returns the type library of a class. It starts no app unless start is set. The error is an *aai.Error.
func (d *Driver) Describe(ctx context.Context, progID string, start bool) (*typelib.Library, error) {
	request := &Request{Describe: progID, Start: start}
	reply, err := d.pool.run(ctx, progID, request)
	if err != nil {
		return nil, err
	}
	if reply.Failure != nil {
		request.Steps = []Step{{Action: Create, ProgID: progID, Running: !start}}
		return nil, (&program{class: progID}).failure(request, reply.Failure)
	}
	return reply.Library, nil
}

const (
	parseJSON   = "json"
	noValueText = "The app answered without a value."
)

func (d *Driver) action(r *aai.Recipe, p *program) aai.Action {
	return func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
		request, err := p.request(call.Args)
		if err != nil {
			return nil, undelivered(err)
		}
		reply, err := d.pool.run(ctx, r.App, request)
		if err != nil {
			return nil, err
		}
		if reply.Failure != nil {
			return nil, p.failure(request, reply.Failure)
		}
		data, err := p.answer(reply, call.Args)
		if err != nil {
			return nil, unreadable(p.class, err)
		}
		result, err := resultOf(data, r.OutputParser)
		if err != nil {
			return nil, unreadable(p.class, err)
		}
		if reply.Cut {
			result.Warning = "A list has more items; only the first 1000 are in the answer."
		}
		return result, nil
	}
}

// resultOf returns the result with a value. A text that the parser "json" cannot read stays a text.
func resultOf(data any, parser string) (*aai.Result, error) {
	if text, ok := data.(string); ok && parser == parseJSON {
		reader := json.NewDecoder(strings.NewReader(text))
		reader.UseNumber()
		var value any
		if err := reader.Decode(&value); err == nil {
			return &aai.Result{Text: text, Data: value}, nil
		}
	}
	if data == nil {
		return &aai.Result{Text: noValueText}, nil
	}
	text, err := textOf(data)
	return &aai.Result{Text: text, Data: data}, err
}

// envelope compiles a tool of an app that implements the AAI protocol: its method Execute takes and returns JSON.
func (d *Driver) envelope(r *aai.Recipe) (aai.Action, error) {
	class := r.IPC.ProgID
	p := &program{class: class}
	return func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
		id := call.ID
		if id == "" {
			id = rand.Text()
		}
		text, err := envelope.Request(r.Tool, call.Args, id)
		if err != nil {
			return nil, undelivered(err)
		}
		request := &Request{Steps: []Step{
			{Action: Create, Var: "app", ProgID: class},
			{Action: Call, Object: "app", Member: envelope.Method, Args: []Operand{{Value: Variant{VT: VTString, Text: text}}}},
		}}
		reply, err := d.pool.run(ctx, r.App, request)
		if err != nil {
			return nil, err
		}
		if reply.Failure != nil {
			return nil, p.failure(request, reply.Failure)
		}
		answer, err := Decode(reply.Last)
		if err != nil {
			return nil, unreadable(class, err)
		}
		words, _ := answer.(string)
		data, app, err := envelope.Read(class, words, id)
		switch {
		case app != nil:
			return nil, app
		case err != nil:
			return nil, unreadable(class, err)
		}
		return resultOf(data, r.OutputParser)
	}, nil
}
