package main

import (
	"os"
	"strings"
	"testing"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/doors/cli"
)

// Another account's home is rejected before anything is created in it.
func TestHomeOfAnother(t *testing.T) {
	own, others := t.TempDir(), "/"
	if os.Geteuid() == 0 {
		others = t.TempDir()
		if err := os.Chown(others, 65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
	p := &program{getenv: os.Getenv, err: os.Stderr, hostAccess: testHost(os.Getenv)}
	for _, home := range []string{own, own + "/none"} {
		t.Setenv("HOME", home)
		if _, err := p.config(cli.Flags{}); err != nil {
			t.Errorf("%s: %v", home, err)
		}
	}
	before, err := os.ReadDir(others)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", others)
	_, _, err = p.open(cli.Flags{})
	if err == nil || !strings.Contains(err.Error(), "the home folder "+others+" belongs to ") || !strings.Contains(aai.AsError(err).Hint, "set HOME") {
		t.Errorf("got %v", err)
	}
	if after, _ := os.ReadDir(others); len(after) != len(before) {
		t.Errorf("%d entries are new", len(after)-len(before))
	}
}

// The root of the file system is no valid home, regardless of its owner.
func TestHomeThatIsAll(t *testing.T) {
	p := &program{getenv: os.Getenv, err: os.Stderr, hostAccess: testHost(os.Getenv)}
	for _, home := range []string{"/", "//", "/./"} {
		t.Setenv("HOME", home)
		_, err := p.config(cli.Flags{})
		if err == nil || !strings.Contains(err.Error(), "the home folder is /") || !strings.Contains(aai.AsError(err).Hint, "Set HOME") {
			t.Errorf("%s: %v", home, err)
		}
	}
}
