package inputlock_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

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
		if err != nil || waited {
			t.Fatalf("%s: another program: waited %v, %v", name, waited, err)
		}
		leave()
		if err := end(p); err != nil {
			t.Fatal(err)
		}
		leave, _, err = claims(folder).Claim(t.Context(), 7)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, _, err := claims(folder).Claim(within(t, 50*time.Millisecond), 7); err == nil {
			t.Errorf("%s: two have it", name)
		}
		leave()
		leave() // a second call has no effect
	}
}

// TestClaimsThatCannotBe: without a shared folder, or with a removed file, a claim fails.
func TestClaimsThatCannotBe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := claims(file).Claim(t.Context(), 7); aai.AsError(err).Delivery != aai.NotDelivered || aai.AsError(err).Hint == "" {
		t.Errorf("%v", err)
	}
	folder := t.TempDir()
	if err := os.Symlink(file, filepath.Join(folder, "claims")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := claims(folder).Claim(t.Context(), 7); err == nil {
		t.Error("a link was followed")
	}
}
