package importers_test

import (
	"os"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/importers"
)

// TestSavesWhatWasSeen checks that text written after the review stays.
func TestSavesWhatWasSeen(t *testing.T) {
	s := importers.DescriptorStore(t.TempDir())
	c, err := s.Plan("org.example.a", []byte("new\n"))
	assert.NilError(t, err, "%+v", c)
	assert.Assert(t, c.Before == nil, "%+v", c)
	assert.Assert(t, !c.IsUnchanged(), "%+v", c)
	assert.NilError(t, c.Save(t.Context()))
	again, err := s.Plan("org.example.a", []byte("new\n"))
	assert.NilError(t, err, "%+v", again)
	assert.Assert(t, again.IsUnchanged(), "%+v", again)
	next, err := s.Plan("org.example.a", []byte("newer\n"))
	assert.NilError(t, err)
	assert.NilError(t, os.WriteFile(c.Path, []byte("mine\n"), 0o600))
	err = next.Save(t.Context())
	assert.Assert(t, aai.AsError(err) != nil, err)
	assert.Equal(t, aai.AsError(err).Delivery, aai.NotDelivered, err)
	text, err := s.Read("org.example.a")
	assert.NilError(t, err, "%q", text)
	assert.Equal(t, string(text), "mine\n", "%q", text)
}

// TestDiff checks that a diff is limited and safe for a terminal.
func TestDiff(t *testing.T) {
	shown, omitted := importers.DescriptorChange{Path: "a", After: []byte(strings.Repeat("x\n", 5000) + "\x1b[2J\n")}.Diff(false)
	n := strings.Count(shown, "\n")
	assert.Check(t, is.Equal(n, 1500), "%d", omitted)
	assert.Check(t, omitted >= 3500, "%d lines, %d omitted", n, omitted)
	assert.Check(t, omitted <= 3510, "%d lines, %d omitted", n, omitted)
	shown, _ = (importers.DescriptorChange{Path: "a", Before: []byte("x\n"), After: []byte("\x1b[2J\n")}).Diff(true)
	assert.Assert(t, !strings.Contains(shown, "\x1b"), "%q", shown)
	assert.Assert(t, is.Contains(shown, "-x"))
}

// TestNoFolder checks that without a folder nothing is found or saved.
func TestNoFolder(t *testing.T) {
	c, err := importers.DescriptorStore("").Plan("org.example.a", []byte("x"))
	assert.NilError(t, err, "%+v", c)
	assert.Equal(t, c.Path, "", "%+v", c)
	err = c.Save(t.Context())
	assert.Assert(t, aai.AsError(err) != nil, err)
	assert.Equal(t, aai.AsError(err).Code, aai.AutomationNotSupported, err)
}
