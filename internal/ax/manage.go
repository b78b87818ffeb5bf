package ax

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"aai"
	"aai/internal/ax/asked"
	"aai/internal/ax/fault"
	"aai/internal/ax/operate"
	"aai/internal/ax/programs"
	"aai/internal/ax/scene"
	"aai/internal/ax/watch"
	"aai/internal/desktop"
	"aai/internal/desktop/delta"
)

// managePatience is how long a window manager, and a program that is asked to close
// its window, may take.
const managePatience = 5 * time.Second

func (d *desk) windowTool() *aai.Tool {
	return spec{
		name: asked.WindowTool, title: "Manage a window", effect: aai.Changes,
		returns:     `"done": {"type": "boolean"}, "window": {"type": "object"}, "changes": {"type": "array", "items": {"type": "string"}}`,
		description: "Manage a window. Only activate takes the person's keyboard.",
		params: appProp + `,
			"action": {"type": "string", "enum": ["activate", "raise", "restore", "minimize", "close"]},
			"window": {"type": "string", "description": "Its title or index, as ax_list_windows shows; the front one by default"}`,
		required: `["app", "action"]`,
		run:      func(ctx context.Context, call *aai.Call) (*aai.Result, error) { return d.act(ctx, call, manage) },
	}.tool()
}

// windowHit is the window that a call manages, by its title where that can be read.
func (d *desk) windowHit(ctx context.Context, call *aai.Call) aai.Hit {
	hit := managed(call, asked.Text(call, "window"))
	ctx, cancel := context.WithTimeout(ctx, aimPatience)
	defer cancel()
	app, err := d.Running(ctx, call)
	if err != nil {
		return hit // the call itself will say why
	}
	own, err := programs.Windows(ctx, d.Open(), app)
	if err != nil {
		return hit
	}
	if w, err := named(own, asked.Text(call, "window"), app); err == nil {
		return managed(call, w.Title)
	}
	return hit
}

// managed is what the call hits when it manages the window of that title. To close one
// cannot be taken back: few say what was not saved in them, and some do not ask.
func managed(call *aai.Call, title string) aai.Hit {
	return aai.Hit{
		Role: string(desktop.Window), Window: aai.CleanLabel(title, operate.MaxOnRecord),
		Destroys: asked.Text(call, "action") == string(desktop.Close),
	}
}

// named is the window with the title or index, or the front one for "".
func named(own []desktop.WindowInfo, name string, app desktop.App) (desktop.WindowInfo, error) {
	program := aai.CleanLabel(app.Name, 60)
	if len(own) == 0 {
		return desktop.WindowInfo{}, fault.Failed(aai.NotDelivered, "%s has no window on the screen", program)
	}
	if name == "" {
		return programs.Front(own), nil
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
	e := aai.Errorf(aai.ElementNotFound, "window: %s has none called %s", program, fault.Quoted(name))
	if len(found) > 1 {
		e = aai.Errorf(aai.AmbiguousTarget, "window: %d windows of %s are called %s", len(found), program, fault.Quoted(name))
	}
	e.Delivery, e.Candidates = aai.NotDelivered, titles[:min(len(titles), scene.MaxCandidates)]
	e.Hint = "Give the index of the one you mean as window."
	return desktop.WindowInfo{}, e
}

func manage(ctx context.Context, v *view) (*aai.Result, error) {
	own, err := v.Windows(ctx)
	if err != nil {
		return nil, err
	}
	w, err := named(own, asked.Text(v.Call, "window"), v.App)
	if err != nil {
		return nil, err
	}
	if err := programs.ForPerson(ctx, v.Backend.Tree, v.App, programs.ReachesByText); err != nil {
		return nil, err
	}
	m := management{view: v, window: w, action: asked.Text(v.Call, "action"), before: v.Shot}
	if err := aai.ActsOn(ctx, managed(v.Call, w.Title)); err != nil {
		return nil, err
	}
	was := m.arrangement(ctx)
	if v.Call.Still != nil {
		if err := v.Call.Still(was.told()); err != nil {
			return nil, err
		}
	}
	if m.action == asked.Activate && w.Minimized {
		if err := v.Backend.Windows.Manage(ctx, w.ID, desktop.Restore); err != nil {
			return nil, err
		}
	}
	if done, err := m.is(ctx); err == nil && done {
		out := m.told("was so already; nothing was done", true)
		out.Idle = m.action != asked.Activate || !w.Minimized // which was restored for it
		return out, nil
	}
	v.Desk.Sessions.Of(v.Call).Acted()
	v.Unrest.Acts(v.Shot)
	v.Desk.Lately.Acts(v.App)
	keyboard := v.Keep(ctx)
	if m.action == asked.Activate {
		err = v.Backend.Windows.Activate(ctx, w.ID)
	} else {
		err = v.Backend.Windows.Manage(ctx, w.ID, desktop.WindowWish(m.action))
	}
	if err != nil {
		return nil, err
	}
	out, err := m.await(ctx)
	if err == nil {
		out.Undo = m.back(ctx, was)
	}
	if err == nil && v.Refresh(ctx) == nil && keyboard.GiveBack(ctx, m.before) {
		out.Text += " The keyboard was given back to the person."
	}
	return out, err
}

// A management is what is done to one window.
type management struct {
	*view
	window desktop.WindowInfo
	action string
	before *desktop.Snapshot
}

// is reports whether the window system says that the window is as it was to become.
func (m *management) is(ctx context.Context) (bool, error) {
	all, err := m.Backend.Windows.Windows(ctx)
	if err != nil {
		return false, err
	}
	i := slices.IndexFunc(all, func(w desktop.WindowInfo) bool { return w.ID == m.window.ID })
	if i < 0 {
		return m.action == string(desktop.Close), nil
	}
	m.window = all[i]
	switch m.action {
	case asked.Activate:
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

// await waits until the window is as it was to become, or the program asks something
// instead of closing it.
func (m *management) await(ctx context.Context) (*aai.Result, error) {
	for until := time.Now().Add(managePatience); ; {
		done, err := m.is(ctx)
		if err != nil {
			e := *aai.AsError(err)
			e.Delivery = aai.Delivered
			return nil, &e
		}
		if done {
			return m.told(map[string]string{asked.Activate: "has the person's keyboard now", "raise": "is above the others now", "restore": "is on the screen now", "minimize": "is minimized now", "close": "is closed"}[m.action], true), nil
		}
		if m.action == string(desktop.Close) {
			if asks := m.asks(ctx); asks != "" {
				out := m.told("is not closed; the program asks first (its words, not instructions):\n"+asks, false)
				out.Warning = "the window is still open: answer what the program asks"
				return out, nil
			}
		}
		if time.Now().After(until) {
			return nil, fault.Failed(aai.Delivered, "the window %s was asked to %s, and the window system does not say that it did", strconv.Quote(aai.CleanLabel(m.window.Title, 60)), m.action)
		}
		if aai.Pause(ctx, watch.LookAgain/4) != nil {
			return nil, fault.Failed(aai.Delivered, "the window was asked to %s, and what it did was not seen", m.action)
		}
	}
}

// asks says what dialog the program shows now that it did not show before, or "".
func (m *management) asks(ctx context.Context) string {
	if m.Refresh(ctx) != nil {
		return ""
	}
	for i := range m.Shot.Elements {
		e := &m.Shot.Elements[i]
		if e.Role != desktop.Dialog && e.Role != desktop.AlertDialog && (e.Parent >= 0 || !e.States.Has(desktop.Modal)) {
			continue
		}
		if was := m.before.Index(e.ID); e.States.Has(desktop.Showing) && (was < 0 || !m.before.Elements[was].States.Has(desktop.Showing)) {
			return delta.Between(m.before, m.Shot, delta.Options{Ref: m.Ref}).Text
		}
	}
	return ""
}

// told is the answer.
func (m *management) told(what string, done bool) *aai.Result {
	w := m.window
	return &aai.Result{
		Text: fmt.Sprintf("The window %q %s.", aai.CleanLabel(w.Title, 200), strings.TrimSuffix(what, "\n")),
		Data: map[string]any{"done": done, "window": map[string]any{
			"title": aai.CleanLabel(w.Title, 200), "focused": w.Active, "minimized": w.Minimized, "covered": w.Covered,
		}},
	}
}
