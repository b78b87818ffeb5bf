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
	"github.com/gybob/aai-gateway/internal/automation/recorded"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
	"github.com/gybob/aai-gateway/internal/schema/jsontree"
)

// LibraryAppID is the id of the app with the stored workflows as tools.
const LibraryAppID = "workflows"

// Limits for reading the folder.
const (
	maxFiles        = 500
	maxBytes        = 1 << 20
	maxValues       = 50_000
	maxDepth        = 64
	maxWorkflowName = 46 // bytes of a name, to fit a tool name everywhere
)

// Library is the user's folder of workflow files, each a tool of the app "workflows". It reads the folder at each
// access, and consent is bound to the bytes of a file. A faulty file is an unavailable tool and does not affect the
// others. Create one with [NewLibrary]. It is safe for concurrent use.
type Library struct {
	folder string
	flows  Config

	mu    sync.Mutex
	known map[string]*workflowFile // by name
	app   *aai.App

	listeners aai.Listeners
}

// workflowFile is a workflow file as last read.
type workflowFile struct {
	info   fs.FileInfo
	readAt time.Time
	digest string
	tool   *aai.Tool
	fault  *aai.Error
}

// NewLibrary returns the workflows of the folder, which need not exist.
func NewLibrary(folder string, flows Config) *Library {
	l := &Library{folder: folder, flows: flows, known: map[string]*workflowFile{}}
	l.app = l.appWithTools(nil)
	return l
}

// appWithTools returns the app with the tools.
func (l *Library) appWithTools(tools []*aai.Tool) *aai.App {
	return &aai.App{
		ID: LibraryAppID, Name: "Workflows", Platform: "any", Tools: tools,
		Description: "Workflows stored by the person.", Source: l.folder,
	}
}

// ReservedApp returns the app "workflows" without tools, for a catalog to reserve its id.
func (l *Library) ReservedApp() *aai.App {
	return &aai.App{ID: LibraryAppID, Name: "Workflows", Platform: "any"}
}

// App reads the folder and returns the app with a tool for each file. The pointer stays the same until
// a file changes.
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

// names returns the names of the folder's workflows, sorted.
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

// mtimeMargin is the minimum age of a modification for which an unchanged time means unchanged
// content: file systems have coarse timestamps.
const mtimeMargin = 2 * time.Second

// load returns the current workflow of that name, or nil if it is gone.
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
		err = fmt.Errorf("the file's name becomes the tool's name: expected letters, digits, _ and -, at most %d", maxWorkflowName)
	}
	if err == nil {
		d, err = read(source, name)
	}
	if err != nil {
		now.fault = invalidWorkflowError(path, err)
		now.tool = &aai.Tool{Name: aai.CleanLabel(name, maxWorkflowName), Description: "It cannot be run: " + now.fault.Message, Implementation: aai.Implementation{Unavailable: now.fault}}
		return now
	}
	now.tool = l.flows.Tool(name, d)
	digest := now.digest
	now.tool.Implementation.Digest = func() string { return digest }
	return now
}

// isToolName reports whether the name is a valid tool name everywhere.
func isToolName(name string) bool {
	for _, c := range name {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return len(name) <= maxWorkflowName
}

// ReadFile reads and parses a workflow file. The default name of the workflow is that of the file.
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

// ParseName checks the source of a workflow and returns the workflow's name, "" if it has none.
func ParseName(source []byte) (name string, err error) {
	d, err := read(source, "")
	if err != nil {
		return "", errors.New(describeInvalid(err))
	}
	return d.Name, nil
}

// read parses a workflow, or a recording. name is the default for its name.
func read(source []byte, name string) (*Document, error) {
	if recorded.IsRecording(source) {
		var err error
		if source, err = completeRecording(source, name); err != nil {
			return nil, err
		}
	}
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
	return ParseDocument(object, false)
}

// describeTreeFault describes a JSON fault for the user.
func describeTreeFault(f *jsontree.Fault) string {
	switch f.Problem {
	case jsontree.Empty:
		return "it is empty"
	case jsontree.UnexpectedEnd:
		return "it ends in the middle" + f.Position()
	case jsontree.DuplicateName:
		return fmt.Sprintf("%s has %q twice%s", place(f.Path), f.Name, f.Position())
	case jsontree.TrailingData:
		return "expected the end of the file after the object" + f.Position()
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

// invalidWorkflowError returns the error of an invalid workflow.
func invalidWorkflowError(path string, err error) *aai.Error {
	e := aai.Errorf(aai.InvalidParams, "%s: %s", path, describeInvalid(err))
	e.Delivery, e.Hint = aai.NotDelivered, "Correct the file. docs/workflows.md describes the format."
	if errors.Is(err, fs.ErrNotExist) {
		e.Hint = "Name an existing file. Stored workflows are run by their names."
	}
	return e
}

// describeInvalid returns the error text without the part about running.
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

// Wrap returns local with the workflows in place of its [Library.ReservedApp]. Apps lists the app only
// while there are workflows.
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
