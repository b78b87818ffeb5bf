package cdp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gybob/aai-gateway/internal/devtools"
)

// A page is the page of a tab. It is safe for concurrent use.
type page struct {
	browser *devtools.Browser
	target  string
	session *devtools.Session
	main    *frame

	mu       sync.Mutex
	frames   map[string]*frame // by ID
	guests   map[string]guest  // frames with processes of their own, by ID
	dialog   chan struct{}     // closed while a dialog of JavaScript blocks the page; otherwise open
	question *dialog           // the dialog; nil: none
	dialogs  int               // so far
	content  *content          // as it was read last while a window showed it
	leaving  chan struct{}     // closed at the end of the navigation of the page that is under way; nil: none
	left     time.Time         // its begin
	answered *dialog           // the last one that was open
	answer   time.Time         // its end
	// emulates reports whether the page behaves as if it had the keyboard. Then it says that it is visible in any case.
	emulates bool
	choosers chan<- fileChooser // nil: choosers for files open as usual
}

// A guest is a frame with a process of its own.
type guest struct{ session, parent *devtools.Session }

// errDialog means that a dialog of JavaScript blocks the page.
var errDialog = errors.New("a dialog of the page is open")

// openPage begins a session of a tab.
func openPage(ctx context.Context, b *devtools.Browser, target string) (*page, error) {
	p := &page{browser: b, target: target, frames: map[string]*frame{}, guests: map[string]guest{}, dialog: make(chan struct{})}
	ready := make(chan struct{})
	session, err := b.Attach(ctx, target, func(method string, params json.RawMessage) {
		<-ready
		p.event(p.session, method, params)
	})
	if err != nil {
		close(ready)
		return nil, err
	}
	p.session, p.main = session, &frame{id: target, session: session}
	p.frames[target] = p.main
	close(ready)
	return p, p.listen(ctx, session)
}

// listen makes a target report dialogs, and its frames with processes of their own.
func (p *page) listen(ctx context.Context, s *devtools.Session) error {
	if err := s.Request(ctx, "Page.enable", map[string]any{}, nil); err != nil {
		return err
	}
	return s.Request(ctx, "Target.setAutoAttach", map[string]any{"autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true}, nil)
}

// event handles an event of the page or of one of its frames, by the reading goroutine.
func (p *page) event(s *devtools.Session, method string, params json.RawMessage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch method {
	case "Page.javascriptDialogOpening":
		p.openDialog(s, params)
	case "Page.javascriptDialogClosed":
		p.dialog = make(chan struct{})
		p.question, p.answered, p.answer = nil, p.question, time.Now()
	case "Page.frameRequestedNavigation", "Page.frameStartedNavigating", "Page.frameNavigated", "Page.frameStoppedLoading", "Page.navigatedWithinDocument":
		p.reportNavigation(method, params)
	case "Page.fileChooserOpened":
		p.reportChooser(s, params)
	case "Page.frameDetached":
		var e struct {
			Frame  string `json:"frameId"`
			Reason string `json:"reason"`
		}
		if json.Unmarshal(params, &e) == nil && e.Reason != "swap" {
			delete(p.frames, e.Frame)
		}
	case "Target.attachedToTarget":
		var e struct {
			Session string `json:"sessionId"`
			Target  struct {
				ID   string `json:"targetId"`
				Kind string `json:"type"`
			} `json:"targetInfo"`
		}
		if json.Unmarshal(params, &e) != nil || e.Target.Kind != "iframe" {
			return
		}
		var child *devtools.Session
		ready := make(chan struct{})
		child = p.browser.Adopt(e.Session, func(method string, params json.RawMessage) {
			<-ready
			if method == devtools.Detached {
				p.leave(e.Target.ID, child)
				return
			}
			p.event(child, method, params)
		})
		close(ready)
		p.guests[e.Target.ID] = guest{child, s}
		delete(p.frames, e.Target.ID) // it had the process of its parent
		go func() { _ = p.listen(context.Background(), child) }()
	}
}

// leave forgets a frame after the end of its process.
func (p *page) leave(id string, s *devtools.Session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.guests[id].session == s {
		delete(p.guests, id)
		delete(p.frames, id)
	}
}

// blocked returns a channel that is closed while a dialog blocks the page.
func (p *page) blocked() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dialog
}

// unlessBlocked calls do with a context that ends when a dialog blocks the page.
func (p *page) unlessBlocked(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := make(chan struct{})
	defer close(stop)
	blocked := p.blocked()
	select {
	case <-blocked:
		return errDialog
	default:
	}
	go func() {
		select {
		case <-blocked:
			cancel(errDialog)
		case <-stop:
		}
	}()
	err := do(ctx)
	if err != nil && errors.Is(context.Cause(ctx), errDialog) {
		return errDialog
	}
	return err
}

// readTimeout limits the reading of a page.
const readTimeout = 3 * time.Second

// read reads the page with its frames.
func (p *page) read(ctx context.Context) (c *content, err error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	err = p.unlessBlocked(ctx, func(ctx context.Context) error {
		p.awaitNavigation(ctx)
		c, err = readFrame(ctx, p.main)
		if err == nil && p.awaitNavigation(ctx) { // it had been requested before the reading
			c, err = readFrame(ctx, p.main)
		}
		if err != nil || len(c.Frames) == 0 || !c.Visible {
			return err
		}
		return p.readFrames(ctx, p.main, c, nil)
	})
	return c, err
}

func readFrame(ctx context.Context, f *frame) (*content, error) {
	c, err := f.content(ctx)
	if err == nil && c.Visible && f.markListeners(ctx) {
		c, err = f.content(ctx)
	}
	return c, err
}

// content reads the frame's document without the frames in it. It decodes only a document that has changed.
func (f *frame) content(ctx context.Context) (*content, error) {
	f.reading.Lock()
	defer f.reading.Unlock()
	f.mu.Lock()
	acts, begun := f.acts, time.Now()
	mayRepeat := f.last != nil && f.fullyAfter == acts && begun.Sub(f.fully) < maxAge
	f.mu.Unlock()
	text, err := f.text(ctx, fmt.Sprintf("%s.read(%t)", readerOf, mayRepeat))
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		f.last = nil // the answer may be lost
		return nil, err
	}
	if !mayRepeat {
		f.fully, f.fullyAfter = begun, acts
	}
	if text != "" { // it has changed, or may have
		c := &content{}
		if err := json.Unmarshal([]byte(text), c); err != nil {
			return nil, err
		}
		if !c.isComplete() {
			return nil, fmt.Errorf("the page's reader gave columns of different lengths")
		}
		f.last = c
	}
	own := *f.last
	own.frames = map[int]*content{}
	return &own, nil
}

// reread makes the next readings of all frames read the whole documents.
func (p *page) reread() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.frames {
		f.mu.Lock()
		f.acts++
		f.mu.Unlock()
	}
}

// A frameTree is a frame of the protocol with those in it.
type frameTree struct {
	Frame struct {
		ID string `json:"id"`
	} `json:"frame"`
	Children []frameTree `json:"childFrames"`
}

// readFrames reads the frames in the frame f with the document c. below has the IDs of the frames in each frame that
// share its process; nil if they are not known yet.
func (p *page) readFrames(ctx context.Context, f *frame, c *content, below map[string][]string) error {
	if below == nil {
		var tree struct {
			Tree frameTree `json:"frameTree"`
		}
		if err := f.session.Request(ctx, "Page.getFrameTree", map[string]any{}, &tree); err != nil {
			return err
		}
		below = map[string][]string{}
		var walk func(frameTree)
		walk = func(t frameTree) {
			for _, child := range t.Children {
				below[t.Frame.ID] = append(below[t.Frame.ID], child.Frame.ID)
				walk(child)
			}
		}
		walk(tree.Tree)
	}
	var wait sync.WaitGroup
	var mu sync.Mutex
	for _, child := range p.framesIn(f, below[f.id]) {
		wait.Go(func() {
			owner, err := child.ownerNumber(ctx)
			if err != nil {
				return // it is gone, or in another frame
			}
			inner, err := readFrame(ctx, child)
			if err == nil && len(inner.Frames) > 0 {
				known := below
				if child.session != f.session {
					known = nil
				}
				_ = p.readFrames(ctx, child, inner, known)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, place := range c.Frames {
				if err == nil && place.ID == owner {
					c.frames[place.At] = inner
				}
			}
		})
	}
	wait.Wait()
	return ctx.Err()
}

// framesIn returns the frames that are, or may be, in the frame f.
func (p *page) framesIn(f *frame, own []string) (all []*frame) {
	p.mu.Lock()
	defer p.mu.Unlock()
	add := func(id string, s *devtools.Session) {
		known := p.frames[id]
		if known == nil || known.session != s || known.parent != f {
			known = &frame{id: id, session: s, parent: f}
			if p.frames[id] == nil || s == f.session {
				p.frames[id] = known
			}
		}
		all = append(all, known)
	}
	for _, id := range own {
		if p.guests[id].session == nil {
			add(id, f.session)
		}
	}
	for id, g := range p.guests {
		if g.parent == f.session {
			add(id, g.session)
		}
	}
	return all
}

// frameOf returns the frame that shows the document with the token, or nil.
func (p *page) frameOf(token string) *frame {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.frames {
		if f.documentToken() == token {
			return f
		}
	}
	return nil
}

// ownerNumber returns the number of the frame's element in its parent.
func (f *frame) ownerNumber(ctx context.Context) (int, error) {
	f.mu.Lock()
	owner := f.owner
	f.mu.Unlock()
	if owner != 0 {
		return owner, nil
	}
	if err := f.parent.session.Request(ctx, "DOM.enable", map[string]any{}, nil); err != nil {
		return 0, err
	}
	var node struct {
		Backend int `json:"backendNodeId"`
	}
	if err := f.parent.session.Request(ctx, "DOM.getFrameOwner", map[string]any{"frameId": f.id}, &node); err != nil {
		return 0, err
	}
	f.parent.mu.Lock()
	world := f.parent.world
	f.parent.mu.Unlock()
	var resolved struct {
		Object struct {
			ID string `json:"objectId"`
		} `json:"object"`
	}
	if err := f.parent.session.Request(ctx, "DOM.resolveNode", map[string]any{"backendNodeId": node.Backend, "executionContextId": world}, &resolved); err != nil {
		return 0, err
	}
	var answer evaluation
	if err := f.parent.session.Request(ctx, "Runtime.callFunctionOn", map[string]any{
		"objectId": resolved.Object.ID, "functionDeclaration": "function() { return " + readerOf + ".idOf(this) }", "returnByValue": true,
	}, &answer); err != nil {
		return 0, err
	}
	number, _ := answer.Result.Value.(float64)
	if number == 0 {
		return 0, errStale
	}
	f.mu.Lock()
	f.owner = int(number)
	f.mu.Unlock()
	return int(number), nil
}
