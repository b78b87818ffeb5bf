package desktopentry

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// Limits on one picture.
const (
	maxPicture = 256 << 10 // bytes
	maxPixels  = 1024      // of a side
)

// read is the picture in a file in a folder of icons.
func (l *iconSearch) read(path string) (aai.Image, bool) {
	real, ok := l.resolveInRoots(path)
	if !ok {
		return aai.Image{}, false
	}
	data, err := atomicfile.Read(real, atomicfile.ReadLimits{Size: maxPicture})
	if err != nil {
		return aai.Image{}, false
	}
	kind := imageType(data)
	return aai.Image{MIME: kind, Data: data}, kind != ""
}

// imageType is what the bytes are: "image/png", "image/svg+xml", or "" for all else.
func imageType(data []byte) string {
	if size, err := png.DecodeConfig(bytes.NewReader(data)); err == nil {
		if max(size.Width, size.Height) > maxPixels {
			return ""
		}
		return "image/png"
	}
	if isSVG(data) {
		return "image/svg+xml"
	}
	return ""
}

// isSVG reports whether the text is XML whose outermost element is a picture, with no
// entities of its own: those can make a small text a large one.
func isSVG(data []byte) bool {
	d := xml.NewDecoder(bytes.NewReader(data))
	root := false
	for depth := 0; ; {
		token, err := d.Token()
		if err != nil {
			return root && depth == 0 && errors.Is(err, io.EOF)
		}
		switch t := token.(type) {
		case xml.Directive:
			if strings.Contains(strings.ToUpper(string(t)), "ENTITY") {
				return false
			}
		case xml.StartElement:
			if depth == 0 && (root || t.Name.Local != "svg" || t.Name.Space != "http://www.w3.org/2000/svg") {
				return false
			}
			root = true
			depth++
		case xml.EndElement:
			depth--
		}
	}
}
