package catalog

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

func TestEffects(t *testing.T) {
	tests := []struct {
		tool          string
		want, foreign aai.Effect
	}{
		{`"method": "M"`, aai.Destroys, aai.Destroys},
		{`"property": "P"`, aai.Reads, aai.Reads},
		{`"property": "P", "access": "get"`, aai.Reads, aai.Reads},
		{`"property": "P", "access": "set"`, aai.Destroys, aai.Destroys},
		{`"property": "P", "effect": "destroys"`, aai.Destroys, aai.Destroys},
		{`"method": "M", "effect": "reads"`, aai.Reads, aai.Destroys},
		{`"method": "M", "effect": "changes"`, aai.Changes, aai.Destroys},
		{`"property": "P", "effect": "changes"`, aai.Changes, aai.Changes},
		{`"method": "M", "annotations": {"readOnlyHint": true}`, aai.Reads, aai.Destroys},
		{`"method": "M", "annotations": {"destructiveHint": false}`, aai.Changes, aai.Destroys},
		{`"method": "M", "annotations": {"readOnlyHint": false, "destructiveHint": false}`, aai.Changes, aai.Destroys},
		{`"method": "M", "annotations": {"readOnlyHint": true, "destructiveHint": true}`, aai.Destroys, aai.Destroys},
		{`"property": "P", "annotations": {"readOnlyHint": false}`, aai.Destroys, aai.Destroys},
		{`"method": "M", "effect": "reads", "annotations": {"destructiveHint": true}`, aai.Destroys, aai.Destroys},
		{`"method": "M", "effect": "changes", "annotations": {"readOnlyHint": true}`, aai.Changes, aai.Destroys},
		{`"method": "M", "annotations": {"title": "T"}`, aai.Destroys, aai.Destroys},
	}
	for _, test := range tests {
		for origin, want := range map[string]aai.Effect{"": test.want, "https://example.com": test.foreign} {
			tool := mustParse(t, linuxTool(test.tool), Options{Origin: origin}).App.Tools[0]
			assert.Check(t, is.Equal(tool.Effect, want), "%s %q", test.tool, origin)
			if byNature := strings.Contains(test.tool, "property"); tool.Effect == aai.Reads && tool.Assessment(nil).EffectInherent != byNature {
				t.Errorf("%s (from %q): that it reads is no claim: %v, want %v", test.tool, origin, tool.Assessment(nil).EffectInherent, byNature)
			}
		}
	}
}

// TestMostAliases checks the limit on aliases, and its warning.
func TestMostAliases(t *testing.T) {
	for n, warnings := range map[int]int{maxAliases: 0, maxAliases + 2: 2} {
		var names []string
		for i := range n {
			names = append(names, fmt.Sprintf(`"name %d"`, i))
		}
		d := mustParse(t, linuxApp("a.b", "N", `"aliases": [`+strings.Join(names, ",")+`],`), Options{})
		assert.Assert(t, is.Len(d.App.Aliases, maxAliases), "%d", n)
		assert.Assert(t, is.Len(d.Warnings, warnings), "%d", n)
	}
}

// TestSchemesOfNoApp checks that schemes of browsers and other programs are rejected.
func TestSchemesOfNoApp(t *testing.T) {
	for scheme, fault := range map[string]bool{"mailapp": false, "about": true, "blob": true, "data": true, "file": true, "javascript": true, "JavaScript": true, "vbscript": true} {
		_, err := Parse([]byte(withPlatforms(`{"ios": {"automation": "url_scheme", "scheme": "`+scheme+`", "tools": [{"name": "t", "url_template": "`+scheme+`:x"}]}}`)), Options{})
		assert.Check(t, is.Equal(err != nil && strings.Contains(fmt.Sprint(aai.AsError(err).Err), "not an app's own"), fault), "%s %v", scheme, err)
	}
}

// TestStrangersID checks that an app from the web cannot pass for a local one.
func TestStrangersID(t *testing.T) {
	source := strings.Replace(linuxTool(`"method": "M"`), `{`, `{"aliases": ["mail", "org.gnome.Calculator"], `, 1)
	here := mustParse(t, source, Options{}).App
	there := mustParse(t, source, Options{Origin: "https://example.com:8443"}).App
	assert.Assert(t, is.Len(here.Aliases, 2), "%q", here.ID)
	assert.Equal(t, there.ID, "example.com:8443/"+here.ID, "%q", here.ID)
	assert.Assert(t, is.Len(there.Aliases, 0), "%q", here.ID)
}

// TestSectionOfTheApp: the host's section counts; else the first that a driver can run; else the first.
func TestSectionOfTheApp(t *testing.T) {
	source := withPlatforms(`{
		"macos": {"automation": "applescript", "tools": [{"name": "mac", "script": "x"}]},
		"android": {"automation": "intent", "package": "a.b", "tools": [{"name": "droid", "action": "A"}]},
		"linux": {"automation": "dbus", "service": "a.b", "object": "/", "interface": "a.b", "tools": [{"name": "lin", "method": "M"}]}}`)
	tests := []struct {
		host, drivers, platform, kind string
	}{
		{"linux", "dbus intent", "linux", "dbus"},
		{"linux", "intent", "linux", ""},
		{"windows", "intent", "android", "intent"},
		{"windows", "android/intent", "android", "intent"},
		{"windows", "ios/intent", "macos", ""},
		{"windows", "", "macos", ""},
		{"macos", "applescript dbus", "macos", "applescript"},
	}
	for _, test := range tests {
		d := mustParse(t, source, Options{HostPlatform: test.host, Drivers: drivers(&recorder{}, strings.Fields(test.drivers)...)})
		tool := d.App.Tools[0]
		kind := ""
		if tool.Run != nil {
			result, _ := tool.Run(t.Context(), nil)
			kind = result.Text
		}
		assert.Check(t, is.Equal(d.App.Platform, test.platform), "%s %q", test.host, test.drivers)
		assert.Check(t, is.Equal(kind, test.kind), "%s %q", test.host, test.drivers)
		assert.Check(t, is.Equal(d.App.IsRunnable(), (test.kind != "")), "%s %q", test.host, test.drivers)
	}
}

// TestDriverLookup: "linux/ipc" comes before "ipc", and the envelope is for the host only.
func TestDriverLookup(t *testing.T) {
	source := `{"schema_version": "1.0", "platform": "linux", "app": {"id": "a.b", "name": "N"}, "execution": {"type": "ipc"}, "tools": [{"name": "t"}]}`
	var special, general recorder
	mustParse(t, source, Options{HostPlatform: "linux", Drivers: map[string]aai.Driver{"linux/ipc": &special, "ipc": &general}})
	assert.Assert(t, is.Len(special.recipes, 1))
	assert.Assert(t, is.Len(general.recipes, 0))
	d := mustParse(t, source, Options{HostPlatform: "macos", Drivers: drivers(&general, "ipc")})
	assert.Assert(t, d.App.Tools[0].Run == nil, "an envelope for linux is sent on macos")
	assert.Assert(t, is.Len(general.recipes, 0))
}

func TestDriverRefuses(t *testing.T) {
	refuse := aai.Errorf(aai.DescriptorInvalid, "service: is not a bus name")
	_, err := Parse([]byte(linuxTool(`"method": "M"`)), Options{HostPlatform: "linux", Drivers: drivers(&recorder{refuse: refuse}, "dbus")})
	e := aai.AsError(err)
	assert.Assert(t, e != nil, err)
	assert.Equal(t, e.Code, aai.DescriptorInvalid, err)
	assert.Equal(t, e.Message, "platforms.linux.tools[0]: service: is not a bus name", err)
}

// TestDriverForbids checks that a forbidden recipe only disables its tool.
func TestDriverForbids(t *testing.T) {
	forbid := aai.Errorf(aai.PermissionDenied, "bus: the system bus is off")
	d := mustParse(t, linuxTool(`"method": "M"`), Options{HostPlatform: "linux", Drivers: drivers(&recorder{refuse: forbid}, "dbus")})
	tool := d.App.Tools[0]
	assert.Assert(t, tool.Run == nil, "run %v, unavailable %v", tool.Run != nil, tool.Implementation.Unavailable)
	assert.Equal(t, tool.Implementation.Unavailable, forbid, tool.Run != nil)
	assert.Check(t, is.Equal(d.Warnings[len(d.Warnings)-1].String(), "platforms.linux.tools[0]: cannot be used: bus: the system bus is off"))
}

func TestWarnings(t *testing.T) {
	source := `{"$schema": "x", "x-mine": 1, "schema_version": "1.0", "appId": "a.b", "name": "N", "descripton": "D", "platforms": {
		"linus": {}, "linux": {"service": "a.b", "object": "/", "interface": "a.b", "icon": null,
		"tools": [{"name": "t", "method": "M", "parameter": {}, "output_parser": "xml"}]}}}`
	d := mustParse(t, source, Options{})
	var got []string
	for _, w := range d.Warnings {
		got = append(got, w.String())
	}
	tool := "platforms.linux.tools[0]"
	want := []string{
		"description: missing; agents choose apps by it",
		`platforms.linus: unknown platform; it is ignored (did you mean "linux"?)`,
		`platforms.linux.automation: missing; taken to be "dbus"`,
		tool + ".description: missing; agents choose tools by it",
		tool + ".parameters: missing; the tool takes no parameters",
		tool + `.output_parser: is "xml"; expected "json" or "string"; the answer is given as it is`,
		tool + `.parameter: unknown key; it is ignored (did you mean "parameters"?)`,
		"platforms.linux.icon: unknown key; it is ignored",
		`descripton: unknown key; it is ignored (did you mean "description"?)`,
	}
	assert.Check(t, is.DeepEqual(want, got))
}

// TestTexts checks that texts are cleaned and cut, and the digest is over the bytes.
func TestTexts(t *testing.T) {
	long := strings.Repeat("d", 400)
	source := linuxTool(`"method": "M", "title": "\u001b[31m` + strings.Repeat("t", 100) + `"`)
	source = strings.Replace(source, `"An app."`, `"\u2066`+long+`"`, 1)
	d := mustParse(t, source, Options{})
	got := d.App.Description
	assert.Check(t, is.Equal(got, long[:297]+"…"), "description of %d bytes: %q", len(got), got)
	assert.Check(t, is.Equal(d.App.Tools[0].Title, "[31m"+strings.Repeat("t", 53)+"…"))
	assert.Check(t, mustParse(t, source+"\n", Options{}).App.Digest != d.App.Digest, "the digest does not see a changed byte")
	marked := mustParse(t, "\xef\xbb\xbf"+source, Options{})
	assert.Check(t, is.Equal(string(marked.App.Descriptor.Raw), source))
	assert.Check(t, marked.App.Digest != d.App.Digest, "a byte order mark is not handled")
}

func TestSchemasOfATool(t *testing.T) {
	source := strings.Replace(linuxTool(`"method": "M", "returns": {"type": "string"}`), `"b": {"type": "string"}`,
		`"password": {"type": "string", "format": "password"}, "n": {"type": "integer", "default": 3}`, 1)
	tool := mustParse(t, source, Options{}).App.Tools[0]
	assert.Check(t, is.DeepEqual([]string{"a", "password", "n"}, tool.Params.Order))
	assert.Check(t, is.DeepEqual([]string{"password"}, tool.Privacy.Secret))
	_, err := tool.Params.Check(map[string]any{"a": 1.0})
	assert.Check(t, err != nil, "a number passes for a string")
	_, err = tool.Returns.Check(1.0)
	assert.Check(t, err != nil, "a number passes for a promised string")
}

func TestValidID(t *testing.T) {
	for id, want := range map[string]bool{
		"org.gnome.Calculator": true, "a.b": true, "A.7zip": true, "org.my_app.x-y": true, "a._b": true, strings.Repeat("a.", 99) + "aa": true,
		"": false, "aai": false, "desktop": false, "a..b": false, ".a.b": false, "a.b.": false, "7.a": false, "a.-b": false, "_a.b": false,
		"a b.c": false, "a/b.c": false, "a.b:c": false, "é.b": false, strings.Repeat("a.", 100) + "a": false,
	} {
		assert.Check(t, is.Equal(validID(id), want), "%q %v", id, !want)
	}
}
