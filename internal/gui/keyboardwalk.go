package gui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gui/a11y"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
)

const keyboardAuditName = "ax_a11y_keyboard"

// maxWalk limits the keys of one direction of a walk.
const maxWalk = 150

func (d *engine) keyboardAuditTool() spec {
	s := d.a11yAuditTool()
	s.name, s.title, s.effect, s.types = keyboardAuditName, "Accessibility audit with the keyboard", aai.Changes, true
	s.description = "As ax_a11y_audit, and walk through the window by tab and shift+tab: reach, order and traps of the keyboard focus."
	s.params += "," + modeProp
	s.run = func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
		return d.withViewToAct(ctx, call, func(ctx context.Context, v *view) (*aai.Result, error) {
			roots, err := v.auditRoots(ctx)
			if err != nil {
				return nil, err
			}
			if len(roots) != 1 {
				return nil, aai.Errorf(aai.InvalidParams, "scope: expected one window or element to walk through")
			}
			return v.walkAndAudit(ctx, roots[0])
		})
	}
	return s
}

// walkAndAudit walks through the element by keys, and audits it.
func (v *view) walkAndAudit(ctx context.Context, root int) (*aai.Result, error) {
	w, err := v.windowOf(ctx, root)
	if err != nil {
		return nil, err
	}
	walk := keyboardWalk{root: v.snapshot.Elements[root].ID}
	a := action{view: v, index: -1}
	if err := v.announce(ctx, -1); err != nil {
		return nil, err
	}
	a.techniques = []technique{v.byKeysIn(fixedWindow(w), -1, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		return withoutFocusCheck(input).WithKeyboard(ctx, seat, w.ID, func(ctx context.Context, input desktop.Input) error {
			watching, cancel := context.WithCancel(ctx)
			defer cancel()
			walk.focusTracker = v.newFocusTracker(watching)
			walk.press = func(chord desktop.Chord) error { return input.Key(ctx, seat, w.ID, chord) }
			return walk.run(ctx)
		})
	})}
	if _, err := a.tryTechniques(ctx); err != nil {
		return nil, err
	}
	if err := v.refresh(ctx); err != nil {
		return nil, err
	}
	root = v.snapshot.Index(walk.root)
	if root < 0 {
		return nil, guierr.Failed(aai.Delivered, "the window is gone since the keys")
	}
	out, err := audit(ctx, v, []int{root}, &a11y.Walk{Forward: walk.forward.indexes(v.snapshot), Backward: walk.backward.indexes(v.snapshot)})
	if err == nil {
		out.Text += walk.describe(v)
		if walk.note != "" {
			out.Warning = strings.TrimPrefix(out.Warning+"; "+walk.note, "; ")
		}
	}
	return out, err
}

// walkPath is the way of the focus in one direction.
type walkPath struct {
	ids            []desktop.ID
	left, complete bool
}

func (p walkPath) indexes(s *desktop.Snapshot) a11y.Path {
	path := a11y.Path{Left: p.left, Complete: p.complete}
	for _, id := range p.ids {
		path.Elements = append(path.Elements, s.Index(id))
	}
	return path
}

// keyboardWalk presses tab and shift+tab in a window that holds the keyboard, and records the focused elements.
type keyboardWalk struct {
	focusTracker
	root              desktop.ID
	press             func(desktop.Chord) error
	forward, backward walkPath
	note              string // for people
}

func (k *keyboardWalk) run(ctx context.Context) error {
	if err := k.reread(ctx); err != nil {
		return err
	}
	if k.focusedIndex() < 0 {
		if err := k.awaitFocusReport(ctx); err != nil {
			return err
		}
	}
	start := k.focusedIndex()
	root := k.snapshot.Index(k.root)
	if root < 0 {
		return guierr.Failed(aai.NotDelivered, "the window is gone")
	}
	if in := k.tabConsumer(root, start, true); start < 0 && in >= 0 {
		return guierr.Failed(aai.NotDelivered, "the element with the keyboard is not known, and tab may be a character in %s", k.name(in))
	}
	var was desktop.ID
	if start >= 0 {
		was = k.snapshot.Elements[start].ID
	}
	if err := k.walk(ctx, &k.forward); err != nil {
		return err
	}
	if err := k.walk(ctx, &k.backward, "shift"); err != nil {
		return err
	}
	return k.giveBack(ctx, was)
}

// walk presses tab with the modifiers until the focus comes to an element again, or leaves the root.
func (k *keyboardWalk) walk(ctx context.Context, p *walkPath, modifiers ...string) error {
	var seen []desktop.ID // also outside of the root
	for n := range maxWalk {
		gateway.Progress(ctx, float64(n), maxWalk, fmt.Sprintf("Walking by the keyboard: %d keys", n))
		at := k.focusedIndex()
		if at < 0 {
			return nil
		}
		id, root := k.snapshot.Elements[at].ID, k.snapshot.Index(k.root)
		inside := root >= 0 && at > root && at < k.snapshot.Elements[root].End
		again := slices.Contains(seen, id)
		seen = append(seen, id)
		if inside {
			p.ids = append(p.ids, id)
		}
		switch {
		case len(p.ids) > 0 && !inside:
			p.left, p.complete = true, true
			return nil
		case again:
			p.complete = true
			return nil
		}
		chord := desktop.Chord{Key: "tab", Modifiers: modifiers}
		if !k.app.IsBrowser && k.keepsTab(at) {
			if k.snapshot.Elements[at].Role == desktop.Terminal {
				k.note = k.name(at) + " is a terminal, in which no key was pressed"
				return nil
			}
			chord.Modifiers = append([]string{"ctrl"}, modifiers...)
		}
		if err := k.press(chord); err != nil {
			return err
		}
		moved, err := k.awaitMove(ctx, at)
		if err != nil {
			return err
		}
		if !moved && len(chord.Modifiers) > len(modifiers) {
			k.note = "the walk ended at " + k.name(at) + ", in which tab is a character"
			return nil
		}
	}
	k.note = fmt.Sprintf("the walk ended after %d keys", maxWalk)
	return nil
}

// giveBack gives the focus back to the element that had it.
func (k *keyboardWalk) giveBack(ctx context.Context, was desktop.ID) error {
	has := func() bool { at := k.focusedIndex(); return at >= 0 && k.snapshot.Elements[at].ID == was }
	if was == "" || has() {
		return nil
	}
	if i := k.snapshot.Index(was); i >= 0 && k.backend.Actor != nil {
		act := desktop.Act{Verb: desktop.TakeFocus, Name: k.snapshot.Elements[i].Name}
		if action := k.focusAction(&k.snapshot.Elements[i]); action != "" {
			act.Verb, act.Action = desktop.Press, action
		}
		if k.backend.Actor.Execute(ctx, k.app, was, act) == nil {
			if back, err := k.pollUntil(ctx, effectCeiling, func() (bool, error) { k.drainEvents(); return has(), nil }); back || err != nil {
				return err
			}
		}
	}
	for range k.backward.ids { // programs without such an action
		at := k.focusedIndex()
		if at < 0 || has() || !k.app.IsBrowser && k.keepsTab(at) {
			break
		}
		if err := k.press(desktop.Chord{Key: "tab"}); err != nil {
			return err
		}
		if moved, err := k.awaitMove(ctx, at); !moved || err != nil {
			return err
		}
	}
	if !has() {
		k.note = strings.TrimPrefix(k.note+"; another element than before has the keyboard focus now", "; ")
	}
	return nil
}

// describe lists the elements in the order of the focus.
func (k *keyboardWalk) describe(v *view) string {
	var b strings.Builder
	for _, i := range k.forward.indexes(v.snapshot).Elements {
		if i >= 0 {
			fmt.Fprintf(&b, "%s [%s]\n", desktop.Describe(&v.snapshot.Elements[i]), v.ref(i))
		}
	}
	if b.Len() == 0 {
		return "\nTab led to no element."
	}
	return "\nThe order of the keyboard focus:\n" + desktop.Fence(b.String(), v.app.Name)
}
