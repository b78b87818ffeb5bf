package descriptors_test

import (
	"fmt"
	"os"
	"path/filepath"
)

const trashed = ".local/share/Trash/files/"

func checkThunar(w *world) {
	w.write("docs/a.txt", "hello\n")
	f := w.thunar()
	f.callsVoid("show_folders", `{"URIs": ["file://$HOME/docs"]}`)
	w.windows(`docs - Thunar`, "Thunar")
	checkThunarFiles(w, f)
	checkThunarTrash(w, f)
	checkThunarWindows(w, f)
}

// thunar opens a window: without one Thunar ends after each task, and a call may meet it on its
// way out.
func (w *world) thunar() *app {
	w.Helper()
	w.start("thunar", "$HOME")
	w.windows("Thunar", "Thunar")
	return w.app("org.xfce.Thunar")
}

// Thunar answers when the work has begun, so the files appear later.
func checkThunarFiles(w *world, f *app) {
	w.write("in/c.txt", "c\n")
	w.write("in/d.txt", "d\n")
	w.write("in/e.txt", "e\n")
	w.write("out/there.txt", "")

	f.callsVoid("copy_into", `{"source_filenames": ["$HOME/in/c.txt"], "target_filename": "$HOME/out"}`)
	w.file("out/c.txt", "c\n")
	w.file("in/c.txt", "c\n")
	f.callsVoid("copy_into", `{"working_directory": "$HOME/in", "source_filenames": ["d.txt"], "target_filename": "$HOME/docs"}`)
	w.file("docs/d.txt", "d\n")
	f.callsVoid("copy_to", `{"source_filenames": ["$HOME/in/c.txt"], "target_filenames": ["$HOME/out/copy.txt"]}`)
	w.file("out/copy.txt", "c\n")
	f.callsVoid("move_into", `{"source_filenames": ["$HOME/in/d.txt"], "target_filename": "$HOME/out"}`)
	w.file("out/d.txt", "d\n")
	w.noFile("in/d.txt")
	f.callsVoid("link_into", `{"source_filenames": ["$HOME/docs/a.txt"], "target_filename": "$HOME/out"}`)
	w.eventually(func() error {
		target, err := os.Readlink(filepath.Join(w.home, "out/a.txt"))
		if err == nil {
			err = match(`docs/a\.txt$`, target, "the link")
		}
		return err
	})
	w.file("out/a.txt", "hello\n")
	w.file("in/e.txt", "e\n")
}

func checkThunarTrash(w *world, f *app) {
	w.noFile(trashed + "copy.txt")
	f.gives("trash_has_items", `{}`, `false`)
	f.callsVoid("move_to_trash", `{"filenames": ["$HOME/out/copy.txt"]}`)
	w.file(trashed+"copy.txt", "c\n")
	w.noFile("out/copy.txt")
	f.eventuallyGives("trash_has_items", `{}`, `true`)
	w.shows(`copy\.txt`, "gio", "list", "trash:///")
}

func checkThunarWindows(w *world, f *app) {
	for _, call := range []struct{ tool, args, window string }{
		{"show_items", `{"URIs": ["file://$HOME/in/c.txt"]}`, "in - Thunar"},
		{"show_item_properties", `{"URIs": ["file://$HOME/docs/a.txt"]}`, "a.txt - Properties"},
		{"show_trash", `{}`, "Trash - Thunar"},
		{"bulk_rename", `{"working_directory": "$HOME/docs", "filenames": ["a.txt", "d.txt"]}`, "Bulk Rename"},
		{"show_preferences", `{}`, "File Manager Preferences"},
	} {
		f.callsVoid(call.tool, call.args)
		w.windows(fmt.Sprintf(`(^|\n)%s`, call.window), "Thunar")
	}
	f.callsVoid("open_file", `{"uri": "$HOME/docs/a.txt"}`)
	w.windows(`a\.txt - Mousepad`, "mousepad")
}
