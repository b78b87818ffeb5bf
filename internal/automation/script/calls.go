package script

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/automation/script/child"
)

const (
	// rateLimitWait is how long a rate-limited call waits before it fails.
	rateLimitWait = 2 * time.Second
	// maxForeignSources is the number of untrusted sources to name.
	maxForeignSources = 10
)

// makeCall makes one call with the caller of the script, and returns the reply.
func (r *run) makeCall(ctx context.Context, asked *child.Call) child.Reply {
	call := &aai.Call{Caller: r.call.Caller, App: asked.App, Tool: asked.Tool, Raw: asked.Args}
	r.resolveTarget(ctx, call)
	result, err := r.do(ctx, call)
	reads := r.isReadOnly(ctx, call)
	if err != nil {
		e := aai.AsError(err)
		if !reads {
			r.mutations.failed(asked, e)
		}
		return child.Reply{Fault: faultOf(e)}
	}
	if !reads {
		r.mutations.done(asked)
	}
	if result.UntrustedSource != "" && !slices.Contains(r.foreignSources, result.UntrustedSource) &&
		len(r.foreignSources) < maxForeignSources {
		r.foreignSources = append(r.foreignSources, result.UntrustedSource)
	}
	return replyOf(result)
}

const (
	desktopPrefix = "ax_" // of the names of the desktop's tools
	targetParam   = "app" // their parameter that names a program
)

// resolveTarget changes a call of a desktop tool that names a program as its app: it calls the desktop
// with the program as argument, as workflow steps do. An app's own tool of that name takes precedence.
func (r *run) resolveTarget(ctx context.Context, call *aai.Call) {
	if call.App == "" || call.App == aai.DesktopApp || !strings.HasPrefix(call.Tool, desktopPrefix) {
		return
	}
	if app, err := r.gateway.Catalog.Find(ctx, call.App); err == nil && app.Tool(call.Tool) != nil {
		return
	}
	desktop, err := r.gateway.Catalog.Find(ctx, aai.DesktopApp)
	if err != nil || desktop.Tool(call.Tool) == nil {
		return
	}
	args := map[string]json.RawMessage{}
	if len(call.Raw) > 0 && json.Unmarshal(call.Raw, &args) != nil {
		return
	}
	if args == nil {
		args = map[string]json.RawMessage{}
	}
	if _, given := args[targetParam]; !given {
		name, err := json.Marshal(call.App)
		if err != nil {
			return
		}
		args[targetParam] = name
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return
	}
	call.App, call.Raw = aai.DesktopApp, raw
}

// do makes the call. A rate-limited call waits. If a call needs consent and only the door can ask,
// do ends the script, unless a mutation has happened: the door asks, and the script restarts.
func (r *run) do(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	result, err := r.doWaiting(ctx, call)
	e := aai.AsError(err)
	if e == nil || len(e.Questions) == 0 {
		return result, err
	}
	if len(r.call.Answers) > 0 {
		answered := *call
		answered.Answers = r.call.Answers
		if result, err := r.doWaiting(ctx, &answered); err == nil {
			return result, nil
		}
	}
	if !r.mutations.any() && (r.call.Caller.Door == aai.DoorCLI || aai.ClientCapabilitiesOf(ctx).CanAsk) {
		r.open = e
		r.watch.stop(endQuestion)
	}
	return nil, err
}

func (r *run) doWaiting(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	return aai.RetryRateLimited(ctx, rateLimitWait,
		func(ctx context.Context) (*aai.Result, error) { return r.gateway.Do(ctx, call) })
}

// isReadOnly reports whether the call's tool only reads, or does not exist.
func (r *run) isReadOnly(ctx context.Context, call *aai.Call) bool {
	app, err := r.gateway.Catalog.Find(ctx, call.App)
	if err != nil {
		return true // without an app nothing was done
	}
	tool := app.Tool(call.Tool)
	return tool == nil || tool.Effect == aai.Reads
}

// replyOf returns a result for the script: its data, or else its text.
func replyOf(result *aai.Result) child.Reply {
	value := result.Data
	if value == nil {
		value = result.Text
	}
	b, err := json.Marshal(value)
	if err != nil || len(b) > child.MaxFrame/2 {
		return child.Reply{
			Fault: &child.Fault{Code: aai.AutomationFailed,
				Message: fmt.Sprintf("the answer has %d bytes, more than a script can take", len(b)), Hint: "Ask for less.",
				Delivery: aai.Delivered},
		}
	}
	return child.Reply{Value: b}
}

func faultOf(e *aai.Error) *child.Fault {
	return &child.Fault{
		Code: e.Code, Message: aai.CleanText(e.Message, 4000), Hint: aai.CleanText(e.Hint, 1000), Delivery: e.Delivery,
		Candidates: e.Candidates[:min(len(e.Candidates), 20)], RetryAfterMS: e.RetryAfter.Milliseconds(),
	}
}

// mutations counts the calls that may have changed something.
type mutations struct {
	names     []string       // distinct names, in order
	counts    map[string]int // finished, by name
	all       int            // finished
	uncertain int            // with unknown delivery
}

func (d *mutations) any() bool { return d.all+d.uncertain > 0 }

func (d *mutations) done(c *child.Call) {
	d.all++
	name := aai.CleanLabel(c.App+":"+c.Tool, 80)
	if d.counts == nil {
		d.counts = make(map[string]int)
	}
	if d.counts[name]++; d.counts[name] == 1 {
		d.names = append(d.names, name)
	}
}

func (d *mutations) failed(c *child.Call, e *aai.Error) {
	switch e.Delivery {
	case aai.Delivered:
		d.done(c)
	case aai.DeliveryUnknown:
		d.uncertain++
	}
}

// maxNames is the number of mutating tools to name.
const maxNames = 5

// describe describes the mutations for the end of an error; "" if there are none.
func (d *mutations) describe() string {
	var parts []string
	if d.all > 0 {
		named := make([]string, 0, maxNames)
		for _, name := range d.names[:min(len(d.names), maxNames)] {
			named = append(named, fmt.Sprintf("%s ×%d", name, d.counts[name]))
		}
		if len(d.names) > maxNames {
			named = append(named, "…")
		}
		parts = append(parts, fmt.Sprintf("%d of its acts reached their apps (%s) and were not undone", d.all,
			strings.Join(named, ", ")))
	}
	if d.uncertain > 0 {
		parts = append(parts, fmt.Sprintf("of %d acts it is unknown whether they did", d.uncertain))
	}
	return strings.Join(parts, "; ")
}

// delivery returns the delivery of the script itself.
func (d *mutations) delivery() aai.Delivery {
	switch {
	case d.all > 0:
		return aai.Delivered
	case d.uncertain > 0:
		return aai.DeliveryUnknown
	}
	return aai.NotDelivered
}
