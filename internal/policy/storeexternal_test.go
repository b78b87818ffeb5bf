package policy

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

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
		assert.Check(t, is.Equal((v.err == nil), (s.CheckWritable() == nil)), "%s %v", name, s.CheckWritable())
		if v.err != nil {
			if e := aai.AsError(err); e == nil || e.Code != aai.ConsentRequired || e.Hint == "" || tools(t, s) != "wipe" {
				t.Errorf("%s: %v, then %q", name, err, tools(t, s))
			}
			continue
		}
		assert.NilError(t, err, name)
		assert.Equal(t, tools(t, s), "wipe add", name)
		n, err := s.Remove(func(g Grant) bool { return g.Tool == "add" })
		assert.Equal(t, n, 1, name)
		assert.NilError(t, err, name)
		assert.Equal(t, tools(t, s), "wipe", name)
		n, err = s.Remove(func(g Grant) bool { return g.Tool == "none" })
		assert.Check(t, is.Equal(n, 0), name)
		assert.Check(t, err, name)
	}
}
