package script

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
)

// maxFile limits a script file, in bytes.
const maxFile = 256 << 10

// folders lists the script folders of a project.
func folders() []string { return []string{".aai", ".axterminator"} }

// read reads a script in one of the client's roots. It opens no file outside that root, also not
// through links.
func read(ctx context.Context, file string) (string, error) {
	var roots []aai.Root
	if ask := aai.ClientCapabilitiesOf(ctx).Roots; ask != nil {
		var err error
		if roots, err = ask(ctx); err != nil {
			return "", err
		}
	}
	if len(roots) == 0 {
		return "", notBegunError(aai.InvalidParams, "file: the client reports no working folders", "Pass the text as script.")
	}
	const expected = "file: expected a .js file below .aai or .axterminator in a folder that the client works in"
	for _, root := range roots {
		inside := scriptIn(root.Path, file)
		if inside == "" {
			continue
		}
		text, err := open(root.Path, inside)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", notBegunError(aai.InvalidParams, "file: it cannot be read as a script", "")
		}
		return text, nil
	}
	return "", notBegunError(aai.InvalidParams, expected, "aai:projects lists them.")
}

// scriptIn returns the path of a script file in the project, or "" if it must not run.
func scriptIn(project, file string) string {
	if filepath.IsAbs(file) {
		inside, err := filepath.Rel(project, file)
		if err != nil {
			return ""
		}
		file = inside
	}
	file = filepath.Clean(file)
	first, _, _ := strings.Cut(filepath.ToSlash(file), "/")
	if !filepath.IsLocal(file) || filepath.Ext(file) != ".js" || !slices.Contains(folders(), first) {
		return ""
	}
	return file
}

func open(project, file string) (string, error) {
	folder, err := os.OpenRoot(project)
	if err != nil {
		return "", err
	}
	defer folder.Close() //nolint:errcheck // it was only read
	f, err := folder.OpenFile(file, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // it was only read
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fs.ErrInvalid
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fs.ErrInvalid
	}
	return string(text), err
}
