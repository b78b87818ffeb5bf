package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

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
		said := finding()
		assert.Check(t, is.Equal(said, ""), "before %s was installed: %s", file, said)
		assert.NilError(t, os.MkdirAll(filepath.Dir(filepath.Join(home, file)), 0o700))
		assert.NilError(t, os.WriteFile(filepath.Join(home, file), nil, 0o700))
	}
	said := finding()
	assert.Check(t, is.Contains(said, `export JAVA_TOOL_OPTIONS="`+desktop.JavaBridgeOptions+`"`), "without the variable: %s", said)
	variable = desktop.JavaBridgeOptions
	_, err := os.Stat(desktop.JavaBridgeFile)
	said = finding()
	assert.Check(t, is.Equal(strings.Contains(said, "may not start"), (err != nil)), "%v %s", err, said)
	assert.Check(t, err != nil || said == "", "with the variable, and the bridge %v: %s", err, said)
}
