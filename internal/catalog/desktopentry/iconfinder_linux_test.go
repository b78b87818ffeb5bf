package desktopentry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/catalog/desktopentry"
)

const svg = `<?xml version="1.0"?><!-- a --><svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"><script>alert(1)</script></svg>`

// picture returns a square PNG with that many pixels a side.
func picture(t *testing.T, pixels int) string {
	t.Helper()
	var b bytes.Buffer
	assert.NilError(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, pixels, pixels))))
	return b.String()
}

// writeFiles writes files below a folder.
func writeFiles(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(folder, name)
		assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		assert.NilError(t, os.WriteFile(path, []byte(text), 0o600))
	}
}

const hicolor = `[Icon Theme]
Directories=16x16/apps,48x48/apps,scalable/apps,48x48/places
[16x16/apps]
Size=16
Context=Applications
Type=Threshold
[48x48/apps]
Size=48
Context=Applications
Type=Fixed
[scalable/apps]
Size=128
MinSize=200
MaxSize=256
Context=Applications
Type=Scalable
[48x48/places]
Size=48
`

// ask calls the tool for the icon of one app.
func ask(t *testing.T, r *desktopentry.IconFinder, app string, size int) (kind string, data []byte) {
	t.Helper()
	result, err := r.Tools()[0].Run(context.Background(), &aai.Call{Args: map[string]any{"apps": []any{app}, "size": size}})
	assert.NilError(t, err)
	if len(result.Images) == 0 {
		return "", nil
	}
	return result.Images[0].MIME, result.Images[0].Data
}

func TestFinds(t *testing.T) {
	home, data := t.TempDir(), t.TempDir()
	small, right, other := picture(t, 16), picture(t, 48), picture(t, 47)
	writeFiles(t, data, map[string]string{
		"icons/hicolor/index.theme":            hicolor,
		"icons/hicolor/16x16/apps/mail.png":    small,
		"icons/hicolor/48x48/apps/mail.png":    right,
		"icons/hicolor/48x48/places/mail.png":  other,
		"icons/hicolor/scalable/apps/mail.svg": svg,
		"icons/hicolor/48x48/apps/plain.svg":   svg,
		"icons/Child/index.theme":              "[Icon Theme]\nInherits=Parent,Child\n",
		"icons/Parent/index.theme":             "[Icon Theme]\nDirectories=d\nInherits=Child\n[d]\nSize=48\n",
		"icons/Parent/d/themed.svg":            svg,
		"icons/hicolor/48x48/apps/themed.png":  right,
		"pixmaps/old.png":                      other,
		"applications/org.a.Mail.desktop":      "[Desktop Entry]\nType=Application\nIcon=mail\n",
		"applications/themed.desktop":          "[Desktop Entry]\nIcon=themed.png\n",
		"applications/whole.desktop":           "[Desktop Entry]\nIcon=" + filepath.Join(data, "pixmaps", "old.png") + "\n",
	})
	writeFiles(t, home, map[string]string{".config/gtk-3.0/settings.ini": "[Settings]\ngtk-icon-theme-name = Child\n"})
	r := desktopentry.NewIconFinder(desktopentry.IconConfig{EntryFolders: []string{filepath.Join(home, "none"), filepath.Join(data, "applications")}, Home: home, Names: func() map[string][]string {
		return map[string][]string{"example.org/mail": {"nothing", "org.a.Mail"}}
	}})
	for _, c := range []struct {
		app  string
		size int
		kind string
		want string
	}{
		{"org.a.Mail", 48, "image/png", right},
		{"desktop/org.a.Mail", 48, "image/png", right},
		{"example.org/mail", 17, "image/png", small},
		{"org.a.Mail", 256, "image/svg+xml", svg},
		{"plain", 48, "image/svg+xml", svg},
		{"themed", 48, "image/svg+xml", svg}, // the person's theme precedes the fallback
		{"old", 48, "image/png", other},
		{"whole", 48, "image/png", other},
		{"unknown", 48, "", ""},
		{"../hicolor/48x48/apps/mail", 48, "", ""},
	} {
		kind, got := ask(t, r, c.app, c.size)
		assert.Check(t, is.Equal(kind, c.kind), "%s %d %d %d", c.app, c.size, len(got), len(c.want))
		assert.Check(t, is.Equal(string(got), c.want), "%s %d %d %d", c.app, c.size, len(got), len(c.want))
	}
}

// TestGivesNothingElse checks that files that are no images, too large, or elsewhere are not
// returned, whatever their names and wherever links lead.
func TestGivesNothingElse(t *testing.T) {
	home, data := t.TempDir(), t.TempDir()
	secret := filepath.Join(home, "secret.png")
	writeFiles(t, home, map[string]string{"secret.png": picture(t, 48)})
	writeFiles(t, data, map[string]string{
		"applications/path.desktop":  "[Desktop Entry]\nIcon=" + secret + "\n",
		"applications/up.desktop":    "[Desktop Entry]\nIcon=../../secret\n",
		"icons/hicolor/index.theme":  "[Icon Theme]\nDirectories=../..,/etc,ok\n[../..]\nSize=48\n[/etc]\nSize=48\n[ok]\nSize=48\n",
		"pixmaps/html.png":           "<html><script>alert(1)</script>",
		"pixmaps/entity.svg":         `<!DOCTYPE svg [<!ENTITY a "aaaa">]><svg xmlns="http://www.w3.org/2000/svg">&a;</svg>`,
		"pixmaps/page.svg":           `<html xmlns="http://www.w3.org/1999/xhtml"><svg xmlns="http://www.w3.org/2000/svg"/></html>`,
		"pixmaps/bare.svg":           `<svg></svg>`,
		"pixmaps/two.svg":            svg + svg,
		"pixmaps/half.svg":           strings.TrimSuffix(svg, "</svg>"),
		"pixmaps/large.svg":          strings.Replace(svg, "alert", strings.Repeat(" ", 300<<10), 1),
		"pixmaps/wide.png":           picture(t, 1025),
		"pixmaps/text.png":           "password",
		"secret2.png":                picture(t, 48),
		"icons/hicolor/ok/other.png": picture(t, 48),
	})
	for link, to := range map[string]string{
		"pixmaps/link.png": secret, "icons/hicolor/ok/out.png": secret, "pixmaps/near.png": "../secret2.png", "pixmaps/in.png": "../icons/hicolor/ok/other.png",
		"icons/away": home, "pixmaps/loop.png": "loop.png",
	} {
		assert.NilError(t, os.Symlink(to, filepath.Join(data, link)))
	}
	assert.NilError(t, syscall.Mkfifo(filepath.Join(data, "pixmaps", "pipe.png"), 0o600))
	r := desktopentry.NewIconFinder(desktopentry.IconConfig{EntryFolders: []string{filepath.Join(data, "applications")}, Home: home})
	for _, app := range []string{
		"path", "up", "html", "entity", "page", "bare", "two", "half", "large", "wide", "text", "link", "out", "near", "loop", "pipe", "secret", "secret2",
		secret, "/etc/passwd", "", ".", "a\x00b",
	} {
		kind, got := ask(t, r, app, 48)
		assert.Check(t, is.Equal(kind, ""), "%q %d", app, len(got))
		assert.Check(t, got == nil, "%q: %s of %d bytes is given", app, kind, len(got))
	}
	kind, _ := ask(t, r, "in", 48)
	assert.Check(t, is.Equal(kind, "image/png"), "a link within the folders of icons leads to %q", kind)
}

// TestAnswerIsBounded checks the limit of a result, and its number of omitted icons.
func TestAnswerIsBounded(t *testing.T) {
	data := t.TempDir()
	files, apps := map[string]string{}, []any{}
	for _, letter := range strings.Split("abcdefghijklmnopqrstuvwxyz", "") {
		files["pixmaps/"+letter+".svg"] = strings.Replace(svg, "alert", strings.Repeat(" ", 200<<10), 1)
		apps = append(apps, letter)
	}
	writeFiles(t, data, files)
	result, err := desktopentry.NewIconFinder(desktopentry.IconConfig{EntryFolders: []string{filepath.Join(data, "applications")}}).Tools()[0].Run(context.Background(), &aai.Call{Args: map[string]any{"apps": apps}})
	assert.NilError(t, err)
	text, err := json.Marshal(result.Data)
	if err != nil || len(result.Images) != 20 || !strings.HasSuffix(string(text), `,"omitted":6}`) {
		t.Errorf("%d pictures, %.200s…, %v", len(result.Images), text, err)
	}
}
