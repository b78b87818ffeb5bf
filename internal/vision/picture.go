package vision

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"image/png"
)

// maxPixels limits the pictures that are decoded.
const maxPixels = 64 << 20

// DecodePNG decodes a PNG of at most 64 million pixels.
func DecodePNG(data []byte) (*image.RGBA, error) {
	config, err := png.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if config.Width*config.Height > maxPixels {
		return nil, fmt.Errorf("%d × %d pixels are too many", config.Width, config.Height)
	}
	if config.Width == 0 || config.Height == 0 {
		return nil, errors.New("it has no pixels")
	}
	decoded, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	picture := image.NewRGBA(image.Rectangle{Max: decoded.Bounds().Size()})
	draw.Draw(picture, picture.Rect, decoded, decoded.Bounds().Min, draw.Src)
	return picture, nil
}

// Crop returns a part of a picture as a new picture. at counts from the upper left corner of the picture.
func Crop(picture *image.RGBA, at image.Rectangle) *image.RGBA {
	part := image.NewRGBA(image.Rectangle{Max: at.Size()})
	draw.Draw(part, part.Rect, picture, picture.Rect.Min.Add(at.Min), draw.Src)
	return part
}

// Clone returns a copy of the picture.
func Clone(picture *image.RGBA) *image.RGBA {
	return Crop(picture, image.Rectangle{Max: picture.Rect.Size()})
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
	interpolate(small, picture)
	return small, scale
}

// interpolate fills small with the picture, bilinearly. Positions and weights are in 1/256 of a pixel.
func interpolate(small, picture *image.RGBA) {
	columns := make([]sample, small.Rect.Dx())
	for x := range columns {
		columns[x] = sampleAt(x, small.Rect.Dx(), picture.Rect.Dx())
	}
	for y := range small.Rect.Dy() {
		row := sampleAt(y, small.Rect.Dy(), picture.Rect.Dy())
		upper, lower := picture.Pix[row.at*picture.Stride:], picture.Pix[row.next*picture.Stride:]
		out := small.Pix[y*small.Stride:]
		for x, c := range columns {
			for i := range 4 {
				above := int(upper[4*c.at+i])*(256-c.weight) + int(upper[4*c.next+i])*c.weight
				below := int(lower[4*c.at+i])*(256-c.weight) + int(lower[4*c.next+i])*c.weight
				out[4*x+i] = uint8((above*(256-row.weight) + below*row.weight + 1<<15) >> 16)
			}
		}
	}
}

// sample names two neighbors in a row or column, and the weight of the second.
type sample struct{ at, next, weight int }

// sampleAt returns the neighbors of the middle of pixel i of small ones, in a row of large ones.
func sampleAt(i, small, large int) sample {
	position := min(max(0, (2*i+1)*large*128/small-128), (large-1)*256)
	return sample{position >> 8, min(position>>8+1, large-1), position & 255}
}

// EncodePNG encodes the picture as PNG, for speed and not size.
func EncodePNG(picture *image.RGBA) ([]byte, error) {
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, picture); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
