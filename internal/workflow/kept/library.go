// Package kept is the workflows that a person keeps in files, each a tool of the app
// "workflows", and the runs of all workflows, as tools of the gateway's own app.
//
// It reads one folder, and looks at it anew whenever the app is asked for: what runs is the
// file as it is, and consent to it is bound to its bytes. A file that is wrong is a tool that
// says so, and no other's concern.
package kept

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"aai"
	"aai/internal/jsontree"
	"aai/internal/wholefile"
	"aai/internal/workflow"
)

// AppID is the id of the app whose tools the kept workflows are.
const AppID = "workflows"

// What is read of the folder.
const (
	maxFiles  = 500
	maxBytes  = 1 << 20
	maxValues = 50_000
	maxDepth  = 64
	maxName   = 46 // bytes of a name, so that it is a tool's anywhere
)

// A Library is the kept workflows. Make one by [NewLibrary]. It is safe for concurrent use.
type Library struct {
	folder string
	flows  workflow.Config

	mu    sync.Mutex
	known map[string]*file // by name
	app   *aai.App

	listeners aai.Listeners
}

// A file is a kept workflow as it was last read.
type file struct {
	info   fs.FileInfo
	readAt time.Time
	digest string
	tool   *aai.Tool
	fault  *aai.Error
}

// NewLibrary returns the workflows of the folder, which need not be there.
func NewLibrary(folder string, flows workflow.Config) *Library {
	l := &Library{folder: folder, flows: flows, known: map[string]*file{}}
	l.app = l.with(nil)
	return l
}

// with is the app with the tools.
func (l *Library) with(tools []*aai.Tool) *aai.App {
	return &aai.App{
		ID: AppID, Name: "Workflows", Platform: "any", Tools: tools,
		Description: "Workflows that the person keeps.", Source: l.folder,
	}
}

// Reserved is the app for a catalog that keeps its id from others.
func (l *Library) Reserved() *aai.App { return &aai.App{ID: AppID, Name: "Workflows", Platform: "any"} }

// App is the app as the files are now.
func (l *Library) App() *aai.App {
	l.mu.Lock()
	defer l.mu.Unlock()
	known, changed := map[string]*file{}, false
	var tools []*aai.Tool
	for _, name := range l.names() {
		f := l.look(name)
		if f == nil {
			continue
		}
		known[name] = f
		changed = changed || f != l.known[name]
		tools = append(tools, f.tool)
	}
	if changed || len(known) != len(l.known) {
		l.known, l.app = known, l.with(tools)
	}
	return l.app
}

// names are those of the folder's workflows, sorted.
func (l *Library) names() (names []string) {
	folder, err := os.Open(l.folder)
	if err != nil {
		return nil
	}
	defer folder.Close() //nolint:errcheck // it was only read
	entries, _ := folder.ReadDir(2 * maxFiles)
	for _, entry := range entries {
		name, ok := strings.CutSuffix(entry.Name(), ".json")
		if ok && name != "" && !strings.HasPrefix(name, ".") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names[:min(len(names), maxFiles)]
}

// racy is how close to the moment of reading a file may have been modified and still count as
// the same next time: file systems stamp coarsely.
const racy = 2 * time.Second

// look is the workflow of that name as it is now, nil where it is gone.
func (l *Library) look(name string) *file {
	path := filepath.Join(l.folder, name+".json")
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	was := l.known[name]
	if was != nil && err == nil && was.info != nil && os.SameFile(was.info, info) && was.info.Size() == info.Size() &&
		was.info.ModTime().Equal(info.ModTime()) && was.readAt.Sub(info.ModTime()) > racy {
		return was
	}
	now := &file{info: info, readAt: time.Now()}
	source, err := wholefile.Read(path, wholefile.Limits{Size: maxBytes})
	sum := sha256.Sum256(source)
	now.digest = hex.EncodeToString(sum[:])
	if was != nil && err == nil && was.digest == now.digest {
		was.info, was.readAt = now.info, now.readAt
		return was
	}
	var d *workflow.Document
	if err == nil && !isName(name) {
		err = fmt.Errorf("the file's name is the tool's: expected letters, digits, _ and -, at most %d", maxName)
	}
	if err == nil {
		d, err = read(source, name)
	}
	if err != nil {
		now.fault = faulty(path, err)
		now.tool = &aai.Tool{Name: aai.CleanLabel(name, maxName), Description: "It cannot be run: " + now.fault.Message, Unavailable: now.fault}
		return now
	}
	now.tool = l.flows.Tool(name, d)
	digest := now.digest
	now.tool.Digest = func() string { return digest }
	return now
}

// isName reports whether a tool may be called so everywhere.
func isName(name string) bool {
	for _, c := range name {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return len(name) <= maxName
}

// Read reads a workflow of a file.
func Read(path string) (*workflow.Document, error) {
	source, err := wholefile.Read(path, wholefile.Limits{Size: maxBytes})
	var d *workflow.Document
	if err == nil {
		d, err = read(source, strings.TrimSuffix(filepath.Base(path), ".json"))
	}
	if err != nil {
		return nil, faulty(path, err)
	}
	return d, nil
}

// Check returns the name of a workflow as it was written, or what is wrong with it.
func Check(source []byte) (name string, err error) {
	d, err := read(source, "")
	if err != nil {
		return "", errors.New(saidOfWorkflow(err))
	}
	return d.Name, nil
}

// read reads a workflow, which is called so where it does not say how it is called.
func read(source []byte, name string) (*workflow.Document, error) {
	root, fault := new(jsontree.Reader[struct{}]).Read(source, jsontree.Options[struct{}]{Bytes: maxBytes, Values: maxValues, Depth: maxDepth, Digits: 400})
	if fault != nil {
		return nil, errors.New(saidOf(fault))
	}
	object, ok := root.Value(nil).(map[string]any)
	if !ok {
		return nil, errors.New(`expected an object with "steps"`)
	}
	if _, given := object["name"]; !given && name != "" {
		object["name"] = aai.CleanLabel(name, maxName)
	}
	return workflow.Read(object, false)
}

// saidOf is for people in which way a file is no document.
func saidOf(f *jsontree.Fault) string {
	switch f.Problem {
	case jsontree.Empty:
		return "it is empty"
	case jsontree.EndsEarly:
		return "it ends in the middle" + f.At()
	case jsontree.Twice:
		return fmt.Sprintf("%s has %q twice%s", place(f.Path), f.Name, f.At())
	case jsontree.More:
		return "something comes after the object" + f.At()
	case jsontree.TooLong, jsontree.TooMany, jsontree.TooDeep, jsontree.TooExact:
		return "it is larger, or deeper, than a workflow may be" + f.At()
	case jsontree.Syntax:
	}
	return "it is no JSON" + f.At() + ": " + aai.CleanLabel(f.Reason, 200)
}

func place(path string) string {
	if path == "" {
		return "the object"
	}
	return path
}

// faulty is the error of a workflow that is wrong.
func faulty(path string, err error) *aai.Error {
	e := aai.Errorf(aai.InvalidParams, "%s: %s", path, saidOfWorkflow(err))
	e.Delivery, e.Hint = aai.NotDelivered, "Mend the file. docs/workflows.md says what may stand in one."
	if errors.Is(err, fs.ErrNotExist) {
		e.Hint = "Name a file that is there. Workflows that are kept are run by their names."
	}
	return e
}

// saidOfWorkflow is what is wrong, of what was not to be run yet.
func saidOfWorkflow(err error) string {
	if e, ok := errors.AsType[*aai.Error](err); ok {
		return strings.TrimSuffix(e.Message, "; nothing was run")
	}
	return err.Error()
}

// over is a catalog with the app in it.
type over struct {
	aai.Catalog
	library *Library
}

// Over adds the app to a catalog that has [Library.Reserved]. It is listed while there are
// workflows.
func (l *Library) Over(local aai.Catalog) aai.Catalog { return over{local, l} }

// Apps implements [aai.Catalog].
func (o over) Apps() []*aai.App {
	apps := slices.Clone(o.Catalog.Apps())
	i := slices.IndexFunc(apps, func(app *aai.App) bool { return app.ID == AppID })
	if i < 0 {
		return apps
	}
	if apps[i] = o.library.App(); len(apps[i].Tools) == 0 {
		return slices.Delete(apps, i, i+1)
	}
	return apps
}

// Find implements [aai.Catalog].
func (o over) Find(ctx context.Context, name string) (*aai.App, error) {
	app, err := o.Catalog.Find(ctx, name)
	if err == nil && app.ID == AppID {
		return o.library.App(), nil
	}
	return app, err
}

// OnChange implements [aai.Catalog].
func (o over) OnChange(f func()) (stop func()) {
	stopLocal, stopOwn := o.Catalog.OnChange(f), o.library.listeners.Add(f)
	return func() {
		stopLocal()
		stopOwn()
	}
}
