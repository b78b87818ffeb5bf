package workflow_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/automation/undo"
	"github.com/gybob/aai-gateway/internal/automation/workflow"
	"github.com/gybob/aai-gateway/internal/secrets"
)

var agentCaller = aai.Caller{Door: aai.DoorMCP, Name: "agent", Session: "s", Identity: "/usr/bin/agent"}

// sqliteStoreIn returns a separate store on the folder, like another process's. With insecure it
// can seal.
func sqliteStoreIn(t *testing.T, folder string, insecure bool) *workflow.SQLiteStore {
	t.Helper()
	vault := secrets.New(secrets.Config{Folder: filepath.Join(folder, "secrets"), Getenv: func(string) string { return "" }, AllowInsecureFile: insecure})
	k := workflow.NewSQLiteStore(workflow.SQLiteConfig{Path: filepath.Join(folder, "state.db"), Vault: vault.NonInteractive()})
	t.Cleanup(func() { _ = k.Close() })
	return k
}

func document(t *testing.T) *workflow.Document {
	t.Helper()
	d, err := workflow.ParseDocument(map[string]any{"name": "mine", "steps": []any{
		map[string]any{"app": "org.example.Shelf", "tool": "set", "args": map[string]any{"value": "hunter2"}},
		map[string]any{"app": "org.example.Shelf", "tool": "set"},
	}}, false)
	assert.NilError(t, err)
	return d
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		assert.NilError(t, err)
	}
}

// begin stores a run in the middle of its second step.
func begin(t *testing.T, k *workflow.SQLiteStore, id string) {
	t.Helper()
	ctx := t.Context()
	must(t, k.Begin(ctx, &workflow.Run{ID: id, Caller: agentCaller, App: aai.BuiltinApp, Document: document(t), Params: map[string]any{"a": "b"}}),
		k.Step(ctx, id, &workflow.Record{Step: 1, State: workflow.Begun}),
		k.Step(ctx, id, &workflow.Record{Step: 1, State: workflow.Done, Value: map[string]any{"secret": "hunter2"},
			Acts: []workflow.Act{{ID: 1, Step: "step 1", App: "org.example.Shelf", Tool: "set", Undo: &aai.Undo{Description: "as before", ExpectedState: "hunter2"}}}}),
		k.UndoAct(ctx, id, &workflow.UndoRecord{Act: 1, Status: undo.StatusUnknown}),
		k.Step(ctx, id, &workflow.Record{Step: 2, State: workflow.Begun}))
}

// Another process can read a stored run; while its process runs, the run belongs to it.
func TestARunOutlivesItsProcess(t *testing.T) {
	folder := t.TempDir()
	first, second := sqliteStoreIn(t, folder, true), sqliteStoreIn(t, folder, true)
	if rows, err := second.Runs(t.Context(), 10); err != nil || rows != nil {
		t.Fatal(rows, err)
	}
	if _, err := os.Stat(filepath.Join(folder, "state.db")); err == nil {
		t.Error("made by looking")
	}
	begin(t, first, "c1")
	rows, err := second.Runs(t.Context(), 10)
	assert.NilError(t, err)
	assert.Assert(t, is.Len(rows, 1))
	assert.Equal(t, rows[0].State, workflow.Begun)
	assert.Equal(t, rows[0].PID, os.Getpid())
	assert.Equal(t, rows[0].Step, 2)
	assert.Equal(t, rows[0].Name, "mine")
	assert.Equal(t, rows[0].Caller, agentCaller)
	err = second.Begin(t.Context(), &workflow.Run{ID: "c1"})
	e := aai.AsError(err)
	assert.Assert(t, e != nil, "taken over while it runs: %v", err)
	assert.Assert(t, is.Contains(e.Message, "still runs"), err)
	assert.Equal(t, e.Delivery, aai.NotDelivered, err)
	must(t, first.Close()) // as any end of the process does
	row, kept, err := second.Get(t.Context(), "c1")
	assert.NilError(t, err, "%+v", row)
	assert.Equal(t, row.State, workflow.Interrupted, "%+v", row)
	assert.Assert(t, kept != nil, "%+v", row)
	assert.NilError(t, row.Err, "%+v", row)
	want := []workflow.Record{
		{Step: 1, State: workflow.Done, Value: map[string]any{"secret": "hunter2"},
			Acts: []workflow.Act{{ID: 1, Step: "step 1", App: "org.example.Shelf", Tool: "set", Undo: &aai.Undo{Description: "as before", ExpectedState: "hunter2"}, UndoStatus: undo.StatusUnknown}}},
		{Step: 2, State: workflow.Begun},
	}
	assert.Assert(t, reflect.DeepEqual(kept.Records, want), "%+v", kept.Records)
	assert.Equal(t, kept.Run.Document.Name, "mine", "%+v", kept.Records)
	assert.Equal(t, kept.Run.Params["a"], "b", "%+v", kept.Records)
	must(t, second.Begin(t.Context(), &workflow.Run{ID: "c1"}), second.Step(t.Context(), "c1", &workflow.Record{Step: 2, State: workflow.Done}),
		second.End(t.Context(), "c1", workflow.Done))
	row, _, err = sqliteStoreIn(t, folder, true).Get(t.Context(), "c1")
	assert.NilError(t, err, "%+v", row)
	assert.Equal(t, row.State, workflow.Done, "%+v", row)
	assert.Assert(t, !row.Ended.IsZero(), "%+v", row)
	row, kept, err = second.Get(t.Context(), "other")
	assert.Assert(t, row == nil, "%v %v", row, kept)
	assert.Assert(t, kept == nil, "%v %v", row, kept)
	assert.NilError(t, err, "%v %v", row, kept)
}

// Of two concurrent resumes, one succeeds.
func TestOneGoesOn(t *testing.T) {
	folder := t.TempDir()
	first := sqliteStoreIn(t, folder, true)
	begin(t, first, "c1")
	must(t, first.Close())
	a, b := sqliteStoreIn(t, folder, true), sqliteStoreIn(t, folder, true)
	_, ofA, err := a.Get(t.Context(), "c1")
	must(t, err)
	_, ofB, err := b.Get(t.Context(), "c1")
	must(t, err, b.Begin(t.Context(), ofB.Run))
	err = a.Begin(t.Context(), ofA.Run)
	assert.Check(t, is.ErrorContains(err, "still runs"))
	must(t, b.Step(t.Context(), "c1", &workflow.Record{Step: 2, State: workflow.Done}), b.End(t.Context(), "c1", workflow.Interrupted))
	err = a.Begin(t.Context(), ofA.Run)
	assert.Check(t, is.ErrorContains(err, "another process has just resumed"))
	_, ofA, err = a.Get(t.Context(), "c1")
	must(t, err, a.Begin(t.Context(), ofA.Run))
}

// The files do not reveal the content of workflows.
func TestRecordsAreSealed(t *testing.T) {
	folder := t.TempDir()
	k := sqliteStoreIn(t, folder, true)
	begin(t, k, "c1")
	files, err := filepath.Glob(filepath.Join(folder, "state.db*"))
	must(t, err)
	for _, file := range files {
		b, err := os.ReadFile(file)
		info, _ := os.Stat(file)
		assert.NilError(t, err, file)
		assert.Assert(t, !bytes.Contains(b, []byte("hunter2")), "%s can be read: %v", file, err)
		assert.Assert(t, !bytes.Contains(b, []byte("Shelf")), "%s can be read: %v", file, err)
		assert.Assert(t, !bytes.Contains(b, []byte("mine")), "%s can be read: %v", file, err)
		if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s is %v", file, info.Mode())
		}
	}
	assert.Check(t, len(files) >= 2, "only %v", files)
}

// A sealed record cannot replace another.
func TestRecordsCannotBeExchanged(t *testing.T) {
	folder := t.TempDir()
	k := sqliteStoreIn(t, folder, true)
	begin(t, k, "c1")
	begin(t, k, "c2")
	must(t, k.Close())
	db, err := sql.Open("sqlite", filepath.Join(folder, "state.db"))
	must(t, err)
	_, err = db.Exec(`UPDATE records SET sealed = (SELECT sealed FROM records WHERE run = 'c1' AND step = 1) WHERE run = 'c2' AND step = 1`)
	must(t, err, db.Close())
	later := sqliteStoreIn(t, folder, true)
	_, _, err = later.Get(t.Context(), "c1")
	assert.Check(t, err)
	_, _, err = later.Get(t.Context(), "c2")
	assert.Check(t, err != nil, "another's record was taken")
}

// Without sealing, interrupted runs are still listed, and nothing is in plain text.
func TestWithoutAKeychain(t *testing.T) {
	folder := t.TempDir()
	k := sqliteStoreIn(t, folder, false)
	begin(t, k, "c1")
	must(t, k.Close())
	row, kept, err := sqliteStoreIn(t, folder, false).Get(t.Context(), "c1")
	assert.NilError(t, err, "%+v", row)
	assert.Assert(t, kept == nil, "%+v", row)
	assert.Assert(t, row.Err != nil, "%+v", row)
	assert.Equal(t, row.State, workflow.Interrupted, "%+v", row)
	assert.Equal(t, row.Step, 2, "%+v", row)
	assert.Equal(t, row.Steps, 2, "%+v", row)
	b, err := os.ReadFile(filepath.Join(folder, "state.db"))
	assert.NilError(t, err)
	assert.Assert(t, !bytes.Contains(b, []byte("hunter2")), "in plain %v", err)
}

// A record of reading is written with the next act, or at the end.
func TestReadsAreWrittenWithTheNextAct(t *testing.T) {
	folder := t.TempDir()
	k := sqliteStoreIn(t, folder, true)
	ctx := t.Context()
	must(t, k.Begin(ctx, &workflow.Run{ID: "c1", Caller: agentCaller, Document: document(t)}),
		k.Step(ctx, "c1", &workflow.Record{Step: 1, State: workflow.Begun, Reads: true}),
		k.Step(ctx, "c1", &workflow.Record{Step: 1, State: workflow.Done, Reads: true, Value: "read"}))
	other := sqliteStoreIn(t, folder, true)
	records := func() int {
		_, kept, err := other.Get(ctx, "c1")
		must(t, err)
		return len(kept.Records)
	}
	assert.Check(t, is.Equal(records(), 0))
	must(t, k.Step(ctx, "c1", &workflow.Record{Step: 2, State: workflow.Begun}))
	assert.Check(t, is.Equal(records(), 2))
}

// Old runs, and those beyond a thousand, are deleted; a run that may be active is kept.
func TestOldRunsGo(t *testing.T) {
	folder := t.TempDir()
	k := sqliteStoreIn(t, folder, true)
	begin(t, k, "c0")
	must(t, k.Close())
	db, err := sql.Open("sqlite", filepath.Join(folder, "state.db"))
	must(t, err)
	add := func(id string, age time.Duration, is workflow.State) {
		_, err := db.Exec(`INSERT INTO runs (id, began, ended, owner, pid, state, steps) VALUES (?, ?, 0, 'o', 1, ?, 2)`, id, time.Now().Add(-age).UnixMilli(), is)
		must(t, err)
	}
	add("old", 31*24*time.Hour, workflow.Done)
	add("begun", 29*24*time.Hour, workflow.Begun)
	for i := range 1005 {
		add(fmt.Sprint("n", i), time.Hour+time.Duration(i)*time.Second, workflow.Done)
	}
	must(t, db.Close())
	later := sqliteStoreIn(t, folder, true)
	begin(t, later, "c9")
	rows, err := later.Runs(t.Context(), 5000)
	must(t, err)
	ids := map[string]bool{}
	for _, row := range rows {
		ids[row.ID] = true
	}
	assert.Assert(t, !ids["old"], "%d rows; old %v, begun %v, c0 %v, n0 %v, n1004 %v", len(rows), ids["old"], ids["begun"], ids["c0"], ids["n0"], ids["n1004"])
	assert.Assert(t, ids["begun"], "%d rows; old %v, begun %v, c0 %v, n0 %v, n1004 %v", len(rows), ids["old"], ids["begun"], ids["c0"], ids["n0"], ids["n1004"])
	assert.Assert(t, ids["c0"], "%d rows; old %v, begun %v, c0 %v, n0 %v, n1004 %v", len(rows), ids["old"], ids["begun"], ids["c0"], ids["n0"], ids["n1004"])
	assert.Assert(t, ids["n0"], "%d rows; old %v, begun %v, c0 %v, n0 %v, n1004 %v", len(rows), ids["old"], ids["begun"], ids["c0"], ids["n0"], ids["n1004"])
	assert.Assert(t, !ids["n1004"], "%d rows; old %v, begun %v, c0 %v, n0 %v, n1004 %v", len(rows), ids["old"], ids["begun"], ids["c0"], ids["n0"], ids["n1004"])
	assert.Assert(t, is.Len(rows, 1001), "%v %v %v %v %v", ids["old"], ids["begun"], ids["c0"], ids["n0"], ids["n1004"])
}

// A database of a later version is not changed.
func TestAnotherVersionIsLeftAlone(t *testing.T) {
	folder := t.TempDir()
	db, err := sql.Open("sqlite", filepath.Join(folder, "state.db"))
	must(t, err)
	_, err = db.Exec(`CREATE TABLE theirs (a); PRAGMA user_version = 9`)
	must(t, err, db.Close())
	err = sqliteStoreIn(t, folder, true).Begin(context.Background(), &workflow.Run{ID: "c1", Document: document(t)})
	assert.Check(t, is.ErrorContains(err, "version 9"))
}
