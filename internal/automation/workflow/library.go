// Package kept is the workflows that a person keeps in files, each a tool of the app
// "workflows", and the runs of all workflows, as tools of the gateway's own app.
//
// It reads one folder, and looks at it anew whenever the app is asked for: what runs is the
// file as it is, and consent to it is bound to its bytes. A file that is wrong is a tool that
// says so, and no other's concern.
package workflow

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

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
	"github.com/gybob/aai-gateway/internal/schema/jsontree"
)

// LibraryAppID is the id of the app whose tools the kept workflows are.
const LibraryAppID = "workflows"

// What is read of the folder.
const (
	maxFiles        = 500
	maxBytes        = 1 << 20
	maxValues       = 50_000
	maxDepth        = 64
	maxWorkflowName = 46 // bytes of a name, so that it is a tool's anywhere
)

// A Library is the kept workflows. Make one by [NewLibrary]. It is safe for concurrent use.
type Library struct {
	folder string
	flows  Config

	mu    sync.Mutex
	known map[string]*workflowFile // by name
	app   *aai.App

	listeners aai.Listeners
}

// A file is a kept workflow as it was last read.
type workflowFile struct {
	info   fs.FileInfo
	readAt time.Time
	digest string
	tool   *aai.Tool
	fault  *aai.Error
}

// NewLibrary returns the workflows of the folder, which need not be there.
func NewLibrary(folder string, flows Config) *Library {
	l := &Library{folder: folder, flows: flows, known: map[string]*workflowFile{}}
	l.app = l.appWithTools(nil)
	return l
}

// appWithTools is the app with the tools.
func (l *Library) appWithTools(tools []*aai.Tool) *aai.App {
	return &aai.App{
		ID: LibraryAppID, Name: "Workflows", Platform: "any", Tools: tools,
		Description: "Workflows that the person keeps.", Source: l.folder,
	}
}

// ReservedApp is the app for a catalog that keeps its id from others.
func (l *Library) ReservedApp() *aai.App {
	return &aai.App{ID: LibraryAppID, Name: "Workflows", Platform: "any"}
}

// App is the app as the files are now.
func (l *Library) App() *aai.App {
	l.mu.Lock()
	defer l.mu.Unlock()
	known, changed := map[string]*workflowFile{}, false
	var tools []*aai.Tool
	for _, name := range l.names() {
		f := l.load(name)
		if f == nil {
			continue
		}
		known[name] = f
		changed = changed || f != l.known[name]
		tools = append(tools, f.tool)
	}
	if changed || len(known) != len(l.known) {
		l.known, l.app = known, l.appWithTools(tools)
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

// mtimeMargin is how close to the moment of reading a file may have been modified and still count as
// the same next time: file systems stamp coarsely.
const mtimeMargin = 2 * time.Second

// load is the workflow of that name as it is now, nil where it is gone.
func (l *Library) load(name string) *workflowFile {
	path := filepath.Join(l.folder, name+".json")
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	was := l.known[name]
	if was != nil && err == nil && was.info != nil && os.SameFile(was.info, info) && was.info.Size() == info.Size() &&
		was.info.ModTime().Equal(info.ModTime()) && was.readAt.Sub(info.ModTime()) > mtimeMargin {
		return was
	}
	now := &workflowFile{info: info, readAt: time.Now()}
	source, err := atomicfile.Read(path, atomicfile.ReadLimits{Size: maxBytes})
	sum := sha256.Sum256(source)
	now.digest = hex.EncodeToString(sum[:])
	if was != nil && err == nil && was.digest == now.digest {
		was.info, was.readAt = now.info, now.readAt
		return was
	}
	var d *Document
	if err == nil && !isToolName(name) {
		err = fmt.Errorf("the file's name is the tool's: expected letters, digits, _ and -, at most %d", maxWorkflowName)
	}
	if err == nil {
		d, err = read(source, name)
	}
	if err != nil {
		now.fault = invalidWorkflowError(path, err)
		now.tool = &aai.Tool{Name: aai.CleanLabel(name, maxWorkflowName), Description: "It cannot be run: " + now.fault.Message, Unavailable: now.fault}
		return now
	}
	now.tool = l.flows.Tool(name, d)
	digest := now.digest
	now.tool.Digest = func() string { return digest }
	return now
}

// isToolName reports whether a tool may be called so everywhere.
func isToolName(name string) bool {
	for _, c := range name {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return len(name) <= maxWorkflowName
}

// ReadFile reads a workflow of a file.
func ReadFile(path string) (*Document, error) {
	source, err := atomicfile.Read(path, atomicfile.ReadLimits{Size: maxBytes})
	var d *Document
	if err == nil {
		d, err = read(source, strings.TrimSuffix(filepath.Base(path), ".json"))
	}
	if err != nil {
		return nil, invalidWorkflowError(path, err)
	}
	return d, nil
}

// ValidateSource returns the name of a workflow as it was written, or what is wrong with it.
func ValidateSource(source []byte) (name string, err error) {
	d, err := read(source, "")
	if err != nil {
		return "", errors.New(describeInvalid(err))
	}
	return d.Name, nil
}

// read reads a workflow, which is called so where it does not say how it is called.
func read(source []byte, name string) (*Document, error) {
	root, fault := new(jsontree.Reader[struct{}]).Read(source, jsontree.Options[struct{}]{MaxBytes: maxBytes, MaxValues: maxValues, MaxDepth: maxDepth, MaxDigits: 400})
	if fault != nil {
		return nil, errors.New(describeTreeFault(fault))
	}
	object, ok := root.Value(nil).(map[string]any)
	if !ok {
		return nil, errors.New(`expected an object with "steps"`)
	}
	if _, given := object["name"]; !given && name != "" {
		object["name"] = aai.CleanLabel(name, maxWorkflowName)
	}
	return Read(object, false)
}

// describeTreeFault is for people in which way a file is no document.
func describeTreeFault(f *jsontree.Fault) string {
	switch f.Problem {
	case jsontree.Empty:
		return "it is empty"
	case jsontree.UnexpectedEnd:
		return "it ends in the middle" + f.Position()
	case jsontree.DuplicateName:
		return fmt.Sprintf("%s has %q twice%s", place(f.Path), f.Name, f.Position())
	case jsontree.TrailingData:
		return "something comes after the object" + f.Position()
	case jsontree.TooManyBytes, jsontree.TooManyValues, jsontree.TooDeep, jsontree.NumberTooLong:
		return "it is larger, or deeper, than a workflow may be" + f.Position()
	case jsontree.Syntax:
	}
	return "it is no JSON" + f.Position() + ": " + aai.CleanLabel(f.Reason, 200)
}

func place(path string) string {
	if path == "" {
		return "the object"
	}
	return path
}

// invalidWorkflowError is the error of a workflow that is wrong.
func invalidWorkflowError(path string, err error) *aai.Error {
	e := aai.Errorf(aai.InvalidParams, "%s: %s", path, describeInvalid(err))
	e.Delivery, e.Hint = aai.NotDelivered, "Mend the file. docs/workflows.md says what may stand in one."
	if errors.Is(err, fs.ErrNotExist) {
		e.Hint = "Name a file that is there. Workflows that are kept are run by their names."
	}
	return e
}

// describeInvalid is what is wrong, of what was not to be run yet.
func describeInvalid(err error) string {
	if e, ok := errors.AsType[*aai.Error](err); ok {
		return strings.TrimSuffix(e.Message, "; nothing was run")
	}
	return err.Error()
}

// libraryCatalog is a catalog with the app in it.
type libraryCatalog struct {
	aai.Catalog
	library *Library
}

// Wrap adds the app to a catalog that has [Library.ReservedApp]. It is listed while there are
// workflows.
func (l *Library) Wrap(local aai.Catalog) aai.Catalog { return libraryCatalog{local, l} }

// Apps implements [aai.Catalog].
func (o libraryCatalog) Apps() []*aai.App {
	apps := slices.Clone(o.Catalog.Apps())
	i := slices.IndexFunc(apps, func(app *aai.App) bool { return app.ID == LibraryAppID })
	if i < 0 {
		return apps
	}
	if apps[i] = o.library.App(); len(apps[i].Tools) == 0 {
		return slices.Delete(apps, i, i+1)
	}
	return apps
}

// Find implements [aai.Catalog].
func (o libraryCatalog) Find(ctx context.Context, name string) (*aai.App, error) {
	app, err := o.Catalog.Find(ctx, name)
	if err == nil && app.ID == LibraryAppID {
		return o.library.App(), nil
	}
	return app, err
}

// OnChange implements [aai.Catalog].
func (o libraryCatalog) OnChange(f func()) (stop func()) {
	stopLocal, stopOwn := o.Catalog.OnChange(f), o.library.listeners.Add(f)
	return func() {
		stopLocal()
		stopOwn()
	}
}
