package vision_test

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/vision"
	xdraw "golang.org/x/image/draw"
)

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
