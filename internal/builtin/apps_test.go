package builtin_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/builtin"
)

func TestAppsListsAllButTheGateway(t *testing.T) {
	w := newWorld(t, apps())
	sameJSON(t, w.callBuiltin(t, builtin.Apps, "").Data, `[
		{"id": "org.example.Mac", "name": "Mac", "description": "Only there.", "tools": 1, "platform": "macos", "runnable": false,
		 "source": "`+filepath.Join(w.folder, "org.example.Mac", "aai.json")+`"},
		{"id": "org.example.Notes", "name": "Notes", "description": "Keeps notes.", "aliases": ["memo"], "tools": 2, "platform": "linux", "runnable": true,
		 "source": "`+filepath.Join(w.folder, "org.example.Notes", "aai.json")+`"}]`)
}

func TestWithoutAppsTheListsAreEmptyAndNotNull(t *testing.T) {
	w := newWorld(t, nil)
	for _, tool := range []string{builtin.Apps, builtin.ListConsents} {
		sameJSON(t, w.callBuiltin(t, tool, "{}").Data, `[]`)
	}
	sameJSON(t, w.callBuiltin(t, builtin.Scan, "").Data, `{"files": []}`)
	sameJSON(t, w.callBuiltin(t, builtin.History, `{"app": "org.example.Nothing"}`).Data, `[]`)
}

func TestGuideIsForModelsAndForPrograms(t *testing.T) {
	w := newWorld(t, apps())
	for _, name := range []string{"org.example.Notes", "memo", "app:org.example.Notes", aai.WireName("app:org.example.Notes")} {
		result := w.callBuiltin(t, builtin.Guide, `{"app": "`+name+`"}`)
		if !strings.Contains(result.Text, "add") || !strings.Contains(result.Text, "Keeps notes.") {
			t.Errorf("the guide of %s says neither what the app is nor its tools:\n%s", name, result.Text)
		}
		var data struct {
			App        struct{ ID string }
			Operations []struct{ Name, Effect string }
		}
		decodeInto(t, result.Data, &data)
		if data.App.ID != "org.example.Notes" || len(data.Operations) != 2 || data.Operations[0].Effect != "changes" {
			t.Errorf("the data of the guide of %s: %+v", name, data)
		}
	}
}

func TestGuideToOneTool(t *testing.T) {
	w := newWorld(t, apps())
	result := w.callBuiltin(t, builtin.Guide, `{"app": "memo", "tool": "add"}`)
	if !strings.HasPrefix(result.Text, "### add\n") || !strings.Contains(result.Text, "Example: ") || strings.Count(result.Text, "###") != 1 {
		t.Errorf("the guide to one tool:\n%s", result.Text)
	}
	var data struct{ Operations []struct{ Name string } }
	decodeInto(t, result.Data, &data)
	if len(data.Operations) != 1 || data.Operations[0].Name != "add" {
		t.Errorf("its data: %+v", data)
	}
	w.expectRefused(t, builtin.Guide, `{"app": "memo", "tool": "ad"}`, aai.Error{Code: aai.ToolNotFound, Message: `tool: org.example.Notes has no tool "ad"`, Candidates: []string{"add"}})
}

func TestTheGatewayHasAGuideButNoDescriptor(t *testing.T) {
	w := newWorld(t, nil)
	if text := w.callBuiltin(t, builtin.Guide, `{"app": "aai"}`).Text; !strings.Contains(text, builtin.Grant) {
		t.Errorf("the guide of the gateway does not name its tools:\n%s", text)
	}
	w.expectRefused(t, builtin.Descriptor, `{"app": "aai"}`, aai.Error{Code: aai.AppNotFound, Message: "aai has no descriptor; it is part of the gateway"})
}

func TestDescriptorIsWhatItsAuthorWrote(t *testing.T) {
	w := newWorld(t, apps())
	result := w.callBuiltin(t, builtin.Descriptor, `{"app": "memo"}`)
	if result.Text != notes {
		t.Errorf("the text is not the file, byte for byte:\n%s", result.Text)
	}
	sameJSON(t, result.Data, notes)
}

// TestHostileDescriptorIsShownWhole checks that invisible characters are shown escaped, and the
// JSON is unchanged.
func TestHostileDescriptorIsShownWhole(t *testing.T) {
	for _, hidden := range []string{"\u202e", "\U000e0041\u200b", `\u202e`, `\u001b`} {
		source := strings.Replace(notes, "Keeps notes.", "Keeps "+hidden+"notes.", 1)
		w := newWorld(t, map[string]string{"org.example.Notes": source})
		result := w.callBuiltin(t, builtin.Descriptor, `{"app": "memo"}`)
		if result.Text != aai.CleanText(result.Text, len(result.Text)) || result.Data != nil {
			t.Errorf("%q: data %v, text %q", hidden, result.Data, result.Text)
		}
		var shown any
		if err := json.Unmarshal([]byte(result.Text), &shown); err != nil {
			t.Fatal(err)
		}
		sameJSON(t, shown, source)
	}
}

func TestScanTellsOfEveryFile(t *testing.T) {
	w := newWorld(t, map[string]string{
		"a":                  notes,
		"b":                  notes,
		"org.example.Broken": broken,
		"org.example.Mac":    macOnly,
	})
	var report struct {
		Files []struct {
			Path, Place, App, Status string
			Tools                    int
			ShadowedBy               string `json:"shadowed_by"`
			Errors, Warnings         []struct{ Path, Problem string }
		}
	}
	decodeInto(t, w.callBuiltin(t, builtin.Scan, "").Data, &report)
	if len(report.Files) != 4 {
		t.Fatalf("4 files were placed, %d reported: %+v", len(report.Files), report.Files)
	}
	first := filepath.Join(w.folder, "a", "aai.json")
	for i, want := range []struct{ app, status string }{
		{"org.example.Notes", "ok"}, {"org.example.Notes", "shadowed"}, {"org.example.Broken", "invalid"}, {"org.example.Mac", "not_for_this_computer"},
	} {
		file := report.Files[i]
		if file.App != want.app || file.Status != want.status {
			t.Errorf("file %d is %s of %s, want %s of %s", i, file.Status, file.App, want.status, want.app)
		}
		if (file.Status == "shadowed") != (file.ShadowedBy == first) {
			t.Errorf("%s is shadowed by %q", file.Path, file.ShadowedBy)
		}
		if (file.Status == "invalid") != (len(file.Errors) > 0) {
			t.Errorf("%s is %s and has the errors %v", file.Path, file.Status, file.Errors)
		}
	}
	if fault := report.Files[2].Errors[0]; fault.Path != "platforms.linux.tools[0].method" {
		t.Errorf("the fault is said to be at %q", fault.Path)
	}
}

func TestAnUnknownAppIsNamedWithTheNearest(t *testing.T) {
	w := newWorld(t, map[string]string{"org.example.Notes": notes, "org.example.Broken": broken})
	want := aai.Error{
		Code: aai.AppNotFound, Message: `no app is named "org.example.Note"`, Candidates: []string{"org.example.Notes"},
		Hint: "aai-gateway --scan shows what was found and what was refused.",
	}
	w.expectRefused(t, builtin.Guide, `{"app": "org.example.Note"}`, want)
	w.expectRefused(t, builtin.Descriptor, `{"app": "org.example.Note"}`, want)
	w.expectRefused(t, builtin.Grant, `{"app": "org.example.Note", "tool": "*", "caller": "*"}`, want)

	_, err := w.do(t, person(), aai.BuiltinApp, builtin.Guide, `{"app": "org.example.Broken"}`)
	if e := aai.AsError(err); e == nil || e.Code != aai.DescriptorInvalid || !strings.Contains(e.Message, "tools[0].method") {
		t.Errorf("a broken descriptor is not named as the reason: %v", err)
	}
}

func TestParametersAreChecked(t *testing.T) {
	w := newWorld(t, apps())
	for _, c := range []struct {
		tool, args, message string
		candidates          []string
	}{
		{builtin.Apps, `{"all": true}`, `unexpected parameter "all"`, nil},
		{builtin.Guide, `{}`, "app: missing", nil},
		{builtin.Guide, `{"app": 7}`, "app: expected a string, got 7", nil},
		{builtin.Guide, `{"apps": "memo"}`, `unexpected parameter "apps"`, []string{"app"}},
		{builtin.Descriptor, `{"app": null}`, "app: expected a string, got null", nil},
		{builtin.Scan, `{"app": "memo"}`, `unexpected parameter "app"`, nil},
		{builtin.ListConsents, `{"app": "memo"}`, `unexpected parameter "app"`, nil},
		{builtin.History, `{"limit": 0}`, "limit: expected an integer from 1 to 10000, got 0", nil},
		{builtin.History, `{"limit": 10001}`, "limit: expected an integer from 1 to 10000, got 10001", nil},
		{builtin.History, `{"limit": 1.5}`, "limit: expected an integer from 1 to 10000, got 1.5", nil},
		{builtin.History, `{"limits": 1}`, `unexpected parameter "limits"`, []string{"limit"}},
		{builtin.Grant, `{"app": "memo", "tool": "add"}`, "caller: no caller is named", nil},
		{builtin.Grant, `{"app": "memo", "tool": "", "caller": "*"}`, "tool: expected a string of at least 1 character, got 0", nil},
		{builtin.Revoke, `{"application": "memo"}`, `unexpected parameter "application"`, []string{"app"}}, {builtin.Revoke, `{"app": "memo", "sessions": true}`, "sessions: expected it alone", nil},
	} {
		_, err := w.do(t, person(), aai.BuiltinApp, c.tool, c.args)
		e := aai.AsError(err)
		if e == nil {
			t.Errorf("%s %s was accepted", c.tool, c.args)
			continue
		}
		if e.Code != aai.InvalidParams || !strings.Contains(e.Message, c.message) {
			t.Errorf("%s %s: %v\nwant: %s", c.tool, c.args, err, c.message)
		}
		if strings.Join(e.Candidates, " ") != strings.Join(c.candidates, " ") {
			t.Errorf("%s %s: candidates %q, want %q", c.tool, c.args, e.Candidates, c.candidates)
		}
	}
}

// decodeInto decodes data into a program's own struct.
func decodeInto(t *testing.T, data, into any) {
	t.Helper()
	b, err := json.Marshal(data)
	if err == nil {
		err = json.Unmarshal(b, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}
