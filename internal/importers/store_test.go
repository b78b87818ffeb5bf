package importers_test

import (
	"os"
	"strings"
	"testing"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/importers"
)

// TestSavesWhatWasSeen checks that text written after the review stays.
func TestSavesWhatWasSeen(t *testing.T) {
	s := importers.DescriptorStore(t.TempDir())
	c, err := s.Plan("org.example.a", []byte("new\n"))
	if err != nil || c.Before != nil || c.IsUnchanged() {
		t.Fatalf("%+v, %v", c, err)
	}
	if err := c.Save(t.Context()); err != nil {
		t.Fatal(err)
	}
	if again, err := s.Plan("org.example.a", []byte("new\n")); err != nil || !again.IsUnchanged() {
		t.Errorf("%+v, %v", again, err)
	}
	next, err := s.Plan("org.example.a", []byte("newer\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(c.Path, []byte("mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := next.Save(t.Context()); aai.AsError(err) == nil || aai.AsError(err).Delivery != aai.NotDelivered {
		t.Errorf("got %v", err)
	}
	if text, err := s.Read("org.example.a"); err != nil || string(text) != "mine\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestDiff checks that a diff is limited and safe for a terminal.
func TestDiff(t *testing.T) {
	shown, omitted := importers.DescriptorChange{Path: "a", After: []byte(strings.Repeat("x\n", 5000) + "\x1b[2J\n")}.Diff(false)
	if n := strings.Count(shown, "\n"); n != 1500 || omitted < 3500 || omitted > 3510 {
		t.Errorf("%d lines, %d omitted", n, omitted)
	}
	if shown, _ = (importers.DescriptorChange{Path: "a", Before: []byte("x\n"), After: []byte("\x1b[2J\n")}).Diff(true); strings.Contains(shown, "\x1b") || !strings.Contains(shown, "-x") {
		t.Errorf("%q", shown)
	}
}

// TestNoFolder checks that without a folder nothing is found or saved.
func TestNoFolder(t *testing.T) {
	c, err := importers.DescriptorStore("").Plan("org.example.a", []byte("x"))
	if err != nil || c.Path != "" {
		t.Fatalf("%+v, %v", c, err)
	}
	if err := c.Save(t.Context()); aai.AsError(err) == nil || aai.AsError(err).Code != aai.AutomationNotSupported {
		t.Errorf("got %v", err)
	}
}
