package catalog

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// found returns the files of a place, relative to the root.
func found(t *testing.T, place Place, root string) []string {
	t.Helper()
	findings, _ := place.find()
	var list []string
	for _, f := range findings {
		name, err := filepath.Rel(root, f.path)
		assert.NilError(t, err)
		if f.fault != "" {
			name += ": " + f.fault
		}
		list = append(list, filepath.ToSlash(name))
	}
	return list
}

// TestPlacesOfTheSystems checks the places of the three systems, below a temporary folder.
func TestPlacesOfTheSystems(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{
		"home/.aai/org.b/aai.json", "home/.aai/org.a/aai.json", "home/.aai/config.json", "home/.aai/aai.json", "home/.aai/org.c/sub/aai.json",
		"opt/tool/aai.json", "opt/tool/bin/aai.json",
		"share/applications/aai/x.json", "share/applications/aai/y.txt", "share/applications/z.json",
		"Applications/Mail.app/Contents/Resources/aai.json", "Applications/Deep/Mail.app/Contents/Resources/aai.json",
		"DerivedData/P-abc/Build/Products/Debug/Mine.app/Contents/Resources/aai.json",
		"DerivedData/P-abc/Build/Products/Release/Mine.app/Contents/Resources/aai.json",
		"DerivedData/P-abc/Build/Products/Other/Mine.app/Contents/Resources/aai.json",
		"ProgramData/aai/app.json", "ProgramData/aai/sub/app.json",
	} {
		write(t, filepath.Join(root, name), "{}")
	}
	at := func(name string) string { return filepath.Join(root, name) }
	tests := []struct {
		place Place
		want  []string
	}{
		{Folders(at("home/.aai")), []string{"home/.aai/org.a/aai.json", "home/.aai/org.b/aai.json"}},
		{Glob(at("opt"), "*/aai.json"), []string{"opt/tool/aai.json"}},
		{Files(at("share/applications/aai"), "*.json"), []string{"share/applications/aai/x.json"}},
		{Bundles(at("Applications")), []string{"Applications/Mail.app/Contents/Resources/aai.json"}},
		{
			Glob(at("DerivedData"), "*/Build/Products/[DR]e*/*/Contents/Resources/aai.json"),
			[]string{
				"DerivedData/P-abc/Build/Products/Debug/Mine.app/Contents/Resources/aai.json",
				"DerivedData/P-abc/Build/Products/Release/Mine.app/Contents/Resources/aai.json",
			},
		},
		{Files(at("ProgramData/aai"), "*.json"), []string{"ProgramData/aai/app.json"}},
		{Folders(at("nowhere")), nil},
		{Folders(at("home/.aai/config.json")), nil},
		{DesktopFilesPlace(at("nowhere")), nil},
	}
	for _, test := range tests {
		assert.Check(t, is.DeepEqual(test.want, found(t, test.place, root)), "%s", test.place)
	}
	relative := Folders("relative")
	findings, _ := relative.find()
	assert.Assert(t, is.Len(findings, 1))
	assert.Assert(t, findings[0].fault != "", "a relative place gives %v", findings)
}

func TestDesktopFiles(t *testing.T) {
	root := t.TempDir()
	target := filepath.Join(root, "opt", "app one.json")
	entry := func(name, content string) { write(t, filepath.Join(root, name+".desktop"), content) }
	entry("a", "# A comment\n[Desktop Entry]\nName=A\nX-AAI-Config = "+strings.ReplaceAll(target, " ", `\s`)+"\n")
	entry("b", "[Desktop Entry]\nName=B\n[Desktop Action new]\nX-AAI-Config=/elsewhere.json\n")
	entry("c", "[Desktop Entry]\nX-AAI-Config=relative/aai.json\n")
	entry("d", "[Desktop Entry]\nName=D\nX-AAI-Configuration=/elsewhere.json\n#X-AAI-Config=/elsewhere.json\n")
	entry("e", "[Desktop Entry]\r\nX-AAI-Config="+target+"\r\n")
	assert.NilError(t, os.Mkdir(filepath.Join(root, "f.desktop"), 0o700))
	want := []string{
		"opt/app one.json",
		`c.desktop: X-AAI-Config is "relative/aai.json"; expected an absolute path`,
		"opt/app one.json",
		"f.desktop: is a folder; expected a regular file",
	}
	assert.Check(t, is.DeepEqual(want, found(t, DesktopFilesPlace(root), root)))
}

// TestConcerns checks that an event matters only if it can change the files of a place.
func TestConcerns(t *testing.T) {
	folder := func(parts ...string) string { return string(filepath.Separator) + filepath.Join(parts...) }
	place := Folders(folder("home", "ann", ".aai"))
	for name, want := range map[string]bool{
		folder("home", "ann", ".aai", "org.x"):               true,
		folder("home", "ann", ".aai", "org.x", "aai.json"):   true,
		folder("home", "ann", ".aai"):                        true,
		folder("home", "ann"):                                true,
		folder("home"):                                       true,
		folder("home", "ann", ".aai", "org.x", "aai.json~"):  false,
		folder("home", "ann", ".aai", "org.x", "log", "x"):   false,
		folder("home", "ann", ".cache"):                      false,
		folder("home", "ann", ".aai-old"):                    false,
		folder("home", "an"):                                 false,
		folder("home", "ann", ".aai", "org.x", "aai.json.1"): false,
	} {
		assert.Check(t, is.Equal(place.concerns(name), want), "%s %v", name, !want)
	}
	bundles := Bundles(folder("Applications"))
	assert.Assert(t, bundles.concerns(folder("Applications", "X.app", "Contents")), "events in bundles are not told apart")
	assert.Assert(t, !bundles.concerns(folder("Applications", "X.app", "Other")), "events in bundles are not told apart")
}
