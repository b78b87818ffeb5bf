package desktopentry_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"aai/internal/desktopentry"
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
		f.Value("Name"): "Text Editor", f.In("de_AT.UTF-8", "Name"): "Schreiber", f.In("de_DE", "Name"): "Editor", f.In("sr_RS@latin", "Name"): "Uredjivac",
		f.In("fr", "Comment"): `a b\nc`, f.Value("Exec"): `editor "a b" %U`,
		f.Of("Other", "Type"): "Link",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if _, found := f.Get("NoDisplay"); found || !f.Starts() || !f.Is("DBusActivatable") {
		t.Errorf("%+v", f)
	}
	actions := f.Actions()
	if len(actions) != 2 || actions[0].ID != "new" || actions[0].In("de", "Name") != "Neu" || actions[1].Value("Name") != "Print" {
		t.Errorf("%+v", actions)
	}
	if deleted := desktopentry.Parse([]byte("[Desktop Entry]\nType=Application\nHidden=true\n")); deleted.Starts() {
		t.Error("a deleted entry starts something")
	}
}

// FuzzParse: any text is an entry, if an empty one.
func FuzzParse(f *testing.F) {
	f.Add([]byte(text))
	f.Add([]byte("[\n=\n[]\n=x\n\x00=\xff"))
	f.Fuzz(func(t *testing.T, text []byte) {
		e := desktopentry.Parse(text)
		for _, key := range []string{"Name", "Type", "Exec", ""} {
			if e.In("", key) != e.Value(key) {
				t.Errorf("%q is %q, and in no language %q", key, e.Value(key), e.In("", key))
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
	if f, err := desktopentry.Read(pipe); err == nil || f.Starts() {
		t.Errorf("%+v, %v", f, err)
	}
}
