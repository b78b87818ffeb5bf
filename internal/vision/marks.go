package vision

import (
	"image"
	"image/color"
	"image/draw"
	"slices"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"
)

// A Mark is a label for a rectangle of the screen.
type Mark struct {
	Label string
	Frame image.Rectangle
}

// The size of a label's text, in pixels; it is not scaled, so that it stays legible.
const (
	glyphWidth  = 7
	labelHeight = 13
)

// DrawMarks draws a frame and a label for each mark into a picture that shows the screen from the point origin, scaled.
// It returns the places of the labels, which never overlap each other. A mark without a place for its label gets only
// its frame.
func DrawMarks(picture *image.RGBA, marks []Mark, origin image.Point, scale float64) (labeled []image.Rectangle) {
	frames := make([]image.Rectangle, len(marks))
	for i, m := range marks {
		frames[i] = scaled(m.Frame.Sub(origin), scale).Intersect(picture.Rect)
	}
	var labels []func() // drawn above all frames
	for i, m := range marks {
		if frames[i].Empty() {
			continue
		}
		ink := inks()[i%len(inks())]
		drawFrame(picture, frames[i], image.NewUniform(ink), 1)
		at, found := placeLabel(picture.Rect, frames[i], image.Pt(glyphWidth*len(m.Label)+2, labelHeight), labeled, frames)
		if !found {
			continue
		}
		labeled = append(labeled, at)
		labels = append(labels, func() { drawLabel(picture, at, m.Label, ink) })
	}
	for _, draw := range labels {
		draw()
	}
	return labeled
}

// inks returns the colors of marks; white text is legible on each.
func inks() []color.RGBA {
	return []color.RGBA{{190, 20, 40, 255}, {20, 90, 200, 255}, {0, 120, 60, 255}, {130, 30, 160, 255}, {160, 80, 0, 255}}
}

func scaled(r image.Rectangle, by float64) image.Rectangle {
	at := func(v int) int { return int(float64(v) * by) }
	return image.Rect(at(r.Min.X), at(r.Min.Y), at(r.Max.X), at(r.Max.Y))
}

// placeLabel returns a place for a label beside or in its frame that overlaps no other label and, if possible, no other
// frame.
func placeLabel(picture, frame image.Rectangle, size image.Point, taken, frames []image.Rectangle) (image.Rectangle, bool) {
	var places []image.Rectangle
	for _, at := range []image.Point{
		{frame.Min.X, frame.Min.Y - size.Y}, {frame.Max.X - size.X, frame.Min.Y - size.Y}, {frame.Min.X, frame.Max.Y},
		{frame.Min.X - size.X, frame.Min.Y}, {frame.Max.X, frame.Min.Y}, {frame.Max.X - size.X, frame.Max.Y},
		{frame.Max.X - size.X, frame.Min.Y}, {frame.Min.X, frame.Min.Y}, {frame.Max.X - size.X, frame.Max.Y - size.Y}, {frame.Min.X, frame.Max.Y - size.Y},
	} {
		place := image.Rectangle{at, at.Add(size)}
		if place.In(picture) && !slices.ContainsFunc(taken, place.Overlaps) {
			places = append(places, place)
		}
	}
	for _, place := range places {
		if !slices.ContainsFunc(frames, func(f image.Rectangle) bool { return f != frame && place.Overlaps(f) && !frame.In(f) }) {
			return place, true
		}
	}
	if len(places) == 0 {
		return image.Rectangle{}, false
	}
	return places[0], true
}

// drawLabel draws white text on the color.
func drawLabel(picture *image.RGBA, at image.Rectangle, text string, ink color.RGBA) {
	draw.Draw(picture, at, image.NewUniform(ink), image.Point{}, draw.Src)
	const baseline = 10
	d := font.Drawer{Dst: picture, Src: image.White, Face: basicfont.Face7x13, Dot: fixed.P(at.Min.X+1, at.Min.Y+baseline)}
	d.DrawString(text)
}
