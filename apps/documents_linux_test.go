package apps

import (
	"archive/zip"
	"encoding/xml"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Checks of the results of a task. They return the fault, or "".

// sheetIs checks that a workbook has exactly these cells.
func sheetIs(file string, cells map[string]string) func(*stage) string {
	return func(s *stage) string {
		holds, err := workbook(s.file(file))
		if err != nil {
			return err.Error()
		}
		if !maps.Equal(holds, cells) {
			return fmt.Sprintf("%s holds %v; expected %v", file, holds, cells)
		}
		return ""
	}
}

// workbook reads the cells of the first sheet of an xlsx, by the format's definition.
func workbook(file string) (map[string]string, error) {
	book, err := zip.OpenReader(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = book.Close() }()
	read := func(part string, into any) error {
		f, err := book.Open(part)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		return xml.NewDecoder(f).Decode(into)
	}
	var texts struct {
		Text []string `xml:"si>t"`
	}
	var sheet struct {
		Cells []struct {
			At    string `xml:"r,attr"`
			Type  string `xml:"t,attr"`
			Value string `xml:"v"`
		} `xml:"sheetData>row>c"`
	}
	if err := read("xl/sharedStrings.xml", &texts); err != nil {
		return nil, err
	}
	if err := read("xl/worksheets/sheet1.xml", &sheet); err != nil {
		return nil, err
	}
	cells := make(map[string]string)
	for _, c := range sheet.Cells {
		n, err := strconv.Atoi(c.Value)
		if c.Type == "s" && err == nil && n < len(texts.Text) {
			c.Value = texts.Text[n]
		}
		if c.Value != "" {
			cells[c.At] = c.Value
		}
	}
	return cells, nil
}

// fileHas checks that a document has all the parts, and none that begins with "!".
func fileHas(file string, parts ...string) func(*stage) string {
	return func(s *stage) string { return holdsAll(s.file(file), parts) }
}

// homeHas checks that a file in the user's home has all the parts.
func homeHas(file string, parts ...string) func(*stage) string {
	return func(s *stage) string { return holdsAll(filepath.Join(s.Home, file), parts) }
}

// documentsGone checks that the documents are deleted.
func documentsGone(files ...string) func(*stage) string {
	return func(s *stage) string {
		for _, file := range files {
			if _, err := os.Stat(s.file(file)); err == nil {
				return file + " is there"
			}
		}
		return ""
	}
}

// titleIs checks for a window with the title, by xdotool.
func titleIs(title string) func(*stage) string {
	return func(s *stage) string {
		if titles := s.windows(); !slices.Contains(titles, title) {
			return fmt.Sprintf("the windows are %q; expected %q", titles, title)
		}
		return ""
	}
}

// holdsAll names a part that is missing in the file.
func holdsAll(file string, parts []string) string {
	b, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	at := slices.IndexFunc(parts, func(part string) bool {
		not, without := strings.CutPrefix(part, "!")
		return strings.Contains(string(b), not) == without
	})
	if at >= 0 {
		return fmt.Sprintf("%s: not so: %s; it is %.300q", file, parts[at], b)
	}
	return ""
}
