package cdp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/devtools"
)

// A dialog is a dialog of JavaScript that blocks a page. It is not changed: a text for its field makes another one.
type dialog struct {
	session *devtools.Session // that reported it
	token   string            // of its keys
	kind    string            // alert, confirm, prompt or beforeunload
	site    string            // of the document that asks
	message string
	text    string // of the field of a prompt
}

// The numbers of the elements of a dialog in their keys.
const (
	dialogItself = iota + 1
	dialogMessage
	dialogField
	dialogOK
	dialogCancel
)

// openDialog keeps a dialog that has opened; the caller holds the lock.
func (p *page) openDialog(s *devtools.Session, params json.RawMessage) {
	var e struct {
		Kind    string `json:"type"`
		URL     string `json:"url"`
		Message string `json:"message"`
		Default string `json:"defaultPrompt"`
	}
	if json.Unmarshal(params, &e) == nil {
		p.dialogs++
		p.question = &dialog{session: s, token: fmt.Sprintf("dialog%d", p.dialogs), kind: e.Kind, site: "The page", message: e.Message, text: e.Default}
		if u, err := url.Parse(e.URL); err == nil && u.Host != "" {
			p.question.site = u.Host
		}
	}
	select {
	case <-p.dialog:
	default:
		close(p.dialog)
	}
}

// lastReading returns the page as it was read before a dialog opened. Its content is nil if it never was.
func (p *page) lastReading(title string) reading {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.question == nil {
		return reading{}
	}
	return reading{page: p, title: title, content: p.content, dialog: p.question}
}

// elements returns the dialog as elements below parent. The first index is first. native are the elements with which the
// browser itself shows the dialog.
func (d *dialog) elements(target string, first, parent int, native []desktop.Element) []desktop.Element {
	accept, title := "OK", d.site+" says"
	if d.kind == "beforeunload" {
		accept, title = "Leave", "Leave site?"
	}
	var out []desktop.Element
	add := func(number int, role desktop.Role, name string, states desktop.State, action string) {
		e := desktop.Element{ID: key{target, d.token, number}.id(), Role: role, Name: name, States: states | desktop.Showing | desktop.Enabled, Parent: first, DevTools: true}
		if action != "" {
			e.Actions = []string{action}
		}
		if len(native) > 0 {
			e.Frame = native[0].Frame
		}
		for i := range native {
			if native[i].Role == role && (role != desktop.Button || native[i].Name == name) {
				e.Frame = native[i].Frame
			}
		}
		out = append(out, e)
	}
	add(dialogItself, desktop.Dialog, title, desktop.Modal, "")
	out[0].Parent = parent
	if d.message != "" {
		add(dialogMessage, desktop.Text, strings.Join(strings.Fields(d.message), " "), 0, "")
	}
	if d.kind == "prompt" {
		add(dialogField, desktop.Textbox, out[len(out)-1].Name, desktop.Focusable|desktop.Editable, "activate")
		out[len(out)-1].Value = d.text
	}
	add(dialogOK, desktop.Button, accept, desktop.Focusable, "press")
	if d.kind != "alert" {
		add(dialogCancel, desktop.Button, "Cancel", desktop.Focusable, "press")
	}
	return out
}

// isShownBy reports whether the element of the platform and those in it show the dialog.
func (d *dialog) isShownBy(elements []desktop.Element) bool {
	if role := elements[0].Role; role != desktop.Dialog && role != desktop.AlertDialog {
		return false
	}
	message := strings.Join(strings.Fields(d.message), " ")
	return message == "" || slices.ContainsFunc(elements[1:], func(e desktop.Element) bool {
		name := strings.Join(strings.Fields(e.Name), " ")
		return name != "" && e.Role != desktop.Button && strings.Contains(message, name)
	})
}

// withoutDialogs returns the platform's snapshot with the windows as they were before the dialogs of the pages opened:
// the browser hides all of a window but such a dialog. It also returns the pages with dialogs by the windows.
func (t *tabs) withoutDialogs(s *desktop.Snapshot, pages []reading) (*desktop.Snapshot, map[desktop.ID]reading) {
	t.mu.Lock()
	calm := t.calm
	t.mu.Unlock()
	asked, out := map[desktop.ID]reading{}, &desktop.Snapshot{App: s.App, Taken: s.Taken, Warnings: s.Warnings}
	for _, window := range s.Children(-1) {
		from, at, id := s, window, s.Elements[window].ID
		if r := dialogIn(s, window, pages); r.native != nil && calm != nil && calm.Index(id) >= 0 {
			from, at, asked[id] = calm, calm.Index(id), r
		}
		offset := len(out.Elements) - at
		for _, e := range from.Elements[at:from.Elements[at].End] {
			if e.Parent >= 0 {
				e.Parent += offset
			}
			e.End += offset
			out.Elements = append(out.Elements, e)
		}
	}
	if len(asked) == 0 {
		return s, nil
	}
	return out, asked
}

// dialogIn returns the page of the dialog that the platform shows in the window, with the elements of the dialog.
func dialogIn(s *desktop.Snapshot, window int, pages []reading) reading {
	for _, r := range pages {
		d := r.dialog
		if d == nil {
			d = r.page.justAnswered()
		}
		if d == nil || d.message == "" && len(pages) > 1 {
			continue
		}
		for i := window + 1; i < s.Elements[window].End; i++ {
			if r.native = s.Elements[i:s.Elements[i].End]; d.isShownBy(r.native) {
				return r
			}
		}
	}
	return reading{}
}

// justAnswered returns a dialog that has ended, and that the platform may show still, or nil.
func (p *page) justAnswered() *dialog {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.answer) > maxAge {
		return nil
	}
	return p.answered
}

// A dialogOperation is one act on an element of a dialog.
type dialogOperation struct {
	operation
	dialog *dialog
}

// perform performs the act. The caller has checked that a window shows the page.
func (o *dialogOperation) perform(ctx context.Context) error {
	switch verb, number := o.act.Verb, o.key.number; {
	case verb == desktop.Press && (number == dialogOK || number == dialogCancel):
		params := map[string]any{"accept": number == dialogOK}
		if number == dialogOK && o.dialog.kind == "prompt" {
			params["promptText"] = o.dialog.text
		}
		o.sent = true
		if err := o.dialog.session.Request(ctx, "Page.handleJavaScriptDialog", params, nil); err != nil {
			return o.broken(err)
		}
		return nil
	case number == dialogField && (verb == desktop.SetText || verb == desktop.InsertText):
		next := *o.dialog
		if next.text += o.act.Text; verb == desktop.SetText {
			next.text = o.act.Text
		}
		o.page.mu.Lock()
		defer o.page.mu.Unlock()
		if o.page.question != o.dialog {
			return stale(o.app)
		}
		o.page.question = &next
		return nil
	case verb == desktop.TakeFocus && number == dialogField, verb == desktop.ScrollTo, verb == desktop.RefreshText:
		return nil
	}
	return o.unsupported("has no such action in its dialog")
}

// inDialog returns the act on an element of a dialog, and the element. The act is nil if the key is that of an element
// of a document.
func (p *platform) inDialog(ctx context.Context, app desktop.App, k key, act desktop.Act) (*dialogOperation, desktop.Element, error) {
	if !strings.HasPrefix(k.token, "dialog") {
		return nil, desktop.Element{}, nil
	}
	s, err := p.Snapshot(ctx, app)
	if err != nil {
		return nil, desktop.Element{}, err
	}
	if t, i := p.browser(ctx, app.PID), s.Index(k.id()); t != nil && i >= 0 && t.page(k.target) != nil { // a window shows the tab
		page := t.page(k.target)
		if d := page.lastReading("").dialog; d != nil && d.token == k.token {
			return &dialogOperation{operation{page: page, key: k, app: app, act: act}, d}, s.Elements[i], nil
		}
	}
	return nil, desktop.Element{}, stale(app)
}
