package mcp_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aai"
)

// moduleServer is a server of somebody else that is a Go module, as scripts/need-servers built
// it.
func moduleServer(t *testing.T, name string, args ...string) *aai.MCPRecipe {
	t.Helper()
	program, err := filepath.Abs(filepath.Join("../../../.cache/bin", name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(program); err != nil {
		t.Fatal(err, "; install the servers: scripts/need-servers (make test does)")
	}
	return &aai.MCPRecipe{Command: program, Args: args}
}

// Go's own server, gopls, reads the code in the folder where the descriptor has it start.
func TestGoplsServer(t *testing.T) {
	w := newWorld(t)
	r := moduleServer(t, "gopls", "mcp")
	r.Dir = t.TempDir()
	for name, text := range map[string]string{
		"go.mod":   "module example.org/hello\n\ngo 1.26\n",
		"hello.go": "package hello\n\n// Hello greets.\nfunc Hello() string { return \"hello\" }\n",
		"twice.go": "package hello\n\nfunc twice() string { return Hello() + Hello() }\n",
	} {
		if err := os.WriteFile(filepath.Join(r.Dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	app := w.add(t, r)
	w.start(t, app)
	if got := w.must(t, app, "go_search", map[string]any{"query": "hello"}).Text; !strings.Contains(got, "Hello (Function in `"+filepath.Join(r.Dir, "hello.go")+"`)") {
		t.Errorf("%s", got)
	}
	got := w.must(t, app, "go_symbol_references", map[string]any{"file": filepath.Join(r.Dir, "hello.go"), "symbol": "Hello"})
	if !strings.Contains(got.Text, "twice.go") || strings.Count(got.Text, "Hello()") < 2 || got.Foreign == "" {
		t.Errorf("%s", got.Text)
	}
	if _, e := w.call(t, app, "go_symbol_references", map[string]any{"file": filepath.Join(r.Dir, "hello.go"), "symbol": "Nobody"}); e == nil || e.Code != aai.AutomationFailed || e.Delivery != aai.Delivered {
		t.Errorf("%+v", e)
	}
}
