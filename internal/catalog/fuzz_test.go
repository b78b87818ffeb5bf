package catalog

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

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
		if err != nil || again.App.Digest != got.App.Digest || len(again.App.Tools) != len(got.App.Tools) {
			t.Fatalf("the second reading differs: %v", err)
		}
	})
}

func checkRefusal(t *testing.T, d *Descriptor, err error) {
	t.Helper()
	e, ok := errors.AsType[*aai.Error](err)
	if !ok || d != nil || e.Code != aai.DescriptorInvalid {
		t.Fatalf("descriptor %v, error %#v", d, err)
	}
	faults, ok := errors.AsType[*Faults](err)
	if !ok || len(faults.List) == 0 || len(faults.List) > maxFaults {
		t.Fatalf("faults = %v", faults)
	}
	for _, fault := range faults.List {
		if fault.Problem == "" || !utf8.ValidString(fault.String()) {
			t.Fatalf("fault %q", fault)
		}
	}
}

func checkAccepted(t *testing.T, source string, d *Descriptor) {
	t.Helper()
	app := d.App
	if !json.Valid(app.Descriptor.Raw) || !utf8.ValidString(source) || len(source) > maxBytes {
		t.Fatal("accepted what is no strict JSON")
	}
	if !validID(app.ID) || app.Name == "" || app.Platform == "" || len(app.Digest) != 64 || app.ID == aai.BuiltinApp {
		t.Fatalf("app = %+v", app)
	}
	for _, words := range []string{app.Name, app.Description} {
		if words != aai.CleanText(words, 2*maxText) {
			t.Fatalf("unclean: %q", words)
		}
	}
	for _, tool := range app.Tools {
		if !validToolName(tool.Name) || tool.Limits.Timeout < minTimeout || tool.Limits.Timeout > maxTimeout || app.Tool(tool.Name) != tool {
			t.Fatalf("tool = %+v", tool)
		}
	}
	if guide := Guide(app); guide != aai.CleanText(guide, len(guide)+1) {
		t.Fatalf("the guide is unclean: %q", guide)
	}
	if _, err := json.Marshal(GuideData(app)); err != nil {
		t.Fatal(err)
	}
}

func read2(f *testing.F, name string) string {
	f.Helper()
	source, _, err := readRegular(name)
	if err != nil {
		f.Fatal(err)
	}
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

func TestTreeKeepsValuesAsWritten(t *testing.T) {
	root, fault := new(reader).read([]byte(`{"a": 1.50, "b": [ true, null, "x\ny" ], "odd key": {"c":-1e3}}`), ownLimits())
	if fault != nil {
		t.Fatal(fault)
	}
	got := map[string]string{}
	var visit func(n *node)
	visit = func(n *node) {
		got[n.Path()] = string(n.JSON())
		for c := n.First; c != nil; c = c.Next {
			visit(c)
		}
	}
	visit(root.Member("a"))
	visit(root.Member("b"))
	visit(root.Member("odd key"))
	for path, want := range map[string]string{
		"a": "1.50", "b": `[ true, null, "x\ny" ]`, "b[0]": "true", "b[1]": "null", "b[2]": `"x\ny"`,
		`["odd key"]`: `{"c":-1e3}`, `["odd key"].c`: "-1e3",
	} {
		if got[path] != want {
			t.Errorf("%s = %s, want %s", path, got[path], want)
		}
	}
}
