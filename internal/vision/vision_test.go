package vision_test

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"testing"

	xdraw "golang.org/x/image/draw"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway/internal/vision"
)

func TestMatch(t *testing.T) {
	texts := []string{"Approve", "Refund all", "Total 12.50 €", "approve", "Weekly Report", "Settlngs"}
	for description, want := range map[string][]int{
		"Approve": {0, 3}, "the Approve button": {0, 3}, `the button "Refund all" on the right`: {1}, "refund": {1}, "total 12.50 €": {2},
		"Settings": {5}, "Report": {4}, "the button": nil, "Publish": nil, "": nil,
	} {
		got := vision.Match(texts, description)
		assert.Check(t, slices.Equal(got, want), "%q matches %v, want %v", description, got, want)
	}
}

// TestMarksStayApart: labels are drawn for random frames, and only within the picture.
func TestMarksStayApart(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		picture := image.NewRGBA(image.Rect(0, 0, 300, 200))
		var marks []vision.Mark
		for i := range rapid.IntRange(0, 30).Draw(rt, "marks") {
			x, y := rapid.IntRange(-50, 320).Draw(rt, "x"), rapid.IntRange(-50, 220).Draw(rt, "y")
			w, h := rapid.IntRange(0, 200).Draw(rt, "w"), rapid.IntRange(0, 100).Draw(rt, "h")
			marks = append(marks, vision.Mark{Label: fmt.Sprint("e", i), Frame: image.Rect(x, y, x+w, y+h)})
		}
		labels := vision.DrawMarks(picture, marks, image.Pt(0, 0), 1)
		for i, a := range labels {
			assert.Check(rt, a.In(picture.Rect), "the label %v is not in the picture", a)
			for _, b := range labels[i+1:] {
				assert.Check(rt, !a.Overlaps(b), "the labels %v and %v overlap", a, b)
			}
		}
	})
}

// TestDifferingShare: a moved text differs, a caret hardly.
func TestDifferingShare(t *testing.T) {
	one, other := image.NewRGBA(image.Rect(0, 0, 50, 20)), image.NewRGBA(image.Rect(0, 0, 50, 20))
	for y := range 20 {
		other.Pix[y*other.Stride+40] = 255
	}
	assert.Check(t, is.Equal(vision.DifferingShare(one, other), 0.02))
	got := vision.DifferingShare(one, image.NewRGBA(image.Rect(0, 0, 51, 20)))
	assert.Check(t, got == 1, "another size is %v", got)
}

// painted returns a gray picture with white rectangles.
func painted(at ...image.Rectangle) *image.RGBA {
	picture := image.NewRGBA(image.Rect(0, 0, 100, 50))
	draw.Draw(picture, picture.Rect, image.NewUniform(color.Gray{128}), image.Point{}, draw.Src)
	for _, r := range at {
		draw.Draw(picture, r, image.White, image.Point{}, draw.Src)
	}
	return picture
}

func TestPictures(t *testing.T) {
	small, scale := vision.Scale(painted(), 50)
	if small.Rect.Size() != image.Pt(50, 25) || scale != 0.5 {
		t.Errorf("%v by %v", small.Rect, scale)
	}
	if same, scale := vision.Scale(painted(), 100); same.Rect.Size() != image.Pt(100, 50) || scale != 1 {
		t.Errorf("%v by %v", same.Rect, scale)
	}
	part := vision.Crop(painted(image.Rect(10, 20, 30, 25)), image.Rect(10, 20, 30, 26))
	data, err := vision.EncodePNG(part)
	assert.NilError(t, err)
	read, err := png.Decode(bytes.NewReader(data))
	if err != nil || read.Bounds().Size() != image.Pt(20, 6) {
		t.Fatalf("%v, %v", read.Bounds(), err)
	}
	r, _, _, _ := read.At(19, 4).RGBA()
	assert.Check(t, r == 0xffff, "the part is another")
	r, _, _, _ = read.At(0, 5).RGBA()
	assert.Check(t, r != 0xffff, "the part is another")
}

// TestScaleInterpolates: the pixels are those of another bilinear scaler, up to rounding.
func TestScaleInterpolates(t *testing.T) {
	picture := image.NewRGBA(image.Rect(0, 0, 97, 61))
	for i := range picture.Pix {
		picture.Pix[i] = uint8(i * i * 7 >> 3)
		if i%4 == 3 {
			picture.Pix[i] = 255
		}
	}
	for _, side := range []int{96, 70, 31, 5, 1} {
		small, _ := vision.Scale(picture, side)
		want := image.NewRGBA(small.Rect)
		xdraw.ApproxBiLinear.Scale(want, want.Rect, picture, picture.Rect, xdraw.Src, nil)
		for i, got := range small.Pix {
			if d := int(got) - int(want.Pix[i]); d < -2 || d > 2 {
				t.Fatalf("to %d: byte %d is %d, want %d", side, i, got, want.Pix[i])
			}
		}
	}
}

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
