package main

import (
	"os"
	"runtime/debug"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// The program reports its build version; after "go build" or "go install", the module version.
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
		got := versionOf(c.set, c.built)
		assert.Check(t, is.Equal(got, c.want), "built as %q of %+v: %s, want %s", c.set, c.built, got, c.want)
	}
}

// Environment changes by a library do not count as the session of the start.
func TestTheEnvironmentIsThatOfTheStart(t *testing.T) {
	const bus = "DBUS_SESSION_BUS_ADDRESS"
	t.Setenv(bus, "unix:path=/started/with")
	p := newProgram(hostAccess{})
	assert.NilError(t, os.Setenv(bus, "unix:path=/found/later"))
	if is := p.getenv(bus); is != "unix:path=/started/with" {
		t.Errorf("it goes by %q", is)
	}
}

// The program's file name selects the profile.
func TestProfileOfTheName(t *testing.T) {
	for name, want := range map[string]string{
		"aai-gateway": "", "/usr/bin/aai-gateway": "", "axterminator": "desktop", "/usr/local/bin/axterminator": "desktop",
		"AXTerminator.exe": "desktop", "axterminator-old": "", "": "",
	} {
		assert.Check(t, is.Equal(profileOf(name), want), "%q", name)
	}
}
