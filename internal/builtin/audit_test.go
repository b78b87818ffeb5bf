package builtin_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

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
	assert.NilError(t, err)
	assert.NilError(t, os.WriteFile(w.journal, []byte(strings.Replace(string(text), "outcome", "OUTCOME", 1)), 0o600))
	v := w.verification(t)
	assert.Check(t, is.Equal(v.Verdict, answer.Tampered), "%+v", v)
	assert.Check(t, v.Faults[0].Record == 1, "%+v", v)
	if text := w.callBuiltin(t, builtin.AuditVerify, "").Text; !strings.HasPrefix(text, "tampered at record 1: ") {
		t.Error(text)
	}
}

func TestAuditExport(t *testing.T) {
	w := newWorld(t, apps())
	w.callBuiltin(t, builtin.Apps, "")
	out := w.callBuiltin(t, builtin.AuditExport, `{"tool": "apps"}`).Text
	lines := strings.Count(out, "\n")
	assert.Check(t, is.Equal(lines, 2))
	assert.Check(t, is.Equal(strings.Count(out, `"verified":true`), 1))
	assert.Check(t, is.Contains(out, `{"verification":{"status":"ok"`))
	path := filepath.Join(t.TempDir(), "audit.json")
	args := `{"tool": "apps", "file": "` + path + `"}`
	w.callBuiltin(t, builtin.AuditExport, args)
	kept, err := os.ReadFile(path)
	assert.NilError(t, err, kept)
	assert.Equal(t, strings.Count(string(kept), `"verified":true`), 1, kept)
	for args, want := range map[string]string{
		args:                               "is there already",
		`{"file": "here.json"}`:            "absolute path",
		`{"file": "/nowhere/at/all.json"}`: "cannot be made",
		`{"until": "tomorrow"}`:            "until: ",
	} {
		_, err := w.do(t, person(), aai.BuiltinApp, builtin.AuditExport, args)
		e := aai.AsError(err)
		assert.Assert(t, e != nil, "%s %v", args, err)
		assert.Equal(t, e.Code, aai.InvalidParams, "%s %v", args, err)
		assert.Assert(t, is.Contains(e.Message, want), "%s %v", args, err)
	}
}

func TestAuditWithoutItsKey(t *testing.T) {
	w := newWorld(t, nil)
	w.callBuiltin(t, builtin.Apps, "")
	assert.NilError(t, os.Remove(w.journal+".key"))
	_, err := w.do(t, person(), aai.BuiltinApp, builtin.AuditVerify, "")
	e := aai.AsError(err)
	assert.Assert(t, e != nil, err)
	assert.Equal(t, e.Code, aai.AutomationFailed, err)
	assert.Assert(t, e.Hint != "", err)
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
	assert.NilError(t, err)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	last := lines[len(lines)-1]
	assert.Assert(t, is.Contains(last, `"kind":"outcome"`))
	assert.Assert(t, is.Contains(last, `"target":"desktop/editor"`))
}

// TestHistoryOfOneCall checks the query of one call, with its kept result.
func TestHistoryOfOneCall(t *testing.T) {
	for _, full := range []bool{false, true} {
		w := newWorld(t, apps())
		w.deps.Journal = audit.NewFromConfig(audit.Config{Path: w.journal, KeepFull: full})
		w.open()
		w.callBuiltin(t, builtin.Grant, `{"app": "memo", "tool": "add", "caller": "mcp:claude", "identity": "/usr/bin/claude"}`)
		_, err := w.do(t, agent(), "memo", "add", `{"title": "milk", "password": "hunter2"}`)
		assert.NilError(t, err)
		var found []struct {
			Call   string
			Answer struct {
				Text string
				Data map[string]any
			}
		}
		decodeInto(t, w.callBuiltin(t, builtin.History, `{"tool": "add"}`).Data, &found)
		assert.Assert(t, is.Len(found, 1))
		decodeInto(t, w.callBuiltin(t, builtin.History, `{"call": "`+found[0].Call+`"}`).Data, &found)
		want := map[bool]string{true: "milk"}[full]
		got, _ := found[0].Answer.Data["title"].(string)
		assert.Assert(t, is.Len(found, 1), full)
		assert.Equal(t, got, want, full)
		b, err := os.ReadFile(w.journal)
		assert.NilError(t, err)
		assert.Assert(t, !strings.Contains(string(b), "hunter2"), "the password is in the journal, or: %v", err)
		assert.Check(t, w.deps.Journal.Close())
	}
}
