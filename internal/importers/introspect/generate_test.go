package introspect_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	godbus "github.com/godbus/dbus/v5"

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
		if n := s.Calls(method); n > 0 {
			t.Errorf("%s was called %d times: nothing that acts may be", method, n)
		}
	}
	if s.Calls("Get") != 3 {
		t.Errorf("properties were read %d times; expected each of the 3 once", s.Calls("Get"))
	}
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
		if _, err := tool.Returns.Check(result.Data); err != nil {
			t.Errorf("%s: the answer breaks its promise: %v", test.tool, err)
		}
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
	if err := os.WriteFile(filepath.Join(w.entries, "org.example.Notes.desktop"), []byte(entry), 0o600); err != nil {
		t.Fatal(err)
	}
	w.Generator = w.in("de_AT.UTF-8")
	for _, name := range []string{"org.example.Notes", "org.example.Notes.desktop"} {
		d := w.draft(introspect.Request{App: name})
		golden(t, "notes.json", d.Text)
	}
	app := w.app(w.draft(introspect.Request{App: "org.example.Notes"}))
	for name, args := range map[string]map[string]any{"quit": {}, "zoom": {"value": 7.0}, "set_dark": {"value": true}} {
		if _, err := app.Tool(name).Run(t.Context(), &aai.Call{Args: args}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSaving checks that the shown text is saved, unless it has changed since.
func TestSaving(t *testing.T) {
	w := newWorld(t)
	c := w.introspected("org.example.One", map[string]string{"/org/example/One": `<node><interface name="org.example.One"><method name="Go"/></interface></node>`})
	shown, err := w.answerOf(introspect.GenerateTool, map[string]any{"app": "org.example.One"})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(w.folder, "org.example.One", "aai.json")
	if shown["path"] != file || !strings.Contains(shown["diff"].(string), `+      "name": "go",`) { //nolint:forcetypeassert // a panic fails it
		t.Errorf("shown: %v", shown)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("showing has saved")
	}
	args := map[string]any{"app": "org.example.One", "seen": shown["seen"]}
	for _, tool := range w.Tools() {
		if tool.Name == introspect.SaveTool { // as the terminal calls it
			if _, err := tool.Params.Check(map[string]any{"app": "org.example.One", "seen": shown["seen"], "start": true, "tools": 80.0, "bus": "session", "words": "/x"}); err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := w.answerOf(introspect.SaveTool, args); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := w.answerOf(introspect.GenerateTool, map[string]any{"app": "org.example.One"}); err != nil || again["same"] != true {
		t.Errorf("the same again: %v, %v", again, err)
	}
	w.states("current")

	// A person edits the texts; they stay when the program changes.
	better := strings.Replace(string(text), `"Go (One)."`, `"Go to the office."`, 1)
	if err := os.WriteFile(file, []byte(better), 0o600); err != nil {
		t.Fatal(err)
	}
	w.export(c, "/org/example/One", "org.freedesktop.DBus.Introspectable", map[string]any{"Introspect": func() (string, *godbus.Error) {
		return `<node><interface name="org.example.One"><method name="Go"/><method name="Come"/></interface></node>`, nil
	}})
	w.states("changed")
	next, err := w.answerOf(introspect.GenerateTool, map[string]any{"app": "org.example.One"})
	if err != nil {
		t.Fatal(err)
	}
	made, _ := next["descriptor"].(map[string]any)
	if made["version"] != "1.1.0" {
		t.Errorf("the version is %v; expected 1.1.0 for a new tool", made["version"])
	}
	if diff, _ := next["diff"].(string); strings.Contains(diff, "-      \"description\"") || !strings.Contains(diff, `"come"`) {
		t.Errorf("the diff:\n%s", diff)
	}
	// Of a model's version only the texts count.
	file2 := filepath.Join(t.TempDir(), "better.json")
	model := strings.NewReplacer(`Go to the office.`, `Go to the beach.`, `"destroys"`, `"reads"`, `"Go"`, `"Evil"`).Replace(better)
	if err := os.WriteFile(file2, []byte(model), 0o600); err != nil {
		t.Fatal(err)
	}
	worded, err := w.answerOf(introspect.GenerateTool, map[string]any{"app": "org.example.One", "words": file2})
	if text, _ := jsonText(worded["descriptor"]); err != nil || !strings.Contains(text, "beach") || strings.Contains(text, "Evil") || strings.Contains(text, "reads") {
		t.Errorf("%v, %s", err, text)
	}
	if _, err := w.answerOf(introspect.GenerateTool, map[string]any{"app": "org.example.One", "words": file2 + "x"}); err == nil || !strings.Contains(err.Error(), "words: ") {
		t.Errorf("a file that is not there: %v", err)
	}
	args["seen"] = shown["seen"] // an outdated digest
	if _, err := w.answerOf(introspect.SaveTool, args); err == nil || !strings.Contains(err.Error(), "the preview is out of date") {
		t.Errorf("what nobody saw was saved: %v", err)
	}
	if now, _ := os.ReadFile(file); string(now) != better {
		t.Errorf("the file was changed:\n%s", now)
	}
	_ = c.Close()
	w.states("unknown")
}

// states compares the states of all generated descriptors.
func (w *world) states(want string) {
	w.Helper()
	result, err := w.ownTool(introspect.CheckTool)(w.Context(), &aai.Call{})
	if err != nil {
		w.Fatal(err)
	}
	text, _ := jsonText(result.Data)
	if !strings.HasPrefix(text, `[{"state":"`+want+`"`) {
		w.Errorf("states: %s; expected %s", text, want)
	}
}

// TestWhatMayNotBeReached checks that members out of the driver's reach get no tool.
func TestWhatMayNotBeReached(t *testing.T) {
	w := newWorld(t)
	w.introspected("org.kde.konsole-7", map[string]string{"/org/kde/konsole": `<node><interface name="org.kde.konsole.Session"><method name="runCommand"><arg type="s"/></method></interface></node>`})
	_, err := w.Draft(t.Context(), introspect.Request{App: "org.kde.konsole-7"})
	if e := aai.AsError(err); e.Code != aai.PermissionDenied {
		t.Errorf("a terminal: %+v", e)
	}
	w.introspected("org.example.Shell", map[string]string{"/org/example/Shell": `<node><interface name="org.gnome.Shell"><method name="Eval"><arg type="s"/></method></interface><interface name="org.example.Shell"><method name="Hello"/></interface></node>`})
	d := w.draft(introspect.Request{App: "org.example.Shell"})
	if strings.Contains(string(d.Text), "Eval") || !strings.Contains(strings.Join(d.Notes, "\n"), "org.gnome.Shell.Eval of /org/example/Shell is left out") {
		t.Errorf("%s\n%q", d.Text, d.Notes)
	}
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
		if err == nil || e.Code != aai.AppNotFound || e.Hint == "" || want != "" && (len(e.Candidates) == 0 || e.Candidates[0] != want) {
			t.Errorf("%q: %+v", name, e)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.Draft(ctx, introspect.Request{App: "org.example.Mailbox"}); err == nil {
		t.Error("a call that was ended goes on")
	}
}

// TestProbe checks that a tool runs before it is saved, and its result is validated.
func TestProbe(t *testing.T) {
	w := newWorld(t)
	s := testkit.ServeOnBus(t, w.bus, "org.example.Test")
	got, err := w.answerOf(introspect.ProbeTool, map[string]any{"app": "org.example.Test", "tool": "echo_byte", "args": map[string]any{"v": 7.0}})
	if err != nil || got["answer"] != 7.0 {
		t.Errorf("%v, %v", got, err)
	}
	for _, test := range []struct {
		args map[string]any
		want string
	}{
		{map[string]any{"tool": "echo_byte", "args": map[string]any{"v": 700.0}}, "v: "},
		{map[string]any{"tool": "echo_bite"}, `no tool "echo_bite"`},
	} {
		test.args["app"] = "org.example.Test"
		if _, err := w.answerOf(introspect.ProbeTool, test.args); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: %v", test.args, err)
		}
	}
	if s.Calls("EchoByte") != 1 {
		t.Errorf("it was called %d times", s.Calls("EchoByte"))
	}
}

// TestWithoutABus checks the error on a computer without D-Bus.
func TestWithoutABus(t *testing.T) {
	_, err := introspect.New(introspect.Config{}).Draft(t.Context(), introspect.Request{App: "x"})
	if e := aai.AsError(err); e.Code != aai.AutomationNotSupported || e.Hint == "" {
		t.Errorf("%+v", e)
	}
}
