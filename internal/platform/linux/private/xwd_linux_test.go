package private

import (
	"bytes"
	"encoding/binary"
	"image/color"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// dump is an X window dump by its fields; dumpOf returns one as Xvfb writes it.
type dump struct {
	header, version, width, height, order, bits, stride, colours uint32
	cut                                                          int // bytes missing at the end
}

func dumpOf(width, height uint32) dump {
	return dump{header: 160, version: 7, width: width, height: height, bits: 32, stride: 4 * width, colours: 256}
}

// pixel returns the colour of a place: a different one everywhere.
func pixel(x, y int) color.RGBA {
	return color.RGBA{uint8(17*x + y), uint8(31*y + 1), uint8(x ^ y), 255}
}

// bytes writes the dump as XWDFile.h describes it: 25 fields of 32 bits, the
// window's name up to the header's size, the colours of 12 bytes, the lines.
func (d dump) bytes() []byte {
	fields := make([]uint32, 25)
	fields[0], fields[1], fields[2], fields[3] = d.header, d.version, 2, 24 // ZPixmap, depth
	fields[4], fields[5], fields[7] = d.width, d.height, d.order
	fields[11], fields[12], fields[19] = d.bits, d.stride, d.colours
	var b []byte
	for _, f := range fields {
		b = binary.BigEndian.AppendUint32(b, f)
	}
	b = append(b, make([]byte, max(0, int(d.header)-len(b)))...)
	b = append(b, bytes.Repeat([]byte{0xee}, int(d.colours)*12)...)
	for y := range int(d.height) {
		line := make([]byte, d.stride)
		for x := range int(min(d.width, d.stride/4)) {
			p := pixel(x, y)
			if d.order == 0 {
				copy(line[4*x:], []byte{p.B, p.G, p.R, 0x77})
			} else {
				copy(line[4*x:], []byte{0x77, p.R, p.G, p.B})
			}
		}
		b = append(b, line...)
	}
	return b[:len(b)-d.cut]
}

func TestADumpIsDecoded(t *testing.T) {
	plain := dumpOf(5, 3)
	swapped, padded, bare := plain, plain, plain
	swapped.order = 1
	padded.stride = 64
	bare.header, bare.colours = 100, 0
	for name, d := range map[string]dump{"plain": plain, "big-endian": swapped, "padded": padded, "bare": bare, "one pixel": dumpOf(1, 1)} {
		picture, err := DecodeXWD(d.bytes())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		size := picture.Bounds().Size()
		assert.Check(t, is.Equal(size.X, int(d.width)), "%s %v", name, size)
		assert.Check(t, is.Equal(size.Y, int(d.height)), "%s %v", name, size)
		for y := range int(d.height) {
			for x := range int(d.width) {
				got, want := picture.At(x, y), pixel(x, y)
				assert.Equal(t, got, want, "%s %d %d", name, x, y)
			}
		}
	}
}

func TestWhatIsNoDumpIsRefused(t *testing.T) {
	for name, change := range map[string]func(*dump){
		"version 6":               func(d *dump) { d.version = 6 },
		"24 bits":                 func(d *dump) { d.bits = 24 },
		"no width":                func(d *dump) { d.width = 0 },
		"no height":               func(d *dump) { d.height = 0 },
		"lines too short":         func(d *dump) { d.stride-- },
		"one byte missing":        func(d *dump) { d.cut = 1 },
		"header within its field": func(d *dump) { d.header, d.colours = 99, 0 },
	} {
		d := dumpOf(5, 3)
		change(&d)
		if picture, err := DecodeXWD(d.bytes()); err == nil {
			t.Errorf("%s: decoded as %v", name, picture.Bounds())
		}
	}
	whole := dumpOf(5, 3).bytes()
	for _, field := range []int{xwdHeaderSize, xwdWidth, xwdHeight, xwdBytesPerLine, xwdColours} {
		for _, value := range []uint32{1<<31 - 1, 1 << 31, 1<<32 - 1} {
			huge := bytes.Clone(whole)
			binary.BigEndian.PutUint32(huge[field:], value)
			_, err := DecodeXWD(huge)
			assert.Check(t, err != nil, "%d at offset %d was accepted", value, field)
		}
	}
	for n := range whole {
		_, err := DecodeXWD(whole[:n])
		assert.Assert(t, err != nil, "the first %d of %d bytes were accepted", n, len(whole))
	}
}

// FuzzDecodeXWD checks that no dump makes the decoder panic, and that a picture is never larger
// than its dump.
func FuzzDecodeXWD(f *testing.F) {
	swapped, cut := dumpOf(3, 2), dumpOf(3, 2)
	swapped.order, cut.cut = 1, 5
	for _, d := range []dump{dumpOf(3, 2), swapped, cut, dumpOf(1, 1)} {
		f.Add(d.bytes())
	}
	f.Add([]byte{})
	f.Add(bytes.Repeat([]byte{0xff}, 200))
	f.Fuzz(func(t *testing.T, b []byte) {
		picture, err := DecodeXWD(b)
		if err != nil {
			return
		}
		size := picture.Bounds().Size()
		assert.Check(t, size.X >= 1, "a dump of %d bytes became a picture of %v", len(b), size)
		assert.Check(t, size.Y >= 1, "a dump of %d bytes became a picture of %v", len(b), size)
		assert.Check(t, 4*size.X*size.Y <= len(b), "a dump of %d bytes became a picture of %v", len(b), size)
	})
}
