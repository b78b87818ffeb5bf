package builtin_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/audit"
	"github.com/gybob/aai-gateway/internal/builtin"
)

func (w *world) verification(t *testing.T) answer.Verification {
	t.Helper()
	var v answer.Verification
	decodeInto(t, w.callBuiltin(t, builtin.AuditVerify, "").Data, &v)
	return v
}

func TestAuditVerify(t *testing.T) {
	w := newWorld(t, apps())
	w.callBuiltin(t, builtin.Apps, "")
	if v := w.verification(t); v.Verdict != answer.Intact || v.Records != 1 {
		t.Errorf("%+v", v) // one entry of the first call, none of this one yet
	}
	text, err := os.ReadFile(w.journal)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(w.journal, []byte(strings.Replace(string(text), "outcome", "OUTCOME", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if v := w.verification(t); v.Verdict != answer.Tampered || v.Faults[0].Record != 1 {
		t.Errorf("%+v", v)
	}
	if text := w.callBuiltin(t, builtin.AuditVerify, "").Text; !strings.HasPrefix(text, "tampered at record 1: ") {
		t.Error(text)
	}
}

func TestAuditExport(t *testing.T) {
	w := newWorld(t, apps())
	w.callBuiltin(t, builtin.Apps, "")
	out := w.callBuiltin(t, builtin.AuditExport, `{"tool": "apps"}`).Text
	if lines := strings.Count(out, "\n"); lines != 2 || strings.Count(out, `"verified":true`) != 1 || !strings.Contains(out, `{"verification":{"status":"ok"`) {
		t.Errorf("%d lines: %s", lines, out)
	}
	path := filepath.Join(t.TempDir(), "audit.json")
	args := `{"tool": "apps", "file": "` + path + `"}`
	w.callBuiltin(t, builtin.AuditExport, args)
	kept, err := os.ReadFile(path)
	if err != nil || strings.Count(string(kept), `"verified":true`) != 1 {
		t.Errorf("%s, %v", kept, err)
	}
	for args, want := range map[string]string{
		args:                               "is there already",
		`{"file": "here.json"}`:            "absolute path",
		`{"file": "/nowhere/at/all.json"}`: "cannot be made",
		`{"until": "tomorrow"}`:            "until: ",
	} {
		_, err := w.do(t, person(), aai.BuiltinApp, builtin.AuditExport, args)
		if e := aai.AsError(err); e == nil || e.Code != aai.InvalidParams || !strings.Contains(e.Message, want) {
			t.Errorf("%s: %v", args, err)
		}
	}
}

func TestAuditWithoutItsKey(t *testing.T) {
	w := newWorld(t, nil)
	w.callBuiltin(t, builtin.Apps, "")
	if err := os.Remove(w.journal + ".key"); err != nil {
		t.Fatal(err)
	}
	_, err := w.do(t, person(), aai.BuiltinApp, builtin.AuditVerify, "")
	if e := aai.AsError(err); e == nil || e.Code != aai.AutomationFailed || e.Hint == "" {
		t.Error(err)
	}
}

// TestRefusedCallSaysItsTarget checks that a refused call records its target.
func TestRefusedCallSaysItsTarget(t *testing.T) {
	w := newWorld(t, nil)
	w.otherApps = []*aai.App{windows()}
	w.open()
	if _, err := w.do(t, agent(), aai.DesktopApp, "press", `{"app": "editor"}`); err == nil {
		t.Fatal("nobody allowed that")
	}
	text, err := os.ReadFile(w.journal)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if last := lines[len(lines)-1]; !strings.Contains(last, `"kind":"outcome"`) || !strings.Contains(last, `"target":"desktop/editor"`) {
		t.Error(last)
	}
}

// TestHistoryOfOneCall checks the query of one call, with its kept result.
func TestHistoryOfOneCall(t *testing.T) {
	for _, full := range []bool{false, true} {
		w := newWorld(t, apps())
		w.deps.Journal = audit.NewFromConfig(audit.Config{Path: w.journal, KeepFull: full})
		w.open()
		w.callBuiltin(t, builtin.Grant, `{"app": "memo", "tool": "add", "caller": "mcp:claude", "identity": "/usr/bin/claude"}`)
		if _, err := w.do(t, agent(), "memo", "add", `{"title": "milk", "password": "hunter2"}`); err != nil {
			t.Fatal(err)
		}
		var found []struct {
			Call   string
			Answer struct {
				Text string
				Data map[string]any
			}
		}
		decodeInto(t, w.callBuiltin(t, builtin.History, `{"tool": "add"}`).Data, &found)
		if len(found) != 1 {
			t.Fatalf("%+v", found)
		}
		decodeInto(t, w.callBuiltin(t, builtin.History, `{"call": "`+found[0].Call+`"}`).Data, &found)
		want := map[bool]string{true: "milk"}[full]
		if got, _ := found[0].Answer.Data["title"].(string); len(found) != 1 || got != want {
			t.Errorf("kept in full: %v: %+v", full, found)
		}
		if b, err := os.ReadFile(w.journal); err != nil || strings.Contains(string(b), "hunter2") {
			t.Errorf("the password is in the journal, or: %v", err)
		}
		if err := w.deps.Journal.Close(); err != nil {
			t.Error(err)
		}
	}
}
