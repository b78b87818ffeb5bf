package catalog

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// faultyDescriptors returns the makers of the descriptors in testdata/faults.txt.
func faultyDescriptors(t *testing.T) map[string]func(string) string {
	t.Helper()
	replaced := func(source string) func(string) string {
		return func(change string) string {
			from, to, _ := strings.Cut(change, " ⇒ ")
			changed := strings.Replace(source, from, to, 1)
			assert.Assert(t, changed != source, "%s is not in the example", from)
			return changed
		}
	}
	return map[string]func(string) string{
		"json": strings.TrimSpace, "platforms": withPlatforms, "tool": linuxTool, "auth": webApp,
		"app": replaced(linuxApp("a.b", "N", "")), "web": replaced(read(t, "testdata/web.json")), "events": replaced(notesWithEvents),
		"mac": func(members string) string {
			return withPlatforms(`{"macos": {"automation": "jxa", "tools": [{"name": "t", "parameters": {"properties": {"a": {}}}, ` + members + `}]}}`)
		},
		"com": func(steps string) string {
			return withPlatforms(`{"windows": {"automation": "com", "tools": [{"name": "t", "script": ` + steps + `}]}}`)
		},
		"undo": func(undo string) string { return undoApp(false, undo) },
		"server": func(parts string) string {
			execution, more, _ := strings.Cut(parts, " ⇒ ")
			return server(execution, more)
		},
	}
}

// TestFaults checks the exact faults of each invalid descriptor: path, problem and expected value.
func TestFaults(t *testing.T) {
	makers := faultyDescriptors(t)
	for block := range strings.SplitSeq(read(t, "testdata/faults.txt"), "\n\n") {
		lines := strings.Split(strings.TrimSuffix(block, "\n"), "\n\t")
		kind, rest, isCase := strings.Cut(lines[0], " ")
		if !isCase || kind == "#" {
			continue
		}
		t.Run(lines[0], func(t *testing.T) { checkFaults(t, makers[kind](rest), lines[1:]) })
	}
	for source, want := range map[string]string{
		" \n":                         "the file is empty; expected a JSON object",
		"{}\n{}":                      "there is more after the JSON value; expected one object (line 2, column 1)",
		"{\n \"a\": [1,]}":            "a[1]: not JSON: invalid character ',' at start of value (line 2, column 9)",
		"{\"name\": \"\xff\"}":        "name: not JSON: invalid UTF-8 (line 1, column 11)",
		linuxApp("a.b", "\u200b", ""): "name: empty; expected the app's name for people",
	} {
		checkFaults(t, source, []string{want})
	}
}

// checkFaults parses and compares every fault.
func checkFaults(t *testing.T, source string, want []string) {
	t.Helper()
	_, err := Parse([]byte(source), Options{HostPlatform: "linux"})
	e, ok := errors.AsType[*aai.Error](err)
	assert.Assert(t, ok, "%#v", err)
	assert.Equal(t, e.Code, aai.DescriptorInvalid, "%#v", err)
	assert.Assert(t, e.Hint != "", "%#v", err)
	faults, ok := errors.AsType[*Faults](err)
	assert.Assert(t, ok, "no list of faults in %v", err)
	var got []string
	for _, f := range faults.List {
		got = append(got, f.String())
	}
	if part, isPart := strings.CutPrefix(want[0], "… "); isPart {
		assert.Check(t, is.Contains(strings.Join(got, "\n"), part))
		return
	}
	assert.Check(t, is.DeepEqual(want, got))
	assert.Check(t, strings.HasPrefix(e.Message, want[0]), "message = %s", e.Message)
}

func TestMostTools(t *testing.T) {
	tools := make([]string, maxTools+1)
	for i := range tools {
		tools[i] = fmt.Sprintf(`{"name": "t%d", "method": "M"}`, i)
	}
	list := func(tools []string) string {
		return withPlatforms(`{"linux": {"automation": "dbus", "service": "a.b", "object": "/", "interface": "a.b", "tools": [` + strings.Join(tools, ",") + `]}}`)
	}
	checkFaults(t, list(tools), []string{"platforms.linux.tools: has 2001 tools; expected at most 2000"})
	mustParse(t, list(tools[:maxTools]), Options{})
}

// TestManyFaults checks that up to twenty faults are reported; the rest is counted.
func TestManyFaults(t *testing.T) {
	tools := strings.Repeat(`{"name": "a b"},`, 30)
	_, err := Parse([]byte(withPlatforms(`{"ios": {"automation": "url_scheme", "scheme": "x", "tools": [`+tools[:len(tools)-1]+`]}}`)), Options{})
	faults, _ := errors.AsType[*Faults](err)
	assert.Assert(t, faults != nil, "faults = %v", faults)
	assert.Assert(t, is.Len(faults.List, maxFaults), faults)
	assert.Equal(t, faults.Omitted, 40, faults)
	if !strings.HasSuffix(aai.AsError(err).Message, " (and 59 more)") || !strings.HasSuffix(faults.Error(), "\nand 40 more") {
		t.Errorf("%s\n%s", aai.AsError(err).Message, faults)
	}
}
