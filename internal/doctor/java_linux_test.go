package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// TestJavaBridge: a Java with windows that does not load the bridge is reported with the options that load it.
func TestJavaBridge(t *testing.T) {
	home := t.TempDir()
	t.Setenv("PATH", filepath.Join(home, "bin"))
	variable := ""
	d := New(Config{Getenv: func(string) string { return variable }})
	finding := func() string {
		var f Finding
		d.javaBridge(&f)
		return strings.Join(append(append(f.Details, f.Commands...), f.Saw), "\n")
	}
	for _, file := range []string{"bin/java", "lib/libawt_xawt.so"} {
		if said := finding(); said != "" {
			t.Errorf("before %s was installed: %s", file, said)
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(home, file)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, file), nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if said := finding(); !strings.Contains(said, `export JAVA_TOOL_OPTIONS="`+desktop.JavaBridgeOptions+`"`) {
		t.Errorf("without the variable: %s", said)
	}
	variable = desktop.JavaBridgeOptions
	_, err := os.Stat(desktop.JavaBridgeFile)
	if said := finding(); strings.Contains(said, "may not start") != (err != nil) || err == nil && said != "" {
		t.Errorf("with the variable, and the bridge %v: %s", err, said)
	}
}
