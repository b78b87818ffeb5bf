package screen

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"testing"

	"gotest.tools/v3/assert"
)

func TestPicturesSurviveTheClipboardsForm(t *testing.T) {
	picture := image.NewNRGBA(image.Rect(0, 0, 3, 2))
	picture.SetNRGBA(0, 0, color.NRGBA{0xff, 0x80, 0x10, 0xff})
	picture.SetNRGBA(2, 1, color.NRGBA{0x01, 0x02, 0x03, 0x40})
	var b bytes.Buffer
	assert.NilError(t, png.Encode(&b, picture))
	dib, err := dibFromPNG(b.Bytes())
	assert.NilError(t, err)
	assert.Equal(t, len(dib), dibHeader+4*3*2)
	back, err := pngFromDIB(dib)
	assert.NilError(t, err)
	decoded, err := png.Decode(bytes.NewReader(back))
	assert.NilError(t, err)
	for y := range 2 {
		for x := range 3 {
			assert.Equal(t, color.NRGBAModel.Convert(decoded.At(x, y)), color.NRGBAModel.Convert(picture.At(x, y)), "%d,%d", x, y)
		}
	}
}

func TestFaultyPicturesOfTheClipboardAreRefused(t *testing.T) {
	whole, err := dibFromPNG(pngOf(t, 2, 2))
	assert.NilError(t, err)
	long := bytes.Clone(whole)
	long[0], long[1] = 0xff, 0xff
	wide := bytes.Clone(whole)
	wide[7] = 0x7f
	for name, data := range map[string][]byte{"empty": nil, "short": whole[:20], "cut": whole[:len(whole)-5], "a long header": long, "too wide": wide} {
		_, err := pngFromDIB(data)
		assert.Check(t, err != nil, name)
	}
	_, err = dibFromPNG([]byte("no picture"))
	assert.Check(t, err != nil)
}

func FuzzPNGFromDIB(f *testing.F) {
	whole, err := dibFromPNG(pngOf(f, 2, 2))
	assert.NilError(f, err)
	f.Add(whole)
	f.Fuzz(func(_ *testing.T, data []byte) { _, _ = pngFromDIB(data) })
}

func pngOf(t testing.TB, width, height int) []byte {
	t.Helper()
	var b bytes.Buffer
	assert.NilError(t, png.Encode(&b, image.NewNRGBA(image.Rect(0, 0, width, height))))
	return b.Bytes()
}
