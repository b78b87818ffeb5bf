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

// What is wrong with what a task leaves.

// sheetIs wants these cells in a workbook, and no others.
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

// workbook reads the cells of the first sheet of an xlsx, by the format's own definition.
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

// fileHas wants all the parts in a document, and none that begins with "!".
func fileHas(file string, parts ...string) func(*stage) string {
	return func(s *stage) string { return holdsAll(s.file(file), parts) }
}

// homeHas wants all the parts in a file of the person's own folder.
func homeHas(file string, parts ...string) func(*stage) string {
	return func(s *stage) string { return holdsAll(filepath.Join(s.Home, file), parts) }
}

// documentsGone wants that there are no such documents.
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

// titleIs wants a window with the title, as xdotool says it.
func titleIs(title string) func(*stage) string {
	return func(s *stage) string {
		if titles := s.windows(); !slices.Contains(titles, title) {
			return fmt.Sprintf("the windows are %q; expected %q", titles, title)
		}
		return ""
	}
}

// holdsAll says which part is not in the file.
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
