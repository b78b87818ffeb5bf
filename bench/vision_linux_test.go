package bench

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/vision"

	xdraw "golang.org/x/image/draw"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// canvasSize is the size of the pictures.
var canvasSize = image.Rect(0, 0, 1600, 1000)

// drawnWindow returns a picture of a window with rows of words and buttons.
func drawnWindow(b *testing.B, random *rand.Rand) *image.RGBA {
	b.Helper()
	parsed, err := opentype.Parse(goregular.TTF)
	assert.NilError(b, err)
	face, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: 14, DPI: 72, Hinting: font.HintingFull})
	assert.NilError(b, err)
	picture := image.NewRGBA(canvasSize)
	draw.Draw(picture, picture.Rect, image.White, image.Point{}, draw.Src)
	words := []string{"Approve", "Refund", "Invoice", "Customer", "Shipping", "Weekly", "Settings", "Archive"}
	for y := 40; y < 980; y += 30 {
		for x := 20; x < 1500; x += 150 {
			ink := image.Image(image.Black)
			if random.IntN(4) == 0 {
				fill := color.RGBA{uint8(random.IntN(120)), uint8(random.IntN(120)), uint8(random.IntN(200)), 255}
				draw.Draw(picture, image.Rect(x-6, y-17, x+110, y+8), image.NewUniform(fill), image.Point{}, draw.Src)
				ink = image.White
			}
			d := font.Drawer{Dst: picture, Src: ink, Face: face, Dot: fixed.P(x, y)}
			d.DrawString(words[random.IntN(len(words))])
		}
	}
	return picture
}

// changed returns the picture with a change of the given kind: none, an invisible tint, a new word, a moved part, a
// new color, one pixel in a hundred, or smoothing.
func changed(picture *image.RGBA, kind int, random *rand.Rand) *image.RGBA {
	out := image.NewRGBA(picture.Rect)
	draw.Draw(out, out.Rect, picture, image.Point{}, draw.Src)
	at := image.Rect(0, 0, 100, 25).Add(image.Pt(random.IntN(1400), random.IntN(900)))
	switch kind % 7 {
	case 1:
		for i := range out.Pix {
			if i%4 != 3 && out.Pix[i] > 250 {
				out.Pix[i] -= 3
			}
		}
	case 2:
		draw.Draw(out, at, image.NewUniform(color.RGBA{20, 20, 20, 255}), image.Point{}, draw.Src)
	case 3:
		draw.Draw(out, at.Add(image.Pt(40, 9)), picture, at.Min, draw.Src)
	case 4:
		draw.Draw(out, at.Inset(-40), image.NewUniform(color.RGBA{255, 210, 210, 255}), image.Point{}, draw.Over)
	case 5:
		for range 16000 {
			out.SetRGBA(random.IntN(1600), random.IntN(1000), color.RGBA{200, 0, 200, 255})
		}
	case 6:
		xdraw.ApproxBiLinear.Scale(out, at, picture, at.Add(image.Pt(0, 0)).Inset(1), xdraw.Src, nil)
	}
	return out
}

func writePNG(b *testing.B, path string, picture image.Image) {
	b.Helper()
	f, err := os.Create(path)
	if err == nil {
		err = errors.Join((&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(f, picture), f.Close())
	}
	assert.NilError(b, err)
}

// BenchmarkVision measures reading, marking and comparing pictures, beside Tesseract and odiff.
func BenchmarkVision(b *testing.B) {
	rounds := roundLimit(b, 5)
	random := rand.New(rand.NewPCG(1, 2))
	var t table
	folder := b.TempDir()
	picture := drawnWindow(b, random)
	t.readRow(b, picture, folder, rounds)
	t.marksRow(b, picture, rounds)
	t.diffRows(b, picture, folder, rounds, random)
	b.ReportMetric(0, "ns/op")
	b.Log(t.String())
}

func (t *table) readRow(b *testing.B, picture *image.RGBA, folder string, rounds int) {
	b.Helper()
	large := image.NewRGBA(image.Rectangle{Max: picture.Rect.Size().Mul(2)})
	xdraw.BiLinear.Scale(large, large.Rect, picture, picture.Rect, xdraw.Src, nil)
	path := filepath.Join(folder, "large.png")
	writePNG(b, path, large)
	reader := &vision.Reader{}
	var ours, bare samples
	words := 0
	for range rounds {
		begun := time.Now()
		lines, err := reader.Read(b.Context(), picture)
		assert.NilError(b, err)
		ours.add(time.Since(begun))
		words = 0
		for _, line := range lines {
			words += len(line)
		}
		begun = time.Now()
		cmd := exec.CommandContext(b.Context(), "tesseract", path, "stdout", "--psm", "11", "--dpi", "150", "tsv")
		cmd.Env = append(os.Environ(), "OMP_THREAD_LIMIT=1")
		assert.NilError(b, cmd.Run())
		bare.add(time.Since(begun))
	}
	r := ratio(ours.median(), bare.median())
	t.judge(fmt.Sprintf("words of a picture of 1600 × 1000, %d of 320", words), millis(ours.median()), "bare tesseract, enlarged "+millis(bare.median()), times(r), "≤ 1.3×", r <= 1.3)
}

func (t *table) marksRow(b *testing.B, picture *image.RGBA, rounds int) {
	b.Helper()
	var marks []vision.Mark
	for i := range 200 {
		at := image.Pt(20+150*(i%10), 40+45*(i/10))
		marks = append(marks, vision.Mark{Label: fmt.Sprint("e", i+1), Frame: image.Rectangle{at, at.Add(image.Pt(110, 24))}})
	}
	var took samples
	for range rounds {
		copied := image.NewRGBA(picture.Rect)
		draw.Draw(copied, copied.Rect, picture, image.Point{}, draw.Src)
		took.add(elapsed(func() { vision.DrawMarks(copied, marks, image.Point{}, 1) }))
	}
	t.judge("200 marks", millis(took.median()), "", "", "≤ 15 ms", took.median() <= 15*time.Millisecond)
}

// diffRows compares the verdicts on forty pairs, and the time of one, with odiff.
func (t *table) diffRows(b *testing.B, picture *image.RGBA, folder string, rounds int, random *rand.Rand) {
	b.Helper()
	odiff, missing := installed("@odiff", "linux-"+nodeArch(), "odiff")
	one, other := filepath.Join(folder, "one.png"), filepath.Join(folder, "other.png")
	writePNG(b, one, picture)
	const pairs = 40
	same := 0
	var ours, theirs samples
	for i := range pairs {
		next := changed(picture, i, random)
		writePNG(b, other, next)
		begun := time.Now()
		before, after := readPNG(b, one), readPNG(b, other)
		diff, err := vision.Compare(before, after, nil, true)
		assert.NilError(b, err)
		ours.add(time.Since(begun))
		begun = time.Now()
		cmd := exec.CommandContext(context.WithoutCancel(b.Context()), odiff, one, other, filepath.Join(folder, "out.png"), "--antialiasing", "--threshold", "0.1")
		code := cmd.Run()
		theirs.add(time.Since(begun))
		if (diff.Differing > 0) == (code != nil) {
			same++
		} else {
			b.Logf("pair %d of kind %d: %d pixels differ, odiff: %v", i, i%7, diff.Differing, code)
		}
		if rounds == 1 && i == 6 {
			break
		}
	}
	if missing != nil {
		t.add("comparison of two pictures of 1600 × 1000", millis(ours.median()), "odiff did not run: "+missing.Error(), "")
		return
	}
	r := ratio(ours.median(), theirs.median())
	t.judge("comparison of two pictures of 1600 × 1000", millis(ours.median()), "odiff "+millis(theirs.median()), times(r), "≤ 1.5×", r <= 1.5)
	t.judge("the same verdict as odiff", fmt.Sprintf("%d of %d pairs", same, len(ours)), "", "", "all", same == len(ours))
}

func readPNG(b *testing.B, path string) *image.RGBA {
	b.Helper()
	data, err := os.ReadFile(path)
	assert.NilError(b, err)
	picture, err := vision.DecodePNG(data)
	assert.NilError(b, err)
	return picture
}
