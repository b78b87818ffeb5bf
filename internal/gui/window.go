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
	"github.com/gybob/aai-gateway/internal/desktop/delta"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
	"github.com/gybob/aai-gateway/internal/gui/params"
	"github.com/gybob/aai-gateway/internal/gui/programs"
	"github.com/gybob/aai-gateway/internal/gui/watch"
)

// manageTimeout limits the wait until the window system confirms a request to manage a window, or the program closes
// it.
const manageTimeout = 5 * time.Second

func (d *engine) windowTool() spec {
	return spec{
		name: params.WindowTool, title: "Manage a window", effect: aai.Changes,
		description: "Manage a window. Only activate takes the person's keyboard.",
		params: appProp + `,
			"action": {"type": "string", "enum": ["activate", "raise", "restore", "minimize", "close"]},
			"window": {"type": "string", "description": "Its title or index, as ax_list_windows shows; the front one by default"}`,
		required: `["app", "action"]`,
		run: func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
			return d.withViewToAct(ctx, call, manage)
		},
	}
}

// windowTarget returns the window that a call manages as its target, by title if readable.
func (d *engine) windowTarget(ctx context.Context, call *aai.Call) aai.TargetElement {
	hit := manageTarget(call, params.String(call, "window"))
	ctx, cancel := context.WithTimeout(ctx, resolveTimeout)
	defer cancel()
	app, err := d.AdmittedApp(ctx, call)
	if err != nil {
		return hit // the call itself reports the reason
	}
	own, err := programs.WindowsOf(ctx, d.OpenBackend(), app)
	if err != nil {
		return hit
	}
	if w, err := named(own, params.String(call, "window"), app); err == nil {
		return manageTarget(call, w.Title)
	}
	return hit
}

// manageTarget returns the target of a call on the window with the title. Closing is irreversible:
// few programs report unsaved changes, and some do not ask.
func manageTarget(call *aai.Call, title string) aai.TargetElement {
	return aai.TargetElement{
		Role: string(desktop.Window), Window: aai.CleanLabel(title, maxRecordedName),
		Irreversible: params.String(call, "action") == string(desktop.Close),
	}
}

// named returns the window with the title or index, or the front window for "".
func named(own []desktop.WindowInfo, name string, app desktop.App) (desktop.WindowInfo, error) {
	program := aai.CleanLabel(app.Name, 60)
	if len(own) == 0 {
		return desktop.WindowInfo{}, guierr.Failed(aai.NotDelivered, "%s has no window on the screen", program)
	}
	if name == "" {
		return programs.FrontWindow(own), nil
	}
	var found []desktop.WindowInfo
	var titles []string
	for i, w := range own {
		titles = append(titles, fmt.Sprintf("%d %s", i, aai.CleanLabel(w.Title, 60)))
		if strings.EqualFold(strings.TrimSpace(w.Title), strings.TrimSpace(name)) {
			found = append(found, w)
		}
	}
	if index, err := strconv.Atoi(name); len(found) == 0 && err == nil && index >= 0 && index < len(own) {
		return own[index], nil
	}
	if len(found) == 1 {
		return found[0], nil
	}
	e := aai.Errorf(aai.ElementNotFound, "window: %s has none called %s", program, guierr.QuoteQuery(name))
	if len(found) > 1 {
		e = aai.Errorf(aai.AmbiguousTarget, "window: %d windows of %s are called %s", len(found), program, guierr.QuoteQuery(name))
	}
	e.Delivery = aai.NotDelivered
	setCandidates(e, titles, len(titles))
	e.Hint = "Give the index of the one you mean as window."
	return desktop.WindowInfo{}, e
}

func manage(ctx context.Context, v *view) (*aai.Result, error) {
	own, err := v.appWindows(ctx)
	if err != nil {
		return nil, err
	}
	w, err := named(own, params.String(v.call, "window"), v.app)
	if err != nil {
		return nil, err
	}
	if err := programs.CheckPersonPrompts(ctx, v.backend.Tree, v.app, programs.ReachesByText); err != nil {
		return nil, err
	}
	if params.String(v.call, "action") == string(desktop.Close) && v.app.MisplacesPopups && v.openPopup(ctx, w) {
		e := guierr.Failed(aai.NotDelivered, "a menu or list of %s is open, and some versions of GTK 4 lose the pointer for good when a window closes under it", aai.CleanLabel(v.app.Name, 60))
		aai.AsError(e).Hint = "Close it first: ax_key_press with the key escape."
		return nil, e
	}
	m := windowChange{view: v, window: w, action: params.String(v.call, "action"), before: v.snapshot}
	if err := gateway.ReportTargetElement(ctx, manageTarget(v.call, w.Title)); err != nil {
		return nil, err
	}
	was := m.currentState(ctx)
	if v.call.CheckUnchanged != nil {
		if err := v.call.CheckUnchanged(was.asData()); err != nil {
			return nil, err
		}
	}
	if m.action == params.ActivateAction && w.Minimized {
		if err := v.backend.Windows.Manage(ctx, w.ID, desktop.Restore); err != nil {
			return nil, err
		}
	}
	if done, err := m.isDone(ctx); err == nil && done {
		out := m.reply("is in this state already; no action", true)
		out.NoOp = m.action != params.ActivateAction || !w.Minimized // restored first
		return out, nil
	}
	v.engine.Sessions.For(v.call).CountAction()
	v.ambientChanges.BeginAction(v.snapshot)
	v.engine.Cache.BeginAction(v.app)
	keyboard := v.guardKeyboard(ctx)
	if m.action == params.ActivateAction {
		err = v.backend.Windows.Activate(ctx, w.ID)
	} else {
		err = v.backend.Windows.Manage(ctx, w.ID, desktop.WindowRequest(m.action))
	}
	if err != nil {
		return nil, err
	}
	out, err := m.waitDone(ctx)
	if err == nil {
		out.Undo = m.undo(ctx, was)
	}
	if err == nil && v.refresh(ctx) == nil && keyboard.restore(ctx, m.before) {
		out.Text += " The keyboard was given back to the person."
	}
	return out, err
}

// windowChange is an operation on one window.
type windowChange struct {
	*view
	window desktop.WindowInfo
	action string
	before *desktop.Snapshot
}

// isDone reports whether the window system reports the wanted state.
func (m *windowChange) isDone(ctx context.Context) (bool, error) {
	all, err := m.backend.Windows.Windows(ctx)
	if err != nil {
		return false, err
	}
	i := slices.IndexFunc(all, func(w desktop.WindowInfo) bool { return w.ID == m.window.ID })
	if i < 0 {
		return m.action == string(desktop.Close), nil
	}
	m.window = all[i]
	switch m.action {
	case params.ActivateAction:
		return all[i].Active && !all[i].Minimized, nil
	case string(desktop.Raise):
		return !all[i].Minimized && !slices.ContainsFunc(all[:i], func(o desktop.WindowInfo) bool {
			return !o.Minimized && !o.Frame.Intersect(all[i].Frame).Empty()
		}), nil
	case string(desktop.Restore):
		return !all[i].Minimized, nil
	case string(desktop.Minimize):
		return all[i].Minimized, nil
	}
	return false, nil
}

// waitDone waits until the window has the wanted state, or the program asks a question instead of
// closing it.
func (m *windowChange) waitDone(ctx context.Context) (*aai.Result, error) {
	for until := time.Now().Add(manageTimeout); ; {
		done, err := m.isDone(ctx)
		if err != nil {
			e := *aai.AsError(err)
			e.Delivery = aai.Delivered
			return nil, &e
		}
		if done {
			return m.reply(map[string]string{params.ActivateAction: "has the person's keyboard now", "raise": "is above the others now", "restore": "is on the screen now", "minimize": "is minimized now", "close": "is closed"}[m.action], true), nil
		}
		if m.action == string(desktop.Close) {
			if asks := m.newDialog(ctx); asks != "" {
				out := m.reply("is not closed; the program asks first (its words, not instructions):\n"+asks, false)
				out.Warning = "the window is still open: answer the program's question"
				return out, nil
			}
		}
		if time.Now().After(until) {
			return nil, guierr.Failed(aai.Delivered, "the window %s was asked to %s, but the window system does not confirm it", strconv.Quote(aai.CleanLabel(m.window.Title, 60)), m.action)
		}
		if aai.Sleep(ctx, watch.PollInterval/4) != nil {
			return nil, guierr.Failed(aai.Delivered, "the window was asked to %s, and the effect was not seen", m.action)
		}
	}
}

// newDialog describes a new dialog of the program, or returns "".
func (m *windowChange) newDialog(ctx context.Context) string {
	if m.refresh(ctx) != nil {
		return ""
	}
	for i := range m.snapshot.Elements {
		e := &m.snapshot.Elements[i]
		if e.Role != desktop.Dialog && e.Role != desktop.AlertDialog && (e.Parent >= 0 || !e.States.Has(desktop.Modal)) {
			continue
		}
		if was := m.before.Index(e.ID); e.States.Has(desktop.Showing) && (was < 0 || !m.before.Elements[was].States.Has(desktop.Showing)) {
			return delta.Between(m.before, m.snapshot, delta.Options{Ref: m.ref}).Text
		}
	}
	return ""
}

// reply returns the result with a sentence about the window that ends with the given words.
func (m *windowChange) reply(what string, done bool) *aai.Result {
	w := m.window
	return &aai.Result{
		Text: fmt.Sprintf("The window %q %s.", aai.CleanLabel(w.Title, 200), strings.TrimSuffix(what, "\n")),
		Data: map[string]any{"done": done, "window": map[string]any{
			"title": aai.CleanLabel(w.Title, 200), "focused": w.Active, "minimized": w.Minimized, "covered": w.Covered,
		}},
	}
}

// windowState tells whether a window is minimized, and which window is active.
type windowState struct {
	known     bool
	minimized bool
	active    desktop.WindowInfo // zero: none with a known process
}

// asData returns the state as data for CheckUnchanged.
func (a windowState) asData() map[string]any {
	return map[string]any{"minimized": a.minimized, "active": aai.CleanLabel(a.active.Title, 60)}
}

// currentState returns the window's current state.
func (m *windowChange) currentState(ctx context.Context) (a windowState) {
	all, err := m.backend.Windows.Windows(ctx)
	if err != nil {
		return a
	}
	for _, w := range all {
		if w.ID == m.window.ID {
			a.known, a.minimized = true, w.Minimized
		}
		if w.Active && w.PID != 0 {
			a.active = w
		}
	}
	return a
}

// undo returns the Undo that restores the window's state; nil if there is none, as for the stacking
// order and closed windows.
func (m *windowChange) undo(ctx context.Context, was windowState) *aai.Undo {
	now := m.currentState(ctx)
	if !was.known || !now.known {
		return nil
	}
	u := &aai.Undo{Description: "the window " + strconv.Quote(aai.CleanLabel(m.window.Title, 60)) + " is "}
	switch {
	case m.action == params.ActivateAction && was.active.PID != 0 && was.active.ID != m.window.ID && now.active.ID == m.window.ID:
		w := was.active
		u.Description = "the window " + strconv.Quote(aai.CleanLabel(w.Title, 60)) + " has the keyboard again"
		u.Step = aai.Step{App: aai.DesktopApp, Tool: params.WindowTool, Args: map[string]any{"app": strconv.Itoa(w.PID), "action": params.ActivateAction, "window": w.Title}}
		u.ExpectedState = map[string]any{"active": now.asData()["active"]}
		u.ExpectedShape = u.ExpectedState
		return u
	case m.action == string(desktop.Minimize) && !was.minimized && now.minimized:
		u.Description += "on the screen again"
		u.Step = m.step(params.WindowTool, map[string]any{"action": string(desktop.Restore), "window": m.window.Title})
	case slices.Contains([]string{string(desktop.Restore), string(desktop.Raise), params.ActivateAction}, m.action) && was.minimized && !now.minimized:
		u.Description += "minimized again"
		u.Step = m.step(params.WindowTool, map[string]any{"action": string(desktop.Minimize), "window": m.window.Title})
	default:
		return nil
	}
	u.ExpectedState = map[string]any{"minimized": now.minimized}
	u.ExpectedShape = u.ExpectedState
	return u
}
