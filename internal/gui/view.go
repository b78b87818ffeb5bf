package gui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/delta"
	"github.com/gybob/aai-gateway/internal/desktop/refs"
	"github.com/gybob/aai-gateway/internal/gui/conversation"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
	"github.com/gybob/aai-gateway/internal/gui/params"
	"github.com/gybob/aai-gateway/internal/gui/programs"
	"github.com/gybob/aai-gateway/internal/gui/screenshot"
)

// view holds the state of one call that operates a program: its latest snapshot with refs, the backend and the
// options. Set the options before a query.
type view struct {
	snapshot       *desktop.Snapshot
	refs           *refs.Table
	withoutNewRefs bool // errors get no hints or candidates with refs, because the caller discards them
	engine         *engine
	backend        desktop.Backend
	call           *aai.Call
	app            desktop.App
	// includeHidden lets queries match elements that are not visible if no visible one matches.
	includeHidden bool
	// includeMenus lets queries match items of closed menus if no visible element matches.
	includeMenus     bool
	forAction        bool                  // the element must still have the name that the caller knows
	certainOnly      bool                  // queries accept only certain matches
	batched          bool                  // the action is one of several with a common report
	announced        map[desktop.ID]string // elements already announced, with their texts then
	includeOffscreen bool                  // queries match elements out of view as well as visible ones
	offscreenRead    bool                  // elements out of view were read, too
	treeOptional     bool                  // the call works without a tree
	noTree           bool                  // the program has no tree
	screenWatcher    *screenshot.Watcher   // compares screenshots of the window that gets input; nil if off
	scrolledIntoView bool                  // the element was out of view and was scrolled into view
	keyboardGuard    *keyboardGuard        // from before the first of several actions; nil for a single one
	ambientChanges   *delta.AmbientChanges
	beforeStroke     func(context.Context) error // called before each stroke of a text; nil: no further check
	previousAction   *conversation.LastAction    // the action before this call's; nil until it acts
}

// findTimeout limits how long a query waits for an element to appear.
const findTimeout = 500 * time.Millisecond

// withView runs f with a fresh view of the program that the call names. The call holds the
// program's queue slot.
func (d *engine) withView(ctx context.Context, call *aai.Call, f func(context.Context, *view) (*aai.Result, error)) (*aai.Result, error) {
	return d.runWithView(ctx, call, false, f)
}

// withViewToAct is withView for a call that acts on the program. It first waits for the effect of
// the last action, so that the effect is not attributed to this call.
func (d *engine) withViewToAct(ctx context.Context, call *aai.Call, f func(context.Context, *view) (*aai.Result, error)) (*aai.Result, error) {
	return d.runWithView(ctx, call, true, f)
}

func (d *engine) runWithView(ctx context.Context, call *aai.Call, acts bool, f func(context.Context, *view) (*aai.Result, error)) (*aai.Result, error) {
	return d.withViewUnqueued(ctx, call, func(ctx context.Context, v *view) (*aai.Result, error) {
		v.ambientChanges = d.Cache.AmbientChangesOf(v.app)
		if err := v.awaitPending(ctx, acts); err != nil {
			return nil, err
		}
		v.learnAmbient()
		since := joined(v.changesSince(), v.foreignWindowsSince(ctx))
		result, err := f(ctx, v)
		return withSince(result, err, since)
	})
}

// withViewUnqueued is withView without a queue slot, for calls that do not act on the program.
func (d *engine) withViewUnqueued(ctx context.Context, call *aai.Call, f func(context.Context, *view) (*aai.Result, error)) (result *aai.Result, err error) {
	app, err := d.AdmittedApp(ctx, call)
	if err != nil {
		return nil, err
	}
	_, isWord := d.pictureWord(call, app)
	v := &view{engine: d, backend: d.OpenBackend(), call: call, app: app, treeOptional: params.IsByPoint(call) || isWord || call.Tool == findName}
	if d.refStore.IsPersistent(call) {
		known, done, err := d.refStore.Open(ctx, app, programs.NewTarget(app).Digest)
		if err != nil {
			return nil, err
		}
		defer func() {
			if err := done(); err != nil {
				d.Log.Warn("references are not kept", "error", err)
			}
		}()
		v.refs = known
	} else {
		v.refs = d.Sessions.For(call).RefsOf(app)
	}
	if err := v.refresh(ctx); err != nil {
		return nil, err
	}
	return f(ctx, v)
}

// refresh reads the program's tree again.
func (v *view) refresh(ctx context.Context) error {
	shot, err := v.backend.Tree.Snapshot(ctx, v.app)
	if v.treeless(err) {
		shot, err, v.noTree = &desktop.Snapshot{App: v.app}, nil, true
	}
	if err != nil {
		return v.unreadableError(guierr.Unreadable(err))
	}
	v.snapshot = shot
	return nil
}

// read reads one element again.
func (v *view) read(ctx context.Context, id desktop.ID) (desktop.Element, error) {
	e, err := v.backend.Tree.Read(ctx, v.app, id)
	if err != nil {
		return e, guierr.Unreadable(err)
	}
	return e, nil
}

// ref returns the ref of the snapshot's i'th element.
func (v *view) ref(i int) string { return v.refs.Ref(v.snapshot, i) }

// idOf returns the ID of the snapshot's i'th element; "" for -1.
func (v *view) idOf(i int) desktop.ID {
	if i < 0 {
		return ""
	}
	return v.snapshot.Elements[i].ID
}

// name formats an element for people and models: button "Save" [e12].
func (v *view) name(i int) string {
	return desktop.Describe(&v.snapshot.Elements[i]) + " [" + v.ref(i) + "]"
}

// elementView is an element as data for programs.
type elementView struct {
	Ref      string   `json:"element_ref"`
	Role     string   `json:"role"`
	Title    string   `json:"title"`
	Value    string   `json:"value,omitempty"`
	Position []int    `json:"position,omitempty"` // x, y on the screen
	Size     []int    `json:"size,omitempty"`     // width, height
	Enabled  bool     `json:"enabled"`
	Focused  bool     `json:"focused"`
	States   []string `json:"states,omitempty"`
}

// summarize returns an element as data for programs.
func (v *view) summarize(i int) elementView {
	e := &v.snapshot.Elements[i]
	out := elementView{
		Ref: v.ref(i), Role: string(e.Role), Title: aai.CleanLabel(e.Name, fieldtext.MaxText), Value: v.shown(i),
		Enabled: e.States.Has(desktop.Enabled), Focused: e.States.Has(desktop.Focused), States: e.States.Words(),
	}
	if !e.Frame.Empty() {
		out.Position, out.Size = []int{e.Frame.X, e.Frame.Y}, []int{e.Frame.W, e.Frame.H}
	}
	return out
}

// shown returns the value of an element, for display.
func (v *view) shown(i int) string {
	e := v.snapshot.Elements[i]
	e.Value = v.valueOf(i)
	return fieldtext.DisplayValue(&e)
}

// describe formats an element in one line, with its value.
func (v *view) describe(i int) string {
	e := &v.snapshot.Elements[i]
	text := v.name(i)
	if value := v.shown(i); value != "" && (e.Value != "" || !e.States.Has(desktop.Checkable)) {
		text += fmt.Sprintf(" value %q", aai.CleanLabel(value, 200))
	}
	if e.States.Has(desktop.Placed) {
		text += " placed"
	}
	if !e.States.Has(desktop.Enabled) {
		text += " disabled"
	}
	if v.snapshot.IsOffscreen(i) {
		text += " out of view"
	}
	if e.States.Has(desktop.Checkable) {
		text += map[bool]string{true: " checked", false: " unchecked"}[e.States.Has(desktop.Checked)]
	}
	return text
}

// maxCandidates limits the elements that an error lists.
const maxCandidates = 8

// setCandidates sets the candidates of an error, of which there are too many to list all.
func setCandidates(e *aai.Error, listed []string, all int) {
	e.Candidates = listed[:min(len(listed), maxCandidates)]
	if more := all - len(e.Candidates); more > 0 && len(listed) > 0 {
		e.Message += fmt.Sprintf("; %d more are not listed", more)
	}
}

// candidates describes elements so that a caller can choose: e12 button "Save" in dialog "Really?".
// It omits containers that all of them share.
func (v *view) candidates(indexes []int) []string {
	if v.withoutNewRefs {
		return nil
	}
	shown := indexes[:min(len(indexes), maxCandidates)]
	paths := make(map[int][]string)
	for _, i := range shown {
		paths[i] = v.path(i)
	}
	shared := make(map[string]int)
	for _, path := range paths {
		for _, part := range path {
			shared[part]++
		}
	}
	alike := make(map[string][]int) // elements with the same description
	texts := make(map[int]string)
	for _, i := range indexes {
		text := desktop.Describe(&v.snapshot.Elements[i])
		if v.snapshot.Elements[i].States.Has(desktop.Placed) {
			text += " placed"
		}
		if v.snapshot.IsOffscreen(i) {
			text += " out of view"
		}
		for _, part := range paths[i] {
			if len(shown) == 1 || shared[part] < len(shown) {
				text += " in " + part
			}
		}
		texts[i] = text
		alike[text] = append(alike[text], i)
	}
	var out []string
	for _, i := range shown {
		text := v.ref(i) + " " + texts[i]
		if others := alike[texts[i]]; len(others) > 1 {
			text += v.apart(i, others)
		}
		out = append(out, text)
	}
	return out
}

// apart returns a text that distinguishes an element from others with the same description: nearby
// text that none of the others has, or its position; "" if that is unknown.
func (v *view) apart(i int, others []int) string {
	all := v.snapshot.Elements
	of := -1 // the largest container without the others
	for p := all[i].Parent; p >= 0 && !slices.ContainsFunc(others, func(o int) bool { return o != i && p < o && o < all[p].End }); p = all[p].Parent {
		of = p
	}
	if of >= 0 {
		var words []string
		v.eachText(of, i, func(_ int, text string) bool {
			if text != all[i].Name && !slices.Contains(words, text) {
				words = append(words, text)
			}
			return len(words) < maxCandidates
		})
		if len(words) > 0 {
			return " beside " + guierr.QuoteQuery(aai.CleanLabel(strings.Join(words, " "), 60))
		}
	}
	if b := all[i].Frame; !b.Empty() {
		return fmt.Sprintf(" at %d,%d", b.X, b.Y)
	}
	return ""
}

// maxPathWord is the maximum of bytes of a container's name in a path.
const maxPathWord = 40

// path returns the named containers of an element, nearest first, at most two. It omits containers
// with the element's own name.
func (v *view) path(i int) []string {
	var names []string
	for p := v.snapshot.Elements[i].Parent; p >= 0 && len(names) < 2; p = v.snapshot.Elements[p].Parent {
		if e := &v.snapshot.Elements[p]; e.Name != "" && e.Role != desktop.Generic && e.Name != v.snapshot.Elements[i].Name {
			names = append(names, string(e.Role)+" "+desktop.Quote(e.Name, maxPathWord))
		}
	}
	return names
}

// unreadElements returns how many elements the snapshot omits.
func (v *view) unreadElements() int {
	n := 0
	for i := range v.snapshot.Elements {
		n += v.snapshot.Elements[i].UnreadChildren
	}
	return n
}

// treeless reports whether err means that the program has no tree and the call needs none.
func (v *view) treeless(err error) bool {
	e := aai.AsError(err)
	return e != nil && v.treeOptional && e.Code == aai.AutomationNotSupported && v.app.HiddenReason != ""
}

// unreadableError returns the error for an unreadable program; for one without a tree the hint
// names alternatives.
func (v *view) unreadableError(err error) error {
	e := aai.AsError(err)
	if v.app.HiddenReason == "" || e.Code != aai.AutomationNotSupported {
		return err
	}
	said := *e
	said.Hint = strings.TrimSpace(e.Hint + " " + noTreeHint)
	return &said
}

// valueOf returns the value of an element. For some it combines their children: the parts of a
// date, and the content of a list that a page builds itself.
func (v *view) valueOf(i int) string {
	e := &v.snapshot.Elements[i]
	if e.Value != "" || e.States.Has(desktop.Protected) {
		return fieldtext.Value(e)
	}
	if parts := v.dateTimeParts(i); len(parts) > 0 {
		held := make([]string, len(parts))
		for n, part := range parts {
			held[n] = v.snapshot.Elements[part.Index].Value
		}
		return v.formatDateTime(parts, held)
	}
	if e.Role == desktop.Combobox && !e.States.Has(desktop.Editable) {
		return v.comboValue(i)
	}
	return fieldtext.Value(e)
}

// comboValue returns the name of the combo box's selected option, or else the first text in it that
// is no option; "" if there is none.
func (v *view) comboValue(box int) (words string) {
	within := v.snapshot.Elements[box].End
	for i, options := box+1, 0; i < within; i++ {
		switch e := &v.snapshot.Elements[i]; {
		case e.States.Has(desktop.Protected):
		case e.Role.IsSetMember() && e.States.Has(desktop.Selected) && !desktop.IsBlank(e.Name):
			return e.Name
		case e.Role.IsSetMember() || e.Role.IsRefContainer():
			options = max(options, e.End)
		case i < options || words != "":
		case e.Role.IsTextual() || e.Role == desktop.Textbox || e.Role == desktop.Searchbox:
			if words = fieldtext.Value(e); words == "" && e.Role.IsTextual() {
				words = e.Name
			}
		}
	}
	return words
}
