package dbus

import "testing"

// A query from before a name change is not stored.
func TestLearnedTooLate(t *testing.T) {
	names := newNameTable()
	asked := names.version()
	names.changed("org.example.App", ":1.8")
	if names.learn("org.example.App", ":1.7", asked) || names.owner("org.example.App") != "" {
		t.Errorf("the owner is %q", names.owner("org.example.App"))
	}
	if !names.learn("org.example.App", ":1.8", names.version()) || names.owner("org.example.App") != ":1.8" {
		t.Errorf("then the owner is %q", names.owner("org.example.App"))
	}
}
