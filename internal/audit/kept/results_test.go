package kept

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
	"github.com/gybob/aai-gateway/internal/secrets"
)

const notes = "org.example.Notes"

func outcome(call, app string, answer any) *aai.Entry {
	return &aai.Entry{Kind: aai.Outcome, Time: time.Now(), Call: call, App: app, Tool: "list", ResultValue: func() any { return answer }}
}

// keep stores the result of an entry as the program does.
func keep(t *testing.T, k *ResultStore, e *aai.Entry) string {
	t.Helper()
	taken, put := k.PrepareEntry(t.Context(), e)
	put()
	return taken.KeptDigest
}

func vault(t *testing.T) Sealer {
	t.Helper()
	return secrets.New(secrets.Config{Folder: filepath.Join(t.TempDir(), "secrets"), Getenv: func(string) string { return "" }, AllowInsecureFile: true}).NonInteractive()
}

// TestOnlyWhatIsWanted checks that only results of the configured apps are stored, sealed
// if possible, without secrets, and with the recorded digest.
func TestOnlyWhatIsWanted(t *testing.T) {
	for name, sealer := range map[string]Sealer{"sealed": vault(t), "plain": nil} {
		folder := filepath.Join(t.TempDir(), "answers")
		k := NewResultStore(ResultConfig{Folder: folder, Apps: []string{notes, "desktop/editor"}, MaxAge: time.Hour, Vault: sealer})
		answer := map[string]any{"text": "buy milk", "data": map[string]any{"token": sanitize.Hide("hunter2")}}
		assert.Check(t, is.Equal(keep(t, k, outcome("c0", "org.example.Bank", answer)), ""), "another app's is kept")
		assert.Check(t, is.Equal(keep(t, k, &aai.Entry{Kind: aai.Outcome, App: notes, Code: aai.Timeout}), ""), "an error's is kept")
		if _, err := os.Stat(folder); !os.IsNotExist(err) {
			t.Errorf("%s: there is something where nothing is wanted: %v", name, err)
		}
		sum := keep(t, k, outcome("../c1\x00", notes, answer))
		window := outcome("c2", aai.DesktopApp, answer)
		window.Target = "desktop/editor"
		keep(t, k, window)
		got, err := k.Get(t.Context(), "../c1\x00")
		assert.NilError(t, err, "%s %+v", name, got)
		assert.Assert(t, got != nil, "%s %+v", name, got)
		assert.Equal(t, got.SHA256, sum, "%s %+v", name, got)
		assert.Equal(t, string(got.Content), `{"data":{"token":"[secret]"},"text":"buy milk"}`, "%s %+v", name, got)
		files, err := os.ReadDir(folder)
		assert.NilError(t, err, name)
		assert.Assert(t, is.Len(files, 2), name)
		for _, f := range files {
			b, err := os.ReadFile(filepath.Join(folder, f.Name()))
			if err != nil || bytes.Contains(b, []byte("hunter2")) || bytes.Contains(b, []byte("milk")) == (sealer != nil) {
				t.Errorf("%s: %s is %q, %v", name, f.Name(), b, err)
			}
			if info, err := f.Info(); err != nil || info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s: others may read %s: %v", name, f.Name(), err)
			}
		}
		n, err := k.Forget(t.Context(), "", "desktop/editor")
		assert.Check(t, is.Equal(n, 1), name)
		assert.Check(t, err, name)
		n, err = k.Forget(t.Context(), "../c1\x00", "")
		assert.Check(t, is.Equal(n, 1), name)
		assert.Check(t, err, name)
		got, err = k.Get(t.Context(), "c2")
		assert.Assert(t, got == nil, "%s: what was forgotten is there: %v, %v", name, got, err)
		assert.NilError(t, err, "%s %v", name, got)
	}
	all := NewResultStore(ResultConfig{Folder: t.TempDir(), Apps: []string{"*"}, MaxAge: time.Hour})
	assert.Check(t, is.Equal(keep(t, all, outcome("c1", aai.BuiltinApp, "x")), ""))
	assert.Check(t, keep(t, all, outcome("c2", notes, "x")) != "", "all is not all but the gateway itself")
	assert.Check(t, is.Equal(keep(t, nil, outcome("c1", notes, "x")), ""), "nobody keeps something")
}

// TestWhatIsOldOrChanged checks that expired results are deleted, changed ones are
// rejected, and long ones are replaced by their length.
func TestWhatIsOldOrChanged(t *testing.T) {
	folder := t.TempDir()
	k := NewResultStore(ResultConfig{Folder: folder, Apps: []string{"*"}, MaxAge: time.Hour})
	keep(t, k, outcome("c1", notes, "old"))
	keep(t, k, outcome("c2", notes, strings.Repeat("long ", maxResult)))
	if got, err := k.Get(t.Context(), "c2"); err != nil || !strings.Contains(string(got.Content), "omitted_bytes") {
		t.Errorf("%v, %v", got, err)
	}
	old := filepath.Join(folder, time.Now().UTC().Format(dayFormat)+nameSuffix("c1")+plainEnding)
	b, err := os.ReadFile(old)
	assert.NilError(t, err)
	assert.NilError(t, os.WriteFile(old, bytes.Replace(b, []byte(`"old"`), []byte(`"new"`), 1), 0o600))
	if got, err := k.Get(t.Context(), "c1"); err == nil {
		t.Errorf("what was changed is believed: %s", got.Content)
	}
	assert.NilError(t, os.WriteFile(filepath.Join(folder, "mine.txt"), nil, 0o600))
	k.now = func() time.Time { return time.Now().Add(2 * time.Hour) }
	got, err := k.Get(t.Context(), "c2")
	assert.Assert(t, got == nil, "what is too old is told: %v, %v", got, err)
	assert.NilError(t, err, got)
	keep(t, k, outcome("c3", notes, "x"))
	var left []string
	files, err := os.ReadDir(folder)
	for _, f := range files {
		left = append(left, f.Name())
	}
	assert.NilError(t, err)
	assert.Assert(t, is.Len(left, 2))
	assert.Assert(t, is.Contains(left, "mine.txt"))
}

// TestResultsOfOthers checks that a result is the content for its own caller alone.
func TestResultsOfOthers(t *testing.T) {
	k := NewResultStore(ResultConfig{Folder: t.TempDir(), Apps: []string{"*"}, MaxAge: time.Hour})
	known := aai.Caller{Door: aai.DoorMCP, Name: "a", Session: "1", Identity: "/usr/bin/a"}
	unknown := aai.Caller{Door: aai.DoorMCP, Name: "a", Session: "1"}
	for call, caller := range map[string]aai.Caller{"c1": known, "c2": unknown} {
		e := outcome(call, notes, "x")
		e.Caller = caller
		keep(t, k, e)
	}
	later, otherSession, other := known, unknown, known
	later.Session, otherSession.Session, other.Identity = "2", "2", "/usr/bin/b"
	for _, c := range []struct {
		call string
		by   aai.Caller
		want string
	}{
		{"c1", known, `"x"`}, {"c1", later, `"x"`}, {"c1", other, ""}, {"c1", unknown, ""},
		{"c2", unknown, `"x"`}, {"c2", otherSession, ""}, {"c2", known, ""},
	} {
		got, err := k.Content(t.Context(), c.call, c.by)
		assert.Check(t, is.Equal(string(got), c.want), "%s %+v %s", c.call, c.by, got)
		assert.Check(t, is.Equal((err == nil), (c.want != "")), "%s %+v %v", c.call, c.by, err)
	}
}
