package vision

import (
	"image"
	"image/color"
	"image/draw"
)

// DrawBox draws a frame of two pixels into the picture, red for the main one and blue for others.
func DrawBox(picture *image.RGBA, at image.Rectangle, main bool) {
	ink := image.NewUniform(color.RGBA{30, 100, 220, 255})
	if main {
		ink = image.NewUniform(color.RGBA{220, 20, 40, 255})
	}
	drawFrame(picture, at, ink, 2)
}

// drawFrame draws the inner border of the rectangle, width pixels wide.
func drawFrame(picture *image.RGBA, at image.Rectangle, ink image.Image, width int) {
	for _, side := range []image.Rectangle{
		{at.Min, image.Pt(at.Max.X, at.Min.Y+width)}, {image.Pt(at.Min.X, at.Max.Y-width), at.Max},
		{at.Min, image.Pt(at.Min.X+width, at.Max.Y)}, {image.Pt(at.Max.X-width, at.Min.Y), at.Max},
	} {
		draw.Draw(picture, side.Intersect(at), ink, image.Point{}, draw.Src)
	}
}

// DifferingShare returns the share of pixels that clearly differ; 1 if the sizes do.
func DifferingShare(one, other *image.RGBA) float64 {
	size := one.Rect.Size()
	if size != other.Rect.Size() || size.X*size.Y == 0 {
		return 1
	}
	const clear = 48 // of 255, in one color
	differ := 0
	for y := range size.Y {
		a, b := one.Pix[y*one.Stride:], other.Pix[y*other.Stride:]
		for x := range size.X {
			for c := range 3 {
				if d := int(a[4*x+c]) - int(b[4*x+c]); d > clear || d < -clear {
					differ++
					break
				}
			}
		}
	}
	return float64(differ) / float64(size.X*size.Y)
}
