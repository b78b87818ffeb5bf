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

const javaProgram = `
import java.awt.*;
import java.nio.file.*;
import javax.swing.*;
public class Order {
	public static void main(String[] args) {
		SwingUtilities.invokeLater(() -> {
			JTextField name = new JTextField(12);
			JLabel label = new JLabel("Name"), status = new JLabel("ready");
			label.setLabelFor(name);
			JButton save = new JButton("Save");
			save.addActionListener(e -> {
				status.setText("saved " + name.getText());
				try { Files.writeString(Path.of(args[0]), name.getText()); } catch (java.io.IOException x) { throw new RuntimeException(x); }
			});
			JFrame window = new JFrame("Order");
			window.setLayout(new FlowLayout());
			for (Component c : new Component[]{label, name, save, status}) window.add(c);
			window.pack();
			window.setVisible(true);
		});
	}
}
`

// TestRealJava operates a window of Swing. Without the bridge to the accessibility bus the error says which options
// load it, and with them the same program is operated.
func TestRealJava(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	source, file := filepath.Join(w.Home, "Order.java"), filepath.Join(w.Home, "saved")
	assert.NilError(t, os.WriteFile(source, []byte(javaProgram), 0o600))
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
