package vision

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// ErrNoBaseline is returned for a baseline that was not kept.
var ErrNoBaseline = errors.New("there is no such baseline")

// maxBaselines limits the kept baselines of all programs.
const maxBaselines = 500

// A Sealer encrypts pictures that other programs must not read. Open fails for another id than that of Seal.
type Sealer interface {
	Seal(ctx context.Context, id string, content []byte) ([]byte, error)
	Open(ctx context.Context, id string, box []byte) ([]byte, error)
}

// Baselines keeps pictures to compare with, by the id of a program and a name. It is safe for concurrent use.
type Baselines struct {
	Folder string // created when needed
	Sealer Sealer
}

// CheckName returns an error unless the name is one of a baseline.
func CheckName(name string) error {
	if !regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$`).MatchString(name) {
		return errors.New("expected a name of letters, digits, points, hyphens and underscores, or a PNG as base64")
	}
	return nil
}

func (b *Baselines) path(program, name string) (id, path string) {
	sum := sha256.Sum256([]byte(program + "\x00" + name))
	id = hex.EncodeToString(sum[:])
	return "baseline/" + id, filepath.Join(b.Folder, id+".sealed")
}

// Load returns the picture, or ErrNoBaseline.
func (b *Baselines) Load(ctx context.Context, program, name string) (*image.RGBA, error) {
	id, path := b.path(program, name)
	box, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoBaseline
	}
	if err != nil {
		return nil, err
	}
	data, err := b.Sealer.Open(ctx, id, box)
	if err != nil {
		return nil, err
	}
	return DecodePNG(data)
}

// Save keeps the picture, a PNG, in place of an earlier one.
func (b *Baselines) Save(ctx context.Context, program, name string, data []byte) error {
	id, path := b.path(program, name)
	box, err := b.Sealer.Seal(ctx, id, data)
	if err != nil {
		return err
	}
	if err := atomicfile.EnsureDir(path); err != nil {
		return err
	}
	if _, err := os.Stat(path); err != nil {
		if all, err := os.ReadDir(b.Folder); err == nil && len(all) >= maxBaselines {
			return fmt.Errorf("%d baselines are kept already; remove some files of %s", len(all), b.Folder)
		}
	}
	return atomicfile.Replace(path, box)
}

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
