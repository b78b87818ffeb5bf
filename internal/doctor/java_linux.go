package doctor

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// javaBridge adds to the finding how programs of Java show their elements, if a Java with windows is installed and
// does not load the bridge to the accessibility bus.
func (d *Doctor) javaBridge(f *Finding) {
	java, err := exec.LookPath("java")
	if err != nil {
		return
	}
	if java, err = filepath.EvalSymlinks(java); err != nil {
		return
	}
	if _, err := os.Stat(filepath.Join(java, "../../lib/libawt_xawt.so")); err != nil {
		return // it opens no windows
	}
	const variable = "JAVA_TOOL_OPTIONS"
	set := "export " + variable + `="` + desktop.JavaBridgeOptions + `"`
	_, err = os.Stat(desktop.JavaBridgeFile)
	loads := strings.Contains(d.cfg.Getenv(variable), desktop.JavaBridgeClass)
	switch {
	case err != nil && loads:
		f.setNote(f.Saw+"; programs of Java may not start: "+variable+" names a bridge to this bus that is not installed", "Install it:", InstallCommand("libatk-wrapper-java"))
	case err != nil:
		f.setNote(f.Saw+"; windows of Java show no elements, because the bridge to this bus is not installed",
			"If an agent is to operate programs of Java, install the bridge, and set this before such a program starts:", InstallCommand("libatk-wrapper-java"), set)
	case !loads:
		f.Details = append(f.Details, "windows of Java show their elements if this is set before the program starts: "+set)
	}
}
