package wire

import (
	"strings"
	"testing"

	godbus "github.com/godbus/dbus/v5"
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
		if err != nil || len(got) != types || whole != sig {
			t.Errorf("%q: %d types, %v", sig, len(got), err)
		}
		if _, err := ParseType(sig); (err == nil) != (types == 1) {
			t.Errorf("%q as one type: %v", sig, err)
		}
	}
	for _, sig := range []string{
		"a", "z", "(", "()", "(y", "y)", "{sv}", "a{s}", "a{sv", "a{svv}", "a{(y)v}", "a{vs}", "a{asv}", "r", "e", "ä",
		strings.Repeat("a", MaxDepth+1) + "y", strings.Repeat("y", MaxSignature+1), strings.Repeat("(", 33) + "y" + strings.Repeat(")", 33),
	} {
		if _, err := ParseSignature(sig); err == nil {
			t.Errorf("%q is a signature", sig)
		}
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
		if _, err := godbus.ParseSignature(sig); err != nil {
			t.Errorf("%q: godbus says %v", sig, err)
		}
		for _, typ := range types {
			again, err := ParseType(typ.Sig)
			if err != nil || again.Code != typ.Code || again.Align() < 1 {
				t.Errorf("%q: %v", typ.Sig, err)
			}
		}
	})
}

func FuzzGrammar(f *testing.F) {
	for _, s := range []string{"", "/", "/a", "a.b", "a-b.c", ":1.2", "a..b", "/a//b", "/a/", "1.a", "ä.b", ".a", "a.", ":a", ":."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		// godbus has its own check of object paths.
		if got, want := ValidPath(s), godbus.ObjectPath(s).IsValid(); got != want {
			t.Errorf("path %q: %v, by godbus %v", s, got, want)
		}
		if ValidInterface(s) && !ValidBusName(s) {
			t.Errorf("%q is an interface, so it is a bus name", s)
		}
		if ValidMember(s) != ValidInterface("a."+s) && !strings.Contains(s, ".") && len(s) < 250 {
			t.Errorf("member %q", s)
		}
		if ValidBusName(s) && !strings.HasPrefix(s, ":") && !ValidBusName(":"+s) && len(s) < MaxName {
			t.Errorf("bus name %q", s)
		}
	})
}

func TestBusNames(t *testing.T) {
	long := "a." + strings.Repeat("b", MaxName-2)
	for name, want := range map[string]bool{
		"org.example.App": true, "a-b.c": true, ":1.42": true, ":1.a-2": true, "_._1": true, long: true,
		long + "b": false, "": false, ":": false, "org": false, ":1": false, "1.a": false, "a.1": false, "a..b": false, "a.b.": false, "ä.b": false,
	} {
		if got := ValidBusName(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}
