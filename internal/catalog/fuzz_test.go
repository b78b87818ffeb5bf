package catalog

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// FuzzParse checks for every input that it gives a descriptor or faults, never both and never a
// panic; that an accepted one is strict JSON and has the properties that the program relies on;
// that parsing it again, or its marshalled form, gives the same; and that its guide is sound.
func FuzzParse(f *testing.F) {
	f.Add(read2(f, "testdata/mail.json"))
	f.Add(read2(f, "testdata/web.json"))
	f.Add(linuxApp("a.b", "N", `"aliases": ["x"],`))
	f.Add(linuxTool(`"property": "P", "effect": "reads"`))
	f.Add(webApp(`{"type": "bearer"}`))
	f.Add(`{"schema_version": "1.0", "platform": "linux", "app": {"id": "a.b", "name": {"en": "N"}}, "execution": {"type": "ipc"}, "tools": [{"name": "t"}]}`)
	f.Add(strings.Repeat(`{"a":`, 40))
	f.Add(strings.Repeat(`[`, 20000))
	f.Add(`{"platforms": {"linux": {"tools": [{"parameters": {"properties": {"a": {"$ref": "#/properties/a"}}}}]}}}`)
	f.Fuzz(func(t *testing.T, source string) {
		var d recorder
		o := Options{HostPlatform: "linux", Drivers: drivers(&d, "dbus", "ipc", "intent")}
		got, err := Parse([]byte(source), o)
		if err != nil {
			checkRefusal(t, got, err)
			return
		}
		checkAccepted(t, source, got)
		if _, err := got.Document.Marshal(); err == nil {
			writtenAgain(t, got, o)
		} else if way := got.Document.Sections[0].Automation; way != "stdio" && way != "acp" && len(source) < maxBytes/10 {
			t.Fatalf("it cannot be written: %v", err)
		}
		again, err := Parse([]byte(source), o)
		assert.NilError(t, err)
		assert.Equal(t, again.App.Digest, got.App.Digest)
		assert.Assert(t, is.Len(again.App.Tools, len(got.App.Tools)))
	})
}

func checkRefusal(t *testing.T, d *Descriptor, err error) {
	t.Helper()
	e, ok := errors.AsType[*aai.Error](err)
	assert.Assert(t, ok, "descriptor %v, error %#v", d, err)
	assert.Assert(t, d == nil, "descriptor %v, error %#v", d, err)
	assert.Equal(t, e.Code, aai.DescriptorInvalid, "%v %#v", d, err)
	faults, ok := errors.AsType[*Faults](err)
	assert.Assert(t, ok, "faults = %v", faults)
	assert.Assert(t, len(faults.List) != 0, "faults = %v", faults)
	assert.Assert(t, len(faults.List) <= maxFaults, "faults = %v", faults)
	for _, fault := range faults.List {
		assert.Assert(t, fault.Problem != "", "fault %q", fault)
		assert.Assert(t, utf8.ValidString(fault.String()), "fault %q", fault)
	}
}

func checkAccepted(t *testing.T, source string, d *Descriptor) {
	t.Helper()
	app := d.App
	assert.Assert(t, json.Valid(app.Descriptor.Raw), "accepted what is no strict JSON")
	assert.Assert(t, utf8.ValidString(source), "accepted what is no strict JSON")
	assert.Assert(t, len(source) <= maxBytes, "accepted what is no strict JSON")
	assert.Assert(t, validID(app.ID), "app = %+v", app)
	assert.Assert(t, app.Name != "", "app = %+v", app)
	assert.Assert(t, app.Platform != "", "app = %+v", app)
	assert.Equal(t, len(app.Digest), 64, "%+v", app)
	assert.Assert(t, app.ID != aai.BuiltinApp, "app = %+v", app)
	for _, words := range []string{app.Name, app.Description} {
		assert.Equal(t, words, aai.CleanText(words, 2*maxText))
	}
	for _, tool := range app.Tools {
		assert.Assert(t, validToolName(tool.Name), "tool = %+v", tool)
		assert.Assert(t, tool.Limits.Timeout >= minTimeout, "tool = %+v", tool)
		assert.Assert(t, tool.Limits.Timeout <= maxTimeout, "tool = %+v", tool)
		assert.Equal(t, app.Tool(tool.Name), tool)
	}
	guide := Guide(app)
	assert.Equal(t, guide, aai.CleanText(guide, len(guide)+1), "the guide is unclean: %q", guide)
	_, err := json.Marshal(GuideData(app))
	assert.NilError(t, err)
}

func read2(f *testing.F, name string) string {
	f.Helper()
	source, _, err := readRegular(name)
	assert.NilError(f, err)
	return string(source)
}

func TestLimitsOfTheTree(t *testing.T) {
	nest := func(n int) string { return strings.Repeat(`{"a":`, n-1) + `{}` + strings.Repeat(`}`, n-1) }
	wide := func(n int) string { return "[" + strings.Repeat("0,", n-2) + "0]" }
	tests := []struct {
		name, source, want string
	}{
		{"deep enough", nest(maxDepth - 1), ""},
		{"too deep", nest(maxDepth + 1), "nested more than 32 deep"},
		{"wide enough", wide(maxNodes), ""},
		{"too wide", wide(maxNodes + 1), "has more than 100000 values"},
		{"long enough", "1" + strings.Repeat(" ", maxBytes-1), ""},
		{"too long", "1" + strings.Repeat(" ", maxBytes), "longer than 8388608 bytes"},
	}
	for _, test := range tests {
		_, fault := new(reader).read([]byte(test.source), ownLimits())
		switch {
		case fault == nil && test.want != "":
			t.Errorf("%s: no fault", test.name)
		case fault != nil && fault.Problem != test.want:
			t.Errorf("%s: %s", test.name, fault)
		}
	}
}
