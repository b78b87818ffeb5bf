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
	"github.com/gybob/aai-gateway/internal/devtools"
)

// maxPages limits the tabs of a browser with tools that are read.
const maxPages = 50

// A browser is a connected browser with the tools of its pages. It is safe for concurrent use.
type browser struct {
	*devtools.Browser
	changed chan struct{} // full after a change of the tools

	attaching sync.Mutex // held while tabs are attached

	mu     sync.Mutex
	pages  map[string]*page // by target
	count  int
	silent string               // why no page can have tools; "" otherwise
	calls  map[string]*toolCall // by invocation
	// While a request to begin a call is under way, early has the ends of calls with ids that are not known yet.
	beginning int
	early     map[string]response
}

// A toolCall is a call under way in a frame of a page.
type toolCall struct {
	page   *page
	frame  string
	answer chan response
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

// follow reads the tools of the pages of a browser from now on.
func follow(d *devtools.Browser, onChange func()) *browser {
	b := &browser{
		Browser: d, changed: make(chan struct{}, 1), pages: map[string]*page{}, calls: map[string]*toolCall{}, early: map[string]response{},
	}
	go b.report(onChange)
	return b
}

// attach reads the tools of new tabs, and drops the pages of closed ones. It does not wait for another attach.
func (b *browser) attach(ctx context.Context) {
	if !b.attaching.TryLock() {
		return
	}
	defer b.attaching.Unlock()
	tabs := b.Tabs()
	b.mu.Lock()
	isFirst := b.count == 0
	maps.DeleteFunc(b.pages, func(id string, p *page) bool {
		isGone := !slices.ContainsFunc(tabs, func(t devtools.Target) bool { return t.ID == id })
		if isGone {
			b.abandon(p, "")
		}
		return isGone
	})
	var fresh []devtools.Target
	for _, t := range tabs {
		if p := b.pages[t.ID]; p != nil {
			p.title = t.Title
		} else if len(b.pages)+len(fresh) < maxPages {
			fresh = append(fresh, t)
		}
	}
	b.mu.Unlock()
	for _, t := range fresh {
		if b.open(ctx, t) != nil {
			b.mu.Lock()
			delete(b.pages, t.ID)
			b.mu.Unlock()
		}
	}
	if isFirst {
		b.settle(ctx)
	}
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

// open begins a session of the tab.
func (b *browser) open(ctx context.Context, t devtools.Target) error {
	p := &page{browser: b, title: t.Title, frames: map[string]string{}, tools: map[toolKey]definition{}}
	session, err := b.Attach(ctx, t.ID, func(method string, params json.RawMessage) { b.event(p, method, params) })
	if err != nil {
		return err
	}
	p.session = session
	b.mu.Lock()
	b.count++
	p.order = b.count
	b.pages[t.ID] = p
	b.mu.Unlock()
	if err := session.Request(ctx, "Page.enable", map[string]any{}, nil); err != nil {
		return err
	}
	if err := b.readFrames(ctx, p); err != nil {
		return err
	}
	if err := session.Request(ctx, "WebMCP.enable", map[string]any{}, nil); err != nil {
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
	err := p.session.Request(ctx, "Runtime.evaluate", map[string]any{
		"expression": "isSecureContext && !('modelContext' in document)", "returnByValue": true,
	}, &answer)
	return err == nil && answer.Result.Value
}

// readFrames reads the frames of a page and their origins.
func (b *browser) readFrames(ctx context.Context, p *page) error {
	var tree struct {
		Tree frameTree `json:"frameTree"`
	}
	if err := p.session.Request(ctx, "Page.getFrameTree", map[string]any{}, &tree); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	p.setFrames(tree.Tree)
	return nil
}

// event handles an event of a page, by the reading goroutine.
func (b *browser) event(p *page, method string, params json.RawMessage) {
	if method == "WebMCP.toolResponded" {
		var r response
		if json.Unmarshal(params, &r) == nil {
			b.respond(r)
		}
		return
	}
	if b.pageEvent(p, method, params) {
		select {
		case b.changed <- struct{}{}:
		default:
		}
	}
}

// report calls onChange after changes of the tools. It is no part of the reading goroutine, since onChange may wait for
// answers of the browser.
func (b *browser) report(onChange func()) {
	for {
		select {
		case <-b.changed:
			onChange()
		case <-b.Done():
			return
		}
	}
}

// pageEvent handles an event that changes a page or its tools, and reports whether it was one.
func (b *browser) pageEvent(p *page, method string, params json.RawMessage) bool {
	var e struct {
		Tools   []definition `json:"tools"`
		Frame   frame        `json:"frame"`
		FrameID string       `json:"frameId"`
	}
	if method != devtools.Detached && json.Unmarshal(params, &e) != nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch method {
	case devtools.Detached:
		p.frames, p.tools = map[string]string{}, map[toolKey]definition{}
		b.abandon(p, "")
		maps.DeleteFunc(b.pages, func(_ string, other *page) bool { return other == p })
	case "Page.frameNavigated":
		if e.Frame.Parent == "" {
			p.main, p.frames, p.tools, p.left = e.Frame.ID, map[string]string{}, map[toolKey]definition{}, 0
		}
		p.frames[e.Frame.ID] = webOrigin(e.Frame.Origin)
		b.abandon(p, e.Frame.ID)
	case "Page.frameDetached":
		delete(p.frames, e.FrameID)
		b.abandon(p, e.FrameID)
	case "WebMCP.toolsAdded":
		p.add(e.Tools)
	case "WebMCP.toolsRemoved":
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
func (b *browser) abandon(p *page, frame string) {
	for id, c := range b.calls {
		if c.page == p && (frame == "" || c.frame == frame) {
			delete(b.calls, id)
			c.answer <- response{Status: statusLeft}
		}
	}
}

// await ends the beginning of a call and registers the call, unless the invocation is "".
func (b *browser) await(invocation string, p *page, frame string) *toolCall {
	c := &toolCall{page: p, frame: frame, answer: make(chan response, 1)}
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
	err := p.session.Call(ctx, "WebMCP.invokeTool", map[string]any{"frameId": d.Frame, "toolName": d.Name, "input": args}, &begun)
	c := b.await(begun.Invocation, p, d.Frame)
	if err != nil {
		return response{}, err
	}
	select {
	case r := <-c.answer:
		return r, nil
	case <-b.Done():
		return response{}, devtools.ErrClosed
	case <-ctx.Done():
	}
	b.mu.Lock()
	delete(b.calls, begun.Invocation)
	b.mu.Unlock()
	_ = p.session.Request(context.WithoutCancel(ctx), "WebMCP.cancelInvocation", map[string]any{"invocationId": begun.Invocation}, nil)
	return response{}, aai.AsError(ctx.Err())
}
