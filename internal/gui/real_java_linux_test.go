package gui_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// TestRealJava operates a window of Swing. Without the bridge to the accessibility bus the error says which options
// load it, and with them the same program is operated.
func TestRealJava(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	source, file := programFile(t, "Order.java"), filepath.Join(w.Home, "saved")
	bare := w.Launch(t, "java", source, file)
	_ = w.windowCalled("Order")
	e := w.refused(aai.AutomationNotSupported, "ax_get_tree", params{"app": "Order"})
	w.says(e.Hint, "program of Java", `JAVA_TOOL_OPTIONS="`+desktop.JavaBridgeOptions+`"`, "ax_screenshot")
	bare.Kill(t)

	app := w.process(w.LaunchEnv(t, []string{"JAVA_TOOL_OPTIONS=" + desktop.JavaBridgeOptions}, "java", source, file))
	w.awaitElement(app, "button Save")
	w.done("ax_set_value", params{"app": app, "query": "textbox Name", "value": "Ann"})
	w.says(w.done("ax_click", params{"app": app, "query": "Save"}).Text, `label "ready" → "saved Ann"`)
	text, err := os.ReadFile(file)
	assert.NilError(t, err, "%q", text)
	assert.Equal(t, strings.TrimSpace(string(text)), "Ann", "%q", text)
}
