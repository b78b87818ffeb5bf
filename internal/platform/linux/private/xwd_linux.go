package private

import (
	"encoding/binary"
	"errors"
	"image"
)

// Offsets of 32-bit fields in the header of an X window dump (XWDFile.h). The header is always
// big-endian.
const (
	xwdHeaderSize   = 0
	xwdVersion      = 4
	xwdWidth        = 16
	xwdHeight       = 20
	xwdByteOrder    = 28
	xwdBitsPerPixel = 44
	xwdBytesPerLine = 48
	xwdColours      = 76
	xwdFixedPart    = 100
	xwdColourSize   = 12
)

var errNotXWD = errors.New("it is not an X window dump of 32 bits a pixel")

// DecodeXWD reads a dump as Xvfb writes it: version 7, 32 bits per pixel.
func DecodeXWD(b []byte) (*image.RGBA, error) {
	if len(b) < xwdFixedPart {
		return nil, errNotXWD
	}
	field := func(offset int) int { return int(binary.BigEndian.Uint32(b[offset:])) }
	width, height, stride := field(xwdWidth), field(xwdHeight), field(xwdBytesPerLine)
	start := field(xwdHeaderSize) + field(xwdColours)*xwdColourSize
	if field(xwdVersion) != 7 || field(xwdBitsPerPixel) != 32 || width < 1 || height < 1 || width > 1<<14 || height > 1<<14 ||
		stride < 4*width || start < xwdFixedPart || start+height*stride > len(b) {
		return nil, errNotXWD
	}
	var order binary.ByteOrder = binary.LittleEndian
	if field(xwdByteOrder) != 0 {
		order = binary.BigEndian
	}
	picture := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		from, to := b[start+y*stride:], picture.Pix[y*picture.Stride:]
		for x := 0; x < 4*width; x += 4 {
			p := order.Uint32(from[x:])
			to[x], to[x+1], to[x+2], to[x+3] = byte(p>>16), byte(p>>8), byte(p), 255
		}
	}
	return picture, nil
}
