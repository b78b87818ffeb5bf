package gui_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	is "unicode"

	"github.com/godbus/dbus/v5"
	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/refs"
	"github.com/gybob/aai-gateway/internal/desktop/render"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// thing is an object as another D-Bus client reads it, with plain calls.
type thing struct {
	path       dbus.ObjectPath
	role       uint32
	states     uint64
	name, text string
	actions    []string
	parent     *thing
	children   int
}

// Roles and states from atspi-constants.h.
const (
	rawScrollbar, rawSeparator, rawRuler, rawPassword, rawDocumentWeb, rawSplitPane = 48, 50, 74, 40, 95, 53

	rawFocusable, rawEditable, rawShowing, rawVisible, rawTransient = 1 << 11, 1 << 7, 1 << 25, 1 << 30, 1 << 28
)

// eyes is an independent reader of a program.
type eyes struct {
	t      *testing.T
	conn   *dbus.Conn
	sender string
	veil   uint64 // the state of a visible object
	things []*thing
}

func (o *eyes) get(at dbus.ObjectPath, property string) any {
	v, err := o.conn.Object(o.sender, at).GetProperty("org.a11y.atspi." + property)
	if err != nil {
		return nil
	}
	return v.Value()
}

func (o *eyes) ask(at dbus.ObjectPath, method string, into any, args ...any) bool {
	return o.conn.Object(o.sender, at).Call("org.a11y.atspi."+method, 0, args...).Store(into) == nil
}

// look reads the visible or scrollable elements in an object.
func (o *eyes) look(at dbus.ObjectPath, parent *thing) {
	e := &thing{path: at, parent: parent}
	var states []uint32
	if !o.ask(at, "Accessible.GetRole", &e.role) || !o.ask(at, "Accessible.GetState", &states) || len(states) < 2 {
		return // it has gone
	}
	e.states = uint64(states[0]) | uint64(states[1])<<32
	if parent != nil && !o.seen(e) {
		return
	}
	e.name, _ = o.get(at, "Accessible.Name").(string)
	var offers []string
	o.ask(at, "Accessible.GetInterfaces", &offers)
	if slices.Contains(offers, "org.a11y.atspi.Action") {
		n, _ := o.get(at, "Action.NActions").(int32)
		for i := range min(n, 20) {
			name := ""
			o.ask(at, "Action.GetName", &name, i)
			e.actions = append(e.actions, name)
		}
	}
	var children []struct {
		Sender string
		Path   dbus.ObjectPath
	}
	count, _ := o.get(at, "Accessible.ChildCount").(int32)
	e.children = int(count)
	if count == 0 && e.role != rawPassword && slices.Contains(offers, "org.a11y.atspi.Text") {
		o.ask(at, "Text.GetText", &e.text, int32(0), int32(100))
	}
	if parent != nil {
		o.things = append(o.things, e)
	}
	if count > 5000 || e.role == rawPassword || !o.ask(at, "Accessible.GetChildren", &children) {
		return
	}
	for _, child := range children {
		if child.Sender == o.sender {
			o.look(child.Path, e)
		}
	}
}

// seen reports whether the thing is visible, or in a page and only scrolled away.
func (o *eyes) seen(e *thing) bool {
	if e.inPage() {
		return e.states&rawVisible != 0
	}
	if e.states&o.veil == 0 {
		return false
	}
	var r struct{ X, Y, W, H int32 }
	return e.parent.parent == nil || o.ask(e.path, "Component.GetExtents", &r, uint32(1)) && r.W > 0 && r.H > 0
}

func (e *thing) inPage() bool {
	for up := e.parent; up != nil; up = up.parent {
		if up.role == rawDocumentWeb {
			return true
		}
	}
	return false
}

// acts reports whether people can act on the thing: it has an action, is focusable, or editable.
func (e *thing) acts() bool {
	switch {
	case e.role == rawScrollbar || e.role == rawSeparator || e.role == rawSplitPane || e.parent.parent == nil:
		return false
	case e.states&(rawFocusable|rawEditable) != 0:
		return true
	}
	return slices.ContainsFunc(e.actions, func(name string) bool {
		switch name {
		case "", "clickAncestor", "doDefault", "showContextMenu", "SetFocus", "ShowMenu":
			return false
		}
		return !strings.HasPrefix(name, "scroll") && !strings.Contains(name, ".")
	})
}

// says returns the text on the thing itself.
func (e *thing) says() string {
	if e.children > 0 {
		return ""
	}
	if e.text != "" {
		return e.text
	}
	return e.name
}

// letters returns the letters and digits of a text.
func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if is.IsLetter(r) || is.IsDigit(r) {
			return is.ToLower(r)
		}
		return -1
	}, text)
}

// telling is the text of all pages of a tree, and the object of each ref.
type telling struct {
	text  string
	first *desktop.Snapshot
	refs  map[string]desktop.ID
	of    map[desktop.ID]string
}

// tellAll reads all pages of a tree.
func (w *realWorld) tellAll(shot *desktop.Snapshot, table *refs.Table) telling {
	w.Helper()
	told := telling{first: shot, refs: map[string]desktop.ID{}, of: map[desktop.ID]string{}}
	o := render.Options{Root: -1, Ref: func(i int) string {
		ref, id := table.Ref(shot, i), shot.Elements[i].ID
		told.refs[ref], told.of[id] = id, ref
		return ref
	}}
	for range 500 {
		page, err := render.Text(shot, o)
		assert.NilError(w, err)
		told.text += page.Text
		if o.After = page.More; o.After == "" {
			return told
		}
	}
	w.Fatal("more than 500 pages")
	return told
}

// completePatience limits how long a program may take to show everything.
const (
	completePatience = 20 * time.Second
	lookAgain        = 200 * time.Millisecond
)

// complete compares the tree with an independent reading of the program. Each actionable element
// has a ref, each text is shown or within an element with a ref, and each ref is right.
func (w *realWorld) complete(t *testing.T, app desktop.App, veil uint64) {
	t.Helper()
	conn, err := dbus.Connect(w.A11yAddress(t))
	assert.NilError(t, err)
	defer func() { _ = conn.Close() }()
	sender, path, _ := strings.Cut(app.Key, "/")
	var wrong []string
	var told telling
	var things int
	for end := time.Now().Add(completePatience); ; time.Sleep(lookAgain) { // it may still be drawing
		shot, err := w.backend.Offscreen.SnapshotOffscreen(t.Context(), app)
		assert.NilError(t, err)
		table := refs.New()
		told = w.tellAll(shot, table)
		o := &eyes{t: t, conn: conn, sender: sender, veil: veil}
		o.look(dbus.ObjectPath("/"+path), nil)
		wrong, things = o.missing(told), len(o.things)
		again, err := w.backend.Offscreen.SnapshotOffscreen(t.Context(), app)
		assert.NilError(t, err)
		if wrong = append(wrong, lies(again, table, told, o)...); len(wrong) == 0 || time.Now().After(end) {
			break
		}
	}
	t.Logf("%d objects, %d refs", things, len(told.refs))
	if len(wrong) > 0 {
		t.Errorf("%d are wrong:\n%s\nin\n%s", len(wrong), strings.Join(wrong[:min(len(wrong), 25)], "\n"), told.text)
	}
}

// missing returns the things that the pages lack.
func (o *eyes) missing(told telling) (wrong []string) {
	all := letters(told.text)
	for _, e := range o.things {
		// Qt creates another object of an item for each client.
		if e.acts() && told.of[desktop.ID(e.path)] == "" && (e.states&rawTransient == 0 || !strings.Contains(all, letters(e.name))) {
			wrong = append(wrong, fmt.Sprintf("no ref: role %d %q %q %s states %x", e.role, e.name, e.actions, e.path, e.states))
		}
		words := []rune(letters(e.says()))
		if len(words) == 0 || e.role == rawScrollbar || e.role == rawSeparator || e.role == rawRuler || strings.Contains(all, string(words[:min(len(words), 20)])) {
			continue
		}
		up := e
		for up != nil && told.of[desktop.ID(up.path)] == "" {
			up = up.parent
		}
		if up == nil || up.role == rawDocumentWeb || up.parent.parent == nil {
			wrong = append(wrong, fmt.Sprintf("not told: role %d %q %s", e.role, e.says(), e.path))
		}
	}
	return wrong
}

// lies returns the refs that no longer refer to their object.
func lies(shot *desktop.Snapshot, table *refs.Table, told telling, o *eyes) (wrong []string) {
	names := make(map[desktop.ID]string)
	for _, e := range o.things {
		names[desktop.ID(e.path)] = e.name
	}
	for ref, id := range told.refs {
		i, err := table.Resolve(shot, ref)
		if err != nil || shot.Elements[i].ID != id && !sameThing(told.first, &shot.Elements[i], id) {
			wrong = append(wrong, fmt.Sprintf("%s was %s and is not: %v", ref, id, err))
			continue
		}
		theirs, ours := letters(names[id]), letters(shot.Elements[i].Name)
		if shot.Elements[i].Role == desktop.Combobox || strings.HasPrefix(names[id], "Gtk") {
			continue // Qt names it by its value, GTK 4 by its class
		}
		if theirs != "" && ours != "" && !strings.Contains(theirs, ours) && !strings.Contains(ours, theirs) {
			wrong = append(wrong, fmt.Sprintf("%s is called %q and others read %q", ref, shot.Elements[i].Name, names[id]))
		}
	}
	return wrong
}

// sameThing reports whether an element is the one that had the ID: LibreOffice creates new objects
// for its cells per client.
func sameThing(first *desktop.Snapshot, e *desktop.Element, id desktop.ID) bool {
	i := first.Index(id)
	was := &first.Elements[max(i, 0)]
	return i >= 0 && was.Role == e.Role && was.Name == e.Name && was.Frame == e.Frame && !e.Frame.Empty()
}

// appOf returns the program of the process.
func (w *realWorld) appOf(pid string) desktop.App {
	w.Helper()
	apps, err := w.backend.Tree.Apps(w.Context())
	assert.NilError(w, err)
	for _, app := range apps {
		if strconv.Itoa(app.PID) == pid {
			return app
		}
	}
	w.Fatalf("process %s is gone", pid)
	return desktop.App{}
}

// TestRealCompletePages: for pages of all kinds, the tree contains everything with an action, focus
// or text. AAI_APPS=all runs all of them.
func TestRealCompletePages(t *testing.T) {
	w := parallelWorld(t)
	pages := completePages()
	names := []string{"icons", "mixed", "table", "shadow"}
	if os.Getenv("AAI_APPS") == "all" {
		names = names[:0]
		for name := range pages {
			names = append(names, name)
		}
		slices.Sort(names)
	}
	now := names[0]
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		name := strings.Trim(r.URL.Path, "/")
		if name == "inner" {
			_, _ = rw.Write([]byte(`<!DOCTYPE html><title>Inner</title><p>In a frame</p><button>Inside</button><img onclick="1" class="inner-icon" src="/i.png">`))
			return
		}
		_, _ = rw.Write([]byte(`<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Page ` + name + `</title>` + pages[name] + `<p>End of ` + name + `</p></html>`))
	}))
	t.Cleanup(server.Close)
	for _, now = range names {
		t.Run(now, func(t *testing.T) {
			on := w.on(t)
			a := on.Launch(t, "chromium", "--force-renderer-accessibility", "--disable-backgrounding-occluded-windows", "--no-sandbox", "--test-type",
				"--no-first-run", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update",
				"--password-store=basic", "--lang=en", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
				"--user-data-dir="+filepath.Join(t.TempDir(), "browser"), "--window-size=900,700", "--app="+server.URL+"/"+now)
			pid := on.process(a)
			on.awaitElement(pid, `role:document and name:"Page `+now+`"`)
			on.complete(t, on.appOf(pid), rawShowing)
		})
	}
}

// TestRealCompleteWindows: the same for windows of each toolkit, and with AAI_APPS=all for real
// programs.
func TestRealCompleteWindows(t *testing.T) {
	w := parallelWorld(t)
	for _, kind := range []linuxtest.Kind{linuxtest.GTK3, linuxtest.GTK4, linuxtest.Qt6} {
		t.Run(string(kind), func(t *testing.T) {
			on := w.on(t)
			_, pid := on.open(kind)
			veil := uint64(rawShowing)
			if kind == linuxtest.GTK4 {
				veil = rawVisible
			}
			on.complete(t, on.appOf(pid), veil)
		})
	}
	if os.Getenv("AAI_APPS") != "all" {
		return
	}
	for name, command := range completeWindows() {
		t.Run(name, func(t *testing.T) {
			on := w.on(t)
			if strings.HasPrefix(command[0], "usr/") || strings.HasPrefix(command[0], "libreoffice/") {
				path, err := filepath.Abs(filepath.Join("../../.cache/apps", command[0]))
				assert.NilError(t, err)
				command[0] = path
			}
			for i := range command {
				command[i] = strings.ReplaceAll(command[i], "HOME", t.TempDir())
			}
			program := on.LaunchEnv(t, []string{"SAL_USE_VCLPLUGIN=gtk3", "GSK_RENDERER=cairo"}, command[0], command[1:]...)
			pid := ""
			if strings.HasSuffix(command[0], "soffice") {
				pid = strconv.Itoa(on.office(program))
			} else {
				pid = on.process(program)
			}
			app := on.appOf(pid)
			on.eventually("it shows something", func() bool {
				shot, err := on.backend.Tree.Snapshot(t.Context(), app)
				return err == nil && len(shot.Elements) > 5
			})
			veil := uint64(rawShowing)
			if strings.HasPrefix(app.Toolkit, "GTK 4") || strings.HasPrefix(app.Toolkit, "gtk 4") {
				veil = rawVisible
			}
			on.complete(t, app, veil)
		})
	}
}
