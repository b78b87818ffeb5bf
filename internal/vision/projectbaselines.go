package vision

import (
	"errors"
	"image"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// projectFolder is the folder of the pictures to compare with in a project.
const projectFolder = ".aai/baselines"

// maxBaselineFile limits a picture of a project, in bytes.
const maxBaselineFile = 64 << 20

// LoadFromProject returns the picture NAME.png in the project's folder of baselines, or ErrNoBaseline. It opens no file
// outside that folder, also not through links.
func LoadFromProject(project, name string) (*image.RGBA, error) {
	folder, err := openBaselines(project)
	if err != nil {
		return nil, err
	}
	defer folder.Close() //nolint:errcheck // it was only read
	file := name + ".png"
	switch info, err := folder.Lstat(file); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, ErrNoBaseline
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("expected a file, and no link to one")
	}
	f, err := folder.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	data, err := io.ReadAll(io.LimitReader(f, maxBaselineFile))
	if err != nil {
		return nil, err
	}
	return DecodePNG(data)
}

// SaveInProject writes the picture, a PNG, to NAME.png in the project's folder of baselines, in place of an earlier one.
// It returns ErrNoBaseline if the project has no such folder.
func SaveInProject(project, name string, data []byte) error {
	folder, err := openBaselines(project)
	if err != nil {
		return err
	}
	defer folder.Close() //nolint:errcheck // the file is closed
	file, unfinished := name+".png", "."+name+".png.new"
	if info, err := folder.Lstat(file); err == nil && !info.Mode().IsRegular() {
		return errors.New("expected a file, and no link to one")
	}
	if err := folder.Remove(unfinished); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := folder.OpenFile(unfinished, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, folder.Remove(unfinished))
	}
	return folder.Rename(unfinished, file)
}

// HasBaselines reports whether the project has a folder of baselines.
func HasBaselines(project string) bool {
	folder, err := openBaselines(project)
	if err == nil {
		_ = folder.Close()
	}
	return !errors.Is(err, ErrNoBaseline)
}

// openBaselines opens the project's folder of baselines. It returns ErrNoBaseline if there is none.
func openBaselines(project string) (*os.Root, error) {
	root, err := os.OpenRoot(project)
	if err != nil {
		return nil, ErrNoBaseline
	}
	defer root.Close() //nolint:errcheck // nothing was written by it
	folder, err := root.OpenRoot(filepath.FromSlash(projectFolder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoBaseline
	}
	return folder, err
}
