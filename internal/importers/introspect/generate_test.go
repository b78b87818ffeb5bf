package introspect_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	godbus "github.com/godbus/dbus/v5"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/importers/introspect"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// TestGolden compares the result for a service of every D-Bus type, byte for byte.
func TestGolden(t *testing.T) {
	w := newWorld(t)
	s := testkit.ServeOnBus(t, w.bus, "org.example.Test")
	d := w.draft(introspect.Request{App: "org.example.Test"})
	golden(t, "test.json", d.Text)
	golden(t, "test.notes", []byte(strings.Join(d.Notes, "\n")+"\n"))
	for _, method := range []string{"EchoByte", "Set", "Nothing", "Named", "Die", "Block"} {
		n := s.Calls(method)
		assert.Check(t, n <= 0, "%s was called %d times: nothing that acts may be", method, n)
	}
	assert.Check(t, is.Equal(s.Calls("Get"), 3), "properties were read %d times; expected each of the 3 once", s.Calls("Get"))
}

// TestWhatIsGeneratedRuns checks the tools with the gateway's own parser and driver.
func TestWhatIsGeneratedRuns(t *testing.T) {
	w := newWorld(t)
	testkit.ServeOnBus(t, w.bus, "org.example.Test")
	app := w.app(w.draft(introspect.Request{App: "org.example.Test"}))
	for _, test := range []struct {
		tool, want string
		args       map[string]any
	}{
		{"join", "to=a subject=b urgency=3", map[string]any{"to": "a", "subject_line": "b", "urgency": 3.0}},
		{"echo_pairs", `[[1,"x"]]`, map[string]any{"v": []any{[]any{1.0, "x"}}}},
		{"echo_dict", `{"a":1}`, map[string]any{"v": map[string]any{"a": 1.0}}},
		{"get_version", "1.2", nil},
		{"named", `{"count":3,"word":"three"}`, nil},
	} {
		tool := app.Tool(test.tool)
		if tool == nil {
			t.Errorf("there is no %s", test.tool)
			continue
		}
		args, err := tool.Params.Check(test.args)
		if test.args == nil {
			args, err = tool.Params.Check(map[string]any{})
		}
		if err != nil {
			t.Errorf("%s: %v", test.tool, err)
			continue
		}
		checked, _ := args.(map[string]any)
		result, err := tool.Run(t.Context(), &aai.Call{Args: checked})
		if err != nil || result.Text != test.want {
			t.Errorf("%s: %+v, %v; expected %s", test.tool, result, err, test.want)
			continue
		}
		_, err = tool.Returns.Check(result.Data)
		assert.Check(t, err, "%s: the answer breaks its promise: %v", test.tool, err)
	}
}

// desktopApp serves a GTK program: actions, a menu, org.freedesktop.Application.
func desktopApp(w *world, name string) *godbus.Conn {
	w.Helper()
	path := "/" + strings.ReplaceAll(name, ".", "/")
	open := `<interface name="org.freedesktop.Application"><method name="Activate"><arg type="a{sv}" direction="in"/></method>
		<method name="Open"><arg type="as" direction="in"/><arg type="a{sv}" direction="in"/></method>
		<method name="ActivateAction"><arg type="s" direction="in"/><arg type="av" direction="in"/><arg type="a{sv}" direction="in"/></method></interface>`
	actions := `<interface name="org.gtk.Actions"><method name="Activate"><arg type="s" name="action_name" direction="in"/><arg type="av" name="parameter" direction="in"/><arg type="a{sv}" name="platform_data" direction="in"/></method>
		<method name="SetState"><arg type="s" name="action_name" direction="in"/><arg type="v" name="value" direction="in"/><arg type="a{sv}" name="platform_data" direction="in"/></method>
		<method name="Describe"><arg type="s" name="action_name" direction="in"/><arg type="(bgav)" name="description" direction="out"/></method>
		<method name="DescribeAll"><arg type="a{s(bgav)}" name="descriptions" direction="out"/></method></interface>`
	c := w.introspected(name, map[string]string{
		path: "<node>" + actions + open + `<node name="menus"/></node>`,
		path + "/menus/menubar": `<node><interface name="org.gtk.Menus"><method name="Start"><arg type="au" direction="in"/><arg type="a(uuaa{sv})" direction="out"/></method>
			<method name="End"><arg type="au" direction="in"/></method></interface></node>`,
	})
	sig := func(s string) godbus.Signature { return godbus.ParseSignatureMust(s) }
	type about struct {
		Enabled bool
		Param   godbus.Signature
		State   []godbus.Variant
	}
	w.export(c, path, "org.gtk.Actions", map[string]any{
		"DescribeAll": func() (map[string]about, *godbus.Error) {
			return map[string]about{
				"quit": {true, sig(""), nil}, "dark": {true, sig(""), []godbus.Variant{godbus.MakeVariant(false)}},
				"zoom": {true, sig("u"), nil}, "search-0x55b01a3205a0": {true, sig(""), nil}, "search-0xab": {true, sig(""), nil}, "sort": {true, sig("s"), []godbus.Variant{godbus.MakeVariant("name")}}, "wörter": {true, sig(""), nil},
			}, nil
		},
		"Activate": func(name string, parameter []godbus.Variant, _ map[string]godbus.Variant) *godbus.Error {
			if name == "zoom" && (len(parameter) != 1 || parameter[0].Value() != uint32(7)) || name == "quit" && len(parameter) != 0 {
				return godbus.NewError("org.example.Wrong", []any{"not what was asked for"})
			}
			return nil
		},
		"SetState": func(name string, value godbus.Variant, _ map[string]godbus.Variant) *godbus.Error {
			if name != "dark" || value.Value() != true {
				return godbus.NewError("org.example.Wrong", []any{"not what was asked for"})
			}
			return nil
		},
	})
	type menu struct {
		Group, Number uint32
		Items         []map[string]godbus.Variant
	}
	item := func(pairs ...any) map[string]godbus.Variant {
		made := map[string]godbus.Variant{}
		for i := 0; i < len(pairs); i += 2 {
			key, _ := pairs[i].(string)
			made[key] = godbus.MakeVariant(pairs[i+1])
		}
		return made
	}
	w.export(c, path+"/menus/menubar", "org.gtk.Menus", map[string]any{
		"Start": func(groups []uint32) ([]menu, *godbus.Error) {
			if groups[0] == 0 {
				return []menu{{0, 0, []map[string]godbus.Variant{item("label", "_File", ":submenu", []uint32{1, 0})}}}, nil
			}
			return []menu{{1, 0, []map[string]godbus.Variant{item("label", "_Beenden", "action", "app.quit"), item("label", "Nach _Namen", "action", "app.sort", "target", "name"), item("label", "date", "action", "app.sort", "target", "date")}}}, nil
		},
		"End": func([]uint32) *godbus.Error { return nil },
	})
	return c
}

// TestAProgramOfGTK checks that its actions are tools, with labels of its menus and its desktop
// entry, and with the required extra arguments.
func TestAProgramOfGTK(t *testing.T) {
	w := newWorld(t)
	desktopApp(w, "org.example.Notes")
	entry := "[Desktop Entry]\nType=Application\nName=Notes\nName[de]=Notizen\nComment=Write things down\nExec=/bin/notes %U\n[Other]\nName=No\n"
	assert.NilError(t, os.WriteFile(filepath.Join(w.entries, "org.example.Notes.desktop"), []byte(entry), 0o600))
	w.Generator = w.in("de_AT.UTF-8")
	for _, name := range []string{"org.example.Notes", "org.example.Notes.desktop"} {
		d := w.draft(introspect.Request{App: name})
		golden(t, "notes.json", d.Text)
	}
	app := w.app(w.draft(introspect.Request{App: "org.example.Notes"}))
	for name, args := range map[string]map[string]any{"quit": {}, "zoom": {"value": 7.0}, "set_dark": {"value": true}} {
		_, err := app.Tool(name).Run(t.Context(), &aai.Call{Args: args})
		assert.Check(t, err, name)
	}
}

// TestSaving checks that the shown text is saved, unless it has changed since.
func TestSaving(t *testing.T) {
	w := newWorld(t)
	c := w.introspected("org.example.One", map[string]string{"/org/example/One": `<node><interface name="org.example.One"><method name="Go"/></interface></node>`})
	shown, err := w.answerOf(introspect.GenerateTool, map[string]any{"app": "org.example.One"})
	assert.NilError(t, err)
	file := filepath.Join(w.folder, "org.example.One", "aai.json")
	if shown["path"] != file || !strings.Contains(shown["diff"].(string), `+      "name": "go",`) { //nolint:forcetypeassert // a panic fails it
		t.Errorf("shown: %v", shown)
	}
	_, err = os.Stat(file)
	assert.Check(t, err != nil, "showing has saved")
	args := map[string]any{"app": "org.example.One", "seen": shown["seen"]}
	for _, tool := range w.Tools() {
		if tool.Name == introspect.SaveTool { // as the terminal calls it
			_, err := tool.Params.Check(map[string]any{"app": "org.example.One", "seen": shown["seen"], "start": true, "tools": 80.0, "bus": "session", "words": "/x"})
			assert.Check(t, err)
		}
	}
	_, err = w.answerOf(introspect.SaveTool, args)
	assert.NilError(t, err)
	text, err := os.ReadFile(file)
	assert.NilError(t, err)
	again, err := w.answerOf(introspect.GenerateTool, map[string]any{"app": "org.example.One"})
	assert.NilError(t, err, again)
	assert.Equal(t, again["same"], true, again)
	w.states("current")

	// A person edits the texts; they stay when the program changes.
	better := strings.Replace(string(text), `"Go (One)."`, `"Go to the office."`, 1)
	assert.NilError(t, os.WriteFile(file, []byte(better), 0o600))
	w.export(c, "/org/example/One", "org.freedesktop.DBus.Introspectable", map[string]any{"Introspect": func() (string, *godbus.Error) {
		return `<node><interface name="org.example.One"><method name="Go"/><method name="Come"/></interface></node>`, nil
	}})
	w.states("changed")
	next, err := w.answerOf(introspect.GenerateTool, map[string]any{"app": "org.example.One"})
	assert.NilError(t, err)
	made, _ := next["descriptor"].(map[string]any)
	assert.Check(t, is.Equal(made["version"], "1.1.0"), "the version is %v; expected 1.1.0 for a new tool", made["version"])
	diff, _ := next["diff"].(string)
	assert.Assert(t, !strings.Contains(diff, "-      \"description\""), "the diff:\n%s", diff)
	assert.Assert(t, is.Contains(diff, `"come"`))
	// Of a model's version only the texts count.
	file2 := filepath.Join(t.TempDir(), "better.json")
	model := strings.NewReplacer(`Go to the office.`, `Go to the beach.`, `"destroys"`, `"reads"`, `"Go"`, `"Evil"`).Replace(better)
	assert.NilError(t, os.WriteFile(file2, []byte(model), 0o600))
	worded, err := w.answerOf(introspect.GenerateTool, map[string]any{"app": "org.example.One", "words": file2})
	if text, _ := jsonText(worded["descriptor"]); err != nil || !strings.Contains(text, "beach") || strings.Contains(text, "Evil") || strings.Contains(text, "reads") {
		t.Errorf("%v, %s", err, text)
	}
	_, err = w.answerOf(introspect.GenerateTool, map[string]any{"app": "org.example.One", "words": file2 + "x"})
	assert.Check(t, is.ErrorContains(err, "words: "), "a file that is not there: %v", err)
	args["seen"] = shown["seen"] // an outdated digest
	_, err = w.answerOf(introspect.SaveTool, args)
	assert.Check(t, is.ErrorContains(err, "the preview is out of date"), "what nobody saw was saved: %v", err)
	now, _ := os.ReadFile(file)
	assert.Check(t, is.Equal(string(now), better), "the file was changed:\n%s", now)
	_ = c.Close()
	w.states("unknown")
}

// states compares the states of all generated descriptors.
func (w *world) states(want string) {
	w.Helper()
	result, err := w.ownTool(introspect.CheckTool)(w.Context(), &aai.Call{})
	assert.NilError(w, err)
	text, _ := jsonText(result.Data)
	assert.Check(w, strings.HasPrefix(text, `[{"state":"`+want+`"`), "states: %s; expected %s", text, want)
}

// TestWhatMayNotBeReached checks that members out of the driver's reach get no tool.
func TestWhatMayNotBeReached(t *testing.T) {
	w := newWorld(t)
	w.introspected("org.kde.konsole-7", map[string]string{"/org/kde/konsole": `<node><interface name="org.kde.konsole.Session"><method name="runCommand"><arg type="s"/></method></interface></node>`})
	_, err := w.Draft(t.Context(), introspect.Request{App: "org.kde.konsole-7"})
	e := aai.AsError(err)
	assert.Check(t, is.Equal(e.Code, aai.PermissionDenied), "%+v", e)
	w.introspected("org.example.Shell", map[string]string{"/org/example/Shell": `<node><interface name="org.gnome.Shell"><method name="Eval"><arg type="s"/></method></interface><interface name="org.example.Shell"><method name="Hello"/></interface></node>`})
	d := w.draft(introspect.Request{App: "org.example.Shell"})
	assert.Assert(t, !strings.Contains(string(d.Text), "Eval"), "%s %q", d.Text, d.Notes)
	assert.Assert(t, is.Contains(strings.Join(d.Notes, "\n"), "org.gnome.Shell.Eval of /org/example/Shell is left out"), "%s %q", d.Text, d.Notes)
}

// TestBusNames checks the error and the suggestions for unknown apps.
func TestBusNames(t *testing.T) {
	w := newWorld(t)
	testkit.ServeOnBus(t, w.bus, "org.example.Mailbox", "org.mpris.MediaPlayer2.tune.instance12")
	for name, want := range map[string]string{
		"org.example.Mailbux": "org.example.Mailbox", "": "", "../../etc/passwd": "", ":1.1": "", "a\x00b": "",
	} {
		_, err := w.Draft(t.Context(), introspect.Request{App: name})
		e := aai.AsError(err)
		assert.Assert(t, err != nil, "%q %+v", name, e)
		assert.Equal(t, e.Code, aai.AppNotFound, "%q %+v", name, e)
		assert.Assert(t, e.Hint != "", "%q %+v", name, e)
		assert.Assert(t, want == "" || len(e.Candidates) != 0 && e.Candidates[0] == want, "%q %+v", name, e)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := w.Draft(ctx, introspect.Request{App: "org.example.Mailbox"})
	assert.Check(t, err != nil, "a call that was ended goes on")
}

// TestProbe checks that a tool runs before it is saved, and its result is validated.
func TestProbe(t *testing.T) {
	w := newWorld(t)
	s := testkit.ServeOnBus(t, w.bus, "org.example.Test")
	got, err := w.answerOf(introspect.ProbeTool, map[string]any{"app": "org.example.Test", "tool": "echo_byte", "args": map[string]any{"v": 7.0}})
	assert.NilError(t, err, got)
	assert.Equal(t, got["answer"], 7.0, got)
	for _, test := range []struct {
		args map[string]any
		want string
	}{
		{map[string]any{"tool": "echo_byte", "args": map[string]any{"v": 700.0}}, "v: "},
		{map[string]any{"tool": "echo_bite"}, `no tool "echo_bite"`},
	} {
		test.args["app"] = "org.example.Test"
		_, err := w.answerOf(introspect.ProbeTool, test.args)
		assert.Check(t, is.ErrorContains(err, test.want), test.args)
	}
	assert.Check(t, is.Equal(s.Calls("EchoByte"), 1), "it was called %d times", s.Calls("EchoByte"))
}

// TestWithoutABus checks the error on a computer without D-Bus.
func TestWithoutABus(t *testing.T) {
	_, err := introspect.New(introspect.Config{}).Draft(t.Context(), introspect.Request{App: "x"})
	e := aai.AsError(err)
	assert.Check(t, is.Equal(e.Code, aai.AutomationNotSupported), "%+v", e)
	assert.Check(t, e.Hint != "", "%+v", e)
}
