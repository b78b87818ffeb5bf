package inputlock

import (
	"context"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

func TestClaimsAreOfOneGatewayOnWindows(t *testing.T) {
	folder := t.TempDir()
	claims := Claims{Folder: func() (string, error) { return folder, nil }}
	leave, waited, err := claims.Claim(t.Context(), 4242)
	assert.NilError(t, err)
	assert.Check(t, !waited)

	other, _, err := claims.Claim(t.Context(), 4243)
	assert.NilError(t, err, "another program is free")
	other()

	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, waited, err = claims.Claim(short, 4242)
	assert.Check(t, err != nil && waited)

	leave()
	again, _, err := claims.Claim(t.Context(), 4242)
	assert.NilError(t, err)
	again()
}

func TestFolderIsTheAccounts(t *testing.T) {
	before, err := Folder()
	assert.NilError(t, err)
	t.Setenv("LOCALAPPDATA", `C:\elsewhere`)
	after, err := Folder()
	assert.NilError(t, err)
	assert.Equal(t, after, before)
}
