package vision_test

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/vision"
)

// pixel returns a PNG with one pixel of that shade.
func pixel(t *testing.T, shade uint8) []byte {
	t.Helper()
	picture := image.NewRGBA(image.Rect(0, 0, 1, 1))
	picture.SetRGBA(0, 0, color.RGBA{shade, shade, shade, 255})
	var b bytes.Buffer
	assert.NilError(t, png.Encode(&b, picture))
	return b.Bytes()
}

// TestProjectBaselines: pictures are kept in the folder of a project that has one.
func TestProjectBaselines(t *testing.T) {
	project := t.TempDir()
	if err := vision.SaveInProject(project, "start", pixel(t, 1)); !errors.Is(err, vision.ErrNoBaseline) {
		t.Errorf("without the folder: %v", err)
	}
	folder := filepath.Join(project, ".aai", "baselines")
	assert.NilError(t, os.MkdirAll(folder, 0o700))
	if _, err := vision.LoadFromProject(project, "start"); !errors.Is(err, vision.ErrNoBaseline) {
		t.Errorf("without the file: %v", err)
	}
	for _, shade := range []uint8{1, 2} {
		assert.NilError(t, vision.SaveInProject(project, "start", pixel(t, shade)))
	}
	got, err := vision.LoadFromProject(project, "start")
	assert.NilError(t, err)
	assert.Check(t, got.RGBAAt(0, 0).R == 2, "the pixel is %v", got.RGBAAt(0, 0))
	all, _ := os.ReadDir(folder)
	assert.Assert(t, is.Len(all, 1))
	assert.Equal(t, all[0].Name(), "start.png")
}

// TestProjectBaselinesStayInside: a link leads to no picture, and no file, outside the folder.
func TestProjectBaselinesStayInside(t *testing.T) {
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret.png")
	assert.NilError(t, os.WriteFile(secret, pixel(t, 7), 0o600))
	links := map[string]func(project string) error{
		"file": func(project string) error {
			return errors.Join(os.MkdirAll(filepath.Join(project, ".aai/baselines"), 0o700), os.Symlink(secret, filepath.Join(project, ".aai/baselines/secret.png")))
		},
		"folder": func(project string) error {
			return errors.Join(os.MkdirAll(filepath.Join(project, ".aai"), 0o700), os.Symlink(outside, filepath.Join(project, ".aai/baselines")))
		},
		"parent": func(project string) error {
			return errors.Join(os.Mkdir(filepath.Join(outside, "baselines"), 0o700), os.WriteFile(filepath.Join(outside, "baselines/secret.png"), pixel(t, 7), 0o600), os.Symlink(outside, filepath.Join(project, ".aai")))
		},
	}
	for name, link := range links {
		project := t.TempDir()
		assert.NilError(t, link(project))
		_, err := vision.LoadFromProject(project, "secret")
		assert.Check(t, err != nil, "%s: the picture outside was read", name)
		assert.Check(t, vision.SaveInProject(project, "secret", pixel(t, 9)) != nil, "%s: a picture was written", name)
	}
	data, err := os.ReadFile(secret)
	assert.Check(t, bytes.Equal(data, pixel(t, 7)), "the file outside has changed: %v", err)
}
