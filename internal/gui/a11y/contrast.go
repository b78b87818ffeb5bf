package a11y

import (
	"cmp"
	"fmt"
	"image"
	"image/color"
	"maps"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/gybob/aai-gateway/internal/desktop"
)

const (
	// largeText is the height of an element, in pixels, from which its text counts as large.
	largeText = 32
	// minBackgroundShare is the share of pixels that must have the color of the background. With less, the background is
	// a picture or a gradient, and the contrast is unknown.
	minBackgroundShare = 0.4
	// minTextPixels is the number of pixels that contrast as much as the text, or more.
	minTextPixels = 3
	// minInk is the number of pixels of a text that can be judged: a point is all smoothed edges.
	minInk = 12
	// buttonBorder is the width of the edge of a button, in pixels, which is no text.
	buttonBorder = 3
	// minLetterWidth is the least average width of a letter, in heights of the text.
	minLetterWidth = 0.3
	// maxContrastArea limits the elements with checked text, in pixels: larger ones are no single text.
	maxContrastArea = 400_000
)

// lowContrast returns a check for text with less than the ratio, or than largeRatio for large text.
func lowContrast(ratio, largeRatio float64) func(*audit, int) string {
	return func(a *audit, i int) string {
		e := &a.Snapshot.Elements[i]
		if a.Picture == nil || !a.showsOwnText(i) || e.Frame.W*e.Frame.H > maxContrastArea {
			return ""
		}
		at := image.Rect(e.Frame.X, e.Frame.Y, e.Frame.X+e.Frame.W, e.Frame.Y+e.Frame.H).Sub(a.Origin)
		if !at.In(a.Picture.Rect) {
			return ""
		}
		at = at.Inset(1) // a frame is rounded up to whole pixels
		if e.Role == desktop.Button {
			at = at.Inset(buttonBorder)
		}
		text, background, known := textColors(a.Picture, at)
		if known && !isWideAs(e.Name, inkOf(a.Picture, at, background)) {
			return "" // a picture, and not the name
		}
		wanted := ratio
		if e.Frame.H >= largeText && e.Role != desktop.Button {
			wanted = largeRatio
		}
		got := contrastRatio(text, background)
		if !known || got >= wanted {
			return ""
		}
		return fmt.Sprintf("its text has a contrast of %.1f : 1, expected %.1f : 1 (text #%02x%02x%02x on #%02x%02x%02x)", math.Floor(10*got)/10, wanted, text.R, text.G, text.B, background.R, background.G, background.B)
	}
}

// showsOwnText reports whether the element draws a text, and nothing inside it does.
func (a *audit) showsOwnText(i int) bool {
	e := &a.Snapshot.Elements[i]
	if desktop.IsBlank(e.Name) || e.Frame.Empty() {
		return false
	}
	switch e.Role {
	case desktop.Text, desktop.Label, desktop.Heading, desktop.Paragraph, desktop.Link, desktop.Button:
	default:
		return false
	}
	for p := i; p >= 0; p = a.Snapshot.Elements[p].Parent {
		if up := &a.Snapshot.Elements[p]; up.Role.IsInteractive() && !up.States.Has(desktop.Enabled) {
			return false // disabled controls are exempt
		}
	}
	for c := i + 1; c < e.End; c++ {
		if a.Snapshot.Elements[c].Role.IsTextual() || !desktop.IsBlank(a.Snapshot.Elements[c].Name) {
			return false
		}
	}
	return true
}

// textColors returns the most frequent color in the part of the picture, and the color of those that contrast most with
// it.
func textColors(picture *image.RGBA, at image.Rectangle) (text, background color.RGBA, known bool) {
	counts := make(map[color.RGBA]int)
	for y := at.Min.Y; y < at.Max.Y; y++ {
		for x := at.Min.X; x < at.Max.X; x++ {
			counts[picture.RGBAAt(x, y)]++
		}
	}
	for c, n := range counts {
		if n > counts[background] {
			background = c
		}
	}
	if float64(counts[background]) < minBackgroundShare*float64(at.Dx()*at.Dy()) {
		return text, background, false
	}
	colors := slices.Collect(maps.Keys(counts))
	slices.SortFunc(colors, func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(contrastRatio(b, background), contrastRatio(a, background)), cmp.Compare(luminance(a), luminance(b)))
	})
	best, pixels := 0.0, 0
	for _, c := range colors { // each smoothed pixel of a thin letter may have a color of its own
		text, best, pixels = c, contrastRatio(c, background), pixels+counts[c]
		if pixels >= minTextPixels {
			break
		}
	}
	const visible = 1.1 // with less, no text shows
	ink := 0
	for _, c := range colors {
		if contrastRatio(c, background) >= (1+best)/2 {
			ink += counts[c]
		}
	}
	return text, background, best > visible && ink >= minInk
}

// inkOf returns the rectangle around all pixels that clearly differ from the background.
func inkOf(picture *image.RGBA, at image.Rectangle, background color.RGBA) (ink image.Rectangle) {
	const visible = 1.3
	for y := at.Min.Y; y < at.Max.Y; y++ {
		for x := at.Min.X; x < at.Max.X; x++ {
			if contrastRatio(picture.RGBAAt(x, y), background) > visible {
				ink = ink.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return ink
}

// isWideAs reports whether the drawn part can be the text: a picture is narrower than a text of some letters.
func isWideAs(text string, ink image.Rectangle) bool {
	lines := max(1, ink.Dy()/largeText)
	return float64(ink.Dx()*lines) >= minLetterWidth*float64(utf8.RuneCountInString(text)*ink.Dy()/lines)
}

// contrastRatio returns the ratio of two colors as WCAG defines it, from 1 to 21.
func contrastRatio(a, b color.RGBA) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(c color.RGBA) float64 {
	linear := func(v uint8) float64 {
		s := float64(v) / 255
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
}
