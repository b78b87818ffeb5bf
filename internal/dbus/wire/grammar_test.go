package wire

import (
	"strings"
	"testing"

	godbus "github.com/godbus/dbus/v5"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func TestSignatures(t *testing.T) {
	for sig, types := range map[string]int{
		"": 0, "y": 1, "a{sv}": 1, "sa{sv}as": 3, "(i(ss)a(y))": 1, "aaav": 1, "a{oa{sa{sv}}}": 1, "h": 1,
		strings.Repeat("a", MaxDepth) + "y": 1, strings.Repeat("y", MaxSignature): MaxSignature,
	} {
		got, err := ParseSignature(sig)
		whole := ""
		for _, t := range got {
			whole += t.Sig
		}
		assert.NilError(t, err)
		assert.Assert(t, is.Len(got, types))
		assert.Equal(t, whole, sig)
		_, err = ParseType(sig)
		assert.Check(t, is.Equal((err == nil), (types == 1)), "%q as one type: %v", sig, err)
	}
	for _, sig := range []string{
		"a", "z", "(", "()", "(y", "y)", "{sv}", "a{s}", "a{sv", "a{svv}", "a{(y)v}", "a{vs}", "a{asv}", "r", "e", "ä",
		strings.Repeat("a", MaxDepth+1) + "y", strings.Repeat("y", MaxSignature+1), strings.Repeat("(", 33) + "y" + strings.Repeat(")", 33),
	} {
		_, err := ParseSignature(sig)
		assert.Check(t, err != nil, "%q is a signature", sig)
	}
}

// FuzzSignature compares our check with godbus's, which accepts several types.
func FuzzSignature(f *testing.F) {
	for _, s := range []string{"", "a{sv}", "(ia{bs})", "aat", "a{", "((y)", "()", "a{vs}", "vh"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, sig string) {
		types, err := ParseSignature(sig)
		if err != nil {
			return
		}
		_, err = godbus.ParseSignature(sig)
		assert.Check(t, err, "%q: godbus says %v", sig, err)
		for _, typ := range types {
			again, err := ParseType(typ.Sig)
			assert.NilError(t, err, "%q", typ.Sig)
			assert.Equal(t, again.Code, typ.Code, "%q", typ.Sig)
			assert.Assert(t, again.Align() >= 1, "%q", typ.Sig)
		}
	})
}

func FuzzGrammar(f *testing.F) {
	for _, s := range []string{"", "/", "/a", "a.b", "a-b.c", ":1.2", "a..b", "/a//b", "/a/", "1.a", "ä.b", ".a", "a.", ":a", ":."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		// godbus has its own check of object paths.
		got, want := ValidPath(s), godbus.ObjectPath(s).IsValid()
		assert.Check(t, is.Equal(got, want), "path %q: %v, by godbus %v", s, got, want)
		assert.Check(t, !ValidInterface(s) || ValidBusName(s), "%q is an interface, so it is a bus name", s)
		assert.Check(t, ValidMember(s) == ValidInterface("a."+s) || strings.Contains(s, ".") || len(s) >= 250, "member %q", s)
		assert.Check(t, !ValidBusName(s) || strings.HasPrefix(s, ":") || ValidBusName(":"+s) || len(s) >= MaxName, "bus name %q", s)
	})
}

func TestBusNames(t *testing.T) {
	long := "a." + strings.Repeat("b", MaxName-2)
	for name, want := range map[string]bool{
		"org.example.App": true, "a-b.c": true, ":1.42": true, ":1.a-2": true, "_._1": true, long: true,
		long + "b": false, "": false, ":": false, "org": false, ":1": false, "1.a": false, "a.1": false, "a..b": false, "a.b.": false, "ä.b": false,
	} {
		assert.Check(t, is.Equal(ValidBusName(name), want), "%q", name)
	}
}
