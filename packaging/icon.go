package main

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"path/filepath"
	"strings"

	"golang.org/x/image/vector"
)

// iconSide is the side of the square on which the icon is drawn, for the SVG file and for pictures
// of all sizes. The icon shows a gate, and a pointer that comes through it.
const iconSide = 64

// stroke is one step of an outline: a line to its point, or a cubic curve with three points. The
// first stroke of an outline is its start.
type stroke [][2]float32

// shape is filled with one colour. Outlines in the opposite direction cut holes.
type shape struct {
	fill     color.NRGBA
	outlines [][]stroke
}

func iconShapes() []shape {
	to := func(x, y float32) stroke { return stroke{{x, y}} }
	curve := func(p ...[2]float32) stroke { return p }
	plate := []stroke{
		to(16, 2), to(48, 2), curve([2]float32{55.7, 2}, [2]float32{62, 8.3}, [2]float32{62, 16}),
		to(62, 48), curve([2]float32{62, 55.7}, [2]float32{55.7, 62}, [2]float32{48, 62}),
		to(16, 62), curve([2]float32{8.3, 62}, [2]float32{2, 55.7}, [2]float32{2, 48}),
		to(2, 16), curve([2]float32{2, 8.3}, [2]float32{8.3, 2}, [2]float32{16, 2}),
	}
	gate := []stroke{
		to(11, 53), to(11, 32), curve([2]float32{11, 20.4}, [2]float32{20.4, 11}, [2]float32{32, 11}),
		curve([2]float32{43.6, 11}, [2]float32{53, 20.4}, [2]float32{53, 32}), to(53, 53),
	}
	opening := []stroke{
		to(46, 53), to(46, 32), curve([2]float32{46, 24.3}, [2]float32{39.7, 18}, [2]float32{32, 18}),
		curve([2]float32{24.3, 18}, [2]float32{18, 24.3}, [2]float32{18, 32}), to(18, 53),
	}
	pointer := []stroke{
		to(25, 24), to(25, 49.5), to(30.9, 44.1), to(34.6, 53), to(39.3, 51), to(35.6, 42.3), to(43.4, 41.9),
	}
	return []shape{
		{color.NRGBA{0x1f, 0x3a, 0x5f, 0xff}, [][]stroke{plate}},
		{color.NRGBA{0x6f, 0xb1, 0xe8, 0xff}, [][]stroke{gate, opening}},
		{color.NRGBA{0xff, 0xff, 0xff, 0xff}, [][]stroke{pointer}},
	}
}

// svg returns the drawing as SVG.
func svg(shapes []shape) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%[1]d" viewBox="0 0 %[1]d %[1]d">`+"\n", iconSide)
	for _, s := range shapes {
		fmt.Fprintf(&b, `<path fill="#%02x%02x%02x" d="`, s.fill.R, s.fill.G, s.fill.B)
		for _, outline := range s.outlines {
			for i, step := range outline {
				letter := "L"
				switch {
				case i == 0:
					letter = "M"
				case len(step) == 3:
					letter = "C"
				}
				b.WriteString(letter)
				for _, p := range step {
					fmt.Fprintf(&b, "%g %g ", p[0], p[1])
				}
			}
			b.WriteString("Z")
		}
		b.WriteString(`"/>` + "\n")
	}
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

// renderIcon renders the drawing with the given side in pixels.
func renderIcon(shapes []shape, side int) *image.NRGBA {
	out := image.NewNRGBA(image.Rect(0, 0, side, side))
	scale := float32(side) / iconSide
	for _, s := range shapes {
		r := vector.NewRasterizer(side, side)
		for _, outline := range s.outlines {
			for i, step := range outline {
				p := make([]float32, 0, 6)
				for _, point := range step {
					p = append(p, point[0]*scale, point[1]*scale)
				}
				switch {
				case i == 0:
					r.MoveTo(p[0], p[1])
				case len(step) == 3:
					r.CubeTo(p[0], p[1], p[2], p[3], p[4], p[5])
				default:
					r.LineTo(p[0], p[1])
				}
			}
			r.ClosePath()
		}
		r.DrawOp = draw.Over
		r.Draw(out, out.Bounds(), image.NewUniform(s.fill), image.Point{})
	}
	return out
}

func iconPNG(side int) ([]byte, error) {
	var out bytes.Buffer
	err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, renderIcon(iconShapes(), side))
	return out.Bytes(), err
}

// writeIcons writes the SVG file, and the pictures for an icon theme.
func writeIcons(dir string) error {
	if err := write(filepath.Join(dir, program+".svg"), svg(iconShapes())); err != nil {
		return err
	}
	for _, side := range []int{16, 24, 32, 48, 64, 128, 256, 512} {
		picture, err := iconPNG(side)
		if err != nil {
			return err
		}
		if err := write(filepath.Join(dir, fmt.Sprintf("%s-%d.png", program, side)), picture); err != nil {
			return err
		}
	}
	return nil
}
