package bench

import (
	"encoding/json"
	"fmt"
	"image"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	godbus "github.com/godbus/dbus/v5"
	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/desktop/refs"
	"github.com/gybob/aai-gateway/internal/platform/linux/x11"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// axTools is the number of tools that the gateway lists in the profile "desktop".
const axTools = 26

// scene is a private desktop with a gateway and its client.
type scene struct {
	*linuxtest.Session
	gateway *session
}

// newScene starts a desktop, and a gateway that may see and operate the programs with these ids.
func (w *desktopBench) newScene(b *testing.B, ids ...string) *scene {
	b.Helper()
	s := &scene{Session: linuxtest.StartAccessible(b)}
	s.gateway = w.openOn(b, s.Session, ids...)
	return s
}

// openOn starts a gateway on the desktop.
func (w *desktopBench) openOn(b *testing.B, s *linuxtest.Session, ids ...string) *session {
	b.Helper()
	return w.openWithin(b, s, noLimits, ids...)
}

// openWithin is openOn with limits.
func (w *desktopBench) openWithin(b *testing.B, s *linuxtest.Session, limits string, ids ...string) *session {
	b.Helper()
	h, apps := newHome(b, 0), []string{"desktop"}
	for _, id := range ids {
		apps = append(apps, "desktop/"+id)
	}
	h.configure(b, limits, apps...)
	return open(b, append(s.Env, "HOME="+h.folder), w.program, axTools, "mcp", "serve", "--profile", "desktop", "--log-level", "error")
}

// toolCall returns the params of tools/call.
func toolCall(b *testing.B, tool string, args map[string]any) string {
	b.Helper()
	params, err := json.Marshal(map[string]any{"name": tool, "arguments": args})
	assert.NilError(b, err)
	return string(params)
}

// reply is a tool's result: the text for the model, and the data.
type reply struct {
	Result struct {
		Content           []struct{ Type, Text string }
		StructuredContent json.RawMessage // the data of a tool that is called by its own name
	}
}

// text returns the text for the model.
func (a answer) text(b *testing.B) string {
	b.Helper()
	var r reply
	assert.NilError(b, json.Unmarshal(a.line, &r))
	var text strings.Builder
	for _, part := range r.Result.Content {
		text.WriteString(part.Text)
	}
	return text.String()
}

// isVerified reports whether the reply of a tool that acts has no doubt about the effect.
func (a answer) isVerified(b *testing.B) bool {
	b.Helper()
	return !strings.Contains(a.text(b), "delivered, but ")
}

// data decodes the tool's data.
func (a answer) data(b *testing.B, into any) {
	b.Helper()
	var r reply
	assert.NilError(b, json.Unmarshal(a.line, &r))
	assert.NilError(b, json.Unmarshal(r.Result.StructuredContent, into), a.line)
}

// await polls until the element exists, and returns its ref.
func (s *scene) await(b *testing.B, pid int, query string) string {
	b.Helper()
	call := toolCall(b, "ax_find", map[string]any{"app": strconv.Itoa(pid), "query": query})
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		a, err := s.gateway.try("tools/call", call)
		if err != nil && time.Now().Before(end) {
			continue
		}
		assert.NilError(b, err)
		var found struct {
			Ref string `json:"element_ref"`
		}
		a.data(b, &found)
		assert.Assert(b, refs.Is(found.Ref), "ax_find gave the ref %q", found.Ref)
		return found.Ref
	}
}

// awaitSettled waits until a page is complete: a browser exposes a long one in parts, and a
// comparison with another reader must not begin earlier.
func (s *scene) awaitSettled(b *testing.B, app any) {
	b.Helper()
	s.gateway.ask(b, "tools/call", toolCall(b, "ax_wait_idle", map[string]any{"app": app, "poll_ms": 500}))
}

// medianAndP95 formats the median and the 95th percentile.
func medianAndP95(s samples) string {
	return fmt.Sprintf("%s (p95 %s)", millis(s.median()), millis(s.quantile(0.95)))
}

// screenshots measures pictures of the whole screen and of a covered window: from the X server,
// before encoding, and as whole calls of ax_screenshot. The comparison is ImageMagick's import, a
// process for each picture.
func (w *desktopBench) screenshots(b *testing.B) {
	rounds := roundLimit(b, 20)
	s := w.newScene(b, "gtk3")
	f := s.Fixture(b, linuxtest.GTK3)
	s.await(b, f.PID, "button Press")
	s.Cover(b, f)
	screen := x11.New(x11.Config{Getenv: s.Getenv, InputLock: inputlock.New(inputlock.Config{Folder: inputlock.Folder, Getenv: s.Getenv})})
	b.Cleanup(func() { _ = screen.Close() })
	window := windowOf(b, screen, f)
	all := desktop.Rect{W: linuxtest.ScreenWidth, H: linuxtest.ScreenHeight}
	wholeCall := toolCall(b, "ax_screenshot", map[string]any{})
	windowCall := toolCall(b, "ax_screenshot", map[string]any{"app": strconv.Itoa(f.PID)})

	var raw, covered, rawPeer, coveredPeer, wholeTool, windowTool samples
	for range rounds {
		for range 5 {
			raw.add(took(b, func() (*image.RGBA, error) { return screen.Capture(b.Context(), all) }))
			covered.add(took(b, func() (*image.RGBA, error) { return screen.CaptureWindow(b.Context(), window) }))
		}
		wholeTool.add(s.gateway.timed(b, wholeCall))
		windowTool.add(s.gateway.timed(b, windowCall))
		rawPeer.add(imported(b, s.Session, "root", "rgb:/dev/null"))
		coveredPeer.add(imported(b, s.Session, "root", "png:/dev/null"))
	}
	const aimWhole, aimCovered = 10 * time.Millisecond, 20 * time.Millisecond
	w.table.judge("picture of the screen, 1600 × 1000, not encoded", medianAndP95(raw), "import, not encoded "+medianAndP95(rawPeer),
		times(ratio(raw.median(), rawPeer.median())), "≤ 10 ms", raw.median() <= aimWhole)
	w.table.judge("picture of a covered window, 700 × 600, not encoded", medianAndP95(covered), "", "", "≤ 20 ms", covered.median() <= aimCovered)
	w.table.add("ax_screenshot over stdio, the screen as PNG", medianAndP95(wholeTool), "import, as PNG "+medianAndP95(coveredPeer),
		times(ratio(wholeTool.median(), coveredPeer.median())))
	w.table.add("ax_screenshot over stdio, a covered window as PNG", medianAndP95(windowTool), "", "")
	b.ReportMetric(float64(raw.median())/1e6, "ms/screen")
	b.ReportMetric(float64(covered.median())/1e6, "ms/covered")
}

// took returns the time of a picture, which must not be blank.
func took(b *testing.B, take func() (*image.RGBA, error)) time.Duration {
	b.Helper()
	begun := time.Now()
	picture, err := take()
	took := time.Since(begun)
	assert.NilError(b, err)
	centre := picture.RGBAAt(picture.Rect.Dx()/4, picture.Rect.Dy()/4)
	assert.Assert(b, centre.A != 0, "the picture is empty")
	return took
}

// windowOf returns the fixture's window.
func windowOf(b *testing.B, screen desktop.Windows, f *linuxtest.Fixture) desktop.WindowID {
	b.Helper()
	windows, err := screen.Windows(b.Context())
	assert.NilError(b, err)
	for _, w := range windows {
		if w.Title == f.Title {
			return w.ID
		}
	}
	b.Fatalf("there is no window %q", f.Title)
	return 0
}

// imported returns ImageMagick's time.
func imported(b *testing.B, s *linuxtest.Session, window, into string) time.Duration {
	b.Helper()
	command := exec.CommandContext(b.Context(), "import", "-window", window, into)
	command.Env = s.Env
	begun := time.Now()
	out, err := command.CombinedOutput()
	assert.NilError(b, err, out)
	return time.Since(begun)
}

// listening measures a gateway that has read an app and waits.
func (w *desktopBench) listening(b *testing.B) {
	s := w.newScene(b, "gtk3")
	f := s.Fixture(b, linuxtest.GTK3)
	s.await(b, f.PID, "button Press")
	s.gateway.ask(b, "tools/call", toolCall(b, "ax_get_tree", map[string]any{"app": strconv.Itoa(f.PID)}))
	time.Sleep(time.Second)
	w.idle(b, s, "an app", watchDuration(20*time.Second, time.Second), f.App)
}

// desktopBench is the shared data of the desktop benchmarks.
type desktopBench struct {
	program string             // the gateway
	walks   map[string]samples // pyatspi's times, by app
	table   table
}

// BenchmarkDesktop measures an agent's work with windows and prints a table: private desktops,
// real apps, the built program over standard input and output. Each of its benchmarks runs all of
// its rounds once, regardless of -benchtime.
func BenchmarkDesktop(b *testing.B) {
	w := &desktopBench{program: build(b, "github.com/gybob/aai-gateway/cmd/aai-gateway"), walks: make(map[string]samples)}
	runOnce(b, "Click", w.clicks)
	runOnce(b, "Flow", w.flows)
	runOnce(b, "Vain", w.clicksWithoutEffect)
	runOnce(b, "Tree", w.trees)
	runOnce(b, "Snapshot", w.snapshots)
	runOnce(b, "Picture", w.screenshots)
	runOnce(b, "Idle", w.listening)
	runOnce(b, "Notices", w.notices)
	runOnce(b, "Complete", w.completeness)
	runOnce(b, "Followed", w.idleListeners)
	runOnce(b, "Subscribers", w.manySubscribers)
	runOnce(b, "Frozen", w.hungWindow)
	runOnce(b, "Discover", w.discover)
	runOnce(b, "Peers", w.comparePeers)
	runOnce(b, "Shop", w.compareShop)
	fmt.Print(w.table.String())
}

// Names of at-spi2-core: xml/Accessible.xml, Action.xml, Event.xml, Registry.xml.
const (
	registryName = "org.a11y.atspi.Registry"
	registryPath = "/org/a11y/atspi/registry"
	rootPath     = "/org/a11y/atspi/accessible/root"
	accessible   = "org.a11y.atspi.Accessible"
	doAction     = "org.a11y.atspi.Action.DoAction"
	objectEvents = "org.a11y.atspi.Event.Object"
	processOf    = "org.freedesktop.DBus.GetConnectionUnixProcessID"
)

// a11yRef refers to an element on the accessibility bus.
type a11yRef struct {
	Name string
	Path godbus.ObjectPath
}

// bareButton is a fixture's button Press, pressed directly with another library: the baseline of
// every click.
type bareButton struct {
	button        godbus.BusObject
	label, around godbus.ObjectPath // label with "Pressed n times", and its parent
	signals       chan *godbus.Signal
}

// findButton finds the program's button in its tree, and listens to the program's events.
func findButton(b *testing.B, s *linuxtest.Session, pid int) *bareButton {
	b.Helper()
	conn, err := godbus.Connect(s.A11yAddress(b))
	assert.NilError(b, err)
	b.Cleanup(func() { _ = conn.Close() })
	root := a11yRef{programOf(b, conn, pid), rootPath}
	button, _ := search(b, conn, root, "Press")
	label, around := search(b, conn, root, "Pressed 0 times")
	assert.Assert(b, button != nil, "process %d shows no button Press with a label", pid)
	assert.Assert(b, label != nil, "process %d shows no button Press with a label", pid)
	for _, event := range []string{"object:property-change", "object:text-changed", "object:children-changed"} {
		assert.NilError(b, conn.Object(registryName, registryPath).Call(registryName+".RegisterEvent", 0, event, []string{}, "").Err)
	}
	assert.NilError(b, conn.AddMatchSignal(godbus.WithMatchInterface(objectEvents), godbus.WithMatchSender(root.Name)))
	signals := make(chan *godbus.Signal, 1000)
	conn.Signal(signals)
	return &bareButton{conn.Object(root.Name, button.Path), label.Path, around.Path, signals}
}

// programOf returns the unique name of the process's connection.
func programOf(b *testing.B, conn *godbus.Conn, pid int) string {
	b.Helper()
	for _, program := range childrenOf(b, conn, a11yRef{registryName, rootPath}) {
		var of int
		if err := conn.BusObject().Call(processOf, 0, program.Name).Store(&of); err == nil && of == pid {
			return program.Name
		}
	}
	b.Fatalf("process %d is not on the accessibility bus", pid)
	return ""
}

func childrenOf(b *testing.B, conn *godbus.Conn, of a11yRef) []a11yRef {
	b.Helper()
	var children []a11yRef
	assert.NilError(b, conn.Object(of.Name, of.Path).Call(accessible+".GetChildren", 0).Store(&children))
	return children
}

// search returns the first element with the name, and its parent; nil if there is
// none.
func search(b *testing.B, conn *godbus.Conn, from a11yRef, name string) (found, parent *a11yRef) {
	b.Helper()
	for _, child := range childrenOf(b, conn, from) {
		if v, err := conn.Object(child.Name, child.Path).GetProperty(accessible + ".Name"); err == nil && v.Value() == name {
			return &child, &from
		}
		if found, parent := search(b, conn, child, name); found != nil {
			return found, parent
		}
	}
	return nil, nil
}

// press returns the time from the request to the program's event for the changed label.
func (p *bareButton) press(b *testing.B) time.Duration {
	b.Helper()
	for len(p.signals) > 0 {
		<-p.signals
	}
	begun := time.Now()
	call := p.button.Go(doAction, 0, nil, int32(0))
	took := p.awaitLabelChange(b, begun)
	assert.NilError(b, (<-call.Done).Err)
	return took
}

// awaitLabelChange waits for the event.
func (p *bareButton) awaitLabelChange(b *testing.B, begun time.Time) time.Duration {
	b.Helper()
	late := time.After(10 * time.Second)
	for {
		select {
		case signal := <-p.signals:
			if p.isEffect(signal) {
				return time.Since(begun)
			}
		case <-late:
			b.Fatal("the program never told that its label has changed")
		}
	}
}

// isEffect reports whether an event means a changed label: a new name, or, in Chromium, a new text
// in its place.
func (p *bareButton) isEffect(signal *godbus.Signal) bool {
	detail := ""
	if len(signal.Body) > 0 {
		detail, _ = signal.Body[0].(string)
	}
	switch strings.TrimPrefix(signal.Name, objectEvents+".") {
	case "PropertyChange":
		return signal.Path == p.label && detail == "accessible-name"
	case "TextChanged":
		return signal.Path == p.label && detail == "insert"
	case "ChildrenChanged":
		return signal.Path == p.around && detail == "add"
	}
	return false
}
