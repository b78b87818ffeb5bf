package gui_test

import (
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
)

// TestRealSaveDialogQt: the reply says that a selected file keeps its claim when another name is typed.
func TestRealSaveDialogQt(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	folder := filepath.Join(w.Home, "pictures")
	assert.NilError(t, os.Mkdir(folder, 0o700))
	assert.NilError(t, os.WriteFile(filepath.Join(folder, "p.png"), []byte("x"), 0o600))
	app := w.python("savedialog.py", `"p.png"`, folder)
	a := w.ok("ax_type", params{"app": app, "query": "File name:", "text": "q.png", "clear_first": true})
	w.says(a.Warning, `"p.png"`, "still selected")
}
