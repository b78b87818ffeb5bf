package cdp

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// listenerInterval is how often a frame is asked for new listeners. A page may add one without any other change.
const listenerInterval = time.Second

// markListeners tells the reader which elements have listeners for clicks, as only the browser knows, and reports whether
// there are new ones. It asks the frame of a process at most every listenerInterval.
func (f *frame) markListeners(ctx context.Context) bool {
	f.mu.Lock()
	world, soon := f.world, time.Since(f.asked) < listenerInterval
	f.asked = time.Now()
	f.mu.Unlock()
	if world == 0 || soon || f.parent != nil && f.parent.session == f.session {
		return false
	}
	var document evaluation
	if f.session.Request(ctx, "Runtime.evaluate", map[string]any{"expression": "document"}, &document) != nil {
		return false
	}
	var all struct {
		Listeners []struct {
			Kind string `json:"type"`
			Node int    `json:"backendNodeId"`
		} `json:"listeners"`
	}
	if f.session.Request(ctx, "DOMDebugger.getEventListeners", map[string]any{"objectId": document.Result.ObjectID, "depth": -1, "pierce": true}, &all) != nil {
		return false
	}
	kinds := []string{"click", "mousedown", "mouseup", "pointerdown", "pointerup", "dblclick"}
	var wait sync.WaitGroup
	var marked atomic.Int32
	slots := make(chan struct{}, 16) // requests at once
	for _, l := range all.Listeners[:min(len(all.Listeners), maxListeners)] {
		if !slices.Contains(kinds, l.Kind) {
			continue
		}
		slots <- struct{}{}
		wait.Go(func() {
			if f.mark(ctx, world, l.Node) {
				marked.Add(1)
			}
			<-slots
		})
	}
	wait.Wait()
	return marked.Load() > 0
}

// maxListeners limits the listeners of a page that are looked at.
const maxListeners = 2000

// mark tells the reader that a node has a listener for clicks, unless it knows.
func (f *frame) mark(ctx context.Context, world, node int) bool {
	f.mu.Lock()
	known := f.heard[node] || f.world != world
	if !known {
		f.heard[node] = true
	}
	f.mu.Unlock()
	if known {
		return false
	}
	var resolved struct {
		Object struct {
			ID string `json:"objectId"`
		} `json:"object"`
	}
	if f.session.Request(ctx, "DOM.resolveNode", map[string]any{"backendNodeId": node, "executionContextId": world}, &resolved) != nil {
		return false
	}
	return f.session.Request(ctx, "Runtime.callFunctionOn", map[string]any{
		"objectId": resolved.Object.ID, "functionDeclaration": "function() { " + readerOf + ".mark(this) }",
	}, nil) == nil
}
