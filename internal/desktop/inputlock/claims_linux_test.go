package inputlock_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/testkit"
)

func claims(folder string) gateway.Claims {
	return inputlock.Claims{Folder: func() (string, error) { return folder, nil }}
}

// TestClaims: a claim waits until another gateway releases the same program or its process ends in
// any way. It does not wait for other programs.
func TestClaims(t *testing.T) {
	for name, end := range map[string]func(*testkit.Process) error{
		"left":   func(p *testkit.Process) error { return p.In.Close() },
		"killed": func(p *testkit.Process) error { return p.Process.Kill() },
	} {
		folder := t.TempDir()
		p := startGateway(t, "acts", folder)
		if _, waited, err := claims(folder).Claim(within(t, 300*time.Millisecond), 7); !errors.Is(err, context.DeadlineExceeded) || !waited {
			t.Errorf("%s: waited %v, %v", name, waited, err)
		}
		leave, waited, err := claims(folder).Claim(t.Context(), 8)
		assert.NilError(t, err, "%s %v", name, waited)
		assert.Assert(t, !waited, "%s: another program: waited %v, %v", name, waited, err)
		leave()
		assert.NilError(t, end(p))
		leave, _, err = claims(folder).Claim(t.Context(), 7)
		assert.NilError(t, err, name)
		_, _, err = claims(folder).Claim(within(t, 50*time.Millisecond), 7)
		assert.Check(t, err != nil, "%s: two have it", name)
		leave()
		leave() // a second call has no effect
	}
}

// TestClaimsThatCannotBe: without a shared folder, or with a removed file, a claim fails.
func TestClaimsThatCannotBe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	assert.NilError(t, os.WriteFile(file, nil, 0o600))
	_, _, err := claims(file).Claim(t.Context(), 7)
	assert.Check(t, is.Equal(aai.AsError(err).Delivery, aai.NotDelivered), err)
	assert.Check(t, aai.AsError(err).Hint != "", err)
	folder := t.TempDir()
	assert.NilError(t, os.Symlink(file, filepath.Join(folder, "claims")))
	_, _, err = claims(folder).Claim(t.Context(), 7)
	assert.Check(t, err != nil, "a link was followed")
}
