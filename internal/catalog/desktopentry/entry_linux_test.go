package desktopentry_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gybob/aai-gateway/internal/catalog/desktopentry"
)

const text = `# a comment
[Desktop Entry]
Type=Application
Name = Text Editor
Name=Second
Name[de]=Editor
Name[de_AT]=Schreiber
Name[sr@latin]=Uredjivac
Comment=a\sb\\nc
Exec=editor "a b" %U
Actions=new;gone; new ;print;
DBusActivatable=true
no value
[Desktop Action new]
Name=New
Name[de]=Neu
[Desktop Action print]
Name=Print
[Other]
Type=Link
Hidden=true
`

func TestParse(t *testing.T) {
	f := desktopentry.Parse([]byte(strings.ReplaceAll(text, "\n", "\r\n")))
	for got, want := range map[string]string{
		f.Value("Name"): "Text Editor", f.LocalizedValue("de_AT.UTF-8", "Name"): "Schreiber", f.LocalizedValue("de_DE", "Name"): "Editor", f.LocalizedValue("sr_RS@latin", "Name"): "Uredjivac",
		f.LocalizedValue("fr", "Comment"): `a b\nc`, f.Value("Exec"): `editor "a b" %U`,
		f.GroupValue("Other", "Type"): "Link",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if _, found := f.Lookup("NoDisplay"); found || !f.IsApplication() || !f.IsTrue("DBusActivatable") {
		t.Errorf("%+v", f)
	}
	actions := f.Actions()
	if len(actions) != 2 || actions[0].ID != "new" || actions[0].LocalizedValue("de", "Name") != "Neu" || actions[1].Value("Name") != "Print" {
		t.Errorf("%+v", actions)
	}
	if deleted := desktopentry.Parse([]byte("[Desktop Entry]\nType=Application\nHidden=true\n")); deleted.IsApplication() {
		t.Error("a deleted entry starts something")
	}
}

// FuzzParse checks that any text gives an entry, possibly empty.
func FuzzParse(f *testing.F) {
	f.Add([]byte(text))
	f.Add([]byte("[\n=\n[]\n=x\n\x00=\xff"))
	f.Fuzz(func(t *testing.T, text []byte) {
		e := desktopentry.Parse(text)
		for _, key := range []string{"Name", "Type", "Exec", ""} {
			if e.LocalizedValue("", key) != e.Value(key) {
				t.Errorf("%q is %q, and in no language %q", key, e.Value(key), e.LocalizedValue("", key))
			}
		}
		for _, a := range e.Actions() {
			if !strings.Contains(e.Value("Actions"), a.ID) {
				t.Errorf("nobody names the action %q", a.ID)
			}
		}
	})
}

func TestReadWaitsForNobody(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "a.desktop")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if f, err := desktopentry.Read(pipe); err == nil || f.IsApplication() {
		t.Errorf("%+v, %v", f, err)
	}
}
