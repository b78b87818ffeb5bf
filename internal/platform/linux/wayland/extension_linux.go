package wayland

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// ExtensionID is the identifier of the gateway's extension of GNOME Shell.
const ExtensionID = "aai-gateway@aai.org"

// An Extension is the gateway's extension in the user's extensions of GNOME Shell.
type Extension struct {
	folder string
	files  fs.FS
}

// NewExtension returns the extension below a user's data folder, such as ~/.local/share. It need not exist.
func NewExtension(dataHome string) (*Extension, error) {
	content, err := fs.Sub(files, "files/gnome")
	return &Extension{filepath.Join(dataHome, "gnome-shell", "extensions", ExtensionID), content}, err
}

// Folder returns the folder of the files.
func (x *Extension) Folder() string { return x.folder }

// IsPresent reports whether the folder exists.
func (x *Extension) IsPresent() bool {
	_, err := os.Lstat(x.folder)
	return err == nil
}

// IsCurrent reports whether the folder has the files of this gateway.
func (x *Extension) IsCurrent() bool {
	same := true
	err := x.each(func(path string, content []byte) error {
		is, err := os.ReadFile(path)
		same = same && bytes.Equal(is, content)
		return err
	})
	return same && err == nil
}

// Install writes the files. GNOME Shell finds new ones at the next login.
func (x *Extension) Install() error {
	if err := os.MkdirAll(x.folder, 0o700); err != nil {
		return err
	}
	return x.each(func(path string, content []byte) error { return atomicfile.ReplaceDurable(path, content) })
}

// Remove deletes the folder.
func (x *Extension) Remove() error { return os.RemoveAll(x.folder) }

// each calls do for each file, with its path in the folder.
func (x *Extension) each(do func(path string, content []byte) error) error {
	entries, err := fs.ReadDir(x.files, ".")
	for _, entry := range entries {
		var content []byte
		if content, err = fs.ReadFile(x.files, entry.Name()); err != nil {
			break
		}
		if err = do(filepath.Join(x.folder, entry.Name()), content); err != nil {
			break
		}
	}
	return err
}
