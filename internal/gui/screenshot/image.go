package screenshot

import (
	"bytes"
	"image"
	"image/color"
	"image/png"

	"golang.org/x/image/draw"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// Blacken paints over the layers for which seen returns false, in a picture of the area. Parts that another layer
// covers, for which seen returns true, stay visible.
func Blacken(picture *image.RGBA, area desktop.Rect, layers []desktop.Layer, seen func(desktop.Layer) bool) {
	mask := image.NewAlpha(picture.Bounds())
	paint := func(r desktop.Rect, with color.Alpha) {
		r.X, r.Y = r.X-area.X+mask.Rect.Min.X, r.Y-area.Y+mask.Rect.Min.Y
		draw.Draw(mask, image.Rect(r.X, r.Y, r.X+r.W, r.Y+r.H), image.NewUniform(with), image.Point{}, draw.Src)
	}
	for _, l := range layers {
		switch {
		case l.Frame.Intersect(area).Empty():
		case seen(l):
			for _, r := range l.OpaqueRegion {
				paint(r, color.Alpha{})
			}
		default:
			paint(l.Frame, color.Alpha{A: 255})
		}
	}
	draw.DrawMask(picture, picture.Bounds(), image.NewUniform(color.Black), image.Point{}, mask, mask.Rect.Min, draw.Over)
}

// Crop returns a part of a picture as a new picture. at counts from the upper left corner of the picture.
func Crop(picture *image.RGBA, at image.Rectangle) *image.RGBA {
	part := image.NewRGBA(image.Rectangle{Max: at.Size()})
	draw.Copy(part, image.Point{}, picture, at.Add(picture.Bounds().Min), draw.Src, nil)
	return part
}

// Scale returns the picture with no side longer than side pixels, and the scale factor.
func Scale(picture *image.RGBA, side int) (*image.RGBA, float64) {
	size := picture.Bounds().Size()
	longer := max(size.X, size.Y)
	if longer <= side {
		return picture, 1
	}
	scale := float64(side) / float64(longer)
	small := image.NewRGBA(image.Rect(0, 0, max(1, int(float64(size.X)*scale)), max(1, int(float64(size.Y)*scale))))
	draw.ApproxBiLinear.Scale(small, small.Bounds(), picture, picture.Bounds(), draw.Src, nil)
	return small, scale
}

// EncodePNG encodes the picture as PNG, for speed and not size.
func EncodePNG(picture *image.RGBA) ([]byte, error) {
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, picture); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
