package vision

import (
	"image"
	"image/draw"
)

// The areas of one color that count as a background.
const (
	minBackground       = 160 // in pixels
	minBackgroundHeight = 9   // of the rectangle around it
	minBackgroundWidth  = 12
)

// flatten returns a picture of the same size with dark text on white, whatever the colors of the text and its
// background: each pixel is as dark as it differs from the background around it. Tesseract misses light text on colored
// buttons otherwise. Backgrounds are areas of one color; a pixel elsewhere has the background of the nearest one to the
// left in its row, or to the right if there is none.
func flatten(picture *image.RGBA) *image.Gray {
	size := picture.Rect.Size()
	out := image.NewGray(image.Rectangle{Max: size})
	areas := newAreas(picture)
	for y := range size.Y {
		background, known := 0, false
		row := picture.Pix[y*picture.Stride:]
		first := 0 // of the row's start without a background
		for x := range size.X {
			p := color3(row[4*x:])
			if areas.isBackground(y*size.X + x) {
				if !known {
					for ; first < x; first++ {
						out.Pix[y*out.Stride+first] = contrast(color3(row[4*first:]), p)
					}
				}
				background, known = p, true
				out.Pix[y*out.Stride+x] = 255
				continue
			}
			if known {
				out.Pix[y*out.Stride+x] = contrast(p, background)
			}
		}
	}
	return out
}

// contrast returns the brightness of a pixel on white that differs from white as much as a differs from b.
func contrast(a, b int) uint8 {
	const gain = 2
	most := 0
	for shift := 0; shift < 24; shift += 8 {
		d := a>>shift&255 - b>>shift&255
		most = max(most, d, -d)
	}
	return uint8(255 - min(255, most*gain))
}

func color3(p []uint8) int { return int(p[0]) | int(p[1])<<8 | int(p[2])<<16 }

// areas joins neighboring pixels of the same color.
type areas struct {
	parent []int32 // by pixel: another pixel of its area, or itself
	box    map[int32]*area
}

// area is the size of an area.
type area struct{ pixels, left, right, top, bottom int }

func newAreas(picture *image.RGBA) *areas {
	w, h := picture.Rect.Dx(), picture.Rect.Dy()
	a := &areas{parent: make([]int32, w*h), box: make(map[int32]*area)}
	for y := range h {
		row := picture.Pix[y*picture.Stride:]
		for x := range w {
			i := y*w + x
			a.parent[i] = int32(i)
			p := color3(row[4*x:])
			if x > 0 && color3(row[4*x-4:]) == p {
				a.parent[i] = a.root(int32(i - 1))
			}
			if y > 0 && color3(picture.Pix[(y-1)*picture.Stride+4*x:]) == p {
				a.join(int32(i), int32(i-w))
			}
		}
	}
	for y := range h {
		for x := range w {
			root := a.root(int32(y*w + x))
			b := a.box[root]
			if b == nil {
				b = &area{left: x, top: y}
				a.box[root] = b
			}
			b.pixels++
			b.left, b.right, b.bottom = min(b.left, x), max(b.right, x), y
		}
	}
	return a
}

func (a *areas) root(i int32) int32 {
	for a.parent[i] != i {
		a.parent[i] = a.parent[a.parent[i]]
		i = a.parent[i]
	}
	return i
}

func (a *areas) join(i, j int32) {
	if i, j = a.root(i), a.root(j); i < j {
		a.parent[j] = i
	} else {
		a.parent[i] = j
	}
}

func (a *areas) isBackground(pixel int) bool {
	b := a.box[a.root(int32(pixel))]
	return b.pixels >= minBackground && b.bottom-b.top >= minBackgroundHeight && b.right-b.left >= minBackgroundWidth
}

// grayOf returns the brightness of the picture.
func grayOf(picture *image.RGBA) *image.Gray {
	out := image.NewGray(image.Rectangle{Max: picture.Rect.Size()})
	draw.Draw(out, out.Rect, picture, picture.Rect.Min, draw.Src)
	return out
}

// enlarge doubles the size of the picture, bilinearly: the letters of windows are smaller than Tesseract expects.
func enlarge(picture *image.Gray) *image.Gray {
	w, h := picture.Rect.Dx(), picture.Rect.Dy()
	out := image.NewGray(image.Rect(0, 0, 2*w, 2*h))
	for y := range 2 * h {
		near, far := neighbors(y, h)
		a, b := picture.Pix[near*picture.Stride:], picture.Pix[far*picture.Stride:]
		row := out.Pix[y*out.Stride:]
		for x := range 2 * w {
			left, right := neighbors(x, w)
			row[x] = uint8((9*int(a[left]) + 3*int(a[right]) + 3*int(b[left]) + int(b[right]) + 8) / 16)
		}
	}
	return out
}

// neighbors returns the nearest pixel and the next one on the other side, for pixel i of an enlarged row of size pixels.
func neighbors(i, size int) (near, far int) {
	near = i / 2
	return near, max(0, min(size-1, near+2*(i%2)-1))
}
