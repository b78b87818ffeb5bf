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
	"strings"
	"testing"
	"time"

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
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
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
	if err != nil || len(rows) != 1 || rows[0].State != workflow.Begun || rows[0].PID != os.Getpid() || rows[0].Step != 2 || rows[0].Name != "mine" || rows[0].Caller != agentCaller {
		t.Fatalf("%+v, %v", rows, err)
	}
	err = second.Begin(t.Context(), &workflow.Run{ID: "c1"})
	if e := aai.AsError(err); e == nil || !strings.Contains(e.Message, "still runs") || e.Delivery != aai.NotDelivered {
		t.Errorf("taken over while it runs: %v", err)
	}
	must(t, first.Close()) // as any end of the process does
	row, kept, err := second.Get(t.Context(), "c1")
	if err != nil || row.State != workflow.Interrupted || kept == nil || row.Err != nil {
		t.Fatalf("%+v, %v", row, err)
	}
	want := []workflow.Record{
		{Step: 1, State: workflow.Done, Value: map[string]any{"secret": "hunter2"},
			Acts: []workflow.Act{{ID: 1, Step: "step 1", App: "org.example.Shelf", Tool: "set", Undo: &aai.Undo{Description: "as before", ExpectedState: "hunter2"}, UndoStatus: undo.StatusUnknown}}},
		{Step: 2, State: workflow.Begun},
	}
	if !reflect.DeepEqual(kept.Records, want) || kept.Run.Document.Name != "mine" || kept.Run.Params["a"] != "b" {
		t.Errorf("%+v", kept.Records)
	}
	must(t, second.Begin(t.Context(), &workflow.Run{ID: "c1"}), second.Step(t.Context(), "c1", &workflow.Record{Step: 2, State: workflow.Done}),
		second.End(t.Context(), "c1", workflow.Done))
	if row, _, err := sqliteStoreIn(t, folder, true).Get(t.Context(), "c1"); err != nil || row.State != workflow.Done || row.Ended.IsZero() {
		t.Errorf("%+v, %v", row, err)
	}
	if row, kept, err := second.Get(t.Context(), "other"); row != nil || kept != nil || err != nil {
		t.Error(row, kept, err)
	}
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
	if err := a.Begin(t.Context(), ofA.Run); err == nil || !strings.Contains(err.Error(), "still runs") {
		t.Error(err)
	}
	must(t, b.Step(t.Context(), "c1", &workflow.Record{Step: 2, State: workflow.Done}), b.End(t.Context(), "c1", workflow.Interrupted))
	if err := a.Begin(t.Context(), ofA.Run); err == nil || !strings.Contains(err.Error(), "another process has just resumed") {
		t.Error(err)
	}
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
		if err != nil || bytes.Contains(b, []byte("hunter2")) || bytes.Contains(b, []byte("Shelf")) || bytes.Contains(b, []byte("mine")) {
			t.Errorf("%s can be read: %v", file, err)
		}
		if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s is %v", file, info.Mode())
		}
	}
	if len(files) < 2 {
		t.Errorf("only %v", files)
	}
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
	if _, _, err := later.Get(t.Context(), "c1"); err != nil {
		t.Error(err)
	}
	if _, _, err := later.Get(t.Context(), "c2"); err == nil {
		t.Error("another's record was taken")
	}
}

// Without sealing, interrupted runs are still listed, and nothing is in plain text.
func TestWithoutAKeychain(t *testing.T) {
	folder := t.TempDir()
	k := sqliteStoreIn(t, folder, false)
	begin(t, k, "c1")
	must(t, k.Close())
	row, kept, err := sqliteStoreIn(t, folder, false).Get(t.Context(), "c1")
	if err != nil || kept != nil || row.Err == nil || row.State != workflow.Interrupted || row.Step != 2 || row.Steps != 2 {
		t.Errorf("%+v, %v", row, err)
	}
	b, err := os.ReadFile(filepath.Join(folder, "state.db"))
	if err != nil || bytes.Contains(b, []byte("hunter2")) {
		t.Error("in plain", err)
	}
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
	if n := records(); n != 0 {
		t.Errorf("%d records", n)
	}
	must(t, k.Step(ctx, "c1", &workflow.Record{Step: 2, State: workflow.Begun}))
	if n := records(); n != 2 {
		t.Errorf("%d records", n)
	}
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
	if ids["old"] || !ids["begun"] || !ids["c0"] || !ids["n0"] || ids["n1004"] || len(rows) != 1001 {
		t.Errorf("%d rows; old %v, begun %v, c0 %v, n0 %v, n1004 %v", len(rows), ids["old"], ids["begun"], ids["c0"], ids["n0"], ids["n1004"])
	}
}

// A database of a later version is not changed.
func TestAnotherVersionIsLeftAlone(t *testing.T) {
	folder := t.TempDir()
	db, err := sql.Open("sqlite", filepath.Join(folder, "state.db"))
	must(t, err)
	_, err = db.Exec(`CREATE TABLE theirs (a); PRAGMA user_version = 9`)
	must(t, err, db.Close())
	err = sqliteStoreIn(t, folder, true).Begin(context.Background(), &workflow.Run{ID: "c1", Document: document(t)})
	if err == nil || !strings.Contains(err.Error(), "version 9") {
		t.Error(err)
	}
}
