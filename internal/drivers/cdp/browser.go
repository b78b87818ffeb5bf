package cdp

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
)

// maxPages limits the tabs of a browser with tools that are read.
const maxPages = 50

// A browser is a connected browser. It is safe for concurrent use.
type browser struct {
	endpoint Endpoint
	conn     *conn
	changed  chan struct{} // full after a change of the tools

	mu      sync.Mutex
	pages   map[string]*page // by session
	targets map[string]bool  // attached, or being attached
	count   int
	silent  string               // why no page can have tools; "" otherwise
	calls   map[string]*toolCall // by invocation
	// While a request to begin a call is under way, early has the ends of calls with ids that are not known yet.
	beginning int
	early     map[string]response
}

// A toolCall is a call under way in a frame of a page.
type toolCall struct {
	session, frame string
	answer         chan response
}

// statusLeft is the status of a call in a frame that has gone to another page. The browser sends no end of it.
const statusLeft = "Left"

// A response is the end of a tool's call.
type response struct {
	Invocation string          `json:"invocationId"`
	Status     string          `json:"status"` // Completed, Canceled or Error
	Output     json.RawMessage `json:"output"`
	ErrorText  string          `json:"errorText"`
	Exception  struct {
		Description string `json:"description"`
	} `json:"exception"`
}

// A target is a tab, or another thing that can be debugged.
type target struct {
	ID    string `json:"targetId"`
	Kind  string `json:"type"`
	Title string `json:"title"`
	URL   string `json:"url"`
}

// connect connects to a browser and reads the tools of its pages.
func connect(ctx context.Context, e Endpoint, onChange func()) (*browser, error) {
	b := &browser{
		endpoint: e, changed: make(chan struct{}, 1), pages: map[string]*page{}, targets: map[string]bool{},
		calls: map[string]*toolCall{}, early: map[string]response{},
	}
	// Events wait until conn is set, since attaching uses it.
	ready := make(chan struct{})
	c, err := dial(ctx, e.address(), func(session, method string, params json.RawMessage) {
		<-ready
		b.event(session, method, params)
	})
	if err != nil {
		return nil, err
	}
	b.conn = c
	close(ready)
	go b.report(onChange)
	var all struct {
		Targets []target `json:"targetInfos"`
	}
	if err = c.request(ctx, "", "Target.getTargets", map[string]any{}, &all); err == nil {
		for _, t := range all.Targets {
			b.attach(ctx, t)
		}
		err = c.request(ctx, "", "Target.setDiscoverTargets", map[string]any{"discover": true}, nil)
	}
	if err != nil {
		c.close()
		return nil, err
	}
	b.settle(ctx)
	return b, nil
}

// settleTime is the time for the tools of the pages to arrive. A page without tools sends nothing.
const settleTime = 200 * time.Millisecond

// settle waits until every page has tools, at most for settleTime.
func (b *browser) settle(ctx context.Context) {
	const step = 5 * time.Millisecond
	for waited := time.Duration(0); waited < settleTime && !b.havePagesTools(); waited += step {
		if aai.Sleep(ctx, step) != nil {
			return
		}
	}
}

func (b *browser) havePagesTools() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.pages {
		if len(p.tools) == 0 && p.origin() != "" {
			return false
		}
	}
	return true
}

// attach reads the tools of a tab, once.
func (b *browser) attach(ctx context.Context, t target) {
	b.mu.Lock()
	if t.Kind != "page" || b.targets[t.ID] || len(b.targets) >= maxPages {
		b.mu.Unlock()
		return
	}
	b.targets[t.ID] = true
	b.mu.Unlock()
	err := b.open(ctx, t)
	if err != nil {
		b.mu.Lock()
		delete(b.targets, t.ID)
		b.mu.Unlock()
	}
}

// open begins a session of the tab.
func (b *browser) open(ctx context.Context, t target) error {
	var attached struct {
		Session string `json:"sessionId"`
	}
	if err := b.conn.request(ctx, "", "Target.attachToTarget", map[string]any{"targetId": t.ID, "flatten": true}, &attached); err != nil {
		return err
	}
	p := &page{browser: b, session: attached.Session, target: t.ID, title: t.Title, frames: map[string]string{}, tools: map[toolKey]definition{}}
	b.mu.Lock()
	b.count++
	p.order = b.count
	b.pages[p.session] = p
	b.mu.Unlock()
	if err := b.conn.request(ctx, p.session, "Page.enable", map[string]any{}, nil); err != nil {
		return err
	}
	if err := b.readFrames(ctx, p); err != nil {
		return err
	}
	if err := b.conn.request(ctx, p.session, "WebMCP.enable", map[string]any{}, nil); err != nil {
		b.mu.Lock()
		b.silent = fmt.Sprintf("the browser does not know tools of pages: %v", err)
		b.mu.Unlock()
	}
	return nil
}

// problem returns why no page can have tools, or "". It asks the pages as they are now.
func (b *browser) problem(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, time.Second) // for all pages: some may hang
	defer cancel()
	b.mu.Lock()
	silent, pages := b.silent, slices.Collect(maps.Values(b.pages))
	b.mu.Unlock()
	if silent == "" && slices.ContainsFunc(pages, func(p *page) bool { return b.lacksTools(ctx, p) }) {
		return "the browser knows tools of pages, but they are switched off; start it with --enable-features=WebMCPTesting,DevToolsWebMCPSupport"
	}
	return silent
}

// lacksTools reports whether a page could declare no tools, since the browser has them switched off: it then accepts
// every request for them, and never sends any.
func (b *browser) lacksTools(ctx context.Context, p *page) bool {
	var answer struct {
		Result struct {
			Value bool `json:"value"`
		} `json:"result"`
	}
	err := b.conn.request(ctx, p.session, "Runtime.evaluate", map[string]any{
		"expression": "isSecureContext && !('modelContext' in document)", "returnByValue": true,
	}, &answer)
	return err == nil && answer.Result.Value
}

// readFrames reads the frames of a page and their origins.
func (b *browser) readFrames(ctx context.Context, p *page) error {
	var tree struct {
		Tree frameTree `json:"frameTree"`
	}
	if err := b.conn.request(ctx, p.session, "Page.getFrameTree", map[string]any{}, &tree); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	p.setFrames(tree.Tree)
	return nil
}

// event handles an event of the browser, by the reading goroutine.
func (b *browser) event(session, method string, params json.RawMessage) {
	switch method {
	case "Target.targetCreated", "Target.targetInfoChanged":
		var e struct {
			Target target `json:"targetInfo"`
		}
		if json.Unmarshal(params, &e) == nil {
			b.seen(e.Target)
		}
		return
	case "WebMCP.toolResponded":
		var r response
		if json.Unmarshal(params, &r) == nil {
			b.respond(r)
		}
		return
	}
	if b.pageEvent(session, method, params) {
		select {
		case b.changed <- struct{}{}:
		default:
		}
	}
}

// report calls onChange after changes of the tools, and after the end of the connection. It is no part of the reading
// goroutine, since onChange may wait for answers of the browser.
func (b *browser) report(onChange func()) {
	for {
		select {
		case <-b.changed:
			onChange()
		case <-b.conn.closed:
			onChange()
			return
		}
	}
}

// seen attaches to a new tab, and updates the title of another one.
func (b *browser) seen(t target) {
	b.mu.Lock()
	known := b.targets[t.ID]
	for _, p := range b.pages {
		if p.target == t.ID {
			p.title = t.Title
		}
	}
	b.mu.Unlock()
	if !known {
		go b.attach(context.Background(), t) // it waits for answers
	}
}

// pageEvent handles an event that changes pages or tools, and reports whether it was one.
func (b *browser) pageEvent(session, method string, params json.RawMessage) bool {
	var e struct {
		Tools   []definition `json:"tools"`
		Frame   frame        `json:"frame"`
		FrameID string       `json:"frameId"`
		Session string       `json:"sessionId"`
		Target  string       `json:"targetId"`
	}
	if json.Unmarshal(params, &e) != nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.pages[session]
	switch {
	case method == "Target.detachedFromTarget" || method == "Target.targetDestroyed":
		for id, p := range b.pages {
			if id == e.Session || p.target == e.Target {
				delete(b.pages, id)
				delete(b.targets, p.target)
				b.abandon(id, "")
			}
		}
		return true
	case p == nil:
		return false
	case method == "Page.frameNavigated":
		if e.Frame.Parent == "" {
			p.main, p.frames, p.tools, p.left = e.Frame.ID, map[string]string{}, map[toolKey]definition{}, 0
		}
		p.frames[e.Frame.ID] = webOrigin(e.Frame.Origin)
		b.abandon(session, e.Frame.ID)
	case method == "Page.frameDetached":
		delete(p.frames, e.FrameID)
		b.abandon(session, e.FrameID)
	case method == "WebMCP.toolsAdded":
		p.add(e.Tools)
	case method == "WebMCP.toolsRemoved":
		for _, d := range e.Tools {
			delete(p.tools, toolKey{d.Frame, d.Name})
		}
	default:
		return false
	}
	return true
}

// respond passes the end of a tool's call to its caller.
func (b *browser) respond(r response) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c := b.calls[r.Invocation]; c != nil {
		delete(b.calls, r.Invocation)
		c.answer <- r
		return
	}
	if b.beginning > 0 {
		b.early[r.Invocation] = r
	}
}

// abandon ends the calls in a frame, or for "" in all frames of a page; the caller holds the lock.
func (b *browser) abandon(session, frame string) {
	for id, c := range b.calls {
		if c.session == session && (frame == "" || c.frame == frame) {
			delete(b.calls, id)
			c.answer <- response{Status: statusLeft}
		}
	}
}

// await ends the beginning of a call and registers the call, unless the invocation is "".
func (b *browser) await(invocation, session, frame string) *toolCall {
	c := &toolCall{session: session, frame: frame, answer: make(chan response, 1)}
	b.mu.Lock()
	defer b.mu.Unlock()
	if r, ended := b.early[invocation]; ended {
		c.answer <- r
	} else if invocation != "" {
		b.calls[invocation] = c
	}
	if b.beginning--; b.beginning == 0 {
		clear(b.early)
	}
	return c
}

// find returns the page that was opened last of those with the tool in a frame of the origin.
func (b *browser) find(origin, tool string) (newest *page, d definition) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.pages {
		if p.origin() != origin || newest != nil && newest.order > p.order {
			continue
		}
		for _, own := range p.own() {
			if own.Name == tool {
				newest, d = p, own
			}
		}
	}
	return newest, d
}

// run calls a tool of a page and returns its end. Canceling ctx cancels the call in the page.
func (b *browser) run(ctx context.Context, p *page, d definition, args any) (response, error) {
	var begun struct {
		Invocation string `json:"invocationId"`
	}
	b.mu.Lock()
	b.beginning++
	b.mu.Unlock()
	err := b.conn.call(ctx, p.session, "WebMCP.invokeTool", map[string]any{"frameId": d.Frame, "toolName": d.Name, "input": args}, &begun)
	c := b.await(begun.Invocation, p.session, d.Frame)
	if err != nil {
		return response{}, err
	}
	select {
	case r := <-c.answer:
		return r, nil
	case <-b.conn.closed:
		return response{}, errClosed
	case <-ctx.Done():
	}
	b.mu.Lock()
	delete(b.calls, begun.Invocation)
	b.mu.Unlock()
	_ = b.conn.request(context.WithoutCancel(ctx), p.session, "WebMCP.cancelInvocation", map[string]any{"invocationId": begun.Invocation}, nil)
	return response{}, aai.AsError(ctx.Err())
}
