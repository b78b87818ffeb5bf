package desktopentry_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

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
		assert.Check(t, is.Equal(got, want))
	}
	_, found := f.Lookup("NoDisplay")
	assert.Assert(t, !found, "%+v", f)
	assert.Assert(t, f.IsApplication(), "%+v", f)
	assert.Assert(t, f.IsTrue("DBusActivatable"), "%+v", f)
	actions := f.Actions()
	assert.Assert(t, is.Len(actions, 2))
	assert.Equal(t, actions[0].ID, "new")
	assert.Equal(t, actions[0].LocalizedValue("de", "Name"), "Neu")
	assert.Equal(t, actions[1].Value("Name"), "Print")
	assert.Check(t, !desktopentry.Parse([]byte("[Desktop Entry]\nType=Application\nHidden=true\n")).IsApplication(), "a deleted entry starts something")
}

// FuzzParse checks that any text gives an entry, possibly empty.
func FuzzParse(f *testing.F) {
	f.Add([]byte(text))
	f.Add([]byte("[\n=\n[]\n=x\n\x00=\xff"))
	f.Fuzz(func(t *testing.T, text []byte) {
		e := desktopentry.Parse(text)
		for _, key := range []string{"Name", "Type", "Exec", ""} {
			assert.Check(t, is.Equal(e.LocalizedValue("", key), e.Value(key)), "%q", key)
		}
		for _, a := range e.Actions() {
			assert.Check(t, is.Contains(e.Value("Actions"), a.ID), "nobody names the action %q", a.ID)
		}
	})
}

func TestReadWaitsForNobody(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "a.desktop")
	assert.NilError(t, syscall.Mkfifo(pipe, 0o600))
	f, err := desktopentry.Read(pipe)
	assert.Assert(t, err != nil, "%+v %v", f, err)
	assert.Assert(t, !f.IsApplication(), "%+v %v", f, err)
}
