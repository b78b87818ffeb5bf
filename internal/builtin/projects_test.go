package builtin_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gybob/aai-gateway"
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
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
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
	if err != nil || len(found.Projects) != 3 || found.Note != "" {
		t.Fatalf("found %+v, %v", found, err)
	}
	p := found.Projects[0]
	if p.Path != folder || p.Name != "project 0" || p.Problem != "" || p.Omitted {
		t.Errorf("the project is %+v", p)
	}
	under := func(name string) string { return filepath.Join(folder, ".aai", filepath.FromSlash(name)) }
	if len(p.Descriptors) != 3 ||
		p.Descriptors[0] != (listedFile{under("aai.json"), "org.example.Notes", "Notes", "ok", ""}) ||
		p.Descriptors[2] != (listedFile{under("mac/aai.json"), "org.example.Mac", "Mac", "ok", ""}) {
		t.Errorf("the descriptors are %+v", p.Descriptors)
	}
	if b := p.Descriptors[1]; b.Path != under("broken/aai.json") || b.Status != "invalid" || !strings.Contains(b.Fault, "tools[0].method") {
		t.Errorf("the broken descriptor is %+v", b)
	}
	tidy := filepath.Join(folder, ".axterminator", "workflows", "tidy.json")
	if !slices.Equal(p.Workflows, []listedFile{{Path: under("workflows/deploy.json"), Name: "Deploy", Status: "ok"}, {Path: tidy, Status: "invalid", Fault: "it is no workflow"}}) {
		t.Errorf("the workflows are %+v", p.Workflows)
	}
	if !slices.Equal(p.Scripts, []listedFile{{Path: under("scripts/check.js")}, {Path: filepath.Join(folder, ".axterminator", "old.js")}}) {
		t.Errorf("the scripts are %+v", p.Scripts)
	}
	if p := found.Projects[1]; p.Problem != "" || len(p.Descriptors)+len(p.Workflows) > 0 {
		t.Errorf("an empty project is %+v", p)
	}
	if p := found.Projects[2]; !strings.Contains(p.Problem, "it is not there") {
		t.Errorf("a folder that is not there is %+v", p)
	}
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
	if e := aai.AsError(err); e == nil || e.Code != aai.AppNotFound {
		t.Errorf("a descriptor of a project can be called: %v", err)
	}
}

func TestProjectsDoNotLeadOutside(t *testing.T) {
	outside := newProject(t, map[string]string{"aai.json": notes, "secret": "x"})
	folder := newProject(t, map[string]string{".aai/inside/aai.json": notes, ".aai/inside/tidy.js": "1"})
	for from, to := range map[string]string{
		".aai/aai.json": filepath.Join(outside, "aai.json"), ".aai/out": outside, ".aai/up": "../../" + filepath.Base(outside),
		".aai/workflows": outside, ".aai/scripts": "inside",
	} {
		if err := os.Symlink(to, filepath.Join(folder, filepath.FromSlash(from))); err != nil {
			t.Fatal(err)
		}
	}
	found, err := projectsOf(t, in(folder))
	if err != nil {
		t.Fatal(err)
	}
	p := found.Projects[0]
	if len(p.Workflows) > 0 || strings.Contains(fmt.Sprint(found), "secret") {
		t.Errorf("what is outside is listed: %+v", p)
	}
	if len(p.Scripts) != 1 { // a link within the project counts like its target
		t.Errorf("the scripts are %+v", p.Scripts)
	}
	for _, d := range p.Descriptors {
		if d.Status != "invalid" && !strings.Contains(d.Path, "inside") && !strings.Contains(d.Path, "scripts") {
			t.Errorf("a descriptor outside was read: %+v", d)
		}
	}
}

func TestProjectsAreBounded(t *testing.T) {
	many := map[string]string{".aai/aai.json": `{"schema_version": "1.0", "x": "` + strings.Repeat("x", 1<<20) + `"}`}
	for i := range 150 {
		many[fmt.Sprintf(".aai/workflows/%d.json", i)] = "{}"
	}
	folders := slices.Repeat([]string{newProject(t, many)}, 25)
	found, err := projectsOf(t, in(folders...))
	if err != nil || len(found.Projects) != 20 || found.Omitted != 5 {
		t.Fatalf("%d projects, %d left out, %v", len(found.Projects), found.Omitted, err)
	}
	p := found.Projects[0]
	if len(p.Workflows) != 100 || !p.Omitted {
		t.Errorf("%d workflows, more: %v", len(p.Workflows), p.Omitted)
	}
	if d := p.Descriptors; len(d) != 1 || !strings.Contains(d[0].Fault, "more than 1048576 bytes") {
		t.Errorf("the large descriptor is %.300v", d)
	}
}

func TestClientsWithoutRootsAreToldHow(t *testing.T) {
	for _, roots := range []func(context.Context) ([]aai.Root, error){nil, in()} {
		if found, err := projectsOf(t, roots); err != nil || len(found.Projects) > 0 || !strings.Contains(found.Note, "roots") {
			t.Errorf("found %+v, %v", found, err)
		}
	}
	refused := func(context.Context) ([]aai.Root, error) { return nil, errors.New("the person said no") }
	if _, err := projectsOf(t, refused); err == nil || !strings.Contains(err.Error(), "the person said no") {
		t.Errorf("a refusal gave %v", err)
	}
}
