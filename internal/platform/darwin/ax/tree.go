//go:build darwin || axdouble

package ax

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/darwin/native"
)

// messagingTimeout is the time that the system waits for an app's answer to one request, in seconds. The person's other programs wait
// longer: a call of the tree is abandoned at its own deadline anyway.
const messagingTimeout = 1.5

// A Tree reads and operates programs. It implements desktop.Tree, desktop.Actor and desktop.Events.
type Tree struct {
	api      *native.API
	common   attributeList
	valued   attributeList
	windowed attributeList
	workers  workers
	apps     appCache

	mu      sync.Mutex
	version uint64
	last    map[int]*desktop.Snapshot // the last snapshot of each process
	woken   map[int]string            // start times of processes that were asked to build their trees
}

// New returns a Tree. The system asks the person for the permission when the first app is read, and not here.
func New(api *native.API) *Tree {
	t := &Tree{
		api: api, common: newAttributeList(api, commonAttributes), valued: newAttributeList(api, valueAttributes),
		windowed: newAttributeList(api, windowAttributes), last: make(map[int]*desktop.Snapshot), woken: make(map[int]string),
	}
	t.workers.api = api
	system := api.AXUIElementCreateSystemWide()
	api.AXUIElementSetMessagingTimeout(system, messagingTimeout) // of all elements
	api.CFRelease(system)
	return t
}

// Close implements io.Closer: it releases the elements, once the calls under way have ended. No call may follow.
func (t *Tree) Close() error {
	t.workers.close()
	for _, list := range []attributeList{t.common, t.valued, t.windowed} {
		t.api.CFRelease(list.array)
	}
	return nil
}

// Ready implements desktop.Tree.
func (t *Tree) Ready(ctx context.Context) (desktop.Readiness, error) {
	if !t.api.AXIsProcessTrusted() {
		return desktop.Readiness{Detail: "macOS does not let this program use accessibility", Hint: permissionHint(t.responsible())}, nil
	}
	apps, err := t.Apps(ctx)
	if err != nil {
		return desktop.Readiness{}, err
	}
	return desktop.Readiness{Ready: true, Detail: fmt.Sprintf("accessibility is allowed; %d programs have windows", len(apps))}, nil
}

// check fails if the app has ended or cannot be read.
func (t *Tree) check(app desktop.App) error {
	started, _ := t.api.Started(app.PID)
	if started == "" || app.Started != "" && started != app.Started {
		t.workers.forget(app.PID)
		return &aai.Error{Code: aai.AppNotRunning, Message: app.Name + " has ended", Delivery: aai.NotDelivered}
	}
	if !t.api.AXIsProcessTrusted() {
		return failure(native.ErrDisabled, true, t.responsible())
	}
	return nil
}

// ask runs a call for an app.
func ask[T any](ctx context.Context, t *Tree, app desktop.App, call func(*reader) (T, error)) (T, error) {
	begun := time.Now()
	defer desktop.ReadsOf(ctx).AddTime(begun)
	var none T
	if ctx.Err() != nil {
		return none, expired(ctx)
	}
	if err := t.check(app); err != nil {
		return none, err
	}
	w := t.workers.of(app.PID, app.Started)
	return run(ctx, w, func(ctx context.Context) (T, error) { return call(t.newReader(ctx, w, app)) })
}

// Snapshot implements desktop.Tree.
func (t *Tree) Snapshot(ctx context.Context, app desktop.App) (*desktop.Snapshot, error) {
	shot, err := ask(ctx, t, app, func(r *reader) (*desktop.Snapshot, error) {
		r.wake()
		taken := time.Now()
		elements, err := r.snapshot()
		if err != nil {
			return nil, err
		}
		desktop.SetEnds(elements)
		return &desktop.Snapshot{App: app, Elements: elements, Taken: taken, Warnings: r.warnings}, nil
	})
	if err != nil {
		return nil, err
	}
	unchanged := t.number(shot)
	desktop.ReadsOf(ctx).AddElements(len(shot.Elements))
	desktop.ReadsOf(ctx).AddSnapshot(unchanged)
	return shot, nil
}

// number sets the snapshot's version. It returns true if its elements are those of the last snapshot of the app.
func (t *Tree) number(shot *desktop.Snapshot) (unchanged bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := t.last[shot.App.PID]
	if last != nil && last.App.Started == shot.App.Started && reflect.DeepEqual(last.Elements, shot.Elements) {
		shot.Version = last.Version
		return true
	}
	t.version++
	shot.Version = t.version
	t.last[shot.App.PID] = shot
	return false
}

// Read implements desktop.Tree.
func (t *Tree) Read(ctx context.Context, app desktop.App, id desktop.ID) (desktop.Element, error) {
	return ask(ctx, t, app, func(r *reader) (desktop.Element, error) {
		r.complete = true
		return r.one(id)
	})
}

// Children implements desktop.Tree.
func (t *Tree) Children(ctx context.Context, app desktop.App, id desktop.ID, first, count int) ([]desktop.Element, error) {
	if first < 0 || count < 0 || count > maxChildren {
		return nil, aai.Errorf(aai.InvalidParams, "children from %d on: expected a first one from 0, and at most %d of them", first, maxChildren)
	}
	return ask(ctx, t, app, func(r *reader) ([]desktop.Element, error) { return r.some(id, first, count) })
}

// Execute implements desktop.Actor.
func (t *Tree) Execute(ctx context.Context, app desktop.App, id desktop.ID, act desktop.Act) error {
	_, err := ask(ctx, t, app, func(r *reader) (struct{}, error) { return struct{}{}, r.execute(id, act) })
	return err
}

// wake asks programs that build their trees only for assistive technology to build them: Electron and Chromium.
func (r *reader) wake() {
	r.mu.Lock()
	done := r.woken[r.app.PID] == r.app.Started && r.app.Started != ""
	r.woken[r.app.PID] = r.app.Started
	r.mu.Unlock()
	if done {
		return
	}
	application := r.api.AXUIElementCreateApplication(int32(r.app.PID))
	defer r.api.CFRelease(application)
	r.api.AXUIElementSetAttributeValue(application, r.api.Name("AXManualAccessibility"), r.api.Bool(true)) // others do not have it
	if r.app.IsBrowser {
		r.api.AXUIElementSetAttributeValue(application, r.api.Name("AXEnhancedUserInterface"), r.api.Bool(true))
	}
}
