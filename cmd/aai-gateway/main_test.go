package main

import (
	"runtime/debug"
	"testing"
)

// The program says what it was built as; built by "go build" or "go install", what Go
// knows of its source.
func TestVersion(t *testing.T) {
	module := func(v string) *debug.BuildInfo { return &debug.BuildInfo{Main: debug.Module{Version: v}} }
	for _, c := range []struct {
		set   string
		built *debug.BuildInfo
		want  string
	}{
		{"v1.2.3", module("v1.2.2"), "v1.2.3"},
		{"devel", module("v1.2.2"), "v1.2.2"},
		{"devel", module("v0.0.0-20260101000000-0123456789ab+dirty"), "v0.0.0-20260101000000-0123456789ab+dirty"},
		{"devel", module("(devel)"), "devel"},
		{"devel", module(""), "devel"},
		{"devel", nil, "devel"},
	} {
		if got := versionOf(c.set, c.built); got != c.want {
			t.Errorf("built as %q of %+v: %s, want %s", c.set, c.built, got, c.want)
		}
	}
}
