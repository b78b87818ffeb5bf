package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

var _ aai.Catalog = (*Catalog)(nil)

// newCatalog returns a catalog over places below a temporary folder, with descriptors for linux
// that can run.
func newCatalog(places ...Place) *Catalog {
	c := New(Config{
		Places: places, HostPlatform: "linux", Drivers: drivers(&recorder{}, "dbus"),
		Builtin: []*aai.App{{ID: "aai", Name: "AAI Gateway"}, {ID: "desktop", Name: "Desktop", Aliases: []string{"screen"}}},
	})
	c.watchDelay = 0
	return c
}

func reports(t *testing.T, c *Catalog) map[string]FileReport {
	t.Helper()
	r, err := c.Report(t.Context())
	assert.NilError(t, err)
	byName := make(map[string]FileReport)
	for _, file := range r.Files {
		byName[filepath.Base(file.Path)] = file
	}
	return byName
}

func TestPrecedence(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	write(t, filepath.Join(first, "1.json"), linuxApp("org.a", "First", ""))
	write(t, filepath.Join(second, "2.json"), linuxApp("org.a", "Second", ""))
	write(t, filepath.Join(second, "3.json"), linuxApp("org.b", "B", ""))
	write(t, filepath.Join(first, "4.json"), `{"appId": "org.b"}`) // invalid, and hides nothing
	write(t, filepath.Join(second, "5.json"), linuxApp("org.A", "Case", ""))
	write(t, filepath.Join(second, "6.json"), withPlatforms(`{"ios": {"automation": "url_scheme", "scheme": "x", "tools": [{"name": "t", "url_template": "x://"}]}}`))
	c := newCatalog(Files(first, "*.json"), Files(second, "*.json"), Files(first, "1.json"))

	assert.Check(t, is.Equal(ids(c.Apps()), "aai desktop org.a org.b org.example.App"))
	app, err := c.Find(t.Context(), "org.a")
	assert.NilError(t, err, "%+v", app)
	assert.Equal(t, app.Name, "First", "%+v", app)
	got := reports(t, c)
	want := map[string]Status{"1.json": StatusOK, "2.json": StatusShadowed, "3.json": StatusOK, "4.json": StatusInvalid, "5.json": StatusRefused, "6.json": StatusUnsupported}
	for name, status := range want {
		assert.Check(t, is.Equal(got[name].Status, status), "%s %+v", name, got[name])
	}
	assert.Assert(t, is.Len(got, len(want)))
	assert.Equal(t, got["2.json"].ShadowedBy, filepath.Join(first, "1.json"))
	e := got["5.json"].Errors
	assert.Assert(t, is.Len(e, 1))
	assert.Assert(t, strings.HasPrefix(e[0].Problem, `the id "org.A" differs only in case from "org.a"`), "5.json: %v", e)
	file := got["1.json"]
	assert.Check(t, is.Equal(file.App, "org.a"), "%+v", file)
	assert.Check(t, is.Equal(file.Name, "First"), "%+v", file)
	assert.Check(t, is.Equal(file.Tools, 1), "%+v", file)
	assert.Check(t, is.Equal(file.Platform, "linux"), "%+v", file)
	assert.Check(t, is.Equal(file.Place, filepath.Join(first, "*.json")), "%+v", file)
	e = got["4.json"].Errors
	assert.Assert(t, len(e) != 0, "4.json: %v", e)
	assert.Equal(t, e[0].Path, "schema_version", e)
}

func TestFind(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "org.example.Mail", "aai.json"), linuxApp("org.example.Mail", "Mail|邮件", `"aliases": ["Post", "letters"],`))
	write(t, filepath.Join(root, "org.example.News", "aai.json"), linuxApp("org.example.News", "News|Letters", ""))
	write(t, filepath.Join(root, "org.bad", "aai.json"), `{"schema_version": "1.0", "appId": "org.worse", "name": "Broken", "platforms": {"linux": 5}}`)
	c := newCatalog(Folders(root))
	for name, want := range map[string]string{
		"org.example.Mail": "org.example.Mail", "ORG.example.mail": "org.example.Mail", "app:org.example.Mail": "org.example.Mail",
		"app_org_example_Mail": "org.example.Mail", "mail": "org.example.Mail", "邮件": "org.example.Mail", " POST ": "org.example.Mail",
		"news": "org.example.News", "aai": "aai", "Desktop": "desktop", "SCREEN": "desktop", "app:desktop": "desktop",
	} {
		app, err := c.Find(t.Context(), name)
		assert.NilError(t, err, "%q %v", name, app)
		assert.Equal(t, app.ID, want, "%q %v", name, app)
	}
	tests := []struct {
		name       string
		code       aai.Code
		message    string
		candidates []string
	}{
		{"letters", aai.AppNotFound, `"letters" may mean any of 2 apps`, []string{"org.example.Mail", "org.example.News"}},
		{"org.example.Mial", aai.AppNotFound, `no app is named "org.example.Mial"`, []string{"org.example.Mail", "org.example.News"}},
		{"", aai.AppNotFound, `no app is named ""`, nil},
		{"\x1b[31mzzzzzzzzzzzzzzzz", aai.AppNotFound, `no app is named "[31mzzzzzzzzzzzzzzzz"`, nil},
		{"org.bad", aai.DescriptorInvalid, `the descriptor of "org.bad", ` + filepath.Join(root, "org.bad", "aai.json") + ", is refused: platforms.linux: is a number; expected an object with the tools for this platform", nil},
		{"app:org.worse", aai.DescriptorInvalid, "", nil},
		{"broken", aai.DescriptorInvalid, "", nil},
	}
	for _, test := range tests {
		_, err := c.Find(t.Context(), test.name)
		e, ok := errors.AsType[*aai.Error](err)
		if !ok || e.Code != test.code || e.Hint == "" || test.message != "" && e.Message != test.message {
			t.Errorf("%q: %v", test.name, err)
			continue
		}
		assert.Check(t, is.DeepEqual(test.candidates, e.Candidates), "%q", test.name)
	}
}

// TestNamesCannotBeStolen checks that no descriptor can take a name of the gateway or another app.
func TestNamesCannotBeStolen(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "1.json"), linuxApp("org.honest", "Honest", `"aliases": ["work"],`))
	write(t, filepath.Join(root, "2.json"), linuxApp("org.thief", "org.honest|desktop|Screen",
		`"aliases": ["ORG.honest", "app:org.honest", "app_org_honest", "aai", "App:Desktop", "Work", "mine"],`))
	c := newCatalog(Files(root, "*.json"))
	for name, want := range map[string]string{
		"org.honest": "org.honest", "Org.Honest": "org.honest", "app:org.honest": "org.honest", "app_org_honest": "org.honest",
		"APP_ORG_HONEST": "org.honest", "desktop": "desktop", "DESKTOP": "desktop", "aai": "aai", "screen": "desktop", "work": "org.honest", "mine": "org.thief",
	} {
		app, err := c.Find(t.Context(), name)
		assert.NilError(t, err, "%q %v", name, app)
		assert.Equal(t, app.ID, want, "%q %v", name, app)
	}
	thief, _ := c.Find(t.Context(), "org.thief")
	assert.Check(t, is.DeepEqual([]string{"mine"}, thief.Aliases))
	w := reports(t, c)["2.json"].Warnings
	assert.Assert(t, is.Len(w, 6))
	assert.Equal(t, w[0].String(), `aliases: "ORG.honest" already means org.honest; it is ignored`)
}

// TestWireNameClash checks equal wire names of two ids, which need equal hashes; here one is forced.
func TestWireNameClash(t *testing.T) {
	file := func(id string) *loadedFile {
		d := mustParse(t, linuxApp(id, "N", ""), Options{Source: id})
		return &loadedFile{foundFile: foundFile{place: &Place{}, path: id}, readApp: d.App, faults: &Faults{}}
	}
	a := file("org.a-b")
	b := file("org.other")
	taken := &takenNames{ids: map[string]*aai.App{}, wires: map[string]*aai.App{lower(b.readApp.WireName()): a.readApp}}
	state := (&snapshot{}).evaluate(b, taken)
	assert.Equal(t, state.status, StatusRefused, "%+v", state)
	assert.Assert(t, state.app == nil, "state: %+v", state)
	assert.Equal(t, state.problem, `the id "org.other" has the same wire name as "org.a-b": app_org_other`, "%+v", state)
}

func TestFolderNameWarning(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "calc", "aai.json"), linuxApp("org.calc", "N", ""))
	report := reports(t, newCatalog(Folders(root)))["aai.json"]
	assert.Equal(t, report.Status, StatusOK, "%+v", report)
	assert.Assert(t, is.Len(report.Warnings, 1), "%+v", report)
	assert.Equal(t, report.Warnings[0].Problem, `the folder is named "calc"; expected the app's id, "org.calc"`, "%+v", report)
	assert.Check(t, is.Len(reports(t, newCatalog(Glob(root, "*/aai.json")))["aai.json"].Warnings, 0))
}

// TestReportCompilesSchemas checks that the report has errors of the schema library.
func TestReportCompilesSchemas(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "1.json"), strings.Replace(linuxTool(`"method": "M"`), `"a": {"type": "string"}`, `"a": {"type": "string", "default": 7}`, 1))
	report := reports(t, newCatalog(Files(root, "*.json")))["1.json"]
	assert.Assert(t, is.Len(report.Errors, 1), "%+v", report)
	assert.Equal(t, report.Errors[0].Path, "t.parameters", "%+v", report)
	_, err := json.Marshal(report)
	assert.Check(t, err)
}

func TestFirstScanIsWaitedForAsLongAsTheCallerLikes(t *testing.T) {
	c := newCatalog(Folders(t.TempDir()))
	c.scanMu.Lock() // the scan hangs
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err := c.Find(ctx, "aai")
	assert.Assert(t, aai.AsError(err) != nil, err)
	assert.Equal(t, aai.AsError(err).Code, aai.Timeout, err)
	_, err = c.Report(ctx)
	assert.Check(t, err != nil, "a report without a scan")
	c.scanMu.Unlock()
	app, err := c.Find(t.Context(), "aai")
	assert.NilError(t, err, app)
	assert.Equal(t, app.ID, "aai", app)
}

func TestAppsMayBeChangedByTheCaller(t *testing.T) {
	c := newCatalog()
	c.Apps()[0] = nil
	assert.Check(t, is.Equal(ids(c.Apps()), "aai desktop"))
}
