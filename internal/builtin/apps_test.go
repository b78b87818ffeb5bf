package builtin_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/builtin"
	"github.com/gybob/aai-gateway/internal/testkit/fakeoperator"
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
		assert.Assert(t, is.Contains(result.Text, "add"), name)
		assert.Assert(t, is.Contains(result.Text, "Keeps notes."), name)
		var data struct {
			App        struct{ ID string }
			Operations []struct{ Name, Effect string }
		}
		decodeInto(t, result.Data, &data)
		assert.Equal(t, data.App.ID, "org.example.Notes", "%s %+v", name, data)
		assert.Assert(t, is.Len(data.Operations, 2), "%s %+v", name, data)
		assert.Equal(t, data.Operations[0].Effect, "changes", "%s %+v", name, data)
	}
}

func TestGuideToOneTool(t *testing.T) {
	w := newWorld(t, apps())
	result := w.callBuiltin(t, builtin.Guide, `{"app": "memo", "tool": "add"}`)
	assert.Assert(t, strings.HasPrefix(result.Text, "### add\n"), "the guide to one tool:\n%s", result.Text)
	assert.Assert(t, is.Contains(result.Text, "Example: "))
	assert.Equal(t, strings.Count(result.Text, "###"), 1)
	var data struct{ Operations []struct{ Name string } }
	decodeInto(t, result.Data, &data)
	assert.Assert(t, is.Len(data.Operations, 1), "%+v", data)
	assert.Equal(t, data.Operations[0].Name, "add", "%+v", data)
	w.expectRefused(t, builtin.Guide, `{"app": "memo", "tool": "ad"}`, aai.Error{Code: aai.ToolNotFound, Message: `tool: org.example.Notes has no tool "ad"`, Candidates: []string{"add"}})
}

func TestTheGatewayHasAGuideButNoDescriptor(t *testing.T) {
	w := newWorld(t, nil)
	text := w.callBuiltin(t, builtin.Guide, `{"app": "aai"}`).Text
	assert.Check(t, is.Contains(text, builtin.Grant), "the guide of the gateway does not name its tools:\n%s", text)
	w.expectRefused(t, builtin.Descriptor, `{"app": "aai"}`, aai.Error{Code: aai.AppNotFound, Message: "aai has no descriptor; it is part of the gateway"})
}

func TestDescriptorIsWhatItsAuthorWrote(t *testing.T) {
	w := newWorld(t, apps())
	result := w.callBuiltin(t, builtin.Descriptor, `{"app": "memo"}`)
	assert.Check(t, is.Equal(result.Text, notes), "the text is not the file, byte for byte:\n%s", result.Text)
	sameJSON(t, result.Data, notes)
}

// TestHostileDescriptorIsShownWhole checks that invisible characters are shown escaped, and the
// JSON is unchanged.
func TestHostileDescriptorIsShownWhole(t *testing.T) {
	for _, hidden := range []string{"\u202e", "\U000e0041\u200b", `\u202e`, `\u001b`} {
		source := strings.Replace(notes, "Keeps notes.", "Keeps "+hidden+"notes.", 1)
		w := newWorld(t, map[string]string{"org.example.Notes": source})
		result := w.callBuiltin(t, builtin.Descriptor, `{"app": "memo"}`)
		assert.Check(t, is.Equal(result.Text, aai.CleanText(result.Text, len(result.Text))), "%q %v", hidden, result.Data)
		assert.Check(t, result.Data == nil, "%q: data %v, text %q", hidden, result.Data, result.Text)
		var shown any
		assert.NilError(t, json.Unmarshal([]byte(result.Text), &shown))
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
	assert.Assert(t, is.Len(report.Files, 4), "4 files were placed, %d reported: %+v", len(report.Files), report.Files)
	first := filepath.Join(w.folder, "a", "aai.json")
	for i, want := range []struct{ app, status string }{
		{"org.example.Notes", "ok"}, {"org.example.Notes", "shadowed"}, {"org.example.Broken", "invalid"}, {"org.example.Mac", "not_for_this_computer"},
	} {
		file := report.Files[i]
		assert.Check(t, is.Equal(file.App, want.app), "%d", i)
		assert.Check(t, is.Equal(file.Status, want.status), "%d", i)
		assert.Check(t, is.Equal((file.Status == "shadowed"), (file.ShadowedBy == first)), "%s is shadowed by %q", file.Path, file.ShadowedBy)
		assert.Check(t, is.Equal((file.Status == "invalid"), (len(file.Errors) > 0)), "%s %s %v", file.Path, file.Status, file.Errors)
	}
	fault := report.Files[2].Errors[0]
	assert.Check(t, is.Equal(fault.Path, "platforms.linux.tools[0].method"), "the fault is said to be at %q", fault.Path)
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

	e := w.refuses(t, aai.DescriptorInvalid, person(), aai.BuiltinApp, builtin.Guide, `{"app": "org.example.Broken"}`)
	assert.Assert(t, is.Contains(e.Message, "tools[0].method"), "%+v", e)
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
		assert.Check(t, is.Equal(e.Code, aai.InvalidParams), "%s %s %v", c.tool, c.args, err)
		assert.Check(t, is.Contains(e.Message, c.message), "%s %s %v", c.tool, c.args, err)
		assert.Check(t, is.Equal(strings.Join(e.Candidates, " "), strings.Join(c.candidates, " ")), "%s %s %q %q", c.tool, c.args, e.Candidates, c.candidates)
	}
}

// decodeInto decodes data into a program's own struct.
func decodeInto(t *testing.T, data, into any) {
	t.Helper()
	b, err := json.Marshal(data)
	if err == nil {
		err = json.Unmarshal(b, into)
	}
	assert.NilError(t, err)
}

// TestConsentForInstalledApp checks that consent for a program that does not run is possible if
// its executable is known, and applies once it runs.
func TestConsentForInstalledApp(t *testing.T) {
	program, err := os.Executable()
	assert.NilError(t, err)
	script := filepath.Join(t.TempDir(), "starter")
	assert.NilError(t, os.WriteFile(script, []byte("#!/bin/sh\n"), 0o700))
	name, runs := "desktop/"+filepath.Base(program), false
	installed := map[string]string{name: program, "desktop/starter": script, "desktop/other": program}
	desk := windows()
	targets := desk.Operator.FindTarget
	desk.Operator = fakeoperator.Operator{Find: func(ctx context.Context, call *aai.Call, name string) (*aai.App, error) {
		launch, _ := call.Args["launch"].(bool)
		if path := installed[name]; path != "" && (runs || launch) {
			app := &aai.App{ID: name, Name: name, Source: path, Platform: "any", Digest: "of " + path}
			if !launch {
				app.PID = 12
			}
			return app, nil
		}
		return targets(ctx, call, name)
	}}
	w := newWorld(t, nil)
	w.otherApps = []*aai.App{desk}
	w.open()
	grant := func(app string) string {
		return `{"app": "` + app + `", "tool": "see", "caller": "mcp:claude", "identity": "/usr/bin/claude"}`
	}
	look := func() error {
		_, err := w.do(t, agent(), aai.DesktopApp, "look", `{"app": "`+name+`"}`)
		return err
	}
	for _, unknown := range []string{"desktop/starter", "desktop/other"} {
		_, err := w.do(t, person(), aai.BuiltinApp, builtin.Grant, grant(unknown))
		assert.Assert(t, aai.AsError(err) != nil, "%s %v", unknown, err)
		assert.Equal(t, aai.AsError(err).Code, aai.AppNotRunning, "%s %v", unknown, err)
	}
	sameJSON(t, w.callBuiltin(t, builtin.Grant, grant(name)).Data, `{"granted": ["see"]}`)
	err = look()
	assert.Assert(t, aai.AsError(err) != nil, "it does not run: %v", err)
	assert.Equal(t, aai.AsError(err).Code, aai.AppNotFound, err)
	runs = true
	assert.Check(t, look(), "it runs, and was allowed ahead: %v", look())
	installed[name] = script // another program of that name
	err = look()
	assert.Assert(t, aai.AsError(err) != nil, "another program has the name: %v", err)
	assert.Equal(t, aai.AsError(err).Code, aai.ConsentRequired, err)
}

func lintArgs(t *testing.T, args map[string]string) string {
	t.Helper()
	b, err := json.Marshal(args)
	assert.NilError(t, err)
	return string(b)
}

func TestLintReadsTheFileThatIsNamed(t *testing.T) {
	w := newWorld(t, map[string]string{"a": notes, "b": strings.Replace(notes, "add", "put", 1)})
	first, second := filepath.Join(w.folder, "a", "aai.json"), filepath.Join(w.folder, "b", "aai.json")
	report, ok := w.callBuiltin(t, builtin.Lint, lintArgs(t, map[string]string{"source": first})).Data.(*answer.LintReport)
	assert.Assert(t, ok, "report %+v", report)
	assert.Equal(t, report.App, "org.example.Notes", "%+v", report)
	assert.Assert(t, !report.HasSeverity(answer.SeverityError), "report %+v", report)
	assert.Assert(t, len(report.Findings) != 0, "report %+v", report)
	report, ok = w.callBuiltin(t, builtin.Lint, lintArgs(t, map[string]string{"source": second, "against": first})).Data.(*answer.LintReport)
	assert.Assert(t, ok, "report %+v", report)
	assert.Assert(t, report.HasSeverity(answer.SeverityError), "report %+v", report)
	for source, want := range map[string]string{
		w.folder:                             w.folder + " is a folder; expected a regular file",
		filepath.Join(w.folder, "none.json"): filepath.Join(w.folder, "none.json") + " cannot be read",
	} {
		for _, args := range []map[string]string{{"source": source}, {"source": first, "against": source}} {
			e := w.refuses(t, aai.DescriptorInvalid, person(), aai.BuiltinApp, builtin.Lint, lintArgs(t, args))
			assert.Equal(t, e.Delivery, aai.NotDelivered, "%+v", e)
			assert.Assert(t, strings.HasPrefix(e.Message, want), "%+v", e)
		}
	}
}

// TestLintOfASite checks that only FetchPage downloads pages; without it there are none.
func TestLintOfASite(t *testing.T) {
	w := newWorld(t, nil)
	w.expectRefused(t, builtin.Lint, `{"source": "https://example.com"}`, aai.Error{
		Code: aai.AutomationNotSupported, Message: `this gateway cannot fetch "https://example.com"`, Hint: "Save the descriptor in a file, and name that.",
	})
	w.expectRefused(t, builtin.Lint, `{"source": "file:///etc/passwd"}`, aai.Error{
		Code: aai.InvalidParams, Message: `"file:///etc/passwd" is no web address; expected one such as https://example.com`,
	})
	var asked []string
	failure := aai.Errorf(aai.AppNotFound, "nothing is there")
	w.deps.FetchPage = func(_ context.Context, address string) ([]byte, error) {
		asked = append(asked, address)
		if strings.Contains(address, "none") {
			return nil, failure
		}
		return []byte(notes), nil
	}
	w.open()
	report, ok := w.callBuiltin(t, builtin.Lint, `{"source": "https://example.com", "against": "https://example.com/old/aai.json?v=1"}`).Data.(*answer.LintReport)
	assert.Assert(t, ok, "report %+v", report)
	assert.Equal(t, report.App, "example.com/org.example.Notes", "%+v", report)
	assert.Assert(t, report.Comparison != nil || report.HasSeverity(answer.SeverityError), "report %+v", report)
	assert.Check(t, is.DeepEqual([]string{"https://example.com/.well-known/aai.json", "https://example.com/old/aai.json?v=1"}, asked))
	w.expectRefused(t, builtin.Lint, `{"source": "https://none.example"}`, *failure)
}
