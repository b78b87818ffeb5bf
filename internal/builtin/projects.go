package builtin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/catalog"
)

// Limits for the listing of the project folders of a client. The result says if entries were omitted.
const (
	maxFolders    = 20
	maxEntries    = 100     // of one folder
	maxDescriptor = 1 << 20 // bytes
)

// projectFolder is the gateway's folder in a project.
const projectFolder = ".aai"

// axFolder is the folder for desktop tools in a project; the name comes from axterminator.
const axFolder = ".axterminator"

// scriptFolders returns the folders of a project that contain scripts.
func scriptFolders() []string {
	return []string{projectFolder, projectFolder + "/scripts", axFolder, axFolder + "/scripts"}
}

// projectTool lists the gateway's files in projects. It never runs them: an agent may be able to
// write to that folder, so the person did not necessarily install the descriptor.
type projectTool struct {
	host     string                              // the platform, as in catalog.Options
	workflow func(source []byte) (string, error) // returns the name of a workflow, or an error; may be nil
}

// A project is a folder that the client works in.
type project struct {
	Path        string        `json:"path"`
	Name        string        `json:"name,omitempty"`
	Problem     string        `json:"problem,omitempty"`
	Descriptors []projectFile `json:"descriptors"`
	Workflows   []projectFile `json:"workflows"`
	Scripts     []projectFile `json:"scripts"`
	Omitted     bool          `json:"omitted,omitempty"` // there are more
	folder      *os.Root      // open during inspect only
}

// A projectFile is a file in a project. App, Name and Status are set for descriptors.
type projectFile struct {
	Path   string         `json:"path"`
	App    string         `json:"app,omitempty"`
	Name   string         `json:"name,omitempty"`
	Status catalog.Status `json:"status,omitempty"`
	Fault  string         `json:"fault,omitempty"`
}

// noRootsNote is the note for clients without roots.
const noRootsNote = "The client of this call does not say which folders it works in. " +
	"Ask the person to add the project's folder to the client's roots (its workspace folders), or to set mcp.project_folder. " +
	"Descriptors that the person wants to use belong in ~/.aai/<app id>/aai.json, wherever the project is."

// projects is the result of the tool.
type projects struct {
	Projects []project `json:"projects"`
	Omitted  int       `json:"omitted,omitempty"` // number of folders not inspected
	Note     string    `json:"note,omitempty"`
}

func (p projectTool) list(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
	var roots []aai.Root
	if ask := aai.ClientCapabilitiesOf(ctx).Roots; ask != nil {
		var err error
		if roots, err = ask(ctx); err != nil {
			return nil, err
		}
	}
	found := projects{Projects: []project{}, Omitted: max(0, len(roots)-maxFolders)}
	if len(roots) == 0 {
		found.Note = noRootsNote
	}
	for _, root := range roots[:min(len(roots), maxFolders)] {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		found.Projects = append(found.Projects, p.inspect(root))
	}
	return &aai.Result{Data: found}, nil
}

// folderError is the problem for every folder that cannot be opened. It is always the same, so
// that a caller cannot probe paths.
const folderError = "this folder cannot be opened: it is not there, it is no folder, or the gateway may not read it"

// inspect lists one folder. It opens nothing outside it, wherever links lead.
func (p projectTool) inspect(root aai.Root) project {
	found := project{Path: root.Path, Name: root.Name, Descriptors: []projectFile{}, Workflows: []projectFile{}, Scripts: []projectFile{}}
	folder, err := os.OpenRoot(root.Path + directorySuffix)
	if err != nil {
		found.Problem = folderError
		return found
	}
	defer folder.Close() //nolint:errcheck // it was only read
	found.folder = folder
	if f := p.descriptor(&found, projectFolder+"/"+catalog.FileName); f != nil {
		found.Descriptors = append(found.Descriptors, *f)
	}
	for _, name := range found.entries(projectFolder, fs.ModeDir) {
		if f := p.descriptor(&found, name+"/"+catalog.FileName); f != nil {
			found.Descriptors = append(found.Descriptors, *f)
		}
	}
	for _, folder := range []string{projectFolder, axFolder} {
		for _, name := range []string{"/workflows", "/macros"} {
			found.Workflows = append(found.Workflows, p.workflows(&found, folder+name)...)
		}
	}
	for _, folder := range scriptFolders() {
		found.Scripts = append(found.Scripts, slices.DeleteFunc(found.files(folder), func(f projectFile) bool { return filepath.Ext(f.Path) != ".js" })...)
	}
	return found
}

// entries returns the paths of the entries of a folder that have the type kind, 0 for a file, in
// alphabetical order. It follows links that stay within the project.
func (p *project) entries(folder string, kind fs.FileMode) []string {
	dir, err := p.folder.OpenFile(folder, os.O_RDONLY|directoryOnly, 0)
	if err != nil {
		return nil // most projects have none
	}
	defer dir.Close() //nolint:errcheck // it was only read
	all, err := dir.ReadDir(maxEntries + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil
	}
	if len(all) > maxEntries {
		all, p.Omitted = all[:maxEntries], true
	}
	var paths []string
	for _, entry := range all {
		path := folder + "/" + entry.Name()
		if info, err := p.folder.Stat(path); err == nil && info.Mode().Type() == kind {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// absolute returns the absolute path of a file in the project.
func (p *project) absolute(path string) string {
	return filepath.Join(p.Path, filepath.FromSlash(path))
}

func (p *project) files(folder string) []projectFile {
	files := []projectFile{}
	for _, path := range p.entries(folder, 0) {
		files = append(files, projectFile{Path: p.absolute(path)})
	}
	return files
}

// workflows lists the workflows of a folder with their names or faults. It reads them, and runs
// nothing.
func (p projectTool) workflows(in *project, folder string) []projectFile {
	files := in.files(folder)
	if p.workflow == nil {
		return files
	}
	for i := range files {
		f := &files[i]
		source, err := in.read(folder + "/" + filepath.Base(f.Path))
		if err == nil {
			f.Name, err = p.workflow(source)
		}
		if f.Status = catalog.StatusOK; err != nil {
			f.Status, f.Fault = catalog.StatusInvalid, causeText(err)
		}
	}
	return files
}

// descriptor returns the status of a descriptor, or nil if there is none.
func (p projectTool) descriptor(in *project, path string) *projectFile {
	f := &projectFile{Path: in.absolute(path), Status: catalog.StatusInvalid}
	source, err := in.read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		f.Fault = causeText(err)
		return f
	}
	// Without drivers no tool of it can run.
	d, err := catalog.Parse(source, catalog.Options{HostPlatform: p.host, Source: f.Path})
	if err != nil {
		f.Fault = strings.TrimSpace(aai.CleanText(aai.AsError(err).Message, 1000))
		return f
	}
	f.App, f.Name, f.Status = d.App.ID, d.App.Name, catalog.StatusOK
	return f
}

// read reads a regular file of at most maxDescriptor bytes.
func (p *project) read(path string) ([]byte, error) {
	file, err := p.folder.OpenFile(path, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("this is no regular file")
	}
	source, err := io.ReadAll(io.LimitReader(file, maxDescriptor+1))
	if err == nil && len(source) > maxDescriptor {
		err = fmt.Errorf("the file has more than %d bytes", maxDescriptor)
	}
	return source, err
}

// causeText returns the cause of err without the path, which the project file already shows.
func causeText(err error) string {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	return aai.CleanLabel(err.Error(), 200)
}
