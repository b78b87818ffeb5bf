package jsontree_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway/internal/schema/jsontree"
)

type (
	node    = jsontree.Node[int]
	reader  = jsontree.Reader[int]
	options = jsontree.Options[int]
)

func decoded(t interface {
	Helper()
	Fatalf(string, ...any)
}, source []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(source))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%q: %v", source, err)
	}
	return v
}

// anyJSON draws a value, written in one of many ways.
func anyJSON(t *rapid.T) []byte {
	scalars := rapid.OneOf(
		rapid.Map(rapid.String(), func(s string) any { return strings.ToValidUTF8(s, "?") }),
		rapid.Map(rapid.Float64Range(-1e300, 1e300), func(f float64) any { return f }),
		rapid.Map(rapid.Int(), func(n int) any { return n }),
		rapid.SampledFrom([]any{true, false, nil, "", "a", "\"\\\n", "é日"}),
	)
	var draw func(depth int) any
	draw = func(depth int) any {
		switch kind := rapid.IntRange(0, 3).Draw(t, "kind"); {
		case kind == 0 && depth < 5:
			object := map[string]any{}
			for range rapid.IntRange(0, 4).Draw(t, "members") {
				object[strings.ToValidUTF8(rapid.StringN(0, 5, 30).Draw(t, "name"), "?")] = draw(depth + 1)
			}
			return object
		case kind == 1 && depth < 5:
			list := []any{}
			for range rapid.IntRange(0, 4).Draw(t, "elements") {
				list = append(list, draw(depth+1))
			}
			return list
		}
		return scalars.Draw(t, "scalar")
	}
	value := draw(0)
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(rapid.Bool().Draw(t, "escaped"))
	if rapid.Bool().Draw(t, "indented") {
		e.SetIndent("\t", " ")
	}
	assert.NilError(t, e.Encode(value))
	return b.Bytes()
}

// TestNodesAreWhatIsWritten: every node matches the text at its place, whatever the reader read
// before.
func TestNodesAreWhatIsWritten(t *testing.T) {
	used := new(reader)
	rapid.Check(t, func(t *rapid.T) {
		source := anyJSON(t)
		root, fault := used.Read(source, options{})
		assert.Assert(t, fault == nil, "%s %v", source, fault)
		assert.Assert(t, is.DeepEqual(decoded(t, source), root.Value(nil)), "%s", source)
		root.Walk(func(n *node) {
			if !bytes.HasPrefix(source[n.Offset():], n.Raw()) || !jsontext.Value(n.Raw()).IsValid() {
				t.Fatalf("%s: %q is not at byte %d", source, n.Raw(), n.Offset())
			}
			want := decoded(t, n.Raw())
			if !cmp.Equal(want, n.Value(nil)) || !cmp.Equal(want, decoded(t, n.JSON())) {
				t.Fatalf("%s: %q is read as %v and written as %s", source, n.Raw(), n.Value(nil), n.JSON())
			}
			if found := root.ResolvePointer(pointer(n)); found != n {
				t.Fatalf("%s: the pointer %q leads to %v", source, pointer(n), found)
			}
		})
	})
}

func pointer(n *node) string {
	if n.Parent == nil {
		return ""
	}
	token := n.Name
	if n.Index() >= 0 {
		token = fmt.Sprint(n.Index())
	}
	return pointer(n.Parent) + "/" + strings.ReplaceAll(strings.ReplaceAll(token, "~", "~0"), "/", "~1")
}

// TestReaderForgets: no content of a document appears in the next.
func TestReaderForgets(t *testing.T) {
	r := new(reader)
	var big strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&big, `{"n%d": [`, i)
	}
	for _, source := range []string{`{"a": {"b": [1, 2]}, "c": "x"}`, big.String(), `{"a": 1`, `[[]]`, `{"c": {}}`} {
		again, faultAgain := r.Read([]byte(source), options{MaxDepth: 20})
		fresh, fault := new(reader).Read([]byte(source), options{MaxDepth: 20})
		if !cmp.Equal(fault, faultAgain) || shape(again) != shape(fresh) {
			t.Errorf("%.40q: %v %s; a fresh reader: %v %s", source, faultAgain, shape(again), fault, shape(fresh))
		}
		again.Walk(func(n *node) { n.Mark = 1 })
	}
}

// shape describes every node.
func shape(root *node) string {
	var b strings.Builder
	root.Walk(func(n *node) {
		fmt.Fprintf(&b, "%s %s %q %d %d;", n.Path(), n.Kind, n.Text, n.Offset(), n.Mark)
	})
	return b.String()
}

func TestFaults(t *testing.T) {
	limits := options{MaxBytes: 60, MaxValues: 10, MaxDepth: 3, MaxDigits: 5}
	for _, test := range []struct {
		source  string
		problem jsontree.Problem
		path    string
		at      string // line:column; empty: nowhere
	}{
		{"", jsontree.Empty, "", ""},
		{" \n", jsontree.Empty, "", ""},
		{strings.Repeat(" ", 60) + "1", jsontree.TooManyBytes, "", ""},
		{"[1,2,3,4,5,6,7,8,9,0]", jsontree.TooManyValues, "", ""},
		{`[[[[]]]]`, jsontree.TooDeep, "[0][0][0]", ""},
		{`{"a": [123456]}`, jsontree.NumberTooLong, "a[0]", ""},
		{`{"a": [1e6]}`, jsontree.NumberTooLong, "a[0]", ""},
		{`[1e-6]`, jsontree.NumberTooLong, "[0]", ""},
		{"{\"a\": {\n \"b\": 1, \"b\": 2}}", jsontree.DuplicateName, "a", "2:10"},
		{"{\"a\": [\n1, tru]}", jsontree.Syntax, "a[1]", "2:7"},
		{"{\"a\": 1, 5: 2}", jsontree.Syntax, "", "1:10"},
		{"{\"odd key\": {\"x\": \"\xff\"}}", jsontree.Syntax, `["odd key"].x`, "1:20"},
		{"{\"a\":\n {", jsontree.UnexpectedEnd, "a", "2:3"},
		{"1\n 2", jsontree.TrailingData, "", "2:2"},
		{"]", jsontree.Syntax, "", "1:1"},
	} {
		root, fault := new(reader).Read([]byte(test.source), limits)
		if fault == nil || root == nil {
			t.Errorf("%q was read", test.source)
			continue
		}
		at := ""
		if fault.Line > 0 {
			at = fmt.Sprintf("%d:%d", fault.Line, fault.Column)
		}
		assert.Check(t, is.Equal(fault.Problem, test.problem), "%q %v", test.source, fault)
		assert.Check(t, is.Equal(fault.Path, test.path), "%q %v", test.source, fault)
		assert.Check(t, is.Equal(at, test.at), "%q %v", test.source, fault)
	}
}

// TestPartialTree: at a fault the tree contains everything before it.
func TestPartialTree(t *testing.T) {
	root, fault := new(reader).Read([]byte(`{"a": 1, "b": {"c": "x", "d": tru`), options{})
	if fault == nil || root.Member("a").Text != "1" || root.Member("b").Member("c").Text != "x" {
		t.Fatalf("%v: %s", fault, shape(root))
	}
	d := root.Member("b").Member("d")
	assert.Assert(t, d != nil, "the value that is none: %+v", d)
	assert.Assert(t, d.Kind == 0, "the value that is none: %+v", d)
	assert.Equal(t, d.Offset(), 28, "%+v", d)
}

func TestKeep(t *testing.T) {
	const source = `{"schema": {"a": {"b": 1}}, "c": 2}`
	o := options{KeepRaw: func(n *node) bool { return n.Name == "schema" && n.Parent.Parent == nil }}
	root, fault := new(reader).Read([]byte(source), o)
	if fault != nil || string(root.Member("schema").Raw()) != `{"a": {"b": 1}}` || root.Member("schema").First != nil || root.Member("c").Text != "2" {
		t.Fatalf("%v: %s", fault, shape(root))
	}
	for most, want := range map[int]bool{2: true, 3: false, 7: false, 6: true} {
		o.MaxValues, o.CountRaw = most, most > 3 // of the kept parts: two objects, a number, two names
		_, fault := new(reader).Read([]byte(source), o)
		assert.Check(t, is.Equal((fault != nil), want), "at most %d values: %v", most, fault)
	}
}

func TestPlaces(t *testing.T) {
	root, fault := new(reader).Read([]byte(`{"a": [{"$ref": 1}], "b c": {"": 2}, "0": {"d/e~f": 3}}`), options{})
	assert.Assert(t, fault == nil, fault)
	var paths []string
	root.Walk(func(n *node) { paths = append(paths, n.Path()) })
	want := []string{"", "a", "a[0]", "a[0].$ref", `["b c"]`, `["b c"][""]`, "0", `0["d/e~f"]`}
	assert.Check(t, is.DeepEqual(want, paths))
	for ref, want := range map[string]string{"#": "", "#/a/0": "a[0]", "#/0/d~1e~0f": `0["d/e~f"]`, "#/b%20c": `["b c"]`} {
		found := root.ResolveRef(ref)
		assert.Assert(t, found != nil, "%s refers to %v; expected %s", ref, found, want)
		assert.Equal(t, found.Path(), want, "%s %v", ref, found)
	}
	for _, ref := range []string{"", "a", "#a", "#/a/00", "#/a/-", "#/a/1", "#/x", "#/a/0/$ref/x", "#%zz", "http://x#/a"} {
		if found := root.ResolveRef(ref); found != nil {
			t.Errorf("%s refers to %s; expected nothing", ref, found.Path())
		}
	}
}

// FuzzRead: Read accepts exactly the values that the tokenizer accepts.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{`{"a": [1, true, null, "x\u00e9"]}`, `{"a": 1, "a": 2}`, `[1] 2`, "\"\xff\"", `{"a" 1}`, `]`, `{1: 2}`, `-`} {
		f.Add([]byte(seed))
	}
	used := new(reader)
	f.Fuzz(func(t *testing.T, source []byte) {
		root, fault := used.Read(source, options{})
		valid := jsontext.Value(source).IsValid()
		assert.Equal(t, valid, (fault == nil), "%q: valid %v, fault %v", source, valid, fault)
		if fault != nil {
			_, again := new(reader).Read(source, options{})
			assert.Equal(t, *again, *fault, "%q %v %v", source, fault, again)
			return
		}
		assert.Assert(t, cmp.Equal(decoded(t, source), root.Value(nil)), "%q is read as %v", source, root.Value(nil))
	})
}
