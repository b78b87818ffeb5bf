//go:build axdouble

package ax_test

import (
	"encoding/json"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/ebitengine/purego"
	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/desktoptest"
	"github.com/gybob/aai-gateway/internal/platform/darwin/ax"
	"github.com/gybob/aai-gateway/internal/platform/darwin/native"
)

// The apps of the double.
const fixturePID, strangePID = 4711, 4712

// A double controls the double of macOS.
type double struct {
	api         *native.API
	state       func() string
	failure     func() string
	live        func() int
	stop, trust func(int32)
	single      func(int32)
	kill        func()
}

// openDouble returns the double. The test fails if the code used an object wrongly.
func openDouble(t *testing.T) *double {
	t.Helper()
	api, err := native.Open()
	assert.NilError(t, err)
	handle, err := purego.Dlopen(os.Getenv(native.DoubleEnv), purego.RTLD_NOW)
	assert.NilError(t, err)
	d := &double{api: api}
	for name, function := range map[string]any{
		"double_state": &d.state, "double_failure": &d.failure, "double_live": &d.live, "double_stop": &d.stop, "double_trust": &d.trust,
		"double_single": &d.single, "double_kill": &d.kill,
	} {
		purego.RegisterLibFunc(function, handle, name)
	}
	t.Cleanup(func() { assert.Equal(t, d.failure(), "") })
	return d
}

func (d *double) read(t testing.TB) map[string]any {
	t.Helper()
	var state map[string]any
	assert.NilError(t, json.Unmarshal([]byte(d.state()), &state))
	return state
}

// tree returns a tree, which the end of the test closes.
func (d *double) tree(t *testing.T) *ax.Tree {
	t.Helper()
	tree := ax.New(d.api)
	t.Cleanup(func() { assert.NilError(t, tree.Close()) })
	return tree
}

// app returns an app of the double.
func app(t *testing.T, tree *ax.Tree, pid int) desktop.App {
	t.Helper()
	apps, err := tree.Apps(t.Context())
	assert.NilError(t, err)
	for _, a := range apps {
		if a.PID == pid {
			return a
		}
	}
	t.Fatalf("process %d is not among %v", pid, apps)
	return desktop.App{}
}

// find returns the showing element of the role and name.
func find(t *testing.T, tree *ax.Tree, a desktop.App, role desktop.Role, name string) desktop.Element {
	t.Helper()
	shot, err := tree.Snapshot(t.Context(), a)
	assert.NilError(t, err)
	for _, e := range shot.Elements {
		if e.Role == role && e.Name == name {
			return e
		}
	}
	t.Fatalf("no %s %q", role, name)
	return desktop.Element{}
}

// walks returns the number of walks of TestLeaks.
func walks() int {
	if n, err := strconv.Atoi(os.Getenv("AAI_AXDOUBLE_WALKS")); err == nil {
		return n
	}
	return 25
}

// TestLeaks reads the app many times; the number of objects afterwards is that of before.
func TestLeaks(t *testing.T) {
	d := openDouble(t)
	tree := ax.New(d.api)
	a := app(t, tree, fixturePID)
	shot, err := tree.Snapshot(t.Context(), a)
	assert.NilError(t, err)
	before := d.live()
	for i := range walks() {
		now, err := tree.Snapshot(t.Context(), a)
		assert.NilError(t, err)
		assert.Equal(t, now.Version, shot.Version)
		_, err = tree.Read(t.Context(), a, now.Elements[i%len(now.Elements)].ID)
		assert.NilError(t, err)
		_, err = tree.Children(t.Context(), a, now.Elements[0].ID, i%20, 2)
		assert.NilError(t, err)
	}
	assert.Equal(t, d.live(), before, "objects after %d walks", walks())
	assert.NilError(t, tree.Close())
	assert.Assert(t, d.live() < before, "closing releases the elements")
}

// TestStrange reads an app whose answers have wrong types, cycles, a list and a depth without end, half surrogates and numbers that are none.
func TestStrange(t *testing.T) {
	d := openDouble(t)
	tree := d.tree(t)
	a := app(t, tree, strangePID)
	shot, err := tree.Snapshot(t.Context(), a)
	assert.NilError(t, err)
	desktoptest.WellFormed(t, shot)
	assert.Assert(t, len(shot.Elements) > 500, "%d elements", len(shot.Elements))
	assert.Equal(t, shot.Elements[0].Name, "o?d\uFFFDd?")
	assert.Equal(t, len(shot.Warnings), 1)
	var list desktop.Element
	for _, e := range shot.Elements {
		if e.UnreadChildren > 0 {
			list = e
		}
	}
	assert.Equal(t, list.UnreadChildren, 1<<40-500)
	more, err := tree.Children(t.Context(), a, list.ID, 1_000_000, 3)
	assert.NilError(t, err)
	assert.Equal(t, len(more), 3)
	before := d.live()
	_, err = tree.Snapshot(t.Context(), a)
	assert.NilError(t, err)
	assert.Equal(t, d.live(), before)
}

// TestSingleRequests reads an app that does not answer for many attributes at once.
func TestSingleRequests(t *testing.T) {
	d := openDouble(t)
	tree := d.tree(t)
	a := app(t, tree, fixturePID)
	many, err := tree.Snapshot(t.Context(), a)
	assert.NilError(t, err)
	d.single(1)
	defer d.single(0)
	one, err := tree.Snapshot(t.Context(), a)
	assert.NilError(t, err)
	assert.Equal(t, one.Version, many.Version)
}

// TestPermission: without the permission the error names the place and the program that the person must allow.
func TestPermission(t *testing.T) {
	d := openDouble(t)
	tree := d.tree(t)
	a := app(t, tree, fixturePID)
	d.trust(0)
	defer d.trust(1)
	_, err := tree.Snapshot(t.Context(), a)
	assert.ErrorContains(t, err, "PERMISSION_DENIED")
	ready, err := tree.Ready(t.Context())
	assert.NilError(t, err)
	assert.Check(t, !ready.Ready)
	const want = "In System Settings > Privacy & Security > Accessibility, switch on Terminal, then restart it."
	assert.Equal(t, ready.Hint[:len(want)], want)
}

// TestPopUp chooses an item of a menu that has to be opened.
func TestPopUp(t *testing.T) {
	d := openDouble(t)
	tree := d.tree(t)
	a := app(t, tree, fixturePID)
	was := find(t, tree, a, desktop.Combobox, "Colour").Value
	assert.NilError(t, tree.Execute(t.Context(), a, find(t, tree, a, desktop.Combobox, "Colour").ID, desktop.Act{Verb: desktop.Press}))
	green := find(t, tree, a, desktop.MenuItem, "Green")
	assert.Check(t, green.States.Has(desktop.Showing))
	assert.NilError(t, tree.Execute(t.Context(), a, green.ID, desktop.Act{Verb: desktop.Press}))
	assert.Check(t, was != "Green")
	assert.Equal(t, d.read(t)["colour"], "Green")
	assert.NilError(t, tree.Execute(t.Context(), a, find(t, tree, a, desktop.Combobox, "Colour").ID, desktop.Act{Verb: desktop.Press}))
	assert.NilError(t, tree.Execute(t.Context(), a, find(t, tree, a, desktop.MenuItem, "Red").ID, desktop.Act{Verb: desktop.Press}))
}

// TestApps: an app has the facts by which consent knows it.
func TestApps(t *testing.T) {
	d := openDouble(t)
	a := app(t, d.tree(t), fixturePID)
	assert.Equal(t, a.ID, "fixture")
	assert.Equal(t, a.Name, "Fixture")
	assert.Equal(t, a.ProgramIdentity, "/Applications/Fixture.app/Contents/MacOS/Fixture code:abababababababababababababababababababab")
	assert.Equal(t, a.Started, "1700004711.0")
}

// TestZSuite runs the suite of backends. It is the last test, since it ends the app.
func TestZSuite(t *testing.T) {
	d := openDouble(t)
	tree := d.tree(t)
	started := d.live()
	desktoptest.Run(t, desktoptest.Subject{
		Backend: desktop.Backend{Tree: tree, Actor: tree, Events: tree},
		PID:     fixturePID, Title: "Double fixture", State: d.read,
		Unsupported: []string{"select Blue"}, // a closed menu has no items
		Stop:        func(testing.TB) { d.stop(1) }, Continue: func(testing.TB) { d.stop(0) }, Kill: func(testing.TB) { d.kill() },
	})
	const kept = 100 // strings of the code, and the lists of attributes
	for end := time.Now().Add(10 * time.Second); d.live() > started+kept && time.Now().Before(end); runtime.Gosched() {
	}
	assert.Assert(t, d.live() <= started+kept, "%d objects are left, %d at the start", d.live(), started)
}
