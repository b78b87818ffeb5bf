// Package projectfile reads files of the gateway's folders in the projects that a client works in.
package projectfile

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
)

// folders lists the gateway's folders in a project.
func folders() []string { return []string{".aai", ".axterminator"} }

// A Kind is a kind of files.
type Kind struct {
	Name      string // for errors: "script"
	Extension string // ".js"
	MaxBytes  int64
	// Otherwise is the next step for a client without projects.
	Otherwise string
}

// Read reads a file in one of the client's roots, for the argument "file" of a call. It opens no file outside that root,
// also not through links. Nothing was done on an error.
func Read(ctx context.Context, file string, kind Kind) ([]byte, error) {
	var roots []aai.Root
	if ask := aai.ClientCapabilitiesOf(ctx).Roots; ask != nil {
		var err error
		if roots, err = ask(ctx); err != nil {
			return nil, err
		}
	}
	if len(roots) == 0 {
		return nil, invalidError("the client reports no working folders", kind.Otherwise)
	}
	for _, root := range roots {
		inside := kind.in(root.Path, file)
		if inside == "" {
			continue
		}
		text, err := kind.open(root.Path, inside)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, invalidError("it cannot be read as a "+kind.Name, "")
		}
		return text, nil
	}
	return nil, invalidError(fmt.Sprintf("expected a %s file below %s in a folder that the client works in", kind.Extension, strings.Join(folders(), " or ")), "aai:projects lists them.")
}

func invalidError(problem, hint string) error {
	e := aai.Errorf(aai.InvalidParams, "file: %s", problem)
	e.Hint, e.Delivery = hint, aai.NotDelivered
	return e
}

// in returns the path of a file in the project, or "" if it must not be used.
func (k Kind) in(project, file string) string {
	if filepath.IsAbs(file) {
		inside, err := filepath.Rel(project, file)
		if err != nil {
			return ""
		}
		file = inside
	}
	file = filepath.Clean(file)
	first, _, _ := strings.Cut(filepath.ToSlash(file), "/")
	if !filepath.IsLocal(file) || filepath.Ext(file) != k.Extension || !slices.Contains(folders(), first) {
		return ""
	}
	return file
}

func (k Kind) open(project, file string) ([]byte, error) {
	folder, err := os.OpenRoot(project)
	if err != nil {
		return nil, err
	}
	defer folder.Close() //nolint:errcheck // it was only read
	f, err := folder.OpenFile(file, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fs.ErrInvalid
	}
	text, err := io.ReadAll(io.LimitReader(f, k.MaxBytes+1))
	if err == nil && int64(len(text)) > k.MaxBytes {
		err = fs.ErrInvalid
	}
	return text, err
}
