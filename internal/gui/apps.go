package gui

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
	"github.com/gybob/aai-gateway/internal/gui/params"
	"github.com/gybob/aai-gateway/internal/gui/programs"
)

// listAppsName is the name of the tool that lists running programs.
const listAppsName = "ax_list_apps"

func (d *engine) isAccessibleTool() spec {
	return spec{
		name: "ax_is_accessible", title: "Check accessibility", effect: aai.Reads,
		returns:     `"enabled": {"type": "boolean"}, "process_name": {"type": "string"}, "detail": {"type": "string"}, "suggestion": {"type": "string"}, "session": {"type": "object"}`,
		description: "Say whether windows can be operated here, or how to fix it.",
		run: func(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
			backend := d.OpenBackend()
			if backend.Tree == nil {
				return nil, guierr.Unsupported("accessibility trees")
			}
			r, err := readiness(ctx, backend.Tree)
			if err != nil {
				return nil, err
			}
			text := []string{sentences(r.Detail, r.Hint)}
			data := map[string]any{
				"enabled": r.Ready, "process_name": "aai-gateway", "detail": r.Detail, "suggestion": r.Hint,
			}
			if d.session != nil {
				lines, session := d.session(ctx)
				text, data["session"] = append(text, lines...), session
			}
			return &aai.Result{Text: strings.Join(text, "\n"), Data: data, DataComplete: true}, nil
		},
	}
}

// checkTimeout limits how long the accessibility bus may take to answer the check.
const checkTimeout = 3 * time.Second

// readiness checks whether windows can be read. A bus that does not answer in time counts as not
// ready, and the tool still reports everything else.
func readiness(ctx context.Context, tree desktop.Tree) (desktop.Readiness, error) {
	soon, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	r, err := tree.Ready(soon)
	if err == nil || ctx.Err() != nil {
		return r, err
	}
	e := aai.AsError(err)
	return desktop.Readiness{Detail: e.Message, Hint: e.Hint}, nil
}

// sentences joins texts, each with a full stop.
func sentences(texts ...string) string {
	var said []string
	for _, text := range texts {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		if !strings.ContainsAny(text[len(text)-1:], ".!?") {
			text += "."
		}
		said = append(said, text)
	}
	return strings.Join(said, " ")
}

// appView is a running program as data.
type appView struct {
	Name       string `json:"name"`
	PID        int    `json:"pid"`
	ID         string `json:"bundle_id"` // the same for each run
	Toolkit    string `json:"toolkit,omitempty"`
	Connected  bool   `json:"connected"`
	Accessible bool   `json:"accessible"`
	Hidden     string `json:"hidden,omitempty"`  // why its tree cannot be read
	Windows    string `json:"windows,omitempty"` // window titles, if another program has the same name
	Host       bool   `json:"host,omitempty"`    // the caller runs in it
	State      string `json:"state,omitempty"`   // idle or busy
	// FocusedWindow is the title of its window with the focus, or else of its front one.
	FocusedWindow string `json:"focused_window,omitempty"`
}

func (d *engine) listAppsTool() spec {
	return spec{
		name: listAppsName, title: "List running programs", effect: aai.Reads,
		returns: `"apps": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}, "pid": {"type": "integer"}, "bundle_id": {"type": "string"},
			"toolkit": {"type": "string"}, "connected": {"type": "boolean"}, "accessible": {"type": "boolean"}, "hidden": {"type": "string"}, "windows": {"type": "string"}, "host": {"type": "boolean"}, "state": {"type": "string"}, "focused_window": {"type": "string"}}}}`,
		description: "List the programs with windows, and whether each can be read.",
		run: func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
			apps, err := d.Apps(ctx)
			if err != nil {
				return nil, err
			}
			connected, _ := d.Sessions.For(call).Report()
			titles := d.WindowTitles(ctx, programs.WithSameName(apps))
			focused := d.focusedWindows(ctx)
			d.Sessions.For(call).MarkListed()
			rows, lines := []appView{}, []string{}
			states := d.workStates(ctx, apps...)
			for i, a := range apps {
				row := viewOfApp(a)
				row.Windows = titles[a.PID]
				row.Host = d.HostsCaller(a)
				row.Connected = slices.Contains(connected, a.PID)
				row.State, row.FocusedWindow = string(states[i]), focused[a.PID]
				line := fmt.Sprintf("%s (%s, process %d)", row.Name, row.ID, row.PID)
				if row.Windows != "" {
					line += " with " + row.Windows
				}
				if row.Host {
					line += ", which you run in"
				}
				if row.Hidden != "" {
					line += ": " + row.Hidden
				}
				rows, lines = append(rows, row), append(lines, line)
			}
			data := map[string]any{"apps": rows}
			if unknown := d.recorders.Unknown(); len(unknown) > 0 {
				data["unknown_notifications"] = unknown
			}
			return &aai.Result{Text: strings.Join(lines, "\n"), Data: data, DataComplete: true}, nil
		},
	}
}

func viewOfApp(a desktop.App) appView {
	return appView{
		Name: aai.CleanLabel(a.Name, 80), PID: a.PID, ID: aai.CleanLabel(a.ID, 80),
		Toolkit: aai.CleanLabel(a.Toolkit, 40), Accessible: a.HiddenReason == "", Hidden: aai.CleanLabel(a.HiddenReason, 400),
	}
}

func (d *engine) connectTool() spec {
	return spec{
		name: "ax_connect", title: "Connect to a program", effect: aai.Reads, starts: true,
		returns: `"connected": {"type": "boolean"}, "app_name": {"type": "string"}, "pid": {"type": "integer"}, "bundle_id": {"type": "string"},
			"toolkit": {"type": "string"}, "windows": {"type": "integer"}, "alias": {"type": "string"}`,
		description: "Make sure that a program can be read; give it an alias.",
		params: appProp + `,
			"alias": {"type": "string", "minLength": 1, "maxLength": 40},
			"launch": {"type": "boolean", "default": false, "description": "Start it if it does not run; app is then its name, path or desktop entry"},
			"arguments": {"type": "array", "maxItems": 20, "items": {"type": "string", "maxLength": 4096}, "description": "With launch: start it with these, even if it runs"}`,
		required: `["app"]`, idempotent: true,
		timeout: 45 * time.Second, run: d.connect,
	}
}

func (d *engine) connect(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	if call.Target != nil && call.Target.PID == 0 {
		if err := d.CheckAlias(ctx, params.String(call, "alias")); err != nil {
			return nil, err
		}
		app, over, seen, err := d.Launch(ctx, call)
		if err != nil {
			return nil, err
		}
		out, err := d.connected(ctx, call, app)
		if err == nil && over {
			did := "It ran already, and opened or raised a window. "
			if !seen {
				did = "It ran already, and showed no effect of this. "
			}
			out.Text, out.DataComplete = did+out.Text, false
		}
		return out, err
	}
	app, err := d.AdmittedApp(ctx, call)
	if err != nil {
		return nil, err
	}
	return d.connected(ctx, call, app)
}

func (d *engine) connected(ctx context.Context, call *aai.Call, app desktop.App) (*aai.Result, error) {
	windows, err := d.countWindows(ctx, app)
	if err != nil {
		return nil, err
	}
	alias := params.String(call, "alias")
	if err := d.CheckAlias(ctx, alias); err != nil {
		return nil, err
	}
	d.Sessions.For(call).Connect(app, alias)
	view := viewOfApp(app)
	out := &aai.Result{
		Text: fmt.Sprintf("Connected to %s (process %d), %s.", view.Name, view.PID, aai.Count(windows, "window")),
		Data: map[string]any{
			"connected": true, "app_name": view.Name, "pid": view.PID, "bundle_id": view.ID, "toolkit": view.Toolkit,
			"windows": windows, "alias": alias,
		},
		Warning: view.Hidden, DataComplete: true,
	}
	if alias == "" {
		out.Text += " Call it by " + strconv.Quote(view.ID) + " or by its process id."
	}
	return out, nil
}

// countWindows returns the number of the program's windows, for a program without a tree from the
// window system.
func (d *engine) countWindows(ctx context.Context, app desktop.App) (int, error) {
	shot, err := d.OpenBackend().Tree.Snapshot(ctx, app)
	if err == nil {
		return len(shot.Children(-1)), nil
	}
	if app.HiddenReason == "" || aai.AsError(err).Code != aai.AutomationNotSupported {
		return 0, guierr.Unreadable(err)
	}
	own, err := programs.WindowsOf(ctx, d.OpenBackend(), app)
	return len(own), err
}

func (d *engine) listWindowsTool() spec {
	return spec{
		name: "ax_list_windows", title: "List windows", effect: aai.Reads,
		returns: `"windows": {"type": "array", "items": {"type": "object", "properties": {"index": {"type": "integer"}, "title": {"type": "string"},
			"position": ` + pairReturns + `, "size": ` + pairReturns + `,
			"focused": {"type": "boolean"}, "minimized": {"type": "boolean"}, "covered": {"type": "number"}}}}`,
		description: "List a program's windows, the front one first.",
		params:      appProp, required: `["app"]`, concurrency: constantConcurrency(aai.Independent), run: d.listWindows,
	}
}

// windowView is a window as data.
type windowView struct {
	Index     int     `json:"index"`
	Title     string  `json:"title"`
	Position  []int   `json:"position"`
	Size      []int   `json:"size"`
	Focused   bool    `json:"focused"`
	Minimized bool    `json:"minimized"`
	Covered   float64 `json:"covered"` // from 0 to 1
}

func (d *engine) listWindows(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	app, err := d.AdmittedApp(ctx, call)
	if err != nil {
		return nil, err
	}
	own, err := programs.WindowsOf(ctx, d.OpenBackend(), app)
	if err != nil {
		return nil, err
	}
	rows, lines := windowViews(own), []string{}
	for i, w := range own {
		line := fmt.Sprintf("%d: %q at %d, %d, %d × %d", i, rows[i].Title, w.Frame.X, w.Frame.Y, w.Frame.W, w.Frame.H)
		switch {
		case w.Minimized:
			line += ", minimized"
		case w.Covered > 0:
			line += fmt.Sprintf(", %.0f%% covered", 100*w.Covered)
		}
		if w.Active {
			line += ", active"
		}
		lines = append(lines, line)
	}
	return &aai.Result{Text: strings.Join(lines, "\n"), Data: map[string]any{"windows": rows}, DataComplete: true}, nil
}

// windowViews returns the windows as data.
func windowViews(own []desktop.WindowInfo) []windowView {
	rows := []windowView{}
	for i, w := range own {
		rows = append(rows, windowView{
			Index: i, Title: aai.CleanLabel(w.Title, 200), Focused: w.Active, Minimized: w.Minimized, Covered: w.Covered,
			Position: []int{w.Frame.X, w.Frame.Y}, Size: []int{w.Frame.W, w.Frame.H},
		})
	}
	return rows
}

func (d *engine) sessionInfoTool() spec {
	return spec{
		name: "ax_session_info", title: "Session information", effect: aai.Reads,
		returns: `"connected_apps": {"type": "array", "items": {"type": "string"}}, "action_count": {"type": "integer"},
			"undo_stack_depth": {"type": "integer"}, "subscriptions": {"type": "integer"}, "uptime_seconds": {"type": "number"},
			"security_mode": {"type": "string", "enum": ["normal", "safe", "sandboxed"]}, "leases": {"type": "array"}`,
		description: "List this conversation's programs and count its actions.",
		run: func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
			processes, actions := d.Sessions.For(call).Report()
			connected, err := d.names(ctx, processes)
			if err != nil {
				return nil, err
			}
			info := map[string]any{
				"connected_apps": connected, "action_count": actions,
				"uptime_seconds": int(time.Since(d.begun).Seconds()),
			}
			if client := aai.ClientCapabilitiesOf(ctx); client.Subscriptions != nil {
				info["subscriptions"] = client.Subscriptions()
			}
			if d.leases != nil {
				if leases := d.leases.List(call, processes); len(leases) > 0 {
					info["leases"] = leases
				}
			}
			if d.securityMode != nil {
				info["security_mode"] = d.securityMode()
			}
			if d.undoDepth != nil {
				if depth, err := d.undoDepth(ctx, call.Caller); err == nil { // the acts of the terminal may be sealed
					info["undo_stack_depth"] = depth
				}
			}
			return &aai.Result{Data: info}, nil
		},
	}
}

// names returns the names of the processes that still run.
func (d *engine) names(ctx context.Context, processes []int) ([]string, error) {
	names := []string{}
	if len(processes) == 0 {
		return names, nil
	}
	apps, err := d.Apps(ctx)
	for _, a := range apps {
		if slices.Contains(processes, a.PID) {
			names = append(names, aai.CleanLabel(a.Name, 80))
		}
	}
	return names, err
}
