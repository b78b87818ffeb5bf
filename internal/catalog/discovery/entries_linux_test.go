package discovery_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/catalog/discovery"
)

// folder creates a folder of desktop entries.
func folder(t *testing.T, entries map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range entries {
		assert.NilError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

const editor = "[Desktop Entry]\nType=Application\nName=Editor\nExec=editor --password=hunter2 %U\nActions=new;private;none;\n\n" +
	"[Desktop Action new]\nName=New Window\nExec=editor --new\n[Desktop Action private]\nName=Private \x1b[31mWindow\u202e\n[Desktop Action other]\nName=Not Named\n"

// TestEntries checks the integrations of entries, and that of two the first counts.
func TestEntries(t *testing.T) {
	first := folder(t, map[string]string{
		"editor.desktop":             editor,
		"org.example.Viewer.desktop": "[Desktop Entry]\nType=Application\nName=Viewer\nDBusActivatable=true\n",
		"hidden.desktop":             strings.Replace(editor, "Name=Editor", "NoDisplay=true", 1),
		"plain.desktop":              "[Desktop Entry]\nType=Application\nName=Plain\nExec=plain\n",
		"link.desktop":               strings.Replace(editor, "Application", "Link", 1),
		"not a name.desktop":         "[Desktop Entry]\nType=Application\nDBusActivatable=true\n",
	})
	second := folder(t, map[string]string{"hidden.desktop": editor, "editor.desktop": strings.ReplaceAll(editor, "new", "old")})
	report := look(t, discovery.ScannerConfig{EntryFolders: []string{first, second, filepath.Join(first, "absent")}, Apps: none})
	got := apps(report, discovery.StateInstalled)
	assert.Check(t, slices.Equal(got, []string{"editor"}), "%q offer actions", got)
	w := find(t, report, "desktop-actions", "editor")
	want := "starts Editor in one of several ways: 2 actions, such as New Window, Private [31mWindow"
	assert.Check(t, is.Equal(w.Benefit, want), "it gains %q; want %q", w.Benefit, want)
	viewer := find(t, report, "application", "org.example.Viewer")
	assert.Equal(t, viewer.State, discovery.StateStartable, "%+v", viewer)
	assert.Assert(t, strings.HasPrefix(viewer.HowTo, "aai-gateway generate --start org.example.Viewer makes tools of it"), "the viewer is %+v", viewer)
	assert.Assert(t, is.Contains(viewer.HowTo, "at /org/example/Viewer"), "%+v", viewer)
	assert.Assert(t, is.Len(report.Notes, 0))
	assert.Assert(t, is.Len(report.Unresponsive, 0))
	assert.Check(t, is.DeepEqual([]string{"editor", "org.example.Viewer"}, slices.Concat(apps(report, discovery.StateInstalled), apps(report, discovery.StateStartable))))
}

// TestOddEntries checks that an odd file affects no other, and does not block.
func TestOddEntries(t *testing.T) {
	dir := folder(t, map[string]string{"editor.desktop": editor, "binary.desktop": "\x00\xff\xfe[Desktop Entry]\n=\n[[[", "real": editor})
	at := func(name string) string { return filepath.Join(dir, name) }
	err := syscall.Mkfifo(at("fifo.desktop"), 0o600)
	large, openErr := os.Create(at("large.desktop"))
	assert.NilError(t, err)
	assert.NilError(t, openErr)
	for _, err := range []error{
		large.Truncate(100 << 20), large.Close(),
		os.Symlink(at("loop.desktop"), at("loop.desktop")), os.Symlink(at("nowhere"), at("dangling.desktop")),
		os.Symlink(at("real"), at("linked.desktop")), os.Mkdir(at("folder.desktop"), 0o700),
		os.Symlink("/dev/zero", at("endless.desktop")),
	} {
		assert.NilError(t, err)
	}
	report := look(t, discovery.ScannerConfig{EntryFolders: []string{dir}, CallTimeout: generousTimeout, ScanTimeout: 5 * generousTimeout})
	got := apps(report, discovery.StateInstalled)
	assert.Check(t, slices.Equal(got, []string{"editor", "linked"}), "%q offer actions", got)
	all := strings.Join(report.Notes, "\n")
	for _, name := range []string{"dangling", "endless", "fifo", "folder", "large", "1 more"} {
		if !strings.Contains(all, name) {
			t.Errorf("nobody says that %s was not read: %q", name, report.Notes)
		}
	}
}

// TestManyEntries checks the limit on a folder.
func TestManyEntries(t *testing.T) {
	dir := t.TempDir()
	for i := range 3100 {
		name := filepath.Join(dir, strings.Repeat("x", i%50)+string(rune('a'+i%26))+"-"+strings.Repeat("y", i/50)+".desktop")
		assert.NilError(t, os.WriteFile(name, []byte(editor), 0o600))
	}
	report := look(t, discovery.ScannerConfig{EntryFolders: []string{dir}, CallTimeout: generousTimeout, ScanTimeout: 5 * generousTimeout})
	files, err := os.ReadDir(dir)
	assert.NilError(t, err)
	if len(files) <= 3000 || len(report.Integrations) != 3000 || len(report.Notes) != 1 {
		t.Errorf("of %d entries %d are ways; notes: %q", len(files), len(report.Integrations), report.Notes)
	}
}
