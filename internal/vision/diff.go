package vision

import (
	"cmp"
	"image"
	"image/color"
	"image/draw"
	"slices"

	"github.com/orisano/pixelmatch"
)

const (
	// colorTolerance is the perceived difference of two colors that does not count, from 0 to 1.
	colorTolerance = 0.1
	// regionGrid is the distance, in pixels, up to which differing pixels belong to one region.
	regionGrid = 16
)

// A Diff compares two pictures.
type Diff struct {
	Total     int               // pixels of the larger picture in each direction, without the ignored ones
	Differing int               // pixels
	Regions   []image.Rectangle // around the differing pixels, the one with the most first
	mask      *image.RGBA
}

// Percentage returns the share of differing pixels, in percent.
func (d *Diff) Percentage() float64 {
	if d.Total == 0 {
		return 0
	}
	return 100 * float64(d.Differing) / float64(d.Total)
}

// Compare compares two pictures without the pixels in the ignored rectangles. If perceptual, it compares them as people
// see them: small differences of color and of smoothed edges do not count. Pixels that only one picture has always do.
func Compare(before, after *image.RGBA, ignored []image.Rectangle, perceptual bool) (*Diff, error) {
	common := image.Rectangle{Max: before.Rect.Size()}.Intersect(image.Rectangle{Max: after.Rect.Size()})
	one, other := cover(before, common, ignored), cover(after, common, ignored)
	var out image.Image
	options := []pixelmatch.MatchOption{pixelmatch.WriteTo(&out), pixelmatch.Threshold(colorTolerance)}
	if !perceptual {
		options = append(options, pixelmatch.Threshold(0), pixelmatch.IncludeAntiAlias)
	}
	if _, err := pixelmatch.MatchPixel(one, other, options...); err != nil {
		return nil, err
	}
	all := image.Rectangle{Max: before.Rect.Size()}.Union(image.Rectangle{Max: after.Rect.Size()})
	d := &Diff{mask: image.NewRGBA(all)}
	red := image.NewUniform(color.RGBA{255, 0, 0, 255})
	if !common.Eq(all) {
		draw.Draw(d.mask, all, red, image.Point{}, draw.Src)
	}
	draw.Draw(d.mask, common, image.Transparent, image.Point{}, draw.Src)
	if out != nil { // nil for equal pictures
		draw.Draw(d.mask, common, out, out.Bounds().Min, draw.Src)
	}
	hidden := image.NewAlpha(all)
	for _, r := range ignored {
		draw.Draw(hidden, r, image.Opaque, image.Point{}, draw.Src)
		draw.Draw(d.mask, r, image.Transparent, image.Point{}, draw.Src)
	}
	for y := range all.Dy() {
		for x := range all.Dx() {
			if hidden.Pix[y*hidden.Stride+x] == 0 {
				d.Total++
			}
			if d.differs(x, y) {
				d.Differing++
			}
		}
	}
	d.Regions = d.regions()
	return d, nil
}

// cover returns the part of the picture with black in the ignored rectangles.
func cover(picture *image.RGBA, part image.Rectangle, ignored []image.Rectangle) *image.RGBA {
	out := image.NewRGBA(part)
	draw.Draw(out, part, picture, picture.Rect.Min, draw.Src)
	for _, r := range ignored {
		draw.Draw(out, r, image.Black, image.Point{}, draw.Src)
	}
	return out
}

func (d *Diff) differs(x, y int) bool {
	p := d.mask.Pix[y*d.mask.Stride+4*x:]
	return p[3] != 0 && p[0] == 255 && p[1] == 0 // equal pixels are gray, and smoothed edges yellow
}

// regions joins differing pixels in neighboring cells of a grid.
func (d *Diff) regions() []image.Rectangle {
	columns, rows := d.mask.Rect.Dx()/regionGrid+1, d.mask.Rect.Dy()/regionGrid+1
	cells, counts := make([]image.Rectangle, columns*rows), make([]int, columns*rows)
	for y := range d.mask.Rect.Dy() {
		for x := range d.mask.Rect.Dx() {
			if d.differs(x, y) {
				c := y/regionGrid*columns + x/regionGrid
				cells[c] = cells[c].Union(image.Rect(x, y, x+1, y+1))
				counts[c]++
			}
		}
	}
	type region struct {
		at    image.Rectangle
		count int
	}
	var found []region
	for start := range cells {
		if counts[start] == 0 {
			continue
		}
		r := region{cells[start], counts[start]}
		counts[start] = 0
		for next := []int{start}; len(next) > 0; {
			c := next[0]
			next = next[1:]
			for y := max(0, c/columns-1); y <= min(rows-1, c/columns+1); y++ {
				for x := max(0, c%columns-1); x <= min(columns-1, c%columns+1); x++ {
					if n := y*columns + x; counts[n] > 0 {
						r.at, r.count = r.at.Union(cells[n]), r.count+counts[n]
						counts[n] = 0
						next = append(next, n)
					}
				}
			}
		}
		found = append(found, r)
	}
	slices.SortStableFunc(found, func(a, b region) int { return cmp.Compare(b.count, a.count) })
	var all []image.Rectangle
	for _, r := range found {
		all = append(all, r.at)
	}
	return all
}

// Draw returns the picture, faded, with the differing pixels in red and a frame around each of the first regions.
func (d *Diff) Draw(picture *image.RGBA, regions int) *image.RGBA {
	out := image.NewRGBA(d.mask.Rect)
	draw.Draw(out, out.Rect, picture, picture.Rect.Min, draw.Src)
	draw.Draw(out, out.Rect, image.NewUniform(color.RGBA{150, 150, 150, 150}), image.Point{}, draw.Over)
	for y := range out.Rect.Dy() {
		for x := range out.Rect.Dx() {
			if d.differs(x, y) {
				out.SetRGBA(x, y, color.RGBA{220, 0, 20, 255})
			}
		}
	}
	for _, r := range d.Regions[:min(len(d.Regions), regions)] {
		DrawBox(out, r.Inset(-4), true)
	}
	return out
}
