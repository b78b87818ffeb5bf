package main

import (
	"path/filepath"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/config"
)

func TestALogThatIsAPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "log")
	assert.NilError(t, syscall.Mkfifo(pipe, 0o600))
	_, _, err := (&program{}).logger(&setup{Config: &config.Config{LogFile: pipe}})
	e := aai.AsError(err)
	assert.Assert(t, e != nil, err)
	assert.Equal(t, e.Code, aai.InvalidParams, err)
	assert.Equal(t, e.Message, "logFile: "+pipe+" is no regular file; expected one", err)
}
