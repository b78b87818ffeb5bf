package policy

import (
	"testing"

	"github.com/gybob/aai-gateway"
)

// TestPlantedGrantsAdmitNothing checks that in a home from the environment a plain file
// grants nothing and is not imported, while its refusals count.
func TestPlantedGrantsAdmitNothing(t *testing.T) {
	never := grantOf("wipe")
	never.Decision = Deny
	for name, v := range map[string]*vault{"a keychain": newVault(), "none": {err: errNoKey()}} {
		path := storePath(t)
		add(t, NewFileStore(path), full(), grantOf("list"), never)
		s := NewExternalStore(NewFileStore(path), v)
		if got := tools(t, s); got != "wipe" || s.UnsealedWarning() == "" {
			t.Errorf("%s: %q counts, %q", name, got, s.UnsealedWarning())
		}
		err := s.Add(grantOf("add"))
		if (v.err == nil) != (s.CheckWritable() == nil) {
			t.Errorf("%s: %v", name, s.CheckWritable())
		}
		if v.err != nil {
			if e := aai.AsError(err); e == nil || e.Code != aai.ConsentRequired || e.Hint == "" || tools(t, s) != "wipe" {
				t.Errorf("%s: %v, then %q", name, err, tools(t, s))
			}
			continue
		}
		if err != nil || tools(t, s) != "wipe add" {
			t.Errorf("%s: %v, %q", name, err, tools(t, s))
		}
		if n, err := s.Remove(func(g Grant) bool { return g.Tool == "add" }); n != 1 || err != nil || tools(t, s) != "wipe" {
			t.Errorf("%s: %d, %v, %q", name, n, err, tools(t, s))
		}
		if n, err := s.Remove(func(g Grant) bool { return g.Tool == "none" }); n != 0 || err != nil {
			t.Errorf("%s: %d, %v", name, n, err)
		}
	}
}
