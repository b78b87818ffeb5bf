package catalog

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// fiveTools returns a descriptor of about 3 KB with five tools.
func fiveTools(i int) string {
	var tools []string
	for _, name := range []string{"open_file", "save_file", "search_items", "export_report", "send_message"} {
		tools = append(tools, fmt.Sprintf(`{
      "name": %q, "description": "Does one of the five things that this app can do, as its name says.",
      "parameters": {"type": "object", "properties": {
        "path": {"type": "string", "description": "Where the file is, as an absolute path"},
        "format": {"type": "string", "enum": ["pdf", "html", "text"], "default": "pdf"},
        "limit": {"type": "integer", "minimum": 1, "maximum": 100, "description": "At most so many"}},
        "required": ["path"]},
      "method": "DoIt", "output_parser": "json", "timeout": 20}`, name))
	}
	return fmt.Sprintf(`{"schema_version": "1.0", "appId": "org.example.App%d", "name": "App %d", "description": "One of a thousand.",
  "version": "1.0", "platforms": {"linux": {"automation": "dbus", "service": "org.example.App", "object": "/org/example/App",
  "interface": "org.example.App", "tools": [%s]}}}`, i, i, strings.Join(tools, ",\n"))
}

// BenchmarkThousandDescriptors is a first scan of 1,000 files: finding, reading, parsing and
// indexing.
func BenchmarkThousandDescriptors(b *testing.B) {
	root := b.TempDir()
	for i := range 1000 {
		folder := filepath.Join(root, fmt.Sprintf("org.example.App%d", i))
		assert.NilError(b, os.Mkdir(folder, 0o700))
		assert.NilError(b, os.WriteFile(filepath.Join(folder, FileName), []byte(fiveTools(i)), 0o600))
	}
	b.ReportAllocs()
	for b.Loop() {
		assert.Assert(b, is.Len(newCatalog(Folders(root)).Apps(), 1002), "not all apps were found")
	}
}

func BenchmarkRescanOfThousand(b *testing.B) {
	root := b.TempDir()
	for i := range 1000 {
		assert.NilError(b, os.WriteFile(filepath.Join(root, fmt.Sprintf("%d.json", i)), []byte(fiveTools(i)), 0o600))
	}
	c := newCatalog(Files(root, "*.json"))
	c.Apps()
	for b.Loop() {
		c.rescan()
	}
}

func BenchmarkParse(b *testing.B) {
	source := []byte(fiveTools(1))
	b.SetBytes(int64(len(source)))
	b.ReportAllocs()
	for b.Loop() {
		_, err := Parse(source, Options{HostPlatform: "linux"})
		assert.NilError(b, err)
	}
}
