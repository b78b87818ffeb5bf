package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// oneApp is a catalog of one app.
type oneApp struct{ app *aai.App }

func (c oneApp) Apps() []*aai.App                               { return []*aai.App{c.app} }
func (c oneApp) Find(context.Context, string) (*aai.App, error) { return c.app, nil }
func (c oneApp) OnChange(func()) (stop func())                  { return func() {} }

// openGate admits every request.
type openGate struct{}

func (openGate) Check(context.Context, *aai.Request) ([]aai.Question, error) {
	return nil, nil
}

// fullDisk makes writes to the journal's file fail until the returned function is called.
func fullDisk(t *testing.T, j *Journal) (emptied func()) {
	t.Helper()
	readOnly, err := os.Open(j.path)
	assert.NilError(t, err)
	swap := func(f *os.File) (was *os.File) {
		j.write.Lock()
		defer j.write.Unlock()
		was, j.file = j.file, f
		return was
	}
	was := swap(readOnly)
	return func() { _ = swap(was).Close() } // it was not written to
}

// TestCountedRefusalsHideNoFullDisk checks that counted refusals do not hide an unwritable
// journal: no read may run without a record.
func TestCountedRefusalsHideNoFullDisk(t *testing.T) {
	j, _ := flooded(t)
	ran := 0
	app := &aai.App{ID: notes, Tools: []*aai.Tool{{Name: "list", Effect: aai.Reads,
		Run: func(context.Context, *aai.Call) (*aai.Result, error) { ran++; return &aai.Result{}, nil }}}}
	g := &gateway.Gateway{Catalog: oneApp{app}, Journal: j, Gates: []aai.Gate{openGate{}}}
	do := func(tool string) error {
		_, err := g.Do(t.Context(), &aai.Call{Caller: received("").Caller, App: notes, Tool: tool})
		return err
	}
	for range maxRefusalsWritten {
		_ = do("no such tool")
	}
	assert.NilError(t, do("list"))
	emptied := fullDisk(t, j)
	ran = 0
	for range 20 {
		_ = do("no such tool")
		assert.Assert(t, do("list") != nil, "it was recorded")
	}
	if ran > 1 { // the first one detects it
		t.Errorf("%d reads ran that could not be recorded", ran)
	}
	emptied()
	for range 2 {
		assert.Check(t, do("list"))
	}
}

// TestNothingIsCountedAfterAFailure checks that refused calls are counted only if the
// previous entry was written, and flushed if durable.
func TestNothingIsCountedAfterAFailure(t *testing.T) {
	j, _ := flooded(t)
	refused := func() error { return j.Record(t.Context(), refusal("c", aai.AppNotFound)) }
	for i := range maxRefusalsWritten + 1 {
		assert.NilError(t, refused(), i)
	}
	counted := func() string { return fmt.Sprint(j.folds.callers[received("").Caller].count) }
	emptied := fullDisk(t, j)
	assert.Check(t, j.Record(t.Context(), reading("r")) != nil, "it was recorded")
	for range 3 {
		if err := refused(); err == nil || counted() != "1" {
			t.Errorf("%v, %s are counted", err, counted())
		}
	}
	emptied()
	for _, want := range []string{"1", "2"} { // the first of them is written
		err := refused()
		assert.NilError(t, err)
		assert.Equal(t, counted(), want)
	}
	flush := j.syncFile
	j.syncFile = func(*os.File) error { return errors.New("input/output error") }
	assert.Check(t, j.Record(t.Context(), intent("i")) != nil, "it was flushed")
	j.syncFile = flush
	for _, want := range []string{"2", "3"} {
		err := refused()
		assert.NilError(t, err)
		assert.Equal(t, counted(), want)
	}
}
