package vision_test

import (
	"context"
	"image"
	"image/color"
	"image/draw"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit"
	"github.com/gybob/aai-gateway/internal/vision"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// theme is the colors of a window, its text and its small text.
type theme struct{ window, text, small color.RGBA }

func themes() map[string]theme {
	return map[string]theme{
		"light": {color.RGBA{255, 255, 255, 255}, color.RGBA{34, 34, 34, 255}, color.RGBA{119, 119, 119, 255}},
		"dark":  {color.RGBA{30, 30, 30, 255}, color.RGBA{238, 238, 238, 255}, color.RGBA{153, 153, 153, 255}},
		"warm":  {color.RGBA{244, 239, 230, 255}, color.RGBA{51, 51, 51, 255}, color.RGBA{130, 118, 100, 255}},
	}
}

// painter draws a window with rows of words, and knows their places.
type painter struct {
	t       *testing.T
	picture *image.RGBA
	at      map[string]image.Rectangle
}

func (p *painter) word(text string, x, y int, size float64, ink color.RGBA, button *color.RGBA) {
	p.t.Helper()
	parsed, err := opentype.Parse(goregular.TTF)
	assert.NilError(p.t, err)
	face, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: size, DPI: 72, Hinting: font.HintingFull})
	assert.NilError(p.t, err)
	width := font.MeasureString(face, text).Ceil()
	box := image.Rect(x, y-int(size), x+width, y+int(size/3))
	if button != nil {
		draw.Draw(p.picture, box.Inset(-8), image.NewUniform(*button), image.Point{}, draw.Src)
	}
	d := font.Drawer{Dst: p.picture, Src: image.NewUniform(ink), Face: face, Dot: fixed.P(x, y)}
	d.DrawString(text)
	p.at[text] = box
}

// TestReadWords: words on windows and buttons of all colors are found at their places, and no others.
func TestReadWords(t *testing.T) {
	buttons := []color.RGBA{{26, 115, 232, 255}, {217, 48, 37, 255}, {24, 128, 56, 255}, {106, 27, 154, 255}, {245, 124, 0, 255}, {0, 105, 92, 255}}
	words := strings.Fields("Approve Refund Cancel Invoice Settings Delete Archive Amount Customer Shipping Weekly Report Export Reload Search Filter Status Pending Closed Berlin London Quantity Remove Share Details Profile Billing Address Payment Method")
	testkit.Need(t, "tesseract")
	for name, colors := range themes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &painter{t: t, picture: image.NewRGBA(image.Rect(0, 0, 640, 360)), at: map[string]image.Rectangle{}}
			draw.Draw(p.picture, p.picture.Rect, image.NewUniform(colors.window), image.Point{}, draw.Src)
			for i, word := range words {
				x, y := 20+120*(i%5), 40+55*(i/5)
				switch i % 3 {
				case 0:
					p.word(word, x, y, 15, colors.text, nil)
				case 1:
					p.word(word, x, y, 11, colors.small, nil)
				case 2:
					p.word(word, x, y, 13, color.RGBA{255, 255, 255, 255}, &buttons[i%len(buttons)])
				}
			}
			lines, err := new(vision.Reader).Read(t.Context(), p.picture)
			assert.NilError(t, err)
			found, wrong := 0, 0
			for _, line := range lines {
				for _, w := range line {
					middle := w.Frame.Min.Add(w.Frame.Size().Div(2))
					if at, is := p.at[w.Text]; is && middle.In(at) {
						found++
					} else {
						wrong++
						t.Logf("%q at %v", w.Text, w.Frame)
					}
				}
			}
			assert.Check(t, found >= len(words)-1, "%d of %d words are found", found, len(words))
			assert.Check(t, wrong <= 1, "%d words are wrong", wrong)
		})
	}
}

// TestReadWithoutTesseract: the error says what is missing.
func TestReadWithoutTesseract(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := new(vision.Reader).Read(t.Context(), image.NewRGBA(image.Rect(0, 0, 9, 9)))
	assert.Check(t, is.ErrorContains(err, "not installed"))
}

// TestReadIsCancelled: the end of the context ends Tesseract.
func TestReadIsCancelled(t *testing.T) {
	testkit.Need(t, "tesseract")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := new(vision.Reader).Read(ctx, image.NewRGBA(image.Rect(0, 0, 99, 99)))
	assert.Check(t, err != nil, "it was read")
}
