package builtin_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/audit/kept"
	"github.com/gybob/aai-gateway/internal/builtin"
)

// A listedProject is a project in the tool's result.
type listedProject struct {
	Path, Name, Problem             string
	Descriptors, Workflows, Scripts []listedFile
	Omitted                         bool
}

type listedFile struct{ Path, App, Name, Status, Fault string }

// projectsOf calls the tool for a client with these roots.
func projectsOf(t *testing.T, roots func(context.Context) ([]aai.Root, error)) (found struct {
	Projects []listedProject
	Omitted  int
	Note     string
}, err error) {
	t.Helper()
	w := newWorld(t, apps())
	w.deps.HostPlatform = "linux"
	w.deps.WorkflowName = func(source []byte) (string, error) {
		if string(source) != "{}" {
			return "", errors.New("it is no workflow")
		}
		return "Deploy", nil
	}
	w.open()
	ctx := aai.WithClientCapabilities(t.Context(), aai.ClientCapabilities{Roots: roots})
	result, err := w.gateway.Do(ctx, &aai.Call{Caller: agent(), App: aai.BuiltinApp, Tool: builtin.Projects})
	if err == nil {
		decodeInto(t, result.Data, &found)
	}
	return found, err
}

// newProject creates a folder with files.
func newProject(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range files {
		path := filepath.Join(folder, filepath.FromSlash(name))
		assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		assert.NilError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return folder
}

func in(folders ...string) func(context.Context) ([]aai.Root, error) {
	roots := make([]aai.Root, len(folders))
	for i, folder := range folders {
		roots[i] = aai.Root{Path: folder, Name: fmt.Sprint("project ", i)}
	}
	return func(context.Context) ([]aai.Root, error) { return roots, nil }
}

func TestProjectsAreListed(t *testing.T) {
	folder := newProject(t, map[string]string{
		".aai/aai.json": notes, ".aai/broken/aai.json": broken, ".aai/mac/aai.json": macOnly, ".aai/empty/README": "",
		".aai/workflows/deploy.json": "{}", ".axterminator/workflows/tidy.json": "not one", ".aai/workflows/sub/deep.json": "{}",
		".aai/scripts/check.js": "1", ".aai/scripts/check.txt": "1", ".axterminator/old.js": "1",
		"aai.json": notes,
	})
	found, err := projectsOf(t, in(folder, newProject(t, nil), filepath.Join(folder, "nowhere")))
	assert.NilError(t, err, "%+v", found)
	assert.Assert(t, is.Len(found.Projects, 3), "%+v", found)
	assert.Equal(t, found.Note, "", "%+v", found)
	p := found.Projects[0]
	assert.Check(t, is.Equal(p.Path, folder), "%+v", p)
	assert.Check(t, is.Equal(p.Name, "project 0"), "%+v", p)
	assert.Check(t, is.Equal(p.Problem, ""), "%+v", p)
	assert.Check(t, !p.Omitted, "the project is %+v", p)
	under := func(name string) string { return filepath.Join(folder, ".aai", filepath.FromSlash(name)) }
	assert.Assert(t, is.Len(p.Descriptors, 3))
	assert.Equal(t, p.Descriptors[0], (listedFile{under("aai.json"), "org.example.Notes", "Notes", "ok", ""}))
	assert.Equal(t, p.Descriptors[2], (listedFile{under("mac/aai.json"), "org.example.Mac", "Mac", "ok", ""}))
	b := p.Descriptors[1]
	assert.Check(t, is.Equal(b.Path, under("broken/aai.json")), "%+v", b)
	assert.Check(t, is.Equal(b.Status, "invalid"), "%+v", b)
	assert.Check(t, is.Contains(b.Fault, "tools[0].method"), "%+v", b)
	tidy := filepath.Join(folder, ".axterminator", "workflows", "tidy.json")
	assert.Check(t, slices.Equal(p.Workflows, []listedFile{{Path: under("workflows/deploy.json"), Name: "Deploy", Status: "ok"}, {Path: tidy, Status: "invalid", Fault: "it is no workflow"}}), "the workflows are %+v", p.Workflows)
	assert.Check(t, slices.Equal(p.Scripts, []listedFile{{Path: under("scripts/check.js")}, {Path: filepath.Join(folder, ".axterminator", "old.js")}}), "the scripts are %+v", p.Scripts)
	p = found.Projects[1]
	assert.Check(t, is.Equal(p.Problem, ""), "%+v", p)
	assert.Check(t, len(p.Descriptors)+len(p.Workflows) <= 0, "an empty project is %+v", p)
	p = found.Projects[2]
	assert.Check(t, is.Contains(p.Problem, "it is not there"), "a folder that is not there is %+v", p)
}

// TestDescriptorsOfProjectsAreNotRun checks that project files are listed, but not in the catalog.
func TestDescriptorsOfProjectsAreNotRun(t *testing.T) {
	w := newWorld(t, nil)
	folder := newProject(t, map[string]string{".aai/aai.json": notes})
	ctx := aai.WithClientCapabilities(t.Context(), aai.ClientCapabilities{Roots: in(folder)})
	if _, err := w.gateway.Do(ctx, &aai.Call{Caller: agent(), App: aai.BuiltinApp, Tool: builtin.Projects}); err != nil {
		t.Fatal(err)
	}
	_, err := w.gateway.Do(ctx, &aai.Call{Caller: agent(), App: "org.example.Notes", Tool: "list"})
	e := aai.AsError(err)
	assert.Assert(t, e != nil, "a descriptor of a project can be called: %v", err)
	assert.Equal(t, e.Code, aai.AppNotFound, err)
}

func TestProjectsDoNotLeadOutside(t *testing.T) {
	outside := newProject(t, map[string]string{"aai.json": notes, "secret": "x"})
	folder := newProject(t, map[string]string{".aai/inside/aai.json": notes, ".aai/inside/tidy.js": "1"})
	for from, to := range map[string]string{
		".aai/aai.json": filepath.Join(outside, "aai.json"), ".aai/out": outside, ".aai/up": "../../" + filepath.Base(outside),
		".aai/workflows": outside, ".aai/scripts": "inside",
	} {
		assert.NilError(t, os.Symlink(to, filepath.Join(folder, filepath.FromSlash(from))))
	}
	found, err := projectsOf(t, in(folder))
	assert.NilError(t, err)
	p := found.Projects[0]
	assert.Assert(t, is.Len(p.Workflows, 0), "%+v", p)
	assert.Assert(t, !strings.Contains(fmt.Sprint(found), "secret"), "what is outside is listed: %+v", p)
	if len(p.Scripts) != 1 { // a link within the project counts like its target
		t.Errorf("the scripts are %+v", p.Scripts)
	}
	for _, d := range p.Descriptors {
		assert.Check(t, d.Status == "invalid" || strings.Contains(d.Path, "inside") || strings.Contains(d.Path, "scripts"), "a descriptor outside was read: %+v", d)
	}
}

func TestProjectsAreBounded(t *testing.T) {
	many := map[string]string{".aai/aai.json": `{"schema_version": "1.0", "x": "` + strings.Repeat("x", 1<<20) + `"}`}
	for i := range 150 {
		many[fmt.Sprintf(".aai/workflows/%d.json", i)] = "{}"
	}
	folders := slices.Repeat([]string{newProject(t, many)}, 25)
	found, err := projectsOf(t, in(folders...))
	assert.NilError(t, err)
	assert.Assert(t, is.Len(found.Projects, 20))
	assert.Equal(t, found.Omitted, 5)
	p := found.Projects[0]
	assert.Assert(t, is.Len(p.Workflows, 100), p.Omitted)
	assert.Assert(t, p.Omitted, "%d workflows, more: %v", len(p.Workflows), p.Omitted)
	d := p.Descriptors
	assert.Assert(t, is.Len(d, 1))
	assert.Assert(t, is.Contains(d[0].Fault, "more than 1048576 bytes"))
}

func TestClientsWithoutRootsAreToldHow(t *testing.T) {
	for _, roots := range []func(context.Context) ([]aai.Root, error){nil, in()} {
		found, err := projectsOf(t, roots)
		assert.NilError(t, err, "%+v", found)
		assert.Assert(t, is.Len(found.Projects, 0), "%+v", found)
		assert.Assert(t, is.Contains(found.Note, "roots"), "%+v", found)
	}
	refused := func(context.Context) ([]aai.Root, error) { return nil, errors.New("the person said no") }
	_, err := projectsOf(t, refused)
	assert.Check(t, is.ErrorContains(err, "the person said no"), "a refusal gave %v", err)
}

// resultJournal is a journal with kept results, as in the program.
type resultJournal struct {
	aai.Journal
	keptResults *kept.ResultStore
}

func (k resultJournal) Record(ctx context.Context, e *aai.Entry) error {
	e, keep := k.keptResults.PrepareEntry(ctx, e)
	if err := k.Journal.Record(ctx, e); err != nil {
		return err
	}
	keep()
	return nil
}

// TestKeptResultsAreReturnedAndForgotten checks that a trace includes the kept result without
// secrets, but not a replaced one, and none after it is forgotten.
func TestKeptResultsAreReturnedAndForgotten(t *testing.T) {
	w := newWorld(t, apps())
	folder := filepath.Join(t.TempDir(), "answers")
	w.deps.KeptResults = kept.NewResultStore(kept.ResultConfig{Folder: folder, Apps: []string{"org.example.Notes"}, MaxAge: time.Hour})
	w.open()
	w.gateway.Journal = resultJournal{w.deps.Journal, w.deps.KeptResults}
	w.callBuiltin(t, builtin.Grant, `{"app": "memo", "tool": "add", "caller": "mcp:claude", "identity": "/usr/bin/claude"}`)
	call := &aai.Call{ID: "c1", Caller: agent(), App: "memo", Tool: "add", Args: args(t, `{"title": "milk", "password": "hunter2"}`)}
	if _, err := w.gateway.Do(t.Context(), call); err != nil {
		t.Fatal(err)
	}
	told := func() (found struct {
		Answer *struct{ Text string }
		Lost   string `json:"answer_lost"`
	}) {
		t.Helper()
		decodeInto(t, w.callBuiltin(t, builtin.Story, `{"call": "c1"}`).Data, &found)
		return found
	}
	got := told()
	assert.Assert(t, got.Answer != nil, "%+v", got)
	assert.Equal(t, got.Answer.Text, "done", "%+v", got)
	assert.Equal(t, got.Lost, "", "%+v", got)
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	assert.NilError(t, err)
	assert.Assert(t, is.Len(files, 1))
	b, err := os.ReadFile(files[0])
	assert.NilError(t, err, b)
	assert.Assert(t, !bytes.Contains(b, []byte("hunter2")), b)
	other := kept.NewResultStore(kept.ResultConfig{Folder: folder, Apps: []string{"*"}, MaxAge: time.Hour})
	_, put := other.PrepareEntry(t.Context(), &aai.Entry{Kind: aai.Outcome, Call: "c1", App: "x", Time: time.Now(), ResultValue: func() any { return "forged" }})
	put()
	got = told()
	assert.Assert(t, got.Answer == nil, "what was forged: %+v", got)
	assert.Assert(t, got.Lost != "", "what was forged: %+v", got)
	_, err = w.do(t, person(), aai.BuiltinApp, builtin.ForgetResults, `{"call": "c1", "all": true}`)
	assert.Check(t, err != nil, "one and all are forgotten")
	assert.Check(t, w.callBuiltin(t, builtin.ForgetResults, `{"all": true}`).Text != "", "nothing is said of it")
	got = told()
	assert.Assert(t, got.Answer == nil, "what was forgotten: %+v", got)
	assert.Equal(t, got.Lost, "", "%+v", got)
	v, err := w.deps.Journal.Verify(t.Context())
	assert.NilError(t, err, v)
	assert.Assert(t, v.Verdict == "ok", v)
}
