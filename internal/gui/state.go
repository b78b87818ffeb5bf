package gui

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/patterns"
	"github.com/gybob/aai-gateway/internal/gui/programs"
)

// appState is the state of a program as data.
type appState struct {
	App         string                `json:"app"`
	PID         int                   `json:"pid"`
	State       patterns.State        `json:"detected_state"`
	Pattern     patterns.Pattern      `json:"detected_pattern,omitempty"`
	Windows     []windowView          `json:"windows"`
	Dialog      string                `json:"dialog,omitempty"` // in front, to be answered first
	Focused     *focusedView          `json:"focused_element,omitempty"`
	MenuBar     []string              `json:"menu_bar"`
	Areas       []string              `json:"areas,omitempty"` // parts of its windows, in words
	Suggestions []patterns.Suggestion `json:"suggestions,omitempty"`
	Warnings    []string              `json:"warnings,omitempty"`
	tree        []windowNames         // for comparisons
}

// focusedView is the element with the keyboard focus.
type focusedView struct {
	Role  string `json:"role"`
	Title string `json:"title"`
	Ref   string `json:"element_ref,omitempty"`
}

// windowNames are the parts of a window in the tree that belong to the state.
type windowNames struct {
	title         string
	active, modal bool
}

func (d *engine) getStateTool() spec {
	return spec{
		name: "ax_get_state", title: "Get program state", effect: aai.Reads,
		returns: `"app": {"type": "string"}, "pid": {"type": "integer"}, "detected_state": {"type": "string", "enum": ["idle", "loading", "error", "auth_required", "busy", "modal_dialog"]}, "detected_pattern": {"type": "string"}, "windows": {"type": "array", "items": {"type": "object"}},
			"dialog": {"type": "string"}, "focused_element": {"type": "object"}, "menu_bar": {"type": "array", "items": {"type": "string"}}, "areas": {"type": "array", "items": {"type": "string"}}, "suggestions": {"type": "array", "items": {"type": "object"}}, "warnings": {"type": "array", "items": {"type": "string"}}`,
		description: "Say in short what a program shows: its kind of window, state, dialog, focus, menus, and next steps.",
		params:      appProp, required: `["app"]`, unlisted: true,
		run: func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
			return d.withView(ctx, call, func(ctx context.Context, v *view) (*aai.Result, error) {
				own, err := programs.WindowsOf(ctx, v.backend, v.app)
				state := stateOf(v.snapshot)
				if err != nil {
					state.Warnings = append(state.Warnings, "the positions of the windows are unknown: "+aai.CleanLabel(aai.AsError(err).Message, 200))
				}
				if len(own) > 0 {
					state.Windows = windowViews(own)
				}
				if state.State == patterns.Idle {
					state.State = d.workStates(ctx, v.app)[0]
				}
				if i := v.keyboardWithin(0, len(v.snapshot.Elements)); i >= 0 && state.Focused != nil {
					state.Focused.Ref = v.ref(i)
				}
				text, err := json.Marshal(state)
				if err != nil {
					return nil, err
				}
				return &aai.Result{Text: desktop.Fence(string(text), v.app.Name), Data: state, DataComplete: true}, nil
			})
		},
	}
}

// A program that is not watched counts as busy if it works for busyShare of busySample.
const (
	busySample = 50 * time.Millisecond
	busyShare  = 0.2
)

// workStates returns the words for whether each of the programs works.
func (d *engine) workStates(ctx context.Context, apps ...desktop.App) []patterns.State {
	states, worked := make([]patterns.State, len(apps)), make([]time.Duration, len(apps))
	events, isUnsure := d.OpenBackend().Events, false
	for i, app := range apps {
		if states[i] = patterns.Idle; events != nil && !events.IsIdle(app) { // also if it is not watched
			states[i], worked[i], isUnsure = patterns.Busy, events.BusyTime(app), true
		}
	}
	if !isUnsure || aai.Sleep(ctx, busySample) != nil {
		return states
	}
	for i, app := range apps {
		now := worked[i]
		if now > 0 { // 0: unknown
			now = events.BusyTime(app)
		}
		if worked[i] > 0 && float64(now-worked[i]) < busyShare*float64(busySample) {
			states[i] = patterns.Idle
		}
	}
	return states
}

// stateOf returns the state of a program by its tree alone.
func stateOf(s *desktop.Snapshot) appState {
	found := patterns.Detect(s)
	state := appState{App: aai.CleanLabel(s.App.Name, 80), PID: s.App.PID, Windows: []windowView{}, MenuBar: []string{},
		State: found.State, Pattern: found.Pattern, Suggestions: found.Suggestions}
	visible := s.VisibleElements()
	state.Areas = areasOf(s, visible)
	for n, top := range s.Children(-1) {
		w := &s.Elements[top]
		title := aai.CleanLabel(w.Name, 200)
		state.Windows = append(state.Windows, windowView{
			Index: n, Title: title, Focused: w.States.Has(desktop.Active),
			Position: []int{w.Frame.X, w.Frame.Y}, Size: []int{w.Frame.W, w.Frame.H},
		})
		state.tree = append(state.tree, windowNames{title, w.States.Has(desktop.Active), w.States.Has(desktop.Modal)})
	}
	for i := range s.Elements {
		e := &s.Elements[i]
		switch {
		case !visible[i]:
		case e.IsDialog():
			state.Dialog = aai.CleanLabel(e.Name, 200)
		case e.Role == desktop.Menubar && len(state.MenuBar) == 0:
			for _, item := range s.Children(i) {
				if name := strings.TrimSpace(aai.CleanLabel(s.Elements[item].Name, 60)); name != "" {
					state.MenuBar = append(state.MenuBar, name)
				}
			}
		}
		if visible[i] && e.States.Has(desktop.Focused) && e.Role != desktop.Window {
			state.Focused = &focusedView{Role: string(e.Role), Title: aai.CleanLabel(e.Name, 200)}
		}
	}
	return state
}

// comparableState returns the part of a program's state whose changes are reported.
func comparableState(s *desktop.Snapshot) any {
	state := stateOf(s)
	state.Windows, state.Areas = nil, nil // positions do not count, and areas follow from the tree
	return state
}

// maxAreas limits the areas of a program's state.
const maxAreas = 30

// areasOf returns the visible parts of the windows in words, such as "toolbar" or "General tab", each once.
func areasOf(s *desktop.Snapshot, visible []bool) (areas []string) {
	for i := range s.Elements {
		e := &s.Elements[i]
		if !visible[i] || len(areas) == maxAreas {
			continue
		}
		word := areaWord(e.Role)
		if name := aai.CleanLabel(e.Name, 60); name != "" && word != "" && e.Role != desktop.Menubar {
			word = name + " " + word
		} else if e.Role == desktop.Tab {
			continue
		}
		if word != "" && !slices.Contains(areas, word) {
			areas = append(areas, word)
		}
	}
	return areas
}

// areaWord returns the word for a part of a window, or "" if the role is none.
func areaWord(role desktop.Role) string {
	switch role {
	case desktop.Menubar:
		return "menu bar"
	case desktop.Tablist:
		return "tab bar"
	case desktop.Status:
		return "status bar"
	case desktop.Main:
		return "main content"
	case desktop.Grid:
		return "table"
	case desktop.Listbox:
		return "list"
	case desktop.Searchbox:
		return "search"
	case desktop.AlertDialog:
		return "dialog"
	case desktop.Toolbar, desktop.Tab, desktop.Dialog, desktop.Table, desktop.TreeView, desktop.List, desktop.Navigation, desktop.Search, desktop.Form, desktop.Region:
		return string(role)
	}
	return ""
}
