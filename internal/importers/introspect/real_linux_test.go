package introspect_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/importers/introspect"
	"github.com/gybob/aai-gateway/internal/platform/linux/private"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// A desk is a private session with a screen and both buses, for real programs.
type desk struct {
	*world
	session *private.Session
	system  *testkit.Bus
}

func newDesk(t testing.TB) *desk {
	t.Helper()
	session, err := private.New("aai-")
	assert.NilError(t, err)
	t.Cleanup(func() { _ = session.Remove() })
	system := testkit.StartBus(t)
	session.Env = append(append(session.Env, private.HeadlessEnv()...),
		"PATH=/usr/bin:/bin:/usr/sbin:/sbin", "DBUS_SYSTEM_BUS_ADDRESS="+system.Address, "NO_AT_BRIDGE=1", "GVFS_DISABLE_FUSE=1",
		"QT_QPA_PLATFORM=xcb", "LANG=C.UTF-8", "UPOWER_HISTORY_DIR="+session.Path("upower"))
	assert.NilError(t, session.StartScreen(t.Context(), private.ScreenConfig{Width: 1280, Height: 800}))
	bus := testkit.StartDesktopBus(t, slices.Clone(session.Env))
	session.Env = append(session.Env, "DBUS_SESSION_BUS_ADDRESS="+bus.Address)
	t.Cleanup(func() { _ = session.End() })
	d := &desk{session: session, system: system}
	d.world = worldOn(t, bus, func(name string) string {
		if name == "DBUS_SYSTEM_BUS_ADDRESS" {
			return system.Address
		}
		return ""
	})
	return d
}

// run starts a program of the session.
func (d *desk) run(words ...string) {
	d.Helper()
	_, err := d.session.Start(private.Command{Name: words[0], Args: words[1:], Graceful: true})
	assert.NilError(d, err)
}

// described waits until the program offers its members.
func (d *desk) described(app string, start bool) *introspect.Draft {
	d.Helper()
	var last error
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		draft, err := d.Draft(d.Context(), introspect.Request{App: app, Start: start, Tools: 200})
		if err == nil {
			return draft
		}
		last = err
	}
	d.Fatalf("%s: %v\n%s", app, last, d.bus.Log())
	return nil
}

// A realProgram is a program to describe; without words the bus starts it.
type realProgram struct {
	app   string
	words []string
}

func realPrograms() []realProgram {
	return []realProgram{
		{"org.xfce.Xfconf", nil}, {"org.freedesktop.thumbnails.Thumbnailer1", nil}, {"org.gtk.vfs.Daemon", nil},
		{"org.gtk.vfs.Metadata", nil}, {"org.a11y.Bus", nil}, {"org.freedesktop.Notifications", nil},
		{"org.xfce.Thunar", nil}, {"org.gnome.TextEditor", nil}, {"org.gnome.clocks", nil},
		// No descriptor of these is shipped.
		{"org.gnome.Logs", nil}, {"org.gnome.font-viewer", nil}, {"org.gnome.Dictionary", nil},
		{"org.gnome.Sudoku", nil}, {"org.gnome.Weather", nil},
		{"rhythmbox", []string{"rhythmbox"}},
		{"mpv", []string{"mpv", "--idle", "--vo=null", "--ao=null"}},
		{"org.xfce.mousepad", []string{"mousepad"}}, {"kate", []string{"kate", "-b"}}, {"okular", []string{"okular"}},
		{"org.freedesktop.UPower", []string{"/usr/libexec/upowerd"}},
		{"org.freedesktop.hostname1", []string{"/lib/systemd/systemd-hostnamed"}},
		{"org.freedesktop.timedate1", []string{"/lib/systemd/systemd-timedated"}},
		{"org.freedesktop.ColorManager", []string{"/usr/libexec/colord"}},
	}
}

// TestRealPrograms checks that nearly all generated reading tools without arguments, of real
// programs without a descriptor, work unedited.
func TestRealPrograms(t *testing.T) {
	d := newDesk(t)
	asked, answered, tools := 0, 0, 0
	for _, r := range realPrograms() {
		if r.words != nil { // now, because some exit when idle
			d.run(r.words...)
		}
		draft := d.described(r.app, r.words == nil)
		clean(t, draft.Text)
		n, ok := d.readAll(draft)
		left := 0
		for _, note := range draft.Notes {
			if strings.Contains(note, "is left out: it cannot be read") || strings.Contains(note, "does not give its declared type") {
				left++
				t.Log(note)
			}
		}
		asked, answered, tools = asked+n+left, answered+ok, tools+len(draft.Document.Sections[0].Tools)
		t.Logf("%s: %d tools, %d of %d readings answer", draft.Document.ID, len(draft.Document.Sections[0].Tools), ok, n+left)
	}
	t.Logf("%d programs, %d tools; %d of %d readings answer as generated: %.1f %%", len(realPrograms()), tools, answered, asked, 100*float64(answered)/float64(asked))
	assert.Assert(t, len(realPrograms()) >= 15, "%d of %d answer; expected 95 %% of at least 100", answered, asked)
	assert.Assert(t, asked >= 100, "%d of %d answer; expected 95 %% of at least 100", answered, asked)
	assert.Assert(t, answered*100 >= asked*95, "%d of %d answer; expected 95 %% of at least 100", answered, asked)
}

// TestRealProgramsAreDescribed checks that the documentation counts these programs.
func TestRealProgramsAreDescribed(t *testing.T) {
	text, err := os.ReadFile("../../../docs/generate.md")
	assert.NilError(t, err)
	want := fmt.Sprintf("describes %d real programs", len(realPrograms()))
	assert.Check(t, is.Contains(string(text), want), "docs/generate.md does not say that it %s", want)
}

// readAll calls every reading tool without required arguments. It returns the number of readings,
// and of valid results. A tool that reads several properties counts several times.
func (d *desk) readAll(draft *introspect.Draft) (asked, answered int) {
	d.Helper()
	for _, tool := range d.app(draft).Tools {
		var params struct {
			Required []string `json:"required"`
		}
		var returns struct {
			Properties map[string]json.RawMessage `json:"properties"`
		}
		assert.NilError(d, json.Unmarshal(tool.Params.Source, &params))
		if tool.Effect != aai.Reads || len(params.Required) > 0 {
			continue
		}
		counts := 1
		if json.Unmarshal(tool.Returns.Source, &returns) == nil && strings.Contains(tool.Implementation.Summary, "GetAll") {
			counts = max(len(returns.Properties), 1)
		}
		asked += counts
		result, err := tool.Run(d.Context(), &aai.Call{Args: map[string]any{}})
		if err == nil && tool.Returns.Check != nil {
			_, err = tool.Returns.Check(result.Data)
		}
		if err != nil {
			d.Logf("%s of %s: %v", tool.Name, draft.Document.ID, err)
			continue
		}
		answered += counts
	}
	return asked, answered
}
