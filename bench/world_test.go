package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// build compiles one of the module's programs as released, but with the tag benchmarks, and
// returns its path. With this tag the program accepts the settings of a home without confirmation.
func build(b *testing.B, pkg string) string {
	b.Helper()
	program := filepath.Join(b.TempDir(), filepath.Base(pkg))
	compile := exec.CommandContext(b.Context(), "go", "build", "-trimpath", "-tags", "benchmarks", "-ldflags", "-s -w -funcalign=16", "-o", program, pkg)
	compile.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := compile.CombinedOutput()
	assert.NilError(b, err, out)
	return program
}

// home is a user's home folder.
type home struct{ folder string }

// newHome creates a home with n descriptors of unused apps.
func newHome(b *testing.B, n int) home {
	b.Helper()
	h := home{b.TempDir()}
	for i := range n {
		id := fmt.Sprintf("org.example.App%d", i)
		h.install(b, id, typicalDescriptor(id))
	}
	return h
}

// env returns the environment of a program in the home: no other descriptors, and the bus at the
// address.
func (h home) env(bus string) []string {
	return []string{
		"HOME=" + h.folder, "PATH=" + os.Getenv("PATH"), "DBUS_SESSION_BUS_ADDRESS=" + bus,
		"XDG_DATA_HOME=" + filepath.Join(h.folder, "share"), "XDG_DATA_DIRS=" + filepath.Join(h.folder, "none"),
	}
}

// install installs a descriptor with an old modification time.
func (h home) install(b *testing.B, id, source string) {
	b.Helper()
	h.write(b, filepath.Join(".aai", id, "aai.json"), source)
}

// Limits of a configuration: practically none, and the program's limits of concurrent calls of an
// agent.
const (
	noLimits = `"rate_limits": {"declared_rps": 1000000, "declared_rpm": 10000000, "declared_concurrency": 10000,
		"rps": 1000000, "rpm": 10000000, "concurrency": 10000}`
	usualSlots = `"rate_limits": {"declared_rps": 1000000, "declared_rpm": 10000000, "rps": 1000000, "rpm": 10000000}`
)

// allow lets every caller use every tool of the apps, without limits.
func (h home) allow(b *testing.B, apps ...string) {
	b.Helper()
	h.configure(b, noLimits, apps...)
}

// configure lets every caller use every tool of the apps, and writes additional settings.
func (h home) configure(b *testing.B, more string, apps ...string) {
	b.Helper()
	var grants []string
	for _, app := range apps {
		grants = append(grants, fmt.Sprintf(`{"app": %q, "tools": ["*"], "caller": "*", "expires": "2100-01-01T00:00:00Z"}`, app))
	}
	h.write(b, ".aai/config.json", `{"consent": {"preapproved": [`+strings.Join(grants, ", ")+`]}, `+more+`}`)
}

func (h home) write(b *testing.B, name, text string) {
	b.Helper()
	path := filepath.Join(h.folder, filepath.FromSlash(name))
	assert.NilError(b, os.MkdirAll(filepath.Dir(path), 0o700))
	assert.NilError(b, os.WriteFile(path, []byte(text), 0o600))
	yesterday := time.Now().Add(-24 * time.Hour)
	assert.NilError(b, os.Chtimes(path, yesterday, yesterday))
}

// typicalDescriptor has about 3 KB and five tools, like those of real apps.
func typicalDescriptor(id string) string {
	var tools []string
	for _, name := range []string{"open_file", "save_file", "search_items", "export_report", "send_message"} {
		tools = append(tools, fmt.Sprintf(`{
      "name": %q, "description": "Does one of the five things that this app can do, as its name says.", "effect": "changes",
      "parameters": {"type": "object", "properties": {
        "path": {"type": "string", "description": "Where the file is, as an absolute path"},
        "format": {"type": "string", "enum": ["pdf", "html", "text"], "default": "pdf"},
        "limit": {"type": "integer", "minimum": 1, "maximum": 100, "description": "At most so many"}},
        "required": ["path"]},
      "method": "DoIt", "output_parser": "json", "timeout": 20}`, name))
	}
	return fmt.Sprintf(`{"schema_version": "1.0", "appId": %q, "name": "An app", "description": "One app of many, with five tools.",
  "version": "1.0", "platforms": {"linux": {"automation": "dbus", "service": %q, "object": "/org/example/App",
  "interface": "org.example.App", "tools": [%s]}}}`, id, id, strings.Join(tools, ",\n"))
}
