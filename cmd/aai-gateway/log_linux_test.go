package main

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/config"
)

func TestALogThatIsAPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "log")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err := (&program{}).logger(&setup{Config: &config.Config{LogFile: pipe}})
	if e := aai.AsError(err); e == nil || e.Code != aai.InvalidParams || e.Message != "logFile: "+pipe+" is no regular file; expected one" {
		t.Errorf("got %v", err)
	}
}
