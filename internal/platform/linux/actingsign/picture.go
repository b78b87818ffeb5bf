package actingsign

import (
	"image"
	"image/color"
	"image/draw"
	"math"
	"strings"

	"golang.org/x/image/font"
	"golang.org/x/image/font/inconsolata"
	"golang.org/x/image/math/fixed"
)

// The look of the sign, in logical pixels.
const (
	signHeight  = 26
	signPadding = 10
	signDot     = 10 // diameter
	maxLabel    = 90 // characters
)

// Margin is the distance of the sign to the edges of the free area, in logical pixels.
const Margin = 12

// Picture returns the picture of the sign: a red dot and the label.
func Picture(label string, scale float64) *image.RGBA {
	face := inconsolata.Regular8x16
	label = drawable(label)
	width := 3*signPadding + signDot + font.MeasureString(face, label).Ceil()
	small := image.NewRGBA(image.Rect(0, 0, width, signHeight))
	ground, edge, dot := color.RGBA{0x22, 0x22, 0x26, 0xff}, color.RGBA{0x77, 0x77, 0x80, 0xff}, color.RGBA{0xff, 0x4d, 0x4d, 0xff}
	draw.Draw(small, small.Bounds(), image.NewUniform(edge), image.Point{}, draw.Src)
	draw.Draw(small, small.Bounds().Inset(1), image.NewUniform(ground), image.Point{}, draw.Src)
	const top = (signHeight - signDot) / 2
	for y := range signDot {
		for x := range signDot {
			if dx, dy := 2*x+1-signDot, 2*y+1-signDot; dx*dx+dy*dy <= signDot*signDot {
				small.SetRGBA(signPadding+x, top+y, dot)
			}
		}
	}
	text := font.Drawer{Dst: small, Src: image.White, Face: face, Dot: fixed.P(2*signPadding+signDot, 18)}
	text.DrawString(label)
	return enlarge(small, max(1, int(math.Round(scale))))
}

// drawable returns the label with only characters that the font has, and cut to maxLabel.
func drawable(label string) string {
	runes := []rune(strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, label))
	if len(runes) > maxLabel {
		runes = append(runes[:maxLabel-3], '.', '.', '.')
	}
	return string(runes)
}

// enlarge returns the picture with each pixel repeated.
func enlarge(small *image.RGBA, times int) *image.RGBA {
	if times == 1 {
		return small
	}
	size := small.Bounds().Size()
	large := image.NewRGBA(image.Rect(0, 0, times*size.X, times*size.Y))
	for y := range times * size.Y {
		for x := range times * size.X {
			large.SetRGBA(x, y, small.RGBAAt(x/times, y/times))
		}
	}
	return large
}
