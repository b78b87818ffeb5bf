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

// Limits on one icon.
const (
	maxPicture = 256 << 10 // bytes
	maxPixels  = 1024      // of a side
)

// read reads an image file within an icon folder.
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

// imageType returns the type of data: "image/png", "image/svg+xml", or "" for others.
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

// isSVG reports whether data is XML with an svg root element and without entity declarations,
// which could expand a small text to a large one.
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
