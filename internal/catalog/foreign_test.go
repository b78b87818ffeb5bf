package catalog

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestForeignLimits checks the lower limits on a descriptor from the web.
func TestForeignLimits(t *testing.T) {
	web := Options{Origin: "https://example.com"}
	source := webApp("")
	padded := func(size int) string { return source + strings.Repeat(" ", size-len(source)) }
	extra := func(json string) string {
		return strings.Replace(source, `"version"`, `"x-more": `+json+`, "version"`, 1)
	}
	list := func(n int) string { return "[" + strings.Repeat("0,", n-1) + "0]" }
	schema := func(n int) string {
		return strings.Replace(source, `"parameters": {}`, `"parameters": {"default": `+list(n/2)+`}, "returns": {"default": `+list(n/2)+`}`, 1)
	}
	tools := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `{"name": "t%d", "description": "D", "parameters": {}, "path": "/t", "method": "GET"},`, i)
		}
		begin, _, _ := strings.Cut(source, `"tools": [`)
		return begin + `"tools": [` + strings.TrimSuffix(b.String(), ",") + "]}"
	}
	tests := []struct {
		name, source string
		want         string // the fault, or "" for none
	}{
		{"long enough", padded(maxForeignBytes), ""},
		{"too long", padded(maxForeignBytes + 1), "longer than 262144 bytes"},
		{"many values", extra(list(maxForeignNodes - 30)), ""},
		{"too many values", extra(list(maxForeignNodes)), "has more than 5000 values"},
		{"too many values in a schema", schema(maxForeignNodes), "has more than 5000 values"},
		{"too many names in schemas", strings.Replace(source, `"parameters": {}`, `"parameters": {"default": {`+keys(maxForeignNodes/2)+`}}`, 1), "has more than 5000 values"},
		{"many tools", tools(maxForeignTools), ""},
		{"too many tools", tools(maxForeignTools + 1), "tools: has 101 tools; expected at most 100"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, faults := new(reader).parse([]byte(test.source), web)
			got := ""
			if len(faults.List) > 0 {
				got = faults.List[0].String()
			}
			assert.Check(t, is.Equal(got, test.want))
			if test.want != "" {
				mustParse(t, test.source, Options{})
			}
		})
	}
}

// keys returns n members of an object.
func keys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"k%d": 0,`, i)
	}
	return strings.TrimSuffix(b.String(), ",")
}
