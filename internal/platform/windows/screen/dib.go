package screen

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/draw"
	"image/png"

	"golang.org/x/image/bmp"
)

// maxPixels bounds a picture: a screen of 16 by 8 thousand pixels.
const maxPixels = 128 << 20

// The size of BITMAPV5HEADER, and the place of its fields.
const (
	dibHeader   = 124
	fileHeader  = 14
	dibBitCount = 14
	dibPalette  = 32
)

// dibFromPNG returns the picture as CF_DIBV5: a header, and rows from the bottom up of blue, green, red and alpha.
func dibFromPNG(data []byte) ([]byte, error) {
	picture, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	size := picture.Bounds().Size()
	if size.X > maxPixels/max(1, size.Y) {
		return nil, errors.New("the picture is too large")
	}
	straight := image.NewNRGBA(image.Rect(0, 0, size.X, size.Y))
	draw.Draw(straight, straight.Bounds(), picture, picture.Bounds().Min, draw.Src)
	const bitFields, sRGB, pictures = 3, 0x73524742, 4
	var b bytes.Buffer
	for _, field := range []any{
		uint32(dibHeader), int32(size.X), int32(size.Y), uint16(1), uint16(32), uint32(bitFields), uint32(4 * size.X * size.Y), int32(0), int32(0),
		uint32(0), uint32(0), uint32(0xff0000), uint32(0xff00), uint32(0xff), uint32(0xff000000), uint32(sRGB), [36]byte{}, [3]uint32{}, uint32(pictures), [3]uint32{},
	} {
		_ = binary.Write(&b, binary.LittleEndian, field) // a buffer takes everything
	}
	for y := size.Y - 1; y >= 0; y-- {
		row := straight.Pix[y*straight.Stride : y*straight.Stride+4*size.X]
		for x := 0; x < len(row); x += 4 {
			b.Write([]byte{row[x+2], row[x+1], row[x], row[x+3]})
		}
	}
	return b.Bytes(), nil
}

// pngFromDIB converts CF_DIBV5 or CF_DIB to PNG. Its text comes from a stranger.
func pngFromDIB(data []byte) ([]byte, error) {
	if len(data) < 40 {
		return nil, errors.New("the picture on the clipboard has no header")
	}
	header := binary.LittleEndian.Uint32(data)
	colors := uint64(0)
	if bits := binary.LittleEndian.Uint16(data[dibBitCount:]); bits <= 8 {
		if colors = uint64(binary.LittleEndian.Uint32(data[dibPalette:])); colors == 0 {
			colors = 1 << bits
		}
	}
	offset := uint64(header) + 4*colors
	if offset > uint64(len(data)) {
		return nil, errors.New("the picture on the clipboard is shorter than its header says")
	}
	file := make([]byte, fileHeader, fileHeader+len(data))
	copy(file, "BM")
	binary.LittleEndian.PutUint32(file[2:], uint32(fileHeader+len(data)))
	binary.LittleEndian.PutUint32(file[10:], uint32(fileHeader+offset))
	file = append(file, data...)
	config, err := bmp.DecodeConfig(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	if config.Width <= 0 || config.Height <= 0 || config.Width > maxPixels/config.Height {
		return nil, errors.New("the picture on the clipboard is too large")
	}
	picture, err := bmp.Decode(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = png.Encode(&b, picture)
	return b.Bytes(), err
}
