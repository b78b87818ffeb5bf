package cdp

import (
	"context"
	"encoding/json"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/devtools"
)

// A fileChooser is a chooser for files that a page has asked for, and that does not show.
type fileChooser struct {
	session *devtools.Session
	node    int // of its field
}

// chooserTimeout limits the wait for the chooser of a pressed button.
const chooserTimeout = 3 * time.Second

// chooseFile gives a file to the element, which is a field for files or a button that opens a chooser.
func (o *operation) chooseFile(ctx context.Context) error {
	a, err := o.call(ctx, "isFileField")
	if err != nil {
		return o.broken(err)
	}
	if a.Error == "unsupported" {
		return o.chooseByButton(ctx)
	}
	if a.Error != "" {
		return o.fail(a)
	}
	object, err := o.frame.object(ctx, o.key.number)
	if err != nil {
		return o.broken(err)
	}
	o.sent = true
	return o.setFile(ctx, o.frame.session, map[string]any{"objectId": object})
}

// setFile gives the file to a field, which params identifies.
func (o *operation) setFile(ctx context.Context, s *devtools.Session, params map[string]any) error {
	params["files"] = []string{o.act.Text}
	if err := s.Request(ctx, "DOM.enable", map[string]any{}, nil); err != nil {
		return o.broken(err)
	}
	if err := s.Request(ctx, "DOM.setFileInputFiles", params, nil); err != nil {
		return o.broken(err)
	}
	return nil
}

// chooseByButton presses the element, and gives the file to the chooser that it asks for.
func (o *operation) chooseByButton(ctx context.Context) error {
	opened, end, err := o.page.interceptChooser(ctx)
	if err != nil {
		return o.broken(err)
	}
	defer end()
	if err := o.press(ctx, 0); err != nil {
		return err
	}
	select {
	case c := <-opened:
		return o.setFile(ctx, c.session, map[string]any{"backendNodeId": c.node})
	case <-time.After(chooserTimeout):
	case <-ctx.Done():
	}
	e := aai.Errorf(aai.AutomationFailed, "%s was pressed, and asked for no file", o.name())
	e.Delivery, e.Hint = aai.Delivered, "Look at the page: the field for files may be another element."
	return e
}

// interceptChooser keeps the page's next chooser for files from opening, until end is called.
func (p *page) interceptChooser(ctx context.Context) (opened <-chan fileChooser, end func(), err error) {
	choosers := make(chan fileChooser, 1)
	p.mu.Lock()
	p.choosers = choosers
	sessions := []*devtools.Session{p.session}
	for _, g := range p.guests {
		sessions = append(sessions, g.session)
	}
	p.mu.Unlock()
	set := func(ctx context.Context, on bool) (err error) {
		for _, s := range sessions {
			if failed := s.Request(ctx, "Page.setInterceptFileChooserDialog", map[string]any{"enabled": on}, nil); failed != nil {
				err = failed
			}
		}
		return err
	}
	end = func() {
		p.mu.Lock()
		p.choosers = nil
		p.mu.Unlock()
		_ = set(context.WithoutCancel(ctx), false)
	}
	if err := set(ctx, true); err != nil {
		end()
		return nil, nil, err
	}
	return choosers, end, nil
}

// reportChooser passes a chooser that did not open to its act; the caller holds the lock.
func (p *page) reportChooser(s *devtools.Session, params json.RawMessage) {
	var e struct {
		Node int `json:"backendNodeId"`
	}
	if p.choosers == nil || json.Unmarshal(params, &e) != nil {
		return
	}
	select {
	case p.choosers <- fileChooser{s, e.Node}:
	default:
	}
}
